"""The published table of interrupted reads, ``golden/read_retry.json``: what happens to calls, and what a client owes.

The outcomes of a client are few. ``rows`` are all rows of the table, each once; ``error`` is an error that the client
reports, whatever rows came before it. Anything else, such as fewer rows without an error, is never permitted.
"""

from __future__ import annotations

import dataclasses
import enum
from pathlib import Path
from typing import Any, Final

from conformance._jsonschema import json_schema
from conformance.contain.parse import parse_object
from conformance.contract.closed import EvidenceKind
from conformance.disk.files import LARGEST_TEXT, data_file, read_whole
from conformance.records import FaultKind, PlannedFault, RecordError, from_json
from conformance.records.base import record

__all__ = [
    "FORMAT",
    "Instruction",
    "OutcomeSource",
    "ReadOutcome",
    "RetryTable",
    "RetryTest",
    "read_table",
    "table_schema",
]

FORMAT: Final = 1
"""The version of the table's form."""
FILE: Final = "golden/read_retry.json"


class ReadOutcome(enum.StrEnum):
    """What a client makes of a read."""

    ROWS = "rows"
    """All rows of the table, each once."""
    ERROR = "error"
    """An error; rows may have come before it."""


@record
class OutcomeSource:
    """Where an outcome comes from: a public address, and the kind of evidence that it is."""

    url: str
    evidence: EvidenceKind


@record
class Instruction:
    """What happens to ``times`` calls of ``method``, from the one with the number ``call`` on, counted for each stream.

    ``kind`` is ``status``, ``reset``, ``goaway`` or ``delay``; it happens after ``responses`` responses, or a ``reset``
    after ``bytes`` bytes of messages with their prefixes of five bytes. ``stream`` is the stream's place in the order
    in which streams are first asked for, every stream without it. A ``status`` has a ``code``, and with ``retry_after``
    a ``google.rpc.RetryInfo`` of so many seconds; a ``delay`` takes ``seconds``.
    """

    kind: FaultKind
    method: str = "ReadRows"
    stream: int | None = None
    call: int = 0
    times: int = 1
    responses: int = 0
    bytes: int | None = None
    code: str = "UNAVAILABLE"
    details: str = "an instruction of read_retry.json"
    retry_after: float | None = None
    seconds: float = 0.0

    def faults(self) -> tuple[PlannedFault, ...]:
        """The faults of a plan; raises RecordError."""
        facts = {field.name: getattr(self, field.name) for field in dataclasses.fields(PlannedFault)}
        return tuple(PlannedFault(**facts | {"call": self.call + more}) for more in range(self.times))


@record
class RetryTest:
    """One read of the table, and what a client may make of it.

    ``permitted`` are the outcomes that no client may leave. ``should`` is the one that sources recommend, and
    ``should_calls`` the most calls of the method that a client should make of one stream; both are absent where the
    sources differ. ``streams`` says how many streams the session has.
    """

    id: str
    description: str
    instructions: tuple[Instruction, ...]
    permitted: tuple[ReadOutcome, ...]
    sources: tuple[OutcomeSource, ...]
    should: ReadOutcome | None = None
    should_calls: int | None = None
    streams: int = 1

    def __post_init__(self) -> None:
        if self.should is not None and self.should not in self.permitted:
            raise RecordError("should", f"one of the permitted outcomes of {self.id}", self.should)

    def plan(self) -> tuple[PlannedFault, ...]:
        """The faults of all instructions."""
        return tuple(fault for instruction in self.instructions for fault in instruction.faults())


@record
class RetryTable:
    """The table. Every stream has four responses of 100 rows; the one column ``n`` counts the rows from 0."""

    format: int
    tests: tuple[RetryTest, ...]

    def by_id(self) -> dict[str, RetryTest]:
        """The tests by id."""
        return {test.id: test for test in self.tests}


def read_table(path: Path | None = None) -> RetryTable:
    """The table at ``path``, by default the published one; raises RecordError, ForeignJsonError or OSError."""
    data: dict[str, Any] = parse_object(read_whole(path or data_file(*FILE.split("/")), LARGEST_TEXT))
    data.pop("$schema", None)
    table = from_json(RetryTable, data)
    if table.format != FORMAT:
        raise RecordError("format", f"the number {FORMAT}, which this version reads", table.format)
    return table


def table_schema() -> dict[str, Any]:
    """The JSON Schema of the published file."""
    schema = json_schema(RetryTable, title="Interrupted reads of the Storage Read API: read_retry.json")
    schema["$defs"]["RetryTable"]["properties"]["$schema"] = {"type": "string"}
    return schema
