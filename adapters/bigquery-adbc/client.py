"""Client of adbc-driver-bigquery, a driver in Go behind the interface of ADBC: reads tables for the suite.

Built by ``python -m adapters bigquery-adbc``; ``serving.py`` speaks the protocol. The driver has no option for its
endpoint, so it reads through the proxy of the suite's replay server, which Go takes from the environment.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from serving import needs_environment, serve, whole

NAME = "adbc-driver-bigquery"
USER = {"type": "authorized_user", "client_id": "none", "client_secret": "none", "refresh_token": "none"}
"""The replay server gives everyone a token."""


def query(asked: Mapping[str, Any]) -> list[pa.RecordBatch]:
    """The batches of a query of the whole table."""
    project, dataset, table = whole(asked)
    needs_environment({"HTTPS_PROXY": asked["proxy"], "SSL_CERT_FILE": asked["ca"], "NO_PROXY": ""})
    from adbc_driver_bigquery import DatabaseOptions, dbapi  # noqa: PLC0415  # hello needs no driver

    options = {
        DatabaseOptions.PROJECT_ID: project,
        DatabaseOptions.AUTH_TYPE: DatabaseOptions.AUTH_VALUE_JSON_CREDENTIAL_STRING.value,
        DatabaseOptions.AUTH_CREDENTIALS: json.dumps(USER),
    }
    with (
        dbapi.connect(db_kwargs={key.value: value for key, value in options.items()}) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(f"SELECT * FROM `{project}.{dataset}.{table}`")  # noqa: S608  # a name that the suite made
        reader = cursor.fetch_record_batch()
        return [pa.RecordBatch.from_pylist([], schema=reader.schema), *reader]


if __name__ == "__main__":
    about = {"implementation": "bigquery-adbc", "title": NAME, "version": importlib.metadata.version(NAME)}
    serve(about, {"query": query}, lambda error: type(error).__name__)
