"""The public texts that clauses rest on: each address once, with a description of its content."""

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
"""A filter selects the rows for which its boolean expression is TRUE, and not those for which it is FALSE or NULL."""

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
"""A reader that checks the service's statements about a session and each response before it uses them."""

BEAM_SOURCE: Final = (
    "https://github.com/apache/beam/blob/master/sdks/java/io/google-cloud-platform/src/main/java/"
    "org/apache/beam/sdk/io/gcp/bigquery/BigQueryStorageStreamSource.java"
)
"""A reader that splits streams, and checks counts and progress."""

OFFSETS: Final = "https://github.com/goccy/bigquery-emulator/issues/507"
"""Offsets 0, 3, 5 and 100 of a five-row stream, measured on the service and on an emulator."""

PERMANENT_AS_UNKNOWN: Final = "https://github.com/googleapis/python-bigquery-storage/pull/263"
"""The reason why a reader treats UNKNOWN in mid-stream as a lost connection and reads on."""

EMULATOR_HANDLERS: Final = (
    "https://github.com/goccy/bigquery-emulator/blob/cb8555bee739c794343337e8c3242b59d5d7470a/server/storage_handler.go"
)
"""Handlers that return plain errors, answer with one response, and append columns by position."""

EMULATOR_SERVICER: Final = (
    "https://github.com/jjviscomi/bqemulator/blob/a8fcd56f5676b232d18ec611eb8fb7963a18a6b8/"
    "src/bqemulator/grpc_api/read_servicer.py"
)
"""A servicer that never looks at the offset, refuses words inside literals and does not apply compression."""

PAYLOAD_CODEC: Final = "https://github.com/GoogleCloudDataproc/spark-bigquery-connector/pull/1222"
"""A connector that learns to decompress whole payloads."""

UNSPECIFIED_FORMAT: Final = "https://github.com/googleapis/python-bigquery-storage/issues/264"
"""A session asked for without a data format, and how the service refuses it."""

BAD_PARENT: Final = "https://github.com/googleapis/google-cloud-python/issues/10025"
"""A session asked for with a parent of the wrong form, and how the service refuses it."""

MISSING_TABLE: Final = "https://github.com/googleapis/google-cloud-java/issues/12981"
"""A session on a table that does not exist, and how the service refuses it."""

BAD_FILTER: Final = "https://github.com/GoogleCloudDataproc/spark-bigquery-connector/issues/421"
"""A filter that the service cannot parse, with the text of its refusal."""

LONG_FILTER: Final = "https://github.com/GoogleCloudDataproc/spark-bigquery-connector/issues/1301"
"""A filter above the limit of length, with the text of the refusal."""

PREFERRED_STREAMS: Final = "https://github.com/GoogleCloudDataproc/spark-bigquery-connector/issues/908"
"""The preferred minimum of streams above the maximum, and how the service refuses it."""

INVENTING_HANDLER: Final = "https://github.com/vantaboard/bigquery-emulator/blob/73f58d84a21edc6cf072619befec1b30fc7abb4a/gateway/handlers/bqstorage/read_server.go"
"""A handler that invents columns for a session that it does not know."""

IPC_FILE: Final = "https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format"
"""The IPC file format."""

ENCAPSULATION: Final = "https://arrow.apache.org/docs/format/Columnar.html#encapsulated-message-format"
"""The encapsulated message: continuation, length, metadata, padding, body."""

ARROW_GUIDE: Final = "https://cloud.google.com/bigquery/docs/reference/storage#arrow_schema_details"
"""How columns of BigQuery appear as Arrow fields."""

WHOLE_STREAM: Final = "https://github.com/goccy/bigquery-emulator/issues/398"
"""An emulator that sent a whole stream where the schema message belongs."""

SCHEMA_AND_BATCH: Final = "https://github.com/goccy/bigquery-emulator/issues/493"
"""An emulator that sent the schema message again before each batch."""

TRAILING_MARKER: Final = "https://github.com/jjviscomi/bqemulator/pull/31"
"""An emulator that sent an end-of-stream marker behind a message."""

COLUMNAR: Final = "https://arrow.apache.org/docs/format/Columnar.html"
"""The columnar format and its messages."""

CANONICAL: Final = "https://arrow.apache.org/docs/format/CanonicalExtensions.html"
"""The canonical extension types."""

