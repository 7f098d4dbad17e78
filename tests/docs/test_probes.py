"""Each probe of ``docs/probes.md`` is really produced: shown on the rows of its cases or on the reference's bytes.

The module is a little long because each probe of the list has its few lines here, in the order of the list.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.types as is_
import pytest

from conformance.contract import proto
from conformance.disk.files import data_file
from conformance.engine.corpus import load_corpus
from conformance.generate import materialise
from conformance.protocols.storage_read.reference.server import ReferenceServer
from conformance.records import Case, CreateSession, Exchange
from conformance.reference.message import batch_message
from conformance.reference.samples import samples
from conformance.reference.serializer import REFERENCE
from conformance.reference.variations import VARIATIONS
from conformance.targets import open_target
from conformance.targets.spec import Endpoint, TargetKind, TargetSpec
from publish.tables.probes import PROBES

Show = Callable[[], bool]
SHOWN: Final[dict[str, Show]] = {}


def shows(name: str) -> Callable[[Show], Show]:
    """Register how the probe of that name is seen."""

    def register(show: Show) -> Show:
        SHOWN[name] = show
        return show

    return register


@pytest.mark.parametrize("name", [probe.name for probe in PROBES if not probe.apart])
def test_the_probe_is_produced(name: str) -> None:
    """The rows, bytes or answers have what the probe is about."""
    assert SHOWN[name]()


# --- where probes are looked for ------------------------------------------------------------------


@functools.cache
def _corpus() -> Mapping[str, Case]:
    return load_corpus(data_file("cases"))


def _case(name: str) -> Case:
    return _corpus()[name]


@functools.cache
def _table(name: str) -> pa.Table:
    return materialise(_case(name).table).combine_chunks()


def _batch(name: str) -> pa.RecordBatch:
    return _table(name).to_batches()[0]


def _arrays(array: pa.Array) -> Iterator[pa.Array]:
    """An array and everything inside it."""
    yield array
    if is_.is_struct(array.type):
        for index in range(array.type.num_fields):
            yield from _arrays(array.field(index))
    elif is_.is_list(array.type):
        yield from _arrays(array.values)


def _every(name: str) -> list[pa.Array]:
    return [array for column in _batch(name).columns for array in _arrays(column)]


def _lengths(name: str) -> list[list[int]]:
    return [np.diff(array.offsets.to_numpy()).tolist() for array in _every(name) if is_.is_list(array.type)]


@pytest.fixture(scope="module", autouse=True)
def reference() -> Iterator[None]:
    """The reference server, to which cases are put once."""
    with ReferenceServer() as server:
        endpoint = Endpoint(grpc=server.grpc_endpoint, rest=f"http://{server.rest_endpoint}")
        with open_target(TargetSpec(name="reference", kind=TargetKind.SERVER, endpoint=endpoint)) as target:
            _TARGET.append(target)
            yield
            _TARGET.clear()


_TARGET: Final[list[Any]] = []


def _exchange(name: str) -> Exchange:
    exchange: Exchange = _TARGET[0].drive(_case(name), _table(name))
    return exchange


def _reads(name: str) -> list[list[Any]]:
    """The responses of each ReadRows call."""
    return [
        [proto.ReadRowsResponse.FromString(data) for data in call.responses]
        for call in _exchange(name).calls
        if call.method == "ReadRows" and call.status == "OK"
    ]


def _streams(name: str) -> int:
    call = next(call for call in _exchange(name).calls if call.method == "CreateReadSession")
    return len(proto.ReadSession.FromString(call.responses[0]).streams)


def _compressed(name: str) -> list[bytes]:
    """The buffers of a case's first batch as the reference compresses them."""
    message = batch_message(_batch(name), codec="LZ4_FRAME")
    buffers, body = message.body()
    return [body[offset : offset + length] for offset, length in buffers]


def _differs(name: str, batch: pa.RecordBatch) -> bool:
    """Whether a variation changes the schema's or the batch's bytes of ``batch``."""
    varied = VARIATIONS[name].serializer
    return (varied.serialize_schema(batch.schema), varied.serialize_batch(batch)) != (
        REFERENCE.serialize_schema(batch.schema),
        REFERENCE.serialize_batch(batch),
    )


# --- rows -----------------------------------------------------------------------------------------


@shows("ragged-arrays")
def ragged() -> bool:
    """Some column has arrays of three lengths or more."""
    return all(any(len(set(each)) >= 3 for each in _lengths(name)) for name in _cases("ragged-arrays"))


def _cases(probe: str) -> tuple[str, ...]:
    return next(each.cases for each in PROBES if each.name == probe)


@shows("nulls-at-each-level")
def nulls() -> bool:
    """A column, a record in it and a field of that record hold NULL."""
    array = next(each for each in _batch("shapes.null-at-each-level").columns if is_.is_struct(each.type))
    levels = 0
    while True:
        levels += array.null_count > 0
        inner = [array.field(index) for index in range(array.type.num_fields)]
        deeper = next((each for each in inner if is_.is_struct(each.type)), None)
        if deeper is None:
            return bool(levels + any(each.null_count for each in inner) >= 3)
        array = deeper


