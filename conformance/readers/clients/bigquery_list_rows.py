"""google-cloud-bigquery: ``client.list_rows(table).to_arrow(bqstorage_client=…)``, the path of most users.

It creates a session of its own (all streams, LZ4 requested), reads the streams in threads and joins the batches as
they arrive, so row order between streams is not kept. Without any rows it makes an empty table from the REST schema.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import pyarrow as pa

from conformance.contract import proto
from conformance.readers.clients import _session
from conformance.readers.fullread import FullRead
from conformance.readers.info import Read, ReaderInfo, Takes
from conformance.readers.restanswers import RestTable, rest_schema

INFO = ReaderInfo(
    name="bigquery.list-rows",
    title="google-cloud-bigquery: list_rows(table).to_arrow(bqstorage_client=…)",
    package="google-cloud-bigquery",
    takes=Takes.SERVER,
    schemaless_when_empty=True,
)

_PROGRESS_INTERVAL: Final = 0.001
"""Seconds between the client's checks of its reading threads; its own 0.2 s would dominate every small reading."""


class NoTable(Exception):  # noqa: N818  # its name becomes a reading's error class
    """The recorded session names its table in a form that the client does not accept."""


@functools.cache
def bigquery_client() -> Any:
    """The client of this process; its REST requests are answered inside the process."""
    import requests  # noqa: PLC0415  # only a worker imports a library under test
    from google.auth.credentials import AnonymousCredentials  # noqa: PLC0415  # as above
    from google.cloud import bigquery  # noqa: PLC0415  # as above
    from google.cloud.bigquery import _pandas_helpers  # noqa: PLC0415  # as above

    from conformance.readers.clients._rest import ENDPOINT, InProcess  # noqa: PLC0415  # it needs requests

    if hasattr(_pandas_helpers, "_PROGRESS_INTERVAL"):
        _pandas_helpers._PROGRESS_INTERVAL = _PROGRESS_INTERVAL  # noqa: SLF001  # it has no public name
    http = requests.Session()
    http.trust_env = False  # neither a proxy nor a netrc file has to do with it
    http.mount(ENDPOINT, InProcess(_session.reads().rest_answer))
    return bigquery.Client(
        project="conformance",
        credentials=AnonymousCredentials(),  # type: ignore[no-untyped-call]
        client_options={"api_endpoint": ENDPOINT},
        _http=http,
    )


def load() -> Read:
    """Import both clients."""
    bigquery_client()
    _session.storage_client()
    return read


def read(whole: FullRead) -> pa.Table:
    """Read the whole table as a user of google-cloud-bigquery does.

    Raises:
        NoTable: The recorded request's table is not ``projects/…/datasets/…/tables/…``.
    """
    from google.cloud import bigquery  # noqa: PLC0415  # only a worker imports a library under test

    name = proto.CreateReadSessionRequest.FromString(whole.request).read_session.table
    described = RestTable.named(name, whole.columns)
    if described is None:
        raise NoTable(f"expected a table named projects/…/datasets/…/tables/…, got {name!r}")
    _session.reads().play(whole)
    selected = None
    if whole.selected != whole.columns:
        selected = [bigquery.SchemaField.from_api_repr(field) for field in rest_schema(whole.selected)]
    table = f"{described.project}.{described.dataset}.{described.table}"
    rows = bigquery_client().list_rows(table, selected_fields=selected)
    try:
        with _session.without_deprecations():
            return rows.to_arrow(bqstorage_client=_session.storage_client(), create_bqstorage_client=False)
    except ValueError:
        # Without rows the client makes a table from the REST schema, and it has no Arrow type for INTERVAL there.
        # Nothing of that came from the target.
        if any(stream.responses for stream in whole.streams):
            raise
        return pa.table({})