NESTED_PRUNING: Final = "https://github.com/GoogleCloudDataproc/spark-bigquery-connector/pull/1512"
"""A connector that selects fields of records."""

ARROW_SECURITY: Final = "https://arrow.apache.org/docs/format/Security.html"
"""The duties of readers on input that they do not trust."""

VERSIONING: Final = "https://arrow.apache.org/docs/format/Versioning.html"
"""Versions of the format, and the changes that each may make."""

SCHEMA_FBS: Final = "https://github.com/apache/arrow/blob/main/format/Schema.fbs"
"""Types, fields, dictionaries and the schema, as flatbuffers tables."""

TENSOR_FORMAT: Final = "https://arrow.apache.org/docs/format/Other.html"
"""Messages of tensors and sparse tensors."""

PYTHON_CLIENT: Final = (
    "https://github.com/googleapis/google-cloud-python/tree/main/packages/google-cloud-bigquery-storage"
)
"""The Python client for the Storage API."""

IPC_FORMAT: Final = (
    "https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc"
)
"""Serialization and interprocess communication (IPC)."""

LARGE_RESPONSES: Final = "https://github.com/googleapis/python-bigquery-storage/issues/78"
"""Responses above gRPC's default limit of 4 MiB."""

FILTERS_AND_PARENTS: Final = "https://github.com/vantaboard/bigquery-emulator/commit/35d2d3b2"
"""A change to an emulator: the filters that it parses, and parents in another project than the table's."""

ROW_COUNTERS: Final = "https://github.com/googleapis/python-bigquery-storage/pull/424"
"""A client that moved to another counter of rows."""

ROWS_LOST: Final = "https://github.com/googleapis/google-cloud-python/issues/14900"
"""Rows lost by a client."""

STREAMS_BUNDLED: Final = "https://github.com/apache/beam/issues/26354"
"""A reader that takes several streams as one."""

NO_RESPONSE: Final = "https://github.com/googleapis/python-bigquery-storage/issues/733"
"""A read that ends without a response."""

CAPTURED: Final = "https://github.com/GoogleCloudDataproc/spark-bigquery-connector/tree/master/spark-bigquery-connector-common/src/test/resources"
"""Schemas captured from the service, with columns of every mode and most types."""

LIVE_TEST: Final = "https://github.com/googleapis/python-bigquery/blob/main/tests/system/test_arrow.py"
"""Assertions on field metadata that run against the service."""

NO_STREAMS: Final = "https://github.com/goccy/bigquery-emulator/issues/409"
"""An emulator that answered a session without streams."""

NO_OPTIONS: Final = "https://github.com/goccy/bigquery-emulator/issues/382"
"""An emulator that failed on a session without read options."""

ONE_STREAM_ONLY: Final = "https://github.com/goccy/bigquery-emulator/issues/29"
"""An emulator that served one stream, however many the request asked for."""

ENDLESS_SPLITS: Final = "https://github.com/apache/beam/issues/20155"
"""A reader that splits streams without end."""

IPC_STREAM: Final = "https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format"
"""The IPC streaming format."""

MESSAGE_FBS: Final = "https://github.com/apache/arrow/blob/main/format/Message.fbs"
"""Messages, record batches and their buffers, as flatbuffers tables."""

FORWARD_COMPATIBILITY: Final = "https://arrow.apache.org/docs/format/Versioning.html#forward-compatibility"
"""The duties of a reader on a newer version's messages."""

FLATTENING_HANDLER: Final = "https://github.com/vantaboard/bigquery-emulator/blob/73f58d84a21edc6cf072619befec1b30fc7abb4a/gateway/handlers/bqstorage/arrow.go"
"""A handler that flattens types."""

SQL_TYPES: Final = "https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types"
"""The data types of GoogleSQL and their ranges."""

INSERTED_VALUES: Final = "https://github.com/Recidiviz/bigquery-emulator/pull/45"
"""A change to an emulator: values of inserted rows."""

EMPTY_ARRAYS: Final = "https://github.com/goccy/bigquery-emulator/pull/496"
"""A change to an emulator: empty arrays."""

LIVE_TESTS: Final = "https://github.com/abdolence/bigquery-rs/tree/main/tests"
"""Values written and read back through the service."""