@shows("fields-of-one-type")
def one_type() -> bool:
    """A record has two fields of one type."""
    records = [each.type for each in _every("defects.record-fields-by-name") if is_.is_struct(each.type)]
    return any(len({str(field.type) for field in kind}) < kind.num_fields for kind in records)


@shows("only-empty-arrays")
def empty_arrays() -> bool:
    """A list column of several rows has no item."""
    return any(len(each) > 1 and not any(each) for each in _lengths("shapes.lists-all-empty"))


@shows("zero-columns")
def zero_columns() -> bool:
    """A batch without columns says that it has rows."""
    message = batch_message(pa.RecordBatch.from_struct_array(pa.array([{}] * 3, pa.struct([]))))
    return _table("shapes.no-columns").num_columns == 0 and message.header["length"] == 3 and not message.nodes


@shows("years-1-and-9999")
def years() -> bool:
    """The first and the last year are in one column."""
    dates = _batch("types.date").column("value").cast(pa.int32()).drop_null().to_pylist()
    instants = _batch("types.timestamp").column("value").cast(pa.int64()).drop_null().to_pylist()
    day = 86_400_000_000
    first, last = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31, in days from 1970-01-01
    return {first, last} <= set(dates) and min(instants) == first * day and max(instants) // day == last


@shows("bignumeric-of-77-digits")
def bignumeric() -> bool:
    """An unscaled value has 77 digits."""
    column = _batch("types.bignumeric").column("value")
    data = column.buffers()[1].to_pybytes()
    values = [int.from_bytes(data[at : at + 32], "little", signed=True) for at in range(0, len(data), 32)]
    return max(len(str(abs(value))) for value in values) == 77


@shows("no-rows-of-rare-types")
def rare() -> bool:
    """A table without rows has marked columns."""
    table = _table("defects.no-rows-of-rare-types")
    return table.num_rows == 0 and any(field.metadata for field in table.schema)


@shows("marks-inside-lists-and-records")
def marks() -> bool:
    """A list column and a field of a record are marked."""
    schema = _table("defects.json-inside-list-and-record").schema
    records = [field.type for field in schema if is_.is_struct(field.type)]
    marked_list = any(is_.is_list(field.type) and field.metadata for field in schema)
    return marked_list and any(child.metadata for kind in records for child in kind)


@shows("range-bounds")
def ranges() -> bool:
    """Each bound is present in one range and absent in another."""
    rows = [row for column in _batch("defects.range-bounds").columns for row in column.to_pylist()]
    bounds = [row for row in rows if isinstance(row, dict) and set(row) == {"start", "end"}]
    return {(row["start"] is None, row["end"] is None) for row in bounds} >= {(True, False), (False, True)}


@shows("beyond-doubles")
def beyond_doubles() -> bool:
    """A value is changed by a double."""
    values = _batch("types.int64").column("value").drop_null().to_pylist()
    return any(int(float(value)) != value for value in values)


@shows("declared-precisions")
def precisions() -> bool:
    """Decimals have precisions and scales of their own."""
    kinds = {
        (array.type.precision, array.type.scale)
        for name in _cases("declared-precisions")
        for array in _every(name)
        if is_.is_decimal(array.type)
    }
    return len(kinds - {(38, 9), (76, 38)}) >= 3


# --- bytes ----------------------------------------------------------------------------------------


@shows("decimal-at-8-mod-16")
def odd_decimal() -> bool:
    """A decimal buffer of the reference's message begins at an odd multiple of 8."""
    message = batch_message(_batch("defects.decimal-at-odd-multiple-of-8"))
    buffers, _ = message.body()
    prefix = len(REFERENCE.serialize_batch(_batch("defects.decimal-at-odd-multiple-of-8"))) - len(message.body()[1])
    places = zip(message.parts, buffers, strict=True)
    return any((prefix + offset) % 16 == 8 for part, (offset, _) in places if part.path in {"amount", "large"})


@shows("mixed-compressed-and-raw")
def mixed() -> bool:
    """One batch has a buffer with the length -1 and one with its uncompressed length."""
    rows = pa.record_batch({"long": pa.array(["a" * 400] * 4), "short": pa.array([1, 2, 3, 4])})
    buffers, body = batch_message(rows, codec="LZ4_FRAME").body()
    prefixes = {struct.unpack_from("<q", body, offset)[0] for offset, length in buffers if length}
    few = {struct.unpack("<q", each[:8])[0] for each in _compressed("compression.few-rows") if each}
    varied = all(_differs(name, rows) for name in ("stored-mixed", "stored-raw"))
    return -1 in prefixes and len(prefixes) > 1 and -1 in few and varied


@shows("empty-buffers-under-compression")
def empty_buffers() -> bool:
    """A compressed batch has buffers of no bytes."""
    buffers = _compressed("compression.few-rows")
    return b"" in buffers and any(buffers)


