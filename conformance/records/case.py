"""A case: a table, and the requests to make of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, TypeAlias, get_args

from conformance.contain.text import keep_safe
from conformance.records.base import record
from conformance.records.closed import ProtocolName
from conformance.records.flight import FlightStep
from conformance.records.steps import CreateSession, ReadRows, StorageReadStep
from conformance.records.table import Table

__all__ = ["STEPS", "Case", "Step"]

Step: TypeAlias = StorageReadStep | FlightStep

STEPS: Final[Mapping[ProtocolName, tuple[type, ...]]] = MappingProxyType(
    {ProtocolName.STORAGE_READ: get_args(StorageReadStep), ProtocolName.FLIGHT: get_args(FlightStep)}
)
"""The kinds of step of each protocol."""


@record
class Case:
    """A table and the requests to make of it; a generated case, a counterexample and a hand-written file alike.

    ``clauses`` are the ids (or globs) that the case exists to observe: a run in which none of them could be observed
    is *untestable* for them, not a pass. ``needs`` are capabilities a target has to declare, else *unsupported*.
    ``isolated`` asks for a server process of its own. ``source`` is the URL of the public defect or text behind it.
    ``protocol`` is the one of all its steps; a target that speaks another does not support the case.
    """

    id: str
    title: str
    table: Table
    steps: tuple[Step, ...] = (CreateSession(), ReadRows())
    clauses: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    isolated: bool = False
    source: str = ""
    protocol: ProtocolName = ProtocolName.STORAGE_READ

    def __post_init__(self) -> None:
        keep_safe(self, "id", "title", "source")
