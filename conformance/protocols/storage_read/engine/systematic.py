"""Judge systematic mutation: a clause rejects each single-field change, or a written reason permits it.

The messages are those of one small table with every BigQuery type, and of one complete conversation with the reference
server. A change that no clause rejects must be listed in :data:`PERMITTED` with the text that permits it; any other is
a *survivor* and fails the proof.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from conformance.contract import proto
from conformance.contract.clause import PROFILES, Clause
from conformance.contract.judge import Judge
from conformance.contract.viewing import view_of
from conformance.engine.fates import Fate, Permission
from conformance.engine.proof import Tried
from conformance.generate import materialise
from conformance.protocol import plugin
from conformance.protocols.storage_read.reference.edits import Edit, edit_protobuf, edit_tree
from conformance.records import (
    BqType,
    Call,
    Case,
    Column,
    CreateSession,
    Exchange,
    Mode,
    NullPattern,
    Outcome,
    ReadRows,
    Recipe,
    SplitStream,
    Table,
    ValueProfile,
)
from conformance.reference.message import DraftMessage, batch_message, frame, schema_message
from conformance.reference.plugin import ReferencePlugin
from conformance.targets import open_target

__all__ = ["PERMITTED", "conversations", "fates", "subject"]

_FIELDS: Final = (
    Column("text", BqType.STRING),
    Column("at", BqType.TIMESTAMP, Mode.REQUIRED),
    Column("many", BqType.INT64, Mode.REPEATED),
)


def subject() -> Case:
    """The case whose messages are changed: every type once per mode in five rows, half of the nullable values null."""
    columns = [
        Column("row_id", BqType.INT64, Mode.REQUIRED),
        *(
            Column(
                f"{kind.lower()}_{mode.lower()}",
                kind,
                mode,
                _FIELDS if kind is BqType.RECORD else (),
                range_of=BqType.DATE if kind is BqType.RANGE else None,
            )
            for kind in BqType
            for mode in Mode
        ),
    ]
    recipe = Recipe(rows=5, seed=7, nulls=NullPattern.ALTERNATE, values=ValueProfile.RANDOM)
    return Case("proof.systematic", "every type and mode in five rows", Table(tuple(columns), recipe=recipe))


def fates(clauses: Iterable[Clause], take: tuple[int, int]) -> Iterator[Fate]:
    """The fate of each change of a field in the subject's two messages and in every message of a conversation with the
    reference; ``take`` is (first, step) and selects the changes to make.
    """
    judging = Judge(one for one in clauses if PROFILES[0] in one.profiles)
    trials = itertools.chain(_message_trials(), *(_call_trials(tried, exchange) for tried, exchange in conversations()))
    for trial in itertools.islice(trials, take[0], None, take[1]):
        yield _fate(trial, judging)


@dataclasses.dataclass(frozen=True, slots=True)
class _Trial:
    """One change, and a function that makes the exchange with it: each process skips most changes."""

    edit: Edit
    tried: Tried
    exchange: Callable[[], Exchange]


def conversations() -> list[tuple[Tried, Exchange]]:
    """A case that makes every kind of call, with the answers of the reference server."""
    columns = (
        Column("row_id", BqType.INT64, Mode.REQUIRED),
        Column("name", BqType.STRING),
        Column("at", BqType.TIMESTAMP),
    )
    steps = (
        CreateSession(trace_id="trace", max_stream_count=2, selected_fields=("row_id", "name")),
        ReadRows(),
        ReadRows(stream="0", offset="inside"),
        SplitStream(stream="0"),
        ReadRows(stream="x.primary"),
        ReadRows(stream="x.remainder"),
    )
    recipe = Recipe(rows=20, seed=7, nulls=NullPattern.SOME, values=ValueProfile.RANDOM)
    case = Case("proof.conversation", "a whole conversation", Table(columns, recipe=recipe), steps=steps)
    tried = Tried(case, materialise(case.table))
    with plugin(ReferencePlugin, case.protocol).listening(None) as spec, open_target(spec) as target:
        return [(tried, target.drive(case, tried.table))]


def _fate(trial: _Trial, judging: Judge) -> Fate:
    edit, tried = trial.edit, trial.tried
    verdicts = judging(view_of(tried.case, trial.exchange(), tried.table)).others
    rejected = tuple(verdict.clause for verdict in verdicts if verdict.outcome is Outcome.FAIL)
    errors = tuple(f"{verdict.clause}: {verdict.reason}" for verdict in verdicts if verdict.outcome is Outcome.ERROR)
    permission = None if rejected else next((it for it in PERMITTED if it.covers(edit.path, edit.change)), None)
    return Fate(edit.path, edit.change, rejected, permission, errors)


def _message_trials() -> Iterator[_Trial]:
    case = subject()
    tried = Tried(case, materialise(case.table))
    batch = tried.table.combine_chunks().to_batches()[0]
    schema, rows = schema_message(batch.schema), batch_message(batch)
    schema_bytes, rows_bytes = schema.encode(), rows.encode()
    for edit, data in _edited(schema, "Schema"):
        yield _Trial(edit, tried, lambda data=data: _exchange(case, data(), rows_bytes))  # type: ignore[misc]
    for edit, data in _edited(rows, "RecordBatch"):
        yield _Trial(edit, tried, lambda data=data: _exchange(case, schema_bytes, data()))  # type: ignore[misc]


def _edited(message: DraftMessage, name: str) -> Iterator[tuple[Edit, Callable[[], bytes]]]:
    tree, body = message.complete()
    for edit in edit_tree("Message", tree, name):
        yield edit, functools.partial(frame, edit.result, body)


def _exchange(case: Case, schema: bytes, batch: bytes) -> Exchange:
    calls = (
        Call(0, "schema", "SerializeSchema", b"", (schema,)),
        Call(1, "batch/0", "SerializeBatch", b"", (batch,)),
    )
    return Exchange(case.id, "systematic", calls=calls)


def _call_trials(tried: Tried, exchange: Exchange) -> Iterator[_Trial]:
    for number, call in enumerate(exchange.calls):
        for place, data in enumerate(call.responses):
            for edit in edit_protobuf(proto.RESPONSES[call.method].FromString(data)):
                yield _Trial(edit, tried, functools.partial(_replaced, exchange, number, place, edit.result))


def _replaced(exchange: Exchange, number: int, place: int, data: bytes) -> Exchange:
    """The exchange with one response's bytes replaced."""
    call = exchange.calls[number]
    responses = (*call.responses[:place], data, *call.responses[place + 1 :])
    calls = (*exchange.calls[:number], dataclasses.replace(call, responses=responses), *exchange.calls[number + 1 :])
    return dataclasses.replace(exchange, calls=calls)


