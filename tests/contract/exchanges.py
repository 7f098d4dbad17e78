"""Hand-made exchanges: what an obedient server would have answered to a case, as messages that a test may spoil.

The answers are built with pyarrow's own writer and the suite's protobuf messages, from the case alone.
"""

from __future__ import annotations

import dataclasses
import importlib
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from conformance.contract import mapping, proto
from conformance.contract.clause import CLAUSES, Clause, load_chapters
from conformance.contract.comparing.expected import expected_columns, project
from conformance.contract.judge import judge
from conformance.contract.viewing import view_of
from conformance.formats.messages import AVRO
from conformance.generate.materialise import materialise
from conformance.protocols.storage_read.contract.expected import expected_rows
from conformance.protocols.storage_read.contract.view import SessionView
from conformance.protocols.storage_read.reference.avro import AvroWriter
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.records import (
    BqType,
    Call,
    CallEnd,
    Case,
    Column,
    CreateSession,
    Exchange,
    Json,
    Outcome,
    ReadRows,
    SplitStream,
    Step,
    Table,
    Verdict,
)
from conformance.records.changes import columns_before_each

NOW: Final = 1_790_000_000_000_000
"""Microseconds since the epoch: when every exchange here began."""
TABLE: Final = "projects/p/datasets/d/tables/t"


@dataclasses.dataclass
class Answer:
    """One call before it is frozen: messages that a test may change."""

    step: int
    label: str
    method: str
    request: Any
    responses: list[Any] = dataclasses.field(default_factory=list)
    status: str = "OK"
    details: str = ""
    end: CallEnd = CallEnd.COMPLETE
    table: pa.Table | None = None
    coding: dict[str, Any] = dataclasses.field(default_factory=dict)

    def refuse(self, status: str = "INVALID_ARGUMENT", details: str = "no") -> None:
        """End in ``status`` instead, without a response."""
        self.status, self.details, self.responses = status, details, []

    def break_off(self, end: CallEnd) -> None:
        """End without a status."""
        self.status, self.details, self.end = "", "gone", end

    def send(self, table: pa.Table, *, response_rows: int = 4) -> None:
        """Answer a read with these rows, in place of what it had."""
        self.table = table
        self.responses = responses_of(table, response_rows=response_rows, **self.coding)


Spoil = Callable[[list[Answer]], None]
"""A minimal deviation: changes the answers of an obedient server in place."""


def message_of(batch: pa.RecordBatch, codec: str = "") -> bytes:
    """A record batch as one encapsulated message; ``codec`` is ``LZ4_FRAME``, ``ZSTD`` or empty."""
    options = pa.ipc.IpcWriteOptions(compression={"": None, "LZ4_FRAME": "lz4", "ZSTD": "zstd"}[codec])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    reader = pa.ipc.MessageReader.open_stream(sink.getvalue())
    reader.read_next_message()
    return bytes(reader.read_next_message().serialize())


def responses_of(
    table: pa.Table,
    *,
    response_rows: int = 4,
    buffers: str = "",
    payload: str = "",
    schema: bool = True,
    avro: AvroWriter | None = None,
) -> list[Any]:
    """The responses of a full read: ``response_rows`` rows each, the schema in the first; ``avro`` writes the rows."""
    found = []
    for start in range(0, table.num_rows, response_rows):
        batch = pa.Table.slice(table, start, response_rows).combine_chunks().to_batches()[0]
        response = proto.ReadRowsResponse(row_count=batch.num_rows)
        data = message_of(batch, buffers)
        if payload:
            response.uncompressed_byte_size = len(data)
            data = pa.Codec("lz4_raw").compress(data, asbytes=True)
        response.arrow_record_batch.serialized_record_batch = data
        response.stats.progress.at_response_start = start / table.num_rows
        response.stats.progress.at_response_end = (start + batch.num_rows) / table.num_rows
        if avro:
            response.avro_rows.serialized_binary_rows = avro.rows(batch)
            if not start:
                response.avro_schema.schema = avro.schema
        elif schema and not start:
            response.arrow_schema.serialized_schema = table.schema.serialize().to_pybytes()
        found.append(response)
    return found


