"""polars as a serializer: a DataFrame has polars' own types and no field metadata, and these are written."""

from __future__ import annotations

import io

import polars as pl
from messages import serve


def batches(table: bytes) -> list[pl.DataFrame]:
    """The table as one DataFrame: polars has no record batches."""
    return [pl.read_ipc_stream(io.BytesIO(table)).rechunk()]


def stream(frame: pl.DataFrame) -> bytes:
    """The frame as a stream. The oldest level writes large text and binary; BigQuery has no views."""
    sink = io.BytesIO()
    frame.write_ipc_stream(sink, compat_level=pl.CompatLevel.oldest())
    return sink.getvalue()


serve("polars", pl.__version__, batches, stream)
