"""google-cloud-bigquery-storage: ``client.read_rows(stream).to_dataframe(session)``, stream by stream."""

from __future__ import annotations

import pyarrow as pa

from conformance.readers.clients import _session
from conformance.readers.fullread import FullRead
from conformance.readers.info import LimitKind, Read, ReaderLimit
from conformance.readers.rewrite import Rewrite
from conformance.readers.tables import from_pandas
from conformance.records import ReadingOutcome

_ARROW_TO_PANDAS = "https://arrow.apache.org/docs/python/pandas.html#type-differences"

INFO = _session.client_info(
    name="bqstorage.to-dataframe",
    title="the official Python client: to_dataframe(session)",
    rewrites=(
        Rewrite("int64 with NULL", "float64: NULL is NaN, and integers beyond 2**53 are rounded", _ARROW_TO_PANDAS),
        Rewrite("double with NULL", "float64: NULL and NaN are the same", _ARROW_TO_PANDAS),
        Rewrite("bool with NULL", "Python objects", _ARROW_TO_PANDAS),
        Rewrite("date32, time64, decimal, interval, binary", "Python objects", _ARROW_TO_PANDAS),
        Rewrite("timestamp", "datetime64: NULL is NaT", _ARROW_TO_PANDAS),
        Rewrite("list, struct", "numpy arrays, dictionaries; numbers as above, per record batch", _ARROW_TO_PANDAS),
    ),
    through_pandas=True,
    limits=(
        ReaderLimit(
            LimitKind.LISTS_WITHOUT_OFFSETS,
            ReadingOutcome.CRASH,
            "pyarrow 26.0.1 ends the process in Table.to_pandas on a list without slots that contains another list,"
            " if its offsets have 0 bytes, which the Arrow format permits",
        ),
    ),
)


def load() -> Read:
    """Import the client and pandas."""
    import pandas as pd  # noqa: PLC0415  # only a worker imports a library under test

    _session.storage_client()

    def read(whole: FullRead) -> pa.Table:
        made = _session.each_stream(whole, lambda rows, session: rows.to_dataframe(session))
        frames = [frame for frame in made if len(frame)] or made[:1]
        return from_pandas(pd.concat(frames, ignore_index=True)) if frames else pa.table({})

    return read
