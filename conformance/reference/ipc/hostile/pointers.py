"""Bodies whose numbers point elsewhere: offsets, views, sizes, run ends, type ids, dictionary indices; and bad text."""

from __future__ import annotations

import struct
from typing import Final

import numpy as np

from conformance.reference.body import Part
from conformance.reference.ipc.hostile.register import hostile_stream
from conformance.reference.ipc.models import StreamModel

__all__: list[str] = []

_OFFSETS: Final = "https://issues.apache.org/jira/browse/ARROW-16831"
_INDICES: Final = "https://github.com/apache/arrow-go/pull/1129"
_RUNS: Final = "https://github.com/apache/arrow-go/pull/992"
_HEAP: Final = "https://github.com/ClickHouse/ClickHouse/pull/106395"


def _part(model: StreamModel, role: str) -> Part:
    return model.batches[0].part(role)


def _write(part: Part, *numbers: int, slot: int = 0) -> None:
    """Writes numbers of the buffer's own width from ``slot`` on, cut to that width."""
    width = part.unit[0]
    data = b"".join((number & ((1 << 8 * width) - 1)).to_bytes(width, "little") for number in numbers)
    part.data = part.data[: slot * width] + data + part.data[slot * width + len(data) :]


def _offsets(name: str, what: str, on: str, *numbers: int, slot: int = 1, source: str = _OFFSETS) -> None:
    def change(model: StreamModel) -> None:
        _write(_part(model, "offsets"), *numbers, slot=slot)

    change.__doc__ = what
    hostile_stream(f"pointers.{name}", on, source=source)(change)


for _on in ("types.utf8", "types.binary", "types.large-utf8", "types.list", "types.large-list", "types.map"):
    _short = _on.partition(".")[2]
    _offsets(f"offset-beyond-{_short}", "An offset is far beyond the data.", _on, (1 << 31) - 1)
    _offsets(f"offset-highest-{_short}", "An offset is the highest of 64 bits (-1 in 32).", _on, (1 << 63) - 1)
    _offsets(f"offset-negative-{_short}", "An offset is negative.", _on, -1)
    _offsets(f"offset-lowest-{_short}", "The first offset is the lowest that there is.", _on, 1 << 63 | 1 << 31, slot=0)
    _offsets(f"offsets-back-{_short}", "Offsets go forth and back, ending where they should.", _on, 1000, source=_HEAP)
for _on in ("types.list-view", "types.large-list-view"):
    _short = _on.partition(".")[2]
    _offsets(f"list-view-beyond-{_short}", "A list-view begins far beyond its child.", _on, (1 << 31) - 1)
    _offsets(f"list-view-before-{_short}", "A list-view begins before its child.", _on, -1)
_offsets("dense-beyond", "An offset of a dense union is far beyond its child.", "types.union-dense", (1 << 31) - 1)
_offsets("dense-before", "An offset of a dense union is before its child.", "types.union-dense", -1)


@hostile_stream("pointers.list-view-overflow", "types.large-list-view")
def list_view_overflow(model: StreamModel) -> None:
    """Offset and size of a list-view add up to a negative number in 64 bits."""
    _write(_part(model, "offsets"), (1 << 63) - 1)
    _write(_part(model, "sizes"), (1 << 63) - 1)


@hostile_stream("pointers.list-view-size-negative", "types.list-view")
def list_view_size_negative(model: StreamModel) -> None:
    """The size of a list-view is negative."""
    _write(_part(model, "sizes"), -1)


def _view(name: str, what: str, on: str, view: bytes) -> None:
    def change(model: StreamModel) -> None:
        part = _part(model, "views")
        part.data = view + part.data[16:]

    change.__doc__ = what
    hostile_stream(f"pointers.view-{name}-{on.partition('.')[2]}", on)(change)


