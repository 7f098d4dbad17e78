"""Mutants of buffers of the right size: values that a type does not have, children that are too short."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

import numpy as np

from conformance.reference.body import Part
from conformance.reference.ipc.models import StreamModel
from conformance.reference.ipc.register import mutant
from conformance.reference.message import DraftMessage
from conformance.wire.faults import Rule

__all__: list[str] = []

_VIEWS: Final = ("types.string-view", "types.binary-view")
Change = Callable[[StreamModel], None]
_RUNS: Final = ("types.run-end-encoded-16", "types.run-end-encoded-32", "types.run-end-encoded-64")


def _batch(model: StreamModel) -> DraftMessage:
    return model.batches[0]


def _set(part: Part, slot: int, value: int) -> None:
    """Puts a number in a slot of a buffer of fixed width."""
    width = part.unit[0]
    data = value.to_bytes(width, "little", signed=True)
    part.data = part.data[: slot * width] + data + part.data[(slot + 1) * width :]


def _slot(number: int, slot: int, value: int) -> Change:
    """Puts a number in a slot of the batch's buffer of that number."""
    return lambda model: _set(_data(model, number), slot, value)


def _null_count(count: int) -> Change:
    def change(model: StreamModel) -> None:
        _batch(model).nodes[0].null_count = count

    return change


def _data(model: StreamModel, number: int = -1) -> Part:
    return _batch(model).parts[number]


@mutant("values.not-utf8", Rule.UTF8_INVALID, on=("types.utf8", "types.large-utf8", "rows.several"))
def not_utf8(model: StreamModel) -> None:
    """A text begins with a byte that no UTF-8 text has."""
    part = next(part for part in _batch(model).parts if part.role == "data" and part.unit == (1,) and part.data)
    part.data = b"\xff" + part.data[1:]


@mutant("values.utf8-cut", Rule.UTF8_INVALID, on=("types.utf8",))
def utf8_cut(model: StreamModel) -> None:
    """An offset points into a character of two bytes."""
    offsets = _batch(model).part("offsets")
    text = _data(model)
    middle = text.data.index("ö".encode()) + 1
    found = np.frombuffer(offsets.data, "<i4").copy()
    found[4] = middle
    offsets.data = found.tobytes()


@mutant("values.view-not-utf8", Rule.UTF8_INVALID, on=("types.string-view",))
def view_not_utf8(model: StreamModel) -> None:
    """A short text in its view is not UTF-8."""
    part = _batch(model).part("views")
    part.data = part.data[:16] + struct.pack("<i12s", 1, b"\xff") + part.data[32:]


# fmt: off
mutant("values.decimal-too-long", Rule.DECIMAL_PRECISION, on=("types.decimal128-scaled", "types.decimal256-scaled"),
       fault="A decimal has six digits where its type has five.")(_slot(-1, 0, 123_456))
# fmt: on


@mutant(
    "values.time-of-24h",
    Rule.TIME_RANGE,
    on=("types.time32-s", "types.time32-ms", "types.time64-us", "types.time64-ns"),
)
def time_of_24h(model: StreamModel) -> None:
    """A time is a day long."""
    part = _data(model)
    last = int.from_bytes(part.data[-part.unit[0] :], "little")
    _set(part, 2, last + 1)


# fmt: off
mutant("values.time-negative", Rule.TIME_RANGE, on=("types.time32-s", "types.time64-ns"),
       fault="A time is before midnight.")(_slot(-1, 0, -1))
mutant("values.date64-noon", Rule.DATE64_WHOLE_DAYS, on=("types.date64",),
       fault="A date in milliseconds is noon.")(_slot(-1, 0, 43_200_000))
mutant("values.null-uncounted", Rule.NULL_NULL_COUNT, on=("types.null",),
       fault="A column of nulls counts none of them.")(_null_count(0))
# fmt: on


@mutant(
    "values.null-buffers",
    Rule.BATCH_BUFFER_COUNT,
    on=("types.null",),
    source="https://issues.apache.org/jira/browse/ARROW-6379",
)
def null_buffers(model: StreamModel) -> None:
    """A column of nulls has two empty buffers."""
    _batch(model).parts += [Part("x", "validity", b""), Part("x", "data", b"")]


@mutant(
    "values.boolean-absent",
    Rule.DATA_TOO_SMALL,
    on=("types.bool",),
    source="https://github.com/apache/arrow-js/pull/392",
)
def boolean_absent(model: StreamModel) -> None:
    """A column of booleans has no values buffer."""
    _data(model).data = b""


@mutant(
    "values.nulls-in-non-nullable",
    Rule.BATCH_NULLS_IN_NON_NULLABLE,
    on=("types.int32", "types.utf8", "types.struct"),
    source="https://github.com/apache/arrow-rs/pull/1890",
)
def nulls_in_non_nullable(model: StreamModel) -> None:
    """A column that is not nullable has nulls."""
    model.schema.header["fields"][0]["nullable"] = 0


