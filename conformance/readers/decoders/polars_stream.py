"""polars, given one stream: an independent Rust decoder that converts to its own types."""

from __future__ import annotations

from conformance.readers.info import LimitKind, Read, ReaderInfo, ReaderLimit, Takes
from conformance.readers.rewrite import Rewrite
from conformance.readers.tables import stream_reader
from conformance.records import BqType, ReadingOutcome

_DATA_TYPES = "https://docs.pola.rs/api/python/stable/reference/datatypes.html"

INFO = ReaderInfo(
    name="polars.stream",
    title="polars: read_ipc_stream over schema and batches end to end",
    package="polars",
    takes=Takes.STREAM,
    cannot={
        BqType.BIGNUMERIC: "polars has no 256-bit decimal",
        BqType.INTERVAL: "polars has no month_day_nano interval",
    },
    rewrites=(
        Rewrite("string", "string_view", _DATA_TYPES),
        Rewrite("binary", "binary_view", _DATA_TYPES),
        Rewrite("list", "large_list", _DATA_TYPES),
        Rewrite("time64[us]", "time64[ns]", _DATA_TYPES),
    ),
    limits=(
        ReaderLimit(
            LimitKind.EARLY_VTABLE,
            ReadingOutcome.ERROR,
            "polars 2.1.0 refuses metadata (InvalidOffset) in which a table has its vtable before the vector or table"
            " that refers to it, as where a list and its item share one that comes before the item's vector;"
            " FlatBuffers permits any place, and common builders use later ones",
            says="InvalidOffset",
        ),
        ReaderLimit(
            LimitKind.PACKED_WITHOUT_OFFSETS,
            ReadingOutcome.ERROR,
            "polars 2.1.0 panics in a compressed batch on offsets of 0 bytes, which the Arrow format permits for a"
            " column without slots, and which arrow-rs 55 writes for it: it takes their first 8 bytes for their length",
            says="range end index 8 out of range for slice of length 0",
        ),
    ),
)


def load() -> Read:
    """Import polars."""
    import polars as pl  # noqa: PLC0415  # only a worker imports a library under test

    return stream_reader(pl.read_ipc_stream)
