"""What the contract knows of a protocol: how its exchanges are seen, and in which parts a server may offer it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import ClassVar, TypeAlias

import pyarrow as pa

from conformance.contract.profilerow import ProfileRow
from conformance.contract.view import View
from conformance.records import Case, Exchange, Reading

__all__ = ["ContractPlugin", "MakesView"]

MakesView: TypeAlias = Callable[[Case, Exchange, pa.Table, Iterable[Reading]], View]
"""Makes the view of an exchange from the case, the exchange, the expected table and the readings."""


@dataclasses.dataclass(frozen=True, slots=True)
class ContractPlugin:
    """A protocol in the contract.

    ``view`` makes what its clauses see of an exchange,
    and ``profile`` is the profile of these clauses (:data:`conformance.contract.clause.PROFILES`). ``core`` says what
    every server offers, and ``rows`` are the parts that a server may leave out. Where a server ``has_types``, it may
    leave out types of columns as well.
    """

    LAYER: ClassVar[str] = "contract"

    profile: str
    core: str
    view: MakesView = View
    rows: tuple[ProfileRow, ...] = ()
    has_types: bool = False