for _on in ("types.string-view", "types.binary-view"):
    _view("length-negative", "A view's length is -1.", _on, struct.pack("<i12x", -1))
    _view("length-lowest", "A view's length is -2^31.", _on, struct.pack("<i12x", -(1 << 31)))
    _view("length-highest", "A view's length is 2^31-1.", _on, struct.pack("<i4sii", (1 << 31) - 1, b"a te", 0, 0))
    _view(
        "buffer-beyond", "A view names a buffer that is not there.", _on, struct.pack("<i4sii", 13, b"a te", 1 << 30, 0)
    )
    _view("buffer-negative", "A view names buffer -1.", _on, struct.pack("<i4sii", 13, b"a te", -1, 0))
    _view("offset-negative", "A view begins before its buffer.", _on, struct.pack("<i4sii", 13, b"a te", 0, -13))
    _view("offset-highest", "A view begins at 2^31-1.", _on, struct.pack("<i4sii", 13, b"a te", 0, (1 << 31) - 1))
    _view(
        "inline-dirty", "A short view is followed by bytes that are not zero.", _on, struct.pack("<i12s", 1, b"a" * 12)
    )


def _runs(name: str, what: str, *ends: int, on: str = "types.run-end-encoded-32") -> None:
    def change(model: StreamModel) -> None:
        _write(_part(model, "data"), *ends)

    change.__doc__ = what
    hostile_stream(f"pointers.runs-{name}", on, source=_RUNS)(change)


_runs("negative", "A run ends before it begins.", -1)
_runs("zero", "Every run ends at 0.", 0, 0, 0)
_runs("decreasing", "Runs end at 7, 3, 1.", 7, 3, 1)
_runs("equal", "Every run ends at 7.", 7, 7, 7)
_runs("highest", "Runs end at the highest number, then after it.", (1 << 31) - 1, -(1 << 31), 7)
_runs("highest-64", "The last run ends at 2^63-1.", 2, 3, (1 << 63) - 1, on="types.run-end-encoded-64")
_runs("short", "The last run ends before the column.", 1, 2, 3)


@hostile_stream("pointers.runs-none", "types.run-end-encoded-32", source=_RUNS)
def runs_none(model: StreamModel) -> None:
    """A column of seven rows has no runs."""
    batch = model.batches[0]
    batch.nodes[1].length = batch.nodes[2].length = batch.nodes[2].null_count = 0
    for part in batch.parts:
        part.data = b""


@hostile_stream("pointers.runs-of-2^62-rows", "types.run-end-encoded-64", source=_RUNS)
def runs_of_many(model: StreamModel) -> None:
    """Three runs of 64-bit ends make 2^62 rows: legal, and more than fits once the runs are written out."""
    batch = model.batches[0]
    batch.header["length"] = batch.nodes[0].length = 1 << 62
    _write(_part(model, "data"), 2, 3, 1 << 62)


def _indices(name: str, what: str, on: str, number: int, slot: int = 0) -> None:
    def change(model: StreamModel) -> None:
        _write(_part(model, "indices"), number, slot=slot)

    change.__doc__ = what
    hostile_stream(f"pointers.index-{name}", on, source=_INDICES)(change)


for _width in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    _on = f"dictionary.index-{_width}"
    _indices(f"one-beyond-{_width}", "An index points to the value after the last.", _on, 4)
    _indices(f"all-ones-{_width}", "An index is all ones: -1, or the highest.", _on, -1)
    _indices(
        f"under-null-{_width}", "Under a null, an index is all ones: legal, and not to be followed.", _on, -1, slot=2
    )
    _indices(
        f"middle-{_width}",
        "An index is 0x80 and zeros: the lowest, or half of the highest.",
        _on,
        1 << (int(_width.lstrip("uint")) - 1),
    )


@hostile_stream("pointers.index-into-nothing", "dictionary.of-utf8", source=_INDICES)
def index_into_nothing(model: StreamModel) -> None:
    """Indices point into a dictionary without values."""
    dictionary = model.dictionaries[0]
    dictionary.batch["length"] = dictionary.nodes[0].length = 0
    for part in dictionary.parts:
        part.data = b""