_SCHEMA_FBS: Final = "https://github.com/apache/arrow/blob/main/format/Schema.fbs"
_COLUMNAR: Final = "https://arrow.apache.org/docs/format/Columnar.html"
_STREAM_PROTO: Final = "google/cloud/bigquery/storage/v1/stream.proto"
_STORAGE_PROTO: Final = "google/cloud/bigquery/storage/v1/storage.proto"

_OPEN_PROTO: Final = (
    ("ReadRowsResponse.stats*", "absent", "progress need not be reported", _STORAGE_PROTO),
    ("ReadRowsResponse.stats.progress.*", "zero", "progress is rough; it may stay the same", _STORAGE_PROTO),
    (
        "ReadRowsResponse.total_estimated_row_count",
        "*",
        "an estimate of job streams, not yet available",
        _STORAGE_PROTO,
    ),
    (
        "ReadRowsResponse.arrow_record_batch.row_count",
        "+1",
        "the deprecated count is 0 or correct; for a batch of one row the change turns one into the other",
        "google/cloud/bigquery/storage/v1/arrow.proto",
    ),
    ("ReadRowsResponse.throttle_state", "absent", "a server need not report that it does not throttle", _STORAGE_PROTO),
    ("ReadRowsResponse.throttle_state.throttle_percent", "+1", "any percentage is one", _STORAGE_PROTO),
    ("ReadRowsResponse.arrow_schema", "absent", "a resumed call need not repeat the schema", _STORAGE_PROTO),
    ("ReadSession.streams<*>.name", "longer", "ids are opaque", _STREAM_PROTO),
    ("ReadSession.streams", "first two exchanged", "streams have no order", _STREAM_PROTO),
    (
        "ReadSession.read_options.selected_fields",
        "first two exchanged",
        "the order of the output is unrelated to the order of the selected fields",
        _STREAM_PROTO,
    ),
    ("ReadSession.read_options", "absent", "the requested options are returned unchanged or not at all", _STREAM_PROTO),
    ("ReadSession.expire_time.*", "[+-]1", "a lifetime is six hours, give or take", _STREAM_PROTO),
    ("ReadSession.expire_time.nanos", "absent", "a lifetime is six hours, give or take", _STREAM_PROTO),
    ("ReadSession.expire_time.nanos", "zero", "a lifetime is six hours, give or take", _STREAM_PROTO),
    ("ReadSession.estimated_*", "*", "an estimate from metadata may be stale; it may not be negative", _STREAM_PROTO),
    ("SplitReadStreamResponse.*.name", "longer", "ids are opaque", _STORAGE_PROTO),
)

_REQUIRED_RANGE: Final = [column.name for column in subject().table.columns].index("range_required")

PERMITTED: Final[tuple[Permission, ...]] = (
    Permission(
        f"Schema.header.fields<{_REQUIRED_RANGE}>.children<?>.nullable",
        "*",
        "no public text says whether the bounds of a REQUIRED range are nullable",
        "https://github.com/abdolence/bigquery-rs/blob/master/docs/src/types.md",
    ),
    Permission(
        "RecordBatch.header.nodes<*>.length",
        "+1",
        "the child of a list may have more values than its lists refer to, if its buffers have space for them",
        f"{_COLUMNAR}#variable-size-list-layout",
    ),
    Permission(
        "RecordBatch.header.buffers<*>.offset",
        "* of nothing",
        "a buffer without bytes may have any offset",
        f"{_COLUMNAR}#recordbatch-message",
    ),
    Permission(
        "RecordBatch.header.buffers<*>.length",
        "+1",
        "a buffer's length may include padding, if padding follows the buffer",
        f"{_COLUMNAR}#recordbatch-message",
    ),
    Permission("Schema.*.children", "absent", "a field without children need not have a vector of them", _SCHEMA_FBS),
    Permission(
        "Schema.*.custom_metadata",
        "last doubled",
        "the format does not forbid a key to repeat",
        f"{_COLUMNAR}#custom-application-metadata",
    ),
    Permission(
        "Schema.*.custom_metadata",
        "first two exchanged",
        "key-value pairs have no order",
        f"{_COLUMNAR}#custom-application-metadata",
    ),
    *(Permission(*row) for row in _OPEN_PROTO),
)
"""Changes that no clause may reject, because nothing forbids them."""