def _shortened(*numbers: int) -> Change:
    """Takes the last slot, and the bytes of it in buffers of those numbers, from a child that has no nulls."""

    def change(model: StreamModel) -> None:
        node = _batch(model).nodes[1]
        node.length -= 1
        for part in (_data(model, number) for number in numbers):
            part.data = part.data[: node.length * part.unit[0]]

    return change


def _lengthened(model: StreamModel) -> None:
    """Gives the first child of a union, which has numbers, a fifth slot."""
    _batch(model).nodes[1].length += 1
    validity, numbers = _data(model, 1), _data(model, 2)
    validity.data = bytes([validity.data[0] | 1 << 4])
    numbers.data = numbers.data[:16] + numbers.data[:4]


# fmt: off
mutant("values.struct-child-short", Rule.STRUCT_CHILD_LENGTH, on=("nulls.under-struct",),
       source="https://github.com/apache/arrow-rs/pull/6417",
       fault="A struct's first child has a slot less than the struct.")(_shortened(2))
mutant("values.fixed-size-child-short", Rule.FIXED_SIZE_LIST_CHILD_LENGTH, on=("types.fixed-size-list",),
       also={Rule.BATCH_NULL_COUNT_MISMATCH: "the slot that is missing is a null"},
       fault="The child of a fixed-size list has a slot less than its lists need.")(_shortened(-1))
mutant("values.sparse-child-short", Rule.UNION_CHILD_LENGTH, on=("types.union-sparse",),
       fault="The first child of a sparse union has a slot less than the union.")(_shortened(2))
mutant("values.sparse-child-long", Rule.UNION_CHILD_LONGER, on=("types.union-sparse",),
       source="https://github.com/apache/arrow/issues/41140",
       fault="The first child of a sparse union has a slot more than the union.")(_lengthened)
# fmt: on


@mutant(
    "values.list-view-beyond",
    Rule.LIST_VIEW_RANGE,
    on=("types.list-view", "types.large-list-view", "types.list-view-overlapping"),
)
def list_view_beyond(model: StreamModel) -> None:
    """The size of a list-view reaches beyond its child."""
    part = _batch(model).part("sizes")
    _set(part, 0, 1000)


@mutant("values.list-view-negative", Rule.LIST_VIEW_RANGE, on=("types.list-view", "types.large-list-view"))
def list_view_negative(model: StreamModel) -> None:
    """The offset of a list-view is negative."""
    part = _batch(model).part("offsets")
    _set(part, 0, -1)


@mutant("values.list-view-null-beyond", Rule.LIST_VIEW_RANGE, on=("types.list-view", "types.large-list-view"))
def list_view_null_beyond(model: StreamModel) -> None:
    """The offset of a null list-view is beyond its child, where the format requires it to be inside even for nulls."""
    part = _batch(model).part("offsets")
    _set(part, 2, 1000)


@mutant("values.map-entry-null", Rule.MAP_NULL_ENTRY, on=("types.map", "types.map-sorted"))
def map_entry_null(model: StreamModel) -> None:
    """An entry of a map is null."""
    batch = _batch(model)
    batch.nodes[1].null_count = 1
    batch.parts[2].data = b"\x02"


@mutant(
    "values.map-key-null",
    Rule.MAP_NULL_KEY,
    on=("types.map", "types.map-sorted"),
    source="https://issues.apache.org/jira/browse/ARROW-7931",
)
def map_key_null(model: StreamModel) -> None:
    """A key of a map is null."""
    batch = _batch(model)
    batch.nodes[2].null_count = 1
    batch.parts[3].data = b"\x02"


def _long(place: int, data: bytes) -> Change:
    """Changes bytes of the first view that does not hold its value itself."""

    def change(model: StreamModel) -> None:
        part = _batch(model).part("views")
        for start in range(0, len(part.data), 16):
            if struct.unpack_from("<i", part.data, start)[0] > 12:
                part.data = part.data[: start + place] + data + part.data[start + place + len(data) :]
                return
        raise LookupError("every value is short")

    return change


def _number(value: int) -> bytes:
    return struct.pack("<i", value)


# fmt: off
mutant("values.view-buffer-unknown", Rule.VIEW_BUFFER_INDEX, on=_VIEWS,
       fault="A long view names a buffer that its field does not have.")(_long(8, _number(7)))
mutant("values.view-buffer-negative", Rule.VIEW_BUFFER_INDEX, on=_VIEWS,
       fault="A long view names buffer -1.")(_long(8, _number(-1)))
mutant("values.view-beyond", Rule.VIEW_RANGE, on=_VIEWS,
       fault="A long view reaches beyond the end of its buffer.")(_long(12, _number(1 << 20)))
mutant("values.view-offset-negative", Rule.VIEW_RANGE, on=_VIEWS,
       fault="A long view begins before its buffer.")(_long(12, _number(-4)))
mutant("values.view-prefix", Rule.VIEW_PREFIX, on=_VIEWS,
       fault="The prefix in a long view is not that of its value.")(_long(4, b"wxyz"))
# fmt: on


@mutant("values.run-ends-null", Rule.RUN_ENDS_NULLS, on=_RUNS)
def run_ends_null(model: StreamModel) -> None:
    """A run end is null."""
    batch = _batch(model)
    batch.nodes[1].null_count = 1
    batch.parts[0].data = b"\x05"


