"""Client of google-cloud-bigquery that asks for the result of a query in Arrow, from a loopback server for the suite.

Built by ``python -m adapters bigquery-python-query``; ``serving.py`` speaks the protocol. The client has its own
defaults for retries. Values are those of the Arrow data that it returns.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import grpc
import pyarrow as pa
from google.api_core.exceptions import GoogleAPICallError
from google.auth.credentials import AnonymousCredentials
from google.cloud import bigquery, bigquery_storage_v1
from google.cloud.bigquery_storage_v1.services.big_query_read import transports
from serving import Unsupported, batches_of, serve

# If pandas-gbq is installed, google-cloud-bigquery asks it first, and it converts in its own way.
sys.modules["pandas_gbq"] = None  # type: ignore[assignment]

NAME = "google-cloud-bigquery"
SINCE = (3, 47)
"""Versions before leave out the client of the Storage API that they are given, in every method but one."""
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


def result(asked: Mapping[str, Any]) -> Any:
    """The rows of the query, which the client has not read yet."""
    client = bigquery.Client(
        project=asked["project"], credentials=AnonymousCredentials(), client_options={"api_endpoint": asked["rest"]}
    )
    return client.query_and_wait(asked["query"], query_results_format="ARROW")


def to_arrow(asked: Mapping[str, Any]) -> list[pa.RecordBatch]:
    """The batches of the whole table."""
    if tuple(map(int, bigquery.__version__.split(".")[:2])) < SINCE:
        raise Unsupported("google-cloud-bigquery 3.47.0 is the first version that uses the storage client given")
    return batches_of(result(asked).to_arrow(bqstorage_client=storage(asked), create_bqstorage_client=False))


def to_arrow_iterable(asked: Mapping[str, Any]) -> list[pa.RecordBatch]:
    """The batches as they come."""
    return [*result(asked).to_arrow_iterable(bqstorage_client=storage(asked))]


def class_of(error: Exception) -> str:
    """The status code of an error of the service, else its type."""
    code = error.grpc_status_code if isinstance(error, GoogleAPICallError) else None
    return code.name if code else type(error).__name__


if __name__ == "__main__":
    about = {"implementation": "bigquery-python-query", "title": NAME, "version": bigquery.__version__}
    serve(about, {"to-arrow": to_arrow, "to-arrow-iterable": to_arrow_iterable}, class_of)