@hostile_stream("pointers.union-ids-unknown", "types.union-dense")
def union_ids(model: StreamModel) -> None:
    """Every type id of a union is one that it does not declare."""
    _part(model, "type ids").data = bytes([2, 127, 128, 255])


@hostile_stream(
    "pointers.union-ids-of-gap", "types.union-sparse-ids", source="https://github.com/apache/arrow-rs/pull/3654"
)
def union_gap(model: StreamModel) -> None:
    """Type ids are in the gap between the declared ones."""
    _part(model, "type ids").data = bytes([6, 64, 126, 0])


@hostile_stream("pointers.children-short", "types.struct", source="https://github.com/apache/arrow-go/pull/1021")
def children_short(model: StreamModel) -> None:
    """The children of a struct have no slots."""
    for node in model.batches[0].nodes[1:]:
        node.length = node.null_count = 0


@hostile_stream("pointers.children-of-map", "types.map", source="https://issues.apache.org/jira/browse/ARROW-7931")
def children_of_map(model: StreamModel) -> None:
    """The key of a map has fewer slots than its entries."""
    model.batches[0].nodes[2].length = 0


@hostile_stream("pointers.bitmap-short", "nulls.words", source=_HEAP)
def bitmap_short(model: StreamModel) -> None:
    """Bitmaps have one byte for 131 slots."""
    for part in model.batches[0].parts:
        if part.role == "validity":
            part.data = part.data[:1]


@hostile_stream("pointers.data-short", "rows.thousand", source=_HEAP)
def data_short(model: StreamModel) -> None:
    """A thousand rows have 8 bytes of data."""
    for part in model.batches[0].parts:
        part.data = part.data[:8]


def _text(name: str, what: str, data: bytes) -> None:
    def change(model: StreamModel) -> None:
        part = _part(model, "data")
        part.data = (data + part.data)[: len(part.data)]

    change.__doc__ = what
    hostile_stream(f"pointers.text-{name}", "types.utf8")(change)


_text("ff", "Text holds bytes that no UTF-8 has.", b"\xff\xfe\xfd")
_text("overlong", "Text holds an overlong slash.", b"\xc0\xaf\xe0\x80\xaf")
_text("surrogate", "Text holds half of a surrogate pair.", b"\xed\xa0\x80\xed\xb0\x80")
_text("beyond-unicode", "Text holds a character beyond the last.", b"\xf4\x90\x80\x80\xf8\x88\x80\x80\x80")
_text("nul", "Text holds zero bytes, which is legal.", b"\0\0\0")


@hostile_stream("pointers.times-extreme", "types.time64-ns")
def times_extreme(model: StreamModel) -> None:
    """Times of day are the lowest and the highest number."""
    _part(model, "data").data = np.array([-(1 << 63), 0, (1 << 63) - 1], np.int64).tobytes()


@hostile_stream("pointers.dates-extreme", "types.date64")
def dates_extreme(model: StreamModel) -> None:
    """Dates are the lowest and the highest number, which no calendar has."""
    _part(model, "data").data = np.array([-(1 << 63), 0, 1, (1 << 63) - 1], np.int64).tobytes()


@hostile_stream("pointers.timestamps-extreme", "types.timestamp-region")
def timestamps_extreme(model: StreamModel) -> None:
    """Timestamps with a time zone are the lowest and the highest number: legal, and beyond every calendar."""
    _part(model, "data").data = np.array([-(1 << 63), 0, 1, (1 << 63) - 1], np.int64).tobytes()


@hostile_stream("pointers.decimals-extreme", "types.decimal256")
def decimals_extreme(model: StreamModel) -> None:
    """Decimals are all ones, and have more digits than their type."""
    part = _part(model, "data")
    part.data = b"\xff" * 31 + b"\x7f" + part.data[32:-32] + bytes(31) + b"\x80"
