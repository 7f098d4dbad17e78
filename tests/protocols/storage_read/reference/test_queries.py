"""Google's client for Python reads query results in Arrow from the reference; it loses them if a format is ignored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import grpc
import pytest

from conformance.protocols.storage_read.reference.server import ReferenceServer

bigquery = pytest.importorskip("google.cloud.bigquery")
storage = pytest.importorskip("google.cloud.bigquery_storage")
options_of = pytest.importorskip("google.api_core.client_options").ClientOptions
anonymous = pytest.importorskip("google.auth.credentials").AnonymousCredentials
transports = pytest.importorskip("google.cloud.bigquery_storage_v1.services.big_query_read.transports")
ARROW_SINCE = (3, 47)
ROWS = [{"row_id": number, "word": f"word {number}"} for number in range(11)]
TABLE = "`p`.`d`.`t`"
Ask = Callable[..., Any]


@pytest.fixture
def asking() -> Iterator[Callable[[str | None], Ask]]:
    """Starts a server with a table, and gives what asks it for the result of a query in Arrow."""
    if tuple(map(int, bigquery.__version__.split(".")[:2])) < ARROW_SINCE:
        pytest.skip(f"google-cloud-bigquery {bigquery.__version__} sends the options elsewhere")

    with ExitStack() as stack:

        def ask_of(mutant: str | None) -> Ask:
            server = stack.enter_context(ReferenceServer(mutant=mutant))
            options = options_of(api_endpoint=f"http://{server.rest_endpoint}")
            client = bigquery.Client(project="p", credentials=anonymous(), client_options=options)
            stack.callback(client.close)
            client.create_dataset("d")
            fields = [bigquery.SchemaField("row_id", "INT64"), bigquery.SchemaField("word", "STRING")]
            client.insert_rows_json(client.create_table(bigquery.Table("p.d.t", schema=fields)), ROWS)
            channel = stack.enter_context(grpc.insecure_channel(server.grpc_endpoint))
            reader = storage.BigQueryReadClient(transport=transports.BigQueryReadGrpcTransport(channel=channel))

            def ask(query: str, **more: Any) -> Any:
                found = client.query_and_wait(query, query_results_format="ARROW", **more)
                return found.total_rows, found.to_arrow(bqstorage_client=reader).to_pylist()

            return ask

        yield ask_of


@pytest.mark.parametrize("codec", [None, "LZ4_FRAME"])
def test_the_client_reads_the_page_and_the_stream(asking: Callable[[str | None], Ask], codec: str | None) -> None:
    """Every row once, in the order that the query names, whatever the codec is."""
    ask = asking(None)

    assert ask(f"SELECT * FROM {TABLE} ORDER BY row_id DESC", compression_codec=codec) == (11, ROWS[::-1])
    assert ask(f"SELECT * FROM {TABLE} LIMIT 0", compression_codec=codec) == (0, [])  # no user's text


def test_the_client_loses_every_row_where_the_format_is_ignored(asking: Callable[[str | None], Ask]) -> None:
    """Without an error, although it knows the number of rows: why one clause is for every server."""
    assert asking("query-results.format-ignored")(f"SELECT * FROM {TABLE}") == (11, [])  # as above
