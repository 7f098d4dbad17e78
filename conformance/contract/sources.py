"""The public texts that the clauses on calls rest on: each address once, with what is there."""

from __future__ import annotations

from typing import Final

STORAGE_PROTO: Final = (
    "https://github.com/googleapis/googleapis/blob/master/google/cloud/bigquery/storage/v1/storage.proto"
)
"""The three calls, their requests and responses."""

STREAM_PROTO: Final = (
    "https://github.com/googleapis/googleapis/blob/master/google/cloud/bigquery/storage/v1/stream.proto"
)
"""ReadSession, its options, ReadStream."""

ARROW_PROTO: Final = "https://github.com/googleapis/googleapis/blob/master/google/cloud/bigquery/storage/v1/arrow.proto"
"""Schema, record batch, buffer compression."""

GUIDE: Final = "https://cloud.google.com/bigquery/docs/reference/storage"
"""The Storage Read API guide: sessions, snapshots, limits, filters."""

QUOTAS: Final = "https://cloud.google.com/bigquery/quotas#storage-limits"
"""Limits of the Storage Read API, the length of a filter among them."""

SQL_WHERE: Final = "https://cloud.google.com/bigquery/docs/reference/standard-sql/query-syntax#where_clause"
"""What a boolean expression over a row selects: where it is TRUE, and neither where it is FALSE nor NULL."""

SQL_OPERATORS: Final = "https://cloud.google.com/bigquery/docs/reference/standard-sql/operators"
"""Comparison, IN, BETWEEN, LIKE, IS NULL, NOT, AND, OR."""

SQL_LITERALS: Final = "https://cloud.google.com/bigquery/docs/reference/standard-sql/lexical#literals"
"""String literals in either kind of quotes, date and timestamp literals."""

RECORDED: Final = "https://github.com/jjviscomi/bqemulator/tree/main/tests/conformance/grpc_corpus/storage_read"
"""Sessions and reads recorded from the service, with opaque values masked."""

MEASURED: Final = "https://github.com/flink-gcp/flink-connector-gcp/tree/main/docs/adr"
"""Stream counts, lifetimes, offsets, views and compression, measured on the service in August 2026."""

RUST_CLIENT: Final = "https://github.com/abdolence/bigquery-rs"
"""Live tests and documentation of a Rust client, measured on the service in October 2026."""

JAVA_LIVE_TEST: Final = (
    "https://github.com/googleapis/java-bigquerystorage/blob/main/google-cloud-bigquerystorage/src/test/java/"
    "com/google/cloud/bigquery/storage/v1/it/ITBigQueryStorageReadClientTest.java"
)
"""Reads of the live service: resumed reads, filters, snapshots."""

NODE_LIVE_TEST: Final = (
    "https://github.com/googleapis/nodejs-bigquery-storage/blob/main/system-test/reader_client_test.ts"
)
"""Reads of the live service, and the text of its refusal of an unknown column."""

STRICT_CLIENT: Final = "https://github.com/acuitymd/silk-chiffon"
"""A reader that checks what the service says about a session and each response before it uses them."""

BEAM_SOURCE: Final = (
    "https://github.com/apache/beam/blob/master/sdks/java/io/google-cloud-platform/src/main/java/"
    "org/apache/beam/sdk/io/gcp/bigquery/BigQueryStorageStreamSource.java"
)
"""A reader that splits streams, and checks counts and progress."""

OFFSETS: Final = "https://github.com/goccy/bigquery-emulator/issues/507"
"""Offsets 0, 3, 5 and 100 of a five-row stream, measured on the service and on an emulator."""

PERMANENT_AS_UNKNOWN: Final = "https://github.com/googleapis/python-bigquery-storage/pull/263"
"""Why a reader takes UNKNOWN in mid-stream for a lost connection and reads on."""

EMULATOR_HANDLERS: Final = (
    "https://github.com/goccy/bigquery-emulator/blob/cb8555bee739c794343337e8c3242b59d5d7470a/server/storage_handler.go"
)
"""Handlers that return plain errors, answer with one response, and append columns by position."""

EMULATOR_SERVICER: Final = (
    "https://github.com/jjviscomi/bqemulator/blob/a8fcd56f5676b232d18ec611eb8fb7963a18a6b8/"
    "src/bqemulator/grpc_api/read_servicer.py"
)
"""A servicer that never looks at the offset, refuses words inside literals and does not apply compression."""