class Obedient:
    """Answers the steps of a case as the contract demands; ``streams`` at most, ``response_rows`` rows a response."""

    def __init__(self, case: Case, *, streams: int = 1, response_rows: int = 4) -> None:
        self.case = case
        self.table = materialise(case.table)
        self.answers: list[Answer] = []
        self._limit = streams
        self._response_rows = response_rows
        self._sessions: dict[str, Answer] = {}
        self._rows: dict[str, pa.Table] = {}
        self._owners: dict[str, Answer] = {}
        self._children: dict[str, str] = {}
        self._names = itertools.count()

    def run(self) -> list[Answer]:
        """The answers to all steps, in order."""
        for index, step in enumerate(self.case.steps):
            if isinstance(step, CreateSession):
                self._create(index, step)
            elif isinstance(step, ReadRows):
                self._read(index, step)
            elif isinstance(step, SplitStream):
                self._split(index, step)
        return self.answers

    def freeze(self, answers: Sequence[Answer]) -> Exchange:
        """The answers as the exchange that a driver would have kept."""
        calls = tuple(
            Call(
                step=answer.step,
                label=answer.label,
                method=answer.method,
                request=answer.request.SerializeToString(),
                responses=tuple(r if isinstance(r, bytes) else r.SerializeToString() for r in answer.responses),
                status=answer.status,
                details=answer.details,
                end=answer.end,
            )
            for answer in answers
        )
        return Exchange(self.case.id, "by hand", calls, project="p", dataset="d", table="t", now=NOW)

    def _create(self, index: int, step: CreateSession) -> None:
        request = proto.CreateReadSessionRequest(
            parent=step.parent or "projects/p",
            max_stream_count=step.max_stream_count,
            preferred_min_stream_count=step.preferred_min_stream_count,
        )
        request.read_session.table = (step.table or TABLE).format(project="p", dataset="d", table="t")
        request.read_session.data_format = proto.DATA_FORMAT[step.data_format]
        request.read_session.trace_id = step.trace_id
        if step.snapshot:
            request.read_session.table_modifiers.snapshot_time.FromMicroseconds(NOW - 1)
        if not step.omit_options:
            options = request.read_session.read_options
            options.SetInParent()
            options.selected_fields.extend(step.selected_fields)
            options.row_restriction = step.row_restriction
            if step.buffer_compression:
                codec = proto.COMPRESSION[step.buffer_compression]
                options.arrow_serialization_options.buffer_compression = codec
            if step.response_compression:
                options.response_compression_codec = proto.RESPONSE_COMPRESSION[step.response_compression]
            if step.sample_percentage is not None:
                options.sample_percentage = step.sample_percentage
        answer = Answer(index, step.label, "CreateReadSession", request)
        self.answers.append(answer)
        if "OK" not in step.expect.codes:
            answer.refuse(step.expect.codes[0], f"refused: {request.read_session}")
            return
        self._sessions[step.label] = answer
        self._open(answer, step)

    def _open(self, answer: Answer, step: CreateSession) -> None:
        """Fill in the session of an answer, and remember the rows of its streams."""
        then = columns_before_each(self.case.table.columns, self.case.steps)[answer.step]
        columns = expected_columns(then, step.selected_fields)
        assert columns is not None
        view = view_of(self.case, self.freeze(self.answers), self.table)
        rows = expected_rows(view, SessionView(view, len(self.answers) - 1, view.exchange.calls[-1]))
        table = project(self.table.take(pa.array(list(rows), pa.int64())), columns)
        session = proto.ReadSession()
        session.CopyFrom(answer.request.read_session)
        session.name = f"{answer.request.parent}/locations/us/sessions/s{next(self._names)}"
        session.expire_time.FromMicroseconds(NOW + 6 * 3600 * 1_000_000)
        session.estimated_row_count = table.num_rows
        if step.data_format == "AVRO":
            session.avro_schema.schema = AvroWriter(columns).schema
        else:
            session.arrow_schema.serialized_schema = mapping.arrow_schema(columns).serialize().to_pybytes()
        count = min(step.max_stream_count or self._limit, self._limit, table.num_rows)
        cuts = [table.num_rows * index // max(count, 1) for index in range(count + 1)]
        for number, (start, end) in enumerate(itertools.pairwise(cuts)):
            name = f"{session.name}/streams/{number}"
            session.streams.add(name=name)
            self._rows[name] = table.slice(start, end - start)
            self._owners[name] = answer
        answer.responses = [session]

    def _read(self, index: int, step: ReadRows) -> None:
        for label, name in self._named(step):
            rows = self._rows.get(name, self.table.slice(0, 0))
            offset = self._offset(step.offset, rows.num_rows)
            if offset is None:
                continue
            for _ in range(step.times):
                request = proto.ReadRowsRequest(read_stream=name, offset=offset)
                answer = Answer(index, label, "ReadRows", request)
                self.answers.append(answer)
                if "OK" not in step.expect.codes:
                    answer.refuse(step.expect.codes[0], f"refused: {name} at {offset}")
                    continue
                asked = self._owners[name].request.read_session
                owner = asked.read_options
                answer.coding = {
                    "avro": AvroWriter(self.case.table.columns) if asked.data_format == AVRO.number else None,
                    "buffers": ("", "LZ4_FRAME", "ZSTD")[owner.arrow_serialization_options.buffer_compression],
                    "payload": "LZ4" if owner.response_compression_codec else "",
                }
                answer.send(rows.slice(offset), response_rows=self._response_rows)
                if step.take is not None and len(answer.responses) > step.take:
                    answer.responses = answer.responses[: step.take]
                    answer.break_off(CallEnd.CANCELLED)

    def _named(self, step: ReadRows | SplitStream) -> list[tuple[str, str]]:
        if step.name:
            own = self._sessions[step.session].responses[0].name if step.session in self._sessions else ""
            return [(step.name, step.name.replace("{session}", own).replace("{project}", "p"))]
        if "." in step.stream:
            return [(step.stream, self._children[step.stream])] if step.stream in self._children else []
        session = self._sessions.get(step.session)
        names = [stream.name for stream in session.responses[0].streams] if session else []
        return [(f"{step.session}/{n}", name) for n, name in enumerate(names) if step.stream in ("*", str(n))]

    def _offset(self, offset: str, rows: int) -> int | None:
        if offset.lstrip("-").isdecimal():
            return int(offset)
        first = min(self._response_rows, rows)
        places = {
            "inside": first // 2 if first > 1 else None,
            "boundary": self._response_rows if rows > self._response_rows else None,
            "last": rows - 1 if rows else None,
            "end": rows,
            "end+1": rows + 1,
            "end+100": rows + 100,
        }
        return places[offset]

    def _split(self, index: int, step: SplitStream) -> None:
        for label, name in self._named(step)[:1]:
            request = proto.SplitReadStreamRequest(name=name, fraction=step.fraction)
            answer = Answer(index, label, "SplitReadStream", request, [proto.SplitReadStreamResponse()])
            self.answers.append(answer)
            if "OK" not in step.expect.codes:
                answer.refuse(step.expect.codes[0], f"refused: {name}")
                continue
            rows = self._rows[name]
            if rows.num_rows < 2:
                continue
            half = rows.num_rows // 2
            for place, part in (("primary", rows.slice(0, half)), ("remainder", rows.slice(half))):
                child = f"{name.rpartition('/')[0]}/x{next(self._names)}"
                getattr(answer.responses[0], f"{place}_stream").name = child
                self._rows[child], self._owners[child] = part, self._owners[name]
                self._children[f"{step.label}.{place}"] = child


def verdicts(case: Case, spoil: Spoil | None = None, *, streams: int = 1, response_rows: int = 4) -> list[Verdict]:
    """The verdicts on an obedient server's answers to ``case``, changed by ``spoil``."""
    server = Obedient(case, streams=streams, response_rows=response_rows)
    answers = server.run()
    if spoil is not None:
        spoil(answers)
    return judge(case, server.freeze(answers), server.table, clauses=call_clauses())


ROOT: Final = Path(__file__).resolve().parents[2]

CHAPTERS: Final = frozenset(
    {"abandon", "avro", "avro-rows", "avro-schema", "calls", "columns", "compression", "encoding", "errors",
     "history", "offsets", "projection", "responses", "restriction", "rows", "sample", "session", "snapshot", "split"}
)  # fmt: skip
"""The modules of the chapters on calls; the others are on bytes."""


def call_clauses() -> list[Clause]:
    """Every clause of the chapters on calls."""
    load_chapters()
    return [clause for clause in CLAUSES.values() if clause.chapter in CHAPTERS]


def deviations() -> list[Deviation]:
    """Every deviation of the test modules on those chapters."""
    folders = ("tests/contract", "tests/protocols/storage_read/chapters")
    modules = [chapter.replace("-", "_") for chapter in sorted(CHAPTERS)]
    files = (ROOT / folder / f"test_{module}.py" for module in modules for folder in folders)
    names = (".".join(file.relative_to(ROOT).with_suffix("").parts) for file in files if file.exists())
    return [deviation for name in names for deviation in importlib.import_module(name).DEVIATIONS]


def without_deviation() -> list[str]:
    """The mutants that are made for clauses on calls of which no deviation here is one."""
    left = {clause.id for clause in call_clauses()} - {deviation.clause for deviation in deviations()}
    return [name for name, mutant in MUTANTS.items() if left.intersection(mutant.kills)]


def failed(found: Sequence[Verdict]) -> set[str]:
    """The ids of the clauses that failed."""
    return {verdict.clause for verdict in found if verdict.outcome is Outcome.FAIL}


def passed(found: Sequence[Verdict]) -> set[str]:
    """The ids of the clauses that passed."""
    return {verdict.clause for verdict in found if verdict.outcome is Outcome.PASS}


# --- deviations -----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Deviation:
    """One fault: ``spoil`` changes a correct answer to ``case``, and ``clause`` must fail.

    ``others`` are the clauses that rightly fail with it; no other may.
    """

    clause: str
    case: Case
    spoil: Spoil
    others: tuple[str, ...] = ()
    streams: int = 1
    response_rows: int = 4

    def __str__(self) -> str:
        return f"{self.clause}-{getattr(self.spoil, '__name__', 'x').strip('<>')}"


def prove(deviation: Deviation) -> None:
    """Assert that the obedient answers pass, and that the spoilt ones fail for the declared clauses alone."""
    layout = {"streams": deviation.streams, "response_rows": deviation.response_rows}

    well_behaved = verdicts(deviation.case, **layout)
    spoilt = verdicts(deviation.case, deviation.spoil, **layout)

    assert failed(well_behaved) == set()
    assert deviation.clause in passed(well_behaved) or not any(v.clause == deviation.clause for v in well_behaved)
    assert failed(spoilt) == {deviation.clause, *deviation.others}


def calls_of(answers: Sequence[Answer], method: str) -> list[Answer]:
    """The answers of one method, in order."""
    return [answer for answer in answers if answer.method == method]


def create(answers: Sequence[Answer], index: int = 0) -> Answer:
    """The answer to a CreateReadSession call."""
    return calls_of(answers, "CreateReadSession")[index]


def session(answers: Sequence[Answer], index: int = 0) -> Any:
    """The ReadSession message of a session."""
    return create(answers, index).responses[0]


def read(answers: Sequence[Answer], index: int = 0) -> Answer:
    """The answer to a ReadRows call."""
    return calls_of(answers, "ReadRows")[index]


def split(answers: Sequence[Answer], index: int = 0) -> Answer:
    """The answer to a SplitReadStream call."""
    return calls_of(answers, "SplitReadStream")[index]


# --- cases ----------------------------------------------------------------------------------------

COLUMNS: Final = (
    Column("id", BqType.INT64),
    Column("name", BqType.STRING),
    Column("city", BqType.STRING),
    Column("note", BqType.RECORD, fields=(Column("kind", BqType.STRING), Column("size", BqType.INT64))),
)
ROWS: Final = tuple(
    Json({"id": n, "name": f"name {n}", "city": None if n % 3 == 0 else f"city {n}", "note": {"kind": "k", "size": -n}})
    for n in range(10)
)
TEN_ROWS: Final = Table(COLUMNS, ROWS)


def case_of(*steps: Step, table: Table = TEN_ROWS, **fields: Any) -> Case:
    """A case over a table of ten rows, unless another is given."""
    return Case("by-hand", "a case made by hand", table, steps=steps, **fields)


def empty_table() -> Table:
    """The same columns without rows."""
    return Table(COLUMNS, ())
