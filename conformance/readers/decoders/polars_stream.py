"""polars, given one stream: an independent Rust decoder that converts to its own types."""

from __future__ import annotations

from conformance.readers.info import Read, ReaderInfo, Rewrite, Takes
from conformance.readers.tables import stream_reader
from conformance.records import BqType

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
)


def load() -> Read:
    """Import polars."""
    import polars as pl  # noqa: PLC0415  # only a worker imports a library under test

    return stream_reader(pl.read_ipc_stream)
