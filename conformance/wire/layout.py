"""The layout of a batch: which buffers each field of a schema has, in which order.

One :class:`Op` stands for one field node; a plan lists them in pre-order, as a RecordBatch lists its nodes.
This module holds the shapes; :mod:`conformance.wire.plan` derives them from a schema.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from conformance.wire.closed import BufferRole, Layout
from conformance.wire.faults import Rule
from conformance.wire.types import Field, Schema, join_path

__all__ = ["LayoutPlan", "Mask", "Op"]

Mask: TypeAlias = npt.NDArray[np.bool_]
"""Something about each of the first slots of a field."""


@dataclasses.dataclass(slots=True, eq=False)
class Op:
    """One field of the pre-order walk.

    ``width`` is the size in bytes of a value of a fixed-size layout, or of an offset of a variable-size one.
    ``null_rule`` is the rule that nulls in this field break, None where they are allowed; ``value_rule`` the one that
    values of a fixed-size layout may break.
    ``first`` numbers the op's first buffer, not counting the data buffers of view fields before it.
    """

    index: int
    field: Field
    parent: Op | None
    layout: Layout
    roles: tuple[BufferRole, ...]
    first: int
    width: int
    null_rule: Rule | None
    value_rule: Rule | None = None
    parameter: Any = None
    """What ``value_rule`` needs to know: a bound, a precision. Of a variable-size layout, whether it holds text."""
    children: list[Op] = dataclasses.field(default_factory=list)

    @property
    def path(self) -> str:
        """The field's dotted path."""
        return join_path(self.parent.path if self.parent else "", self.field.name)

    @property
    def has_validity(self) -> bool:
        """Whether the first of the op's buffers is a validity bitmap."""
        return self.roles[:1] == (BufferRole.VALIDITY,)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class LayoutPlan:
    """A schema's layout: ops in pre-order, and how many buffers they have without the data buffers of views."""

    schema: Schema
    ops: tuple[Op, ...]
    buffers: int
    views: int
    """How many of the ops are view fields, each with an entry in variadicBufferCounts."""
    starts: tuple[int, ...]
    """The first buffer of each op, where no view field has data buffers."""
