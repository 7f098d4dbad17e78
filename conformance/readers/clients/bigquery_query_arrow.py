"""google-cloud-bigquery: ``client.query_and_wait(sql, query_results_format="ARROW").to_arrow(bqstorage_client=…)``.

It takes the page from the answer of jobs.query, and reads the rows behind it from the stream of the query's job.
"""

from __future__ import annotations

import json

import pyarrow as pa

from conformance.readers.clients import _session
from conformance.readers.clients.bigquery_list_rows import bigquery_client
from conformance.readers.fullread import FullRead
from conformance.readers.info import Read, ReaderInfo, Takes

INFO = ReaderInfo(
    name="bigquery.query-arrow",
    title='google-cloud-bigquery: query_and_wait(…, query_results_format="ARROW").to_arrow(bqstorage_client=…)',
    package="google-cloud-bigquery",
    takes=Takes.QUERY,
)

_SINCE = (3, 47)
"""Versions before send the codec in a field that the API does not have."""


def load() -> Read:
    """Import both clients.

    Raises:
        ImportError: The version that is installed asks for query results in another way.
    """
    from google.cloud import bigquery  # noqa: PLC0415  # only a worker imports a library under test

    if tuple(map(int, bigquery.__version__.split(".")[:2])) < _SINCE:
        raise ImportError(f"google-cloud-bigquery {bigquery.__version__}, and 3.47.0 is the first that is asked")
    bigquery_client()
    _session.storage_client()
    return read


def read(whole: FullRead) -> pa.Table:
    """Ask the recorded query again and read its result."""
    _session.reads().play(whole)
    rows = bigquery_client().query_and_wait(json.loads(whole.request)["query"], query_results_format="ARROW")
    with _session.without_deprecations():
        return rows.to_arrow(bqstorage_client=_session.storage_client(), create_bqstorage_client=False)
