"""Legal variations of the reference service: real servers differ from it in them, and none is wrong.

A clause that calls one of these a fault raises a false alarm; ``conformance prove`` puts every case to each. Each names
the text that permits it. Variations of bytes are in :mod:`conformance.reference.variations`.
"""

from __future__ import annotations

import base64
import bisect
import dataclasses
import itertools
import json
import re
import threading
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn

import grpc
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from conformance._protobuftables import WireType
from conformance.contract import proto
from conformance.contract.rpcstatus import TRAILER, retry_status
from conformance.contract.sources import (
    ARROW_PROTO,
    AVRO_SPEC,
    DISCOVERY,
    MISSING_TABLE,
    PROTOBUF,
    PYTHON_QUERIES,
    STORAGE_PROTO,
    STREAM_PROTO,
)
from conformance.protocols.storage_read.reference import restriction
from conformance.protocols.storage_read.reference.avroservices import WritesCells, sized_block
from conformance.protocols.storage_read.reference.catalogue import Catalogue, Snapshot, TableId
from conformance.protocols.storage_read.reference.queries import QueryRefusedError, RunOfQuery
from conformance.protocols.storage_read.reference.service import DEFAULT_STREAMS, MAX_STREAMS, ReadService
from conformance.protocols.storage_read.reference.session import OpenedSession, Stream
from conformance.protocols.storage_read.reference.sql import NODES, Interpreter, SqlError, Value
from conformance.protocols.storage_read.reference.zigzag import zigzag
from conformance.records import BqType, Column, Mode
from conformance.reference.freedom import ServiceVariation, registering
from conformance.reference.statuses import REFUSALS, Reason, Refusal
from conformance.wire.protobuf import read_protobuf

__all__ = ["SERVICE_VARIATIONS"]

_REGISTER: dict[str, ServiceVariation[ReadService]] = {}

SERVICE_VARIATIONS: Final[Mapping[str, ServiceVariation[ReadService]]] = MappingProxyType(_REGISTER)
"""Every legal variation of the service by name."""

_variation: Final = registering(_REGISTER)

_RETRY_INFO: Final = "https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto"
_RETRIED: Final = (
    "https://github.com/googleapis/googleapis/blob/master/"
    "google/cloud/bigquery/storage/v1/bigquerystorage_grpc_service_config.json"
)
_STATUS: Final = "https://github.com/googleapis/googleapis/blob/master/google/rpc/status.proto"
_EMPTY_STREAMS: Final = "https://github.com/googleapis/python-bigquery-storage/issues/733"


@_variation("streams.empty-first", _EMPTY_STREAMS)
class EmptyFirst(ReadService):
    """The first stream of a session has no row, if the client permits several; so has the one of an empty table."""

    def plan_streams(self, snapshot: Snapshot, request: Any) -> list[tuple[int, int]]:
        runs = super().plan_streams(snapshot, request)
        most = request.max_stream_count
        if most == 1 and runs:
            return runs
        if most == len(runs) > 1:
            runs[:2] = [(runs[0][0], runs[1][1])]
        return [(0, 0), *runs]


