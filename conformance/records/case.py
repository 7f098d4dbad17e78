"""A case: a table and the requests to make about it."""

from __future__ import annotations

from conformance.contain.text import keep_safe
from conformance.protocol import DEFAULT_PROTOCOL, ProtocolName
from conformance.records.base import record
from conformance.records.plugin import AnyStep
from conformance.records.steps import CreateSession, ReadRows
from conformance.records.table import Table

__all__ = ["Case"]


@record
class Case:
    """A table and the requests to make about it: a generated case, a counterexample or a hand-written file.

    ``clauses`` are the ids (or globs) that the case exists to observe. In a run that could observe none of them they
    are *untestable*; they do not pass. ``needs`` are the capabilities that a target has to declare; without them the
    case is *unsupported*. ``isolated`` asks for a server process of its own. ``source`` is the URL of the public
    defect or text behind the case. ``protocol`` is the protocol of all steps; a target of another protocol does not
    support the case.
    """

    id: str
    title: str
    table: Table
    steps: tuple[AnyStep, ...] = (CreateSession(), ReadRows())
    clauses: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    isolated: bool = False
    source: str = ""
    protocol: ProtocolName = DEFAULT_PROTOCOL

    def __post_init__(self) -> None:
        keep_safe(self, "id", "title", "source")