# fmt: off
mutant("values.run-ends-counted", Rule.RUN_ENDS_PARENT_NULL_COUNT, on=_RUNS,
       fault="A run-end encoded field counts the nulls among its values as its own.")(_null_count(1))
mutant("values.run-ends-decreasing", Rule.RUN_ENDS_NOT_INCREASING, on=_RUNS,
       source="https://github.com/apache/arrow-go/pull/992",
       fault="A run ends before the one before it.")(_slot(1, 1, 1))
mutant("values.run-ends-zero", Rule.RUN_ENDS_NOT_INCREASING, on=_RUNS,
       fault="The first run ends at 0, and so is empty.")(_slot(1, 0, 0))
mutant("values.run-ends-equal", Rule.RUN_ENDS_NOT_INCREASING, on=_RUNS,
       fault="Two runs end at the same place.")(_slot(1, 1, 2))
mutant("values.run-ends-short", Rule.RUN_ENDS_SHORT, on=_RUNS,
       fault="The last run ends before the column does.")(_slot(1, 2, 6))
# fmt: on


@mutant("values.runs-without-values", Rule.RUN_ENDS_CHILD_LENGTH, on=_RUNS)
def runs_without_values(model: StreamModel) -> None:
    """There is one value fewer than runs."""
    batch = _batch(model)
    batch.nodes[2].length -= 1
    offsets = batch.part("offsets")
    offsets.data = offsets.data[:-4]


# fmt: off
mutant("values.dense-offset-beyond", Rule.UNION_OFFSET_RANGE, on=("types.union-dense", "types.union-dense-ids"),
       fault="An offset of a dense union lies beyond its child.")(_slot(1, 3, 1000))
mutant("values.dense-offset-negative", Rule.UNION_OFFSET_RANGE, on=("types.union-dense", "types.union-dense-ids"),
       fault="An offset of a dense union is negative.")(_slot(1, 0, -1))
# fmt: on


@mutant("values.dense-offsets-back", Rule.UNION_OFFSET_ORDER, on=("types.union-dense", "types.union-dense-ids"))
def dense_offsets_back(model: StreamModel) -> None:
    """The offsets into one child of a dense union go back."""
    part = _data(model, 1)
    _set(part, 0, 1)
    _set(part, 2, 0)


# fmt: off
mutant("values.union-nulls-counted", Rule.UNION_NULL_COUNT, on=("types.union-sparse", "types.union-dense"),
       source="https://github.com/apache/arrow-rs/pull/1713",
       fault="A union counts the nulls of its children as its own.")(_null_count(2))
# fmt: on


@mutant("values.union-id-negative", Rule.UNION_TYPE_ID, on=("types.union-sparse", "types.union-dense"))
def union_id_negative(model: StreamModel) -> None:
    """A type id of a union is -1."""
    part = _data(model, 0)
    part.data = b"\xff" + part.data[1:]


@mutant("values.dense-offsets-short", Rule.OFFSETS_TOO_SMALL, on=("types.union-dense",))
def dense_offsets_short(model: StreamModel) -> None:
    """A dense union has one offset fewer than slots."""
    part = _data(model, 1)
    part.data = part.data[:-4]


# fmt: off
mutant("values.list-child-short", Rule.OFFSETS_BEYOND_DATA, on=("types.list", "types.large-list"),
       source="https://github.com/ClickHouse/ClickHouse/pull/106395",
       fault="A list's child has a slot less than the last offset says.")(_shortened())
# fmt: on


@mutant(
    "values.slice-offsets-kept",
    Rule.OFFSETS_BEYOND_DATA,
    on=("types.list", "types.utf8"),
    source="https://github.com/apache/arrow/pull/46408",
)
def slice_offsets_kept(model: StreamModel) -> None:
    """The offsets of a slice are those of the full column, and the data is cut to the slice."""
    part = _batch(model).part("offsets")
    part.data = (np.frombuffer(part.data, "<i4") + 1000).astype("<i4").tobytes()


@mutant(
    "values.rows-lost",
    Rule.BATCH_COLUMN_LENGTH,
    on=("rows.several", "types.utf8"),
    source="https://github.com/apache/arrow/pull/41144",
)
def rows_lost(model: StreamModel) -> None:
    """The batch says that it has no rows, and its columns have some."""
    _batch(model).header["length"] = 0


@mutant(
    "values.rows-a-billion",
    (Rule.BATCH_COLUMN_LENGTH, Rule.DATA_TOO_SMALL),
    on=("types.int32",),
    also={
        Rule.VALIDITY_TOO_SMALL: "the bitmap is too small as well",
        Rule.BATCH_NULL_COUNT_MISMATCH: "slots that are not there are not null",
    },
    source="https://github.com/ClickHouse/ClickHouse/pull/106395",
)
def rows_a_billion(model: StreamModel) -> None:
    """Batch and node say a billion rows, and there are bytes for five."""
    batch = _batch(model)
    batch.header["length"] = batch.nodes[0].length = 1_000_000_000