@_variation("streams.exactly-the-maximum", STORAGE_PROTO)
class ExactlyTheMaximum(ReadService):
    """A session has as many streams as the client permits, however few rows there are; four without a maximum."""

    def plan_streams(self, snapshot: Snapshot, request: Any) -> list[tuple[int, int]]:
        rows, count = snapshot.rows.num_rows, min(request.max_stream_count or DEFAULT_STREAMS, MAX_STREAMS)
        edges = [rows * index // count for index in range(count + 1)]
        outside = self.is_outside_sample(request.read_session.read_options)
        return [(0, 0)] * count if outside else list(itertools.pairwise(edges))


@dataclasses.dataclass(frozen=True, slots=True)
class _TableRun(Stream):
    """A stream that knows how many rows of the table it stands for, and the places of its own rows among them."""

    places: tuple[int, ...]
    length: int


@_variation("split.before-the-restriction", STORAGE_PROTO)
class SplitBeforeTheRestriction(ReadService):
    """A split divides the rows of the table, whichever of them the restriction keeps: a child may have no row, and
    splitting ends where a single row of the table is left.
    """

    def open_stream(self, session: OpenedSession, mask: pa.BooleanArray | None, start: int, stop: int) -> Stream:
        plain = super().open_stream(session, mask, start, stop)
        run = range(stop - start)
        kept = run if mask is None else pc.indices_nonzero(mask.slice(start, len(run))).to_pylist()
        return _TableRun(plain.name, session, plain.rows, tuple(kept), len(run))

    def split_read_stream(self, request: Any) -> Any:
        stream = self.find_stream(request.name)
        assert isinstance(stream, _TableRun)
        if not 0.0 < request.fraction < 1.0:
            self.refuse(Reason.BAD_FRACTION, stream=stream.name, fraction=request.fraction)
        if stream.length <= 1:
            return proto.SplitReadStreamResponse()
        at = min(max(round(stream.length * request.fraction), 1), stream.length - 1)
        count, session, places = bisect.bisect_left(stream.places, at), stream.session, stream.places
        names = [self.name_stream(session.name) for _ in range(2)]
        left = _TableRun(names[0], session, stream.rows.slice(0, count), places[:count], at)
        later = tuple(place - at for place in places[count:])
        right = _TableRun(names[1], session, stream.rows.slice(count), later, stream.length - at)
        self.sessions.add([left, right])
        primary, remainder = (proto.ReadStream(name=child.name) for child in (left, right))
        return proto.SplitReadStreamResponse(primary_stream=primary, remainder_stream=remainder)


@_variation("errors.other-words", _STATUS)
class OtherWords(ReadService):
    """Refusals are worded otherwise than those of the service, and name what the client named."""

    def refuse(self, reason: Reason, **facts: object) -> NoReturn:
        code, _ = REFUSALS[reason]
        raise Refusal(code, " · ".join(("no", *map(str, facts.values()))))


@_variation("errors.missing-dataset-named", MISSING_TABLE)
class MissingDatasetNamed(ReadService):
    """The refusal of a table in a dataset that does not exist names the dataset alone."""

    def refuse(self, reason: Reason, **facts: object) -> NoReturn:
        table = facts.get("table")
        if isinstance(table, TableId) and not self.catalogue.has_dataset(table.project, table.dataset):
            raise Refusal(REFUSALS[reason][0], f"Not found: Dataset {table.project}:{table.dataset}")
        super().refuse(reason, **facts)


class _Busy(ReadService):
    """A service that reads ``most`` streams at once."""

    most: int

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self._free = threading.Semaphore(self.most)

    def read_rows(self, request: Any) -> Iterator[Any]:
        if not self._free.acquire(blocking=False):
            said = "too many reads at once"
            code = grpc.StatusCode.RESOURCE_EXHAUSTED
            raise Refusal(code, said, trailers=((TRAILER, retry_status(code.value[0], said, retry=0.02)),))
        try:
            yield from super().read_rows(request)
        finally:
            self._free.release()


@_variation("reads.ten-at-once", _RETRY_INFO)
class TenAtOnce(_Busy):
    """Ten reads are served at once; a further one is refused, with the delay after which to try again."""

    most = 10


@_variation("reads.two-at-once", _RETRY_INFO)
class TwoAtOnce(_Busy):
    """Two reads are served at once; a further one is refused, with the delay after which to try again."""

    most = 2


@_variation("calls.one-in-five-unavailable", _RETRIED)
class OneInFiveUnavailable(ReadService):
    """Of the sessions and reads every fifth call ends in UNAVAILABLE, which clients try again."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self._calls = itertools.count(1)

    def create_read_session(self, request: Any) -> Any:
        self._perhaps()
        return super().create_read_session(request)

    def read_rows(self, request: Any) -> Iterator[Any]:
        self._perhaps()
        yield from super().read_rows(request)

    def _perhaps(self) -> None:
        if next(self._calls) % 5 == 0:
            raise Refusal(grpc.StatusCode.UNAVAILABLE, "the service is currently unavailable")


def _no_record(interpreter: Interpreter, node: exp.Expression) -> Value:
    if interpreter.value(node.this).type is BqType.RECORD:
        raise SqlError("expected no record before IS NULL")
    return NODES[exp.Is](interpreter, node)


@_variation(
    "restriction.record-is-null-refused", "https://github.com/GoogleCloudDataproc/spark-bigquery-connector/issues/197"
)
class RecordIsNullRefused(ReadService):
    """Whether a record is NULL cannot be asked."""

    def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
        try:
            nodes = {**NODES, exp.Is: _no_record}
            return restriction.keep(text, snapshot.columns, snapshot.rows, nodes=nodes) if text else None
        except restriction.RestrictionError:
            self.refuse(Reason.BAD_RESTRICTION, table=snapshot.table, restriction=text)


_FUNCTION: Final = re.compile(r"\b(?!CAST\b)[A-Z_]+\(")


@_variation("restriction.functions-refused", STREAM_PROTO)
class FunctionsRefused(ReadService):
    """Restrictions have operators, casts and literals, and no functions."""

    def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
        if _FUNCTION.search(text):
            self.refuse(Reason.BAD_RESTRICTION, table=snapshot.table, restriction=text)
        return super().restrict(snapshot, text)


@_variation("session.fields-echoed-in-another-order", STREAM_PROTO)
class FieldsEchoedInAnotherOrder(ReadService):
    """The options of a session name the selected fields in another order than the request."""

    def create_read_session(self, request: Any) -> Any:
        answer = super().create_read_session(request)
        if answer.HasField("read_options"):
            answer.read_options.selected_fields.reverse()
        return answer


@_variation("encoding.unusual", PROTOBUF)
class UnusualEncoding(ReadService):
    """The fields of each answer come in the reverse order, with unknown ones before and behind them, and the numbers
    that are 0 are written too.
    """

    def create_read_session(self, request: Any) -> Any:
        return _unusual(super().create_read_session(request))

    def read_rows(self, request: Any) -> Iterator[Any]:
        return map(_unusual, super().read_rows(request))

    def split_read_stream(self, request: Any) -> Any:
        return _unusual(super().split_read_stream(request))


_UNKNOWN: Final = b"\x82\x3e\x03abc"
"""The field 992, a text: no message of the API has so many."""


def _unusual(answer: Any) -> bytes:
    data = answer.SerializeToString()
    spec = proto.SPECS[answer.DESCRIPTOR.name]
    reading = read_protobuf(data, spec)
    fields = sorted(reading.message.fields, key=lambda field: -field.number)  # items of a list stay in their order
    absent = [one for one in spec.fields.values() if one.implicit and one.wire_type is WireType.VARINT]
    zeros = b"".join(bytes([one.number << 3, 0]) for one in absent if not reading.message.has(one.name))
    return b"".join((_UNKNOWN, *(data[field.start : field.end] for field in fields), zeros, _UNKNOWN))


@_variation("query-results.no-empty-batch", DISCOVERY)
class NoEmptyBatch(ReadService):
    """A page without rows has a schema and no batch."""

    def has_empty_batch(self) -> bool:
        return False


@_variation("query-results.total-unknown", PYTHON_QUERIES)
class TotalUnknown(ReadService):
    """totalRows is 0, as for cached results that are too large for an answer."""

    def total_rows(self, asked: RunOfQuery) -> str:  # noqa: ARG002  # the shape of a step
        return "0"


@_variation("query-results.one-row-a-page", DISCOVERY)
class OneRowPage(ReadService):
    """A page has one row."""

    def page_rows(self, asked: RunOfQuery) -> int:  # noqa: ARG002  # as above
        return 1


@_variation("query-results.every-row-in-the-page", DISCOVERY)
class EveryRowInPage(ReadService):
    """A page has every row that the request permits."""

    def page_rows(self, asked: RunOfQuery) -> int:
        most = asked.body.get("maxResults")
        return int(min(int(most), asked.rows.num_rows) if most else asked.rows.num_rows)


@_variation("query-results.job-always-named", DISCOVERY)
class JobAlwaysNamed(ReadService):
    """An answer names its job although the job is optional and no row remains."""

    def arrow_answer(self, project: str, asked: RunOfQuery) -> dict[str, Any]:
        return super().arrow_answer(project, asked) | self.reference(project, asked.job)


@_variation("query-results.times-stay-in-micros", ARROW_PROTO)
class TimesStayInMicros(ReadService):
    """The form of times is that of columns with 12 digits alone, which no table here has."""

    def schema_in_form(self, asked: RunOfQuery, form: int) -> pa.Schema:  # noqa: ARG002  # as above
        return super().schema_in_form(asked, 0)

    def in_form(self, batch: pa.RecordBatch, form: int) -> pa.RecordBatch:  # noqa: ARG002  # as above
        return batch


@_variation("query-results.dry-run-has-a-schema", DISCOVERY)
class DryRunHasSchema(ReadService):
    """The answer to a query that is not run has the columns that it would have."""

    def dry_answer(self, project: str) -> dict[str, Any]:
        batch = pa.RecordBatch.from_pydict({"row_id": pa.array([], pa.int64())})
        parts = self.encode_schema(batch.schema), self.encode_batch(batch, "")
        schema, rows = (base64.b64encode(part).decode() for part in parts)
        more = {"arrowSchema": {"serializedSchema": schema}, "arrowRecordBatch": {"serializedRecordBatch": rows}}
        return super().dry_answer(project) | more


@_variation("query-results.still-running", DISCOVERY)
class StillRunning(ReadService):
    """The time that jobs.query may take passes before a query is done: the answer names its job, and has no rows."""

    def arrow_answer(self, project: str, asked: RunOfQuery) -> dict[str, Any]:
        return {"kind": "bigquery#queryResponse", "jobComplete": False} | self.reference(project, asked.job)

    def plain_answer(self, project: str, asked: RunOfQuery) -> dict[str, Any]:
        return self.arrow_answer(project, asked)


# --- Avro -----------------------------------------------------------------------------------------


@_variation("query-results.ends-in-no-time", DISCOVERY)
class EndsInNoTime(ReadService):
    """A query has ended even for a client that does not wait."""

    def running_answer(self, project: str, asked: RunOfQuery) -> dict[str, Any]:
        return self.answer_in_form(project, asked)


@_variation("query-results.runs-for-two-listings", DISCOVERY)
class RunsForTwoListings(ReadService):
    """A query whose client does not wait runs, and has no stream, until jobs.getQueryResults has been asked twice."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self.left: dict[str, int] = {}

    def running_answer(self, project: str, asked: RunOfQuery) -> dict[str, Any]:
        self.left[asked.job] = 2
        return super().running_answer(project, asked)

    def listing(self, project: str, asked: RunOfQuery, start: int, most: int) -> dict[str, Any]:
        if not self.left.get(asked.job):
            return super().listing(project, asked, start, most)
        self.left[asked.job] -= 1
        return super().running_answer(project, asked)

    def open_result(self, asked: RunOfQuery, request: Any) -> Stream:
        if self.left.get(asked.job):
            self.refuse(Reason.UNKNOWN_STREAM, stream=request.read_stream)
        return super().open_result(asked, request)


@_variation("query-results.repetition-has-the-answer", DISCOVERY)
class RepetitionHasAnswer(ReadService):
    """A query that a client sends again, with the same id and content, has the answer of the first time."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self.answers: dict[str, dict[str, Any]] = {}

    def run_query(self, project: str, body: dict[str, Any]) -> dict[str, Any]:
        if not body.get("requestId"):
            return super().run_query(project, body)
        key = json.dumps(body, sort_keys=True)
        if key not in self.answers:
            self.answers[key] = super().run_query(project, body)
        return self.answers[key]


@_variation("query-results.one-row-a-listing", DISCOVERY)
class OneRowListing(ReadService):
    """jobs.getQueryResults lists one row at a time, and a listing for no rows has no page token."""

    def listing(self, project: str, asked: RunOfQuery, start: int, most: int) -> dict[str, Any]:
        answer = super().listing(project, asked, start, min(most, 1))
        if not most:
            answer.pop("pageToken", None)
        return answer


@_variation("query-results.token-is-a-mere-sign", DISCOVERY)
class TokenIsMereSign(ReadService):
    """The page token of a page in Arrow says that rows remain, and jobs.getQueryResults refuses it."""

    def behind_page(self, asked: RunOfQuery) -> int:  # noqa: ARG002  # the shape of a step
        raise QueryRefusedError("Invalid page token: it is none of a listing")


@_variation("query-results.error-comes-at-once", DISCOVERY)
class ErrorComesAtOnce(ReadService):
    """A query that fails ends in an error, also for a client that does not wait."""

    def fails_late(self, body: dict[str, Any]) -> bool:  # noqa: ARG002  # the shape of a step
        return False


@_variation("avro.schema-is-spaced", AVRO_SPEC)
class SchemaIsSpaced(ReadService):
    """The Avro schema has line ends, another order of keys, and a text for whoever reads it."""

    def put_schema(self, answer: Any, session: OpenedSession) -> None:
        super().put_schema(answer, session)
        if session.avro is not None:
            tree = json.loads(answer.avro_schema.schema) | {"doc": "The rows of a table."}
            answer.avro_schema.schema = json.dumps(tree, indent=2, sort_keys=True)


@_variation("avro.records-have-other-names", AVRO_SPEC)
class RecordsHaveOtherNames(ReadService):
    """The records of nested columns are named by other numbers, in a namespace."""

    def put_schema(self, answer: Any, session: OpenedSession) -> None:
        super().put_schema(answer, session)
        if session.avro is not None:
            answer.avro_schema.schema = answer.avro_schema.schema.replace('"name":"__s_', '"name":"nested.part_')


@_variation("avro.blocks-have-sizes", AVRO_SPEC)
class BlocksHaveSizes(WritesCells):
    """An array is a block whose negative count is followed by its size in bytes."""

    def cell(self, column: Column, value: Any, right: bytes) -> bytes:
        return sized_block(column, value, right)


@_variation("avro.decimals-are-short", AVRO_SPEC)
class DecimalsAreShort(WritesCells):
    """A NUMERIC has no more bytes than its value needs."""

    def cell(self, column: Column, value: Any, right: bytes) -> bytes:
        if column.type is not BqType.NUMERIC or column.mode is Mode.REPEATED or value is None:
            return right
        number = int.from_bytes(value, "big", signed=True)
        short = number.to_bytes((number.bit_length() + 8) // 8, "big", signed=True)
        return right[: len(right) - len(value) - 1] + zigzag(len(short)) + short
