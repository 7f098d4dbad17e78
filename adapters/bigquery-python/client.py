"""Client of google-cloud-bigquery-storage and google-cloud-bigquery: reads tables of a loopback server for the suite.

Built by ``python -m adapters bigquery-python``; ``serving.py`` speaks the protocol. The clients have their own defaults
for retries. Values are those of the Arrow tables that they return.
"""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Mapping
from typing import Any

import grpc
import pyarrow as pa
from google.api_core.exceptions import GoogleAPICallError
from google.auth.credentials import AnonymousCredentials
from google.cloud import bigquery_storage_v1
from google.cloud.bigquery_storage_v1 import types
from google.cloud.bigquery_storage_v1.services.big_query_read import transports
from serving import batches_of, serve, whole

# If pandas-gbq is installed, google-cloud-bigquery-storage asks it first, and it decodes in its own way.
sys.modules["pandas_gbq"] = None  # type: ignore[assignment]

NAME = "google-cloud-bigquery-storage"
OPTIONS = [
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    ("grpc.enable_http_proxy", 0),
]
"""The sizes are those of the client's own channel; a proxy cannot reach the loopback server."""


def storage(asked: Mapping[str, Any]) -> Any:
    """The client of the Storage API."""
    channel = grpc.insecure_channel(asked["grpc"], options=OPTIONS)
    return bigquery_storage_v1.BigQueryReadClient(transport=transports.BigQueryReadGrpcTransport(channel=channel))


def session(client: Any, asked: Mapping[str, Any]) -> Any:
    """A session for the request."""
    options = types.ReadSession.TableReadOptions(selected_fields=asked["columns"], row_restriction=asked["restriction"])
    wanted = types.ReadSession(table=asked["table"], data_format=types.DataFormat.ARROW, read_options=options)
    return client.create_read_session(parent="/".join(asked["table"].split("/")[:2]), read_session=wanted)


def rows(asked: Mapping[str, Any]) -> list[pa.RecordBatch]:
    """The batches of each stream's table."""
    client = storage(asked)
    made = session(client, asked)
    tables = [client.read_rows(stream.name).rows(made).to_arrow() for stream in made.streams]
    return [batch for table in tables for batch in batches_of(table)]


def pages(asked: Mapping[str, Any]) -> list[pa.RecordBatch]:
    """The batch of each page."""
    client = storage(asked)
    made = session(client, asked)
    return [page.to_arrow() for stream in made.streams for page in client.read_rows(stream.name).rows(made).pages]


def list_rows(asked: Mapping[str, Any]) -> list[pa.RecordBatch]:
    """The batches of the whole table, as google-cloud-bigquery joins them."""
    from google.cloud import bigquery  # noqa: PLC0415  # the other paths need no such package

    project, dataset, table = whole(asked)
    client = bigquery.Client(
        project=project, credentials=AnonymousCredentials(), client_options={"api_endpoint": asked["rest"]}
    )
    found = client.list_rows(f"{project}.{dataset}.{table}")
    return batches_of(found.to_arrow(bqstorage_client=storage(asked), create_bqstorage_client=False))


def class_of(error: Exception) -> str:
    """The status code of an error of the service, else its type."""
    code = error.grpc_status_code if isinstance(error, GoogleAPICallError) else None
    return code.name if code else type(error).__name__


if __name__ == "__main__":
    about = {"implementation": "bigquery-python", "title": NAME, "version": importlib.metadata.version(NAME)}
    serve(about, {"rows": rows, "pages": pages, "list-rows": list_rows}, class_of)
