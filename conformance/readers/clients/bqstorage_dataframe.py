"""google-cloud-bigquery-storage: ``client.read_rows(stream).to_dataframe(session)``, stream by stream."""

from __future__ import annotations

import pyarrow as pa

from conformance.readers.clients import _session
from conformance.readers.info import Read, ReaderInfo, Rewrite, Takes
from conformance.readers.tables import from_pandas
from conformance.readers.whole import WholeRead

_ARROW_TO_PANDAS = "https://arrow.apache.org/docs/python/pandas.html#type-differences"

INFO = ReaderInfo(
    name="bqstorage.to-dataframe",
    title="the official Python client: to_dataframe(session)",
    package=_session.PACKAGE,
    takes=Takes.SERVER,
    rewrites=(
        Rewrite("int64 with NULL", "float64: NULL is NaN, and integers beyond 2**53 are rounded", _ARROW_TO_PANDAS),
        Rewrite("double with NULL", "float64: NULL and NaN are the same", _ARROW_TO_PANDAS),
        Rewrite("bool with NULL", "Python objects", _ARROW_TO_PANDAS),
        Rewrite("date32, time64, decimal, interval, binary", "Python objects", _ARROW_TO_PANDAS),
        Rewrite("timestamp", "datetime64: NULL is NaT", _ARROW_TO_PANDAS),
        Rewrite("list, struct", "numpy arrays, dictionaries; numbers as above, per record batch", _ARROW_TO_PANDAS),
    ),
    through_pandas=True,
    schemaless_when_empty=True,
)


def load() -> Read:
    """Import the client and pandas, and start the replay server."""
    import pandas as pd  # noqa: PLC0415  # only a worker imports a library under test

    _session.storage_client()

    def read(whole: WholeRead) -> pa.Table:
        with _session.without_deprecations():
            session = _session.replayed_session(whole)
            frames = [_session.rows_of(stream.name).to_dataframe(session) for stream in session.streams]
        frames = [frame for frame in frames if len(frame)] or frames[:1]
        return from_pandas(pd.concat(frames, ignore_index=True)) if frames else pa.table({})

    return read
