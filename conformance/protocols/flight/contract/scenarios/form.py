"""The form of a scenario: what a client of Arrow's integration tests asks, and what it makes of the answers.

A check reads recorded calls alone, so that the driver and the clauses can both know the scenarios.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

import pyarrow as pa

from conformance.protocols.flight.contract.decoding import Info, message_of, read_info
from conformance.protocols.flight.contract.encoding import data
from conformance.protocols.flight.records.calls import SCENARIO
from conformance.protocols.flight.wire.data import read_flight
from conformance.records import Call, CallEnd, Case, Expect, Step, Table
from conformance.wire import DecodingError, Header

__all__ = [
    "ANY_ERROR",
    "FLIGHT_SCENARIOS",
    "Answers",
    "FlightScenario",
    "StreamRead",
    "Unlike",
    "frames",
    "register",
    "same",
    "scenario_of",
]

ANY_ERROR: Final = Expect(
    (
        "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
        "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
        "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
    )
)  # fmt: skip
"""What Arrow's clients accept where a call has to fail: any status but OK."""


class Unlike(NamedTuple):
    """An answer that is not as a client of the scenario expects, with the index of its call."""

    required: str
    observed: str
    call: int


class StreamRead(NamedTuple):
    """The data of an answer: its schema and its batches, each with the ``app_metadata`` of its message."""

    schema: pa.Schema
    batches: Sequence[tuple[pa.RecordBatch, bytes | None]]

    @property
    def rows(self) -> list[object]:
        """The rows in order."""
        return [row for batch, _ in self.batches for row in batch.to_pylist()]


@dataclasses.dataclass(frozen=True, slots=True)
class Answers:
    """The calls of a scenario, found by the number of their step."""

    calls: Sequence[Call]

    def of(self, step: int) -> Iterator[tuple[int, Call]]:
        """The calls of a step that ended in OK, with their indices."""
        for index, call in enumerate(self.calls):
            if call.step == step and call.end is CallEnd.COMPLETE and call.status == "OK":
                yield index, call

    def infos(self, step: int) -> Iterator[tuple[int, Info]]:
        """The FlightInfos in the answers of a step."""
        for index, call in self.of(step):
            for answer in call.responses:
                info = read_info(answer)
                if info is not None:
                    yield index, info

    def reads(self, step: int) -> Iterator[tuple[int, StreamRead | None]]:
        """The data of the answers of a step; None where it cannot be read."""
        for index, call in self.of(step):
            yield index, _read(call.responses)

    def results(self, step: int) -> Iterator[tuple[int, list[bytes]]]:
        """The bodies of the results of a step."""
        for index, call in self.of(step):
            yield index, [_body(answer) for answer in call.responses]


Check = Callable[[Answers], Iterable[Unlike]]


@dataclasses.dataclass(frozen=True, slots=True)
class FlightScenario:
    """A scenario by the ``name`` that Arrow's clients and servers know; the one without a name stores tables.

    ``login`` is a name and a password, with which the client logs in by Handshake. ``headers`` go along with each call.
    """

    name: str
    title: str
    steps: tuple[Step, ...]
    check: Check
    login: tuple[str, str] | None = None
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def case(self) -> Case:
        """The requests as a case."""
        word = self.name.replace(":", ".").replace("_", "-") or "base"
        return Case(
            f"{SCENARIO}{word}",
            self.title,
            Table((), rows=()),
            self.steps,
            clauses=("flight-scenario.*",),
            protocol="flight",
        )


_MODULES: Final = ("actions", "plain", "sql")
_registered: dict[str, FlightScenario] = {}


class _Scenarios(Mapping[str, FlightScenario]):
    """The scenarios by name. The first access imports the modules that register them: their tables take time to make,
    and most processes only need to know where the scenarios are.
    """

    def __getitem__(self, name: str) -> FlightScenario:
        return _every()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_every())

    def __len__(self) -> int:
        return len(_every())


@functools.cache
def _every() -> Mapping[str, FlightScenario]:
    package, _, _ = __name__.rpartition(".")
    for module in _MODULES:
        importlib.import_module(f"{package}.{module}")
    return MappingProxyType(_registered)


FLIGHT_SCENARIOS: Final[Mapping[str, FlightScenario]] = _Scenarios()


def register(
    name: str,
    title: str,
    *steps: Step,
    login: tuple[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Callable[[Check], Check]:
    """Register a scenario with the check that follows."""

    def registered(check: Check) -> Check:
        if name in _registered:
            raise ValueError(f"scenario {name}: expected a name that is not taken")
        _registered[name] = FlightScenario(name, title, steps, check, login, headers or {})
        return check

    return registered


def scenario_of(case_id: str) -> FlightScenario | None:
    """The scenario that a case stands for; None if it is another case."""
    if not case_id.startswith(SCENARIO):
        return None
    return next((one for one in FLIGHT_SCENARIOS.values() if one.case.id == case_id), None)


def frames(descriptor: bytes, schema: pa.Schema, batches: Iterable[tuple[pa.RecordBatch, bytes | None]]) -> list[bytes]:
    """The FlightData of a stream from a client: the descriptor comes with the schema, metadata with its batch."""
    table = list(batches)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch, _ in table:
            writer.write_batch(batch)
    found = []
    for at, message in enumerate(pa.ipc.MessageReader.open_stream(pa.py_buffer(sink.getvalue()))):
        body = b"" if message.body is None else message.body.to_pybytes()
        metadata = table[at - 1][1] if at else None
        found.append(data(message.metadata.to_pybytes(), body, of=None if at else descriptor, metadata=metadata))
    return found


def same(index: int, read: StreamRead | None, schema: pa.Schema, rows: Sequence[object]) -> Iterator[Unlike]:
    """What is unlike a schema, with its metadata, and rows in order."""
    if read is None:
        yield Unlike("an Arrow stream", "data that cannot be read", index)
    elif not read.schema.equals(schema, check_metadata=True):
        yield Unlike(_listed(schema), _listed(read.schema), index)
    elif read.rows != list(rows):
        yield Unlike(f"the rows {list(rows)}", f"the rows {read.rows}", index)


def _listed(schema: pa.Schema) -> str:
    fields = [f"{one.name}: {one.type}{'' if one.nullable else ' not null'}" for one in schema]
    metadata = sum(len(one.metadata or ()) for one in schema)
    return f"the columns {', '.join(fields)}" + (f", with {metadata} entries of metadata" if metadata else "")


def _body(answer: bytes) -> bytes:
    found = message_of("Result", answer)
    return b"" if found is None else bytes(found.data("body"))


def _read(answers: Sequence[bytes]) -> StreamRead | None:
    reading = read_flight(answers)
    content = reading.content
    if content.violations or content.schema is None:
        return None
    try:
        schema, batches = content.to_arrow().schema, content.to_batches()
    except DecodingError:
        return None
    framed = zip(
        (reading.stream.parts[at].reading.message for at in reading.stream.filled), content.messages, strict=True
    )
    metadata = [
        bytes(message.data("app_metadata")) if message.has("app_metadata") else None
        for message, found in framed
        if found.header is Header.RECORD_BATCH
    ]
    return StreamRead(schema, list(zip(batches, metadata, strict=True)))
