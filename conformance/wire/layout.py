"""The layout of a batch: the buffers of each field of a schema, in their order.

One :class:`Op` represents one field node; a plan lists the ops in pre-order, as a RecordBatch lists its nodes.
This module defines the data classes; :mod:`conformance.wire.plan` derives their values from a schema.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from conformance.wire.closed import BufferRole, Layout
from conformance.wire.faults import Rule
from conformance.wire.types import Field, Schema, TypeKind, join_path

__all__ = ["LayoutPlan", "Mask", "Op"]

Mask: TypeAlias = npt.NDArray[np.bool_]
"""One boolean for each of the first slots of a field."""


@dataclasses.dataclass(slots=True, eq=False)
class Op:
    """One field of the pre-order walk.

    ``width`` is the size in bytes of a value in a fixed-size layout, or of an offset in a variable-size one.
    ``null_rule`` is the rule that nulls in this field break, None if nulls are allowed; ``value_rule`` is the rule that
    values of a fixed-size layout may break.
    ``first`` is the number of the op's first buffer, not counting the data buffers of view fields before it.
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
    """The parameter of ``value_rule``: a bound, a precision. In a variable-size layout, True if the values are text."""
    children: list[Op] = dataclasses.field(default_factory=list)

    @property
    def path(self) -> str:
        """The field's dotted path."""
        return join_path(self.parent.path if self.parent else "", self.field.name)

    @property
    def has_validity(self) -> bool:
        """True if the first of the op's buffers is a validity bitmap."""
        return self.roles[:1] == (BufferRole.VALIDITY,)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class LayoutPlan:
    """The layout of a schema: its ops in pre-order, and the number of their buffers without data buffers of views."""

    schema: Schema
    ops: tuple[Op, ...]
    buffers: int
    views: int
    """The number of view fields, each of which has an entry in variadicBufferCounts."""
    starts: tuple[int, ...]
    """The number of each op's first buffer, if no view field has data buffers."""
    bitmaps: frozenset[TypeKind]
    """The kinds of types that have a validity bitmap in V4 alone, as far as this plan has them."""