@shows("longer-than-needed")
def long_bitmaps() -> bool:
    """The variation makes messages longer."""
    rows = pa.record_batch({"a": pa.array([1, None, 3])})
    return len(VARIATIONS["bitmaps-long"].serializer.serialize_batch(rows)) > len(REFERENCE.serialize_batch(rows))


@shows("values-under-nulls")
def under_nulls() -> bool:
    """The slot under a NULL holds bits."""
    rows = pa.record_batch({"a": pa.array([1, None, 3])})
    return _differs("nulls-not-zeroed", rows)


@shows("offsets-not-from-zero")
def offsets_elsewhere() -> bool:
    """The first offset is not 0."""
    return _differs("offsets-not-from-zero", pa.record_batch({"a": pa.array(["x", "y"])}))


@shows("absent-and-empty-vectors")
def vectors() -> bool:
    """Both variations write other metadata."""
    rows = pa.record_batch({"a": pa.array([1])})
    return _differs("children-absent", rows) and _differs("empty-metadata-vectors", rows)


@shows("message-metadata")
def message_metadata() -> bool:
    """The message carries pairs of its own."""
    return _differs("message-metadata", pa.record_batch({"a": pa.array([1])}))


@shows("metadata-version-4")
def version_4() -> bool:
    """The version that pyarrow reads off the message is V4."""
    rows = pa.record_batch({"a": pa.array([1])})
    message = pa.ipc.read_message(VARIATIONS["metadata-v4"].serializer.serialize_batch(rows))
    return message.metadata_version is pa.ipc.MetadataVersion.V4


@shows("empty-maps")
def empty_maps() -> bool:
    """A map of a sample has no entries, and another has some."""
    maps = [column for batch in samples() for column in batch.columns if is_.is_map(column.type)]
    return any({0, 2} <= set(np.diff(column.offsets.to_numpy()).tolist()) for column in maps)


@shows("views-runs-and-unions")
def other_layouts() -> bool:
    """Each layout that this pyarrow knows is in a sample."""
    kinds = [str(column.type) for batch in samples() for column in batch.columns]
    wanted = ["sparse_union", "dense_union", "run_end_encoded"]
    wanted += [name for name in ("string_view", "list_view") if hasattr(pa, name)]
    return all(any(name in kind for kind in kinds) for name in wanted)


# --- calls ----------------------------------------------------------------------------------------


@shows("stream-without-responses")
def no_responses() -> bool:
    """The session has a stream, and reading it ends in OK with nothing."""
    return _streams("restriction.nothing-selected") > 0 and not any(_reads("restriction.nothing-selected"))


@shows("session-without-streams")
def no_streams() -> bool:
    """The session has no stream."""
    return _streams("session.empty-table") == 0


@shows("small-tail-batches")
def tails() -> bool:
    """Several streams have several responses."""
    return all(sum(len(read) > 1 for read in _reads(name)) > 1 for name in _cases("small-tail-batches"))


@shows("unsplittable-stream")
def unsplittable() -> bool:
    """A split is answered without children."""
    calls = [call for call in _exchange("split.one-row").calls if call.method == "SplitReadStream"]
    return any(not proto.SplitReadStreamResponse.FromString(call.responses[0]).ByteSize() for call in calls)


@shows("parent-of-another-project")
def another_parent() -> bool:
    """The parent is not the table's project."""
    exchange = _exchange("session.parent-of-another-project")
    request = proto.CreateReadSessionRequest.FromString(exchange.calls[0].request)
    return not request.read_session.table.startswith(request.parent + "/")


def _sessions(name: str) -> list[CreateSession]:
    return [step for step in _case(name).steps if isinstance(step, CreateSession)]


@shows("selection-in-another-order")
def other_order() -> bool:
    """The table has the requested columns in another order."""
    (asked, *_) = _sessions("projection.request-order-differs")
    names = _table("projection.request-order-differs").schema.names
    places = [names.index(name) for name in asked.selected_fields]
    return places != sorted(places)


@shows("filter-on-another-column")
def other_filter() -> bool:
    """The restriction names a column that is not selected."""
    (asked, *_) = _sessions("projection.filter-on-another-column")
    others = set(_table("projection.filter-on-another-column").schema.names) - set(asked.selected_fields)
    return any(name in asked.row_restriction for name in others)


@shows("payload-compression")
def payload() -> bool:
    """A response says how long it is uncompressed."""
    return any(answer.uncompressed_byte_size > 0 for read in _reads("compression.payload-lz4") for answer in read)


@shows("large-responses")
def large() -> bool:
    """The tables are of many MiB, or of many rows."""
    cells = _case("responses.five-mebibyte-cells").table.recipe
    rows = _case("responses.hundred-thousand-rows").table.recipe
    return cells is not None and cells.cell_bytes >= 5 << 20 and rows is not None and rows.rows >= 100_000
