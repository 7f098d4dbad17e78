"""The public texts that clauses rest on: each address once, with its content and the kind of evidence that it is.

A source states a requirement, or shows that the service meets it. A report on one emulator does neither: it shows who
breaks, so its address belongs into a clause's ``breaks``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from conformance.contract.closed import EvidenceKind

Sources: TypeAlias = str | tuple[str, ...]
"""The address that states a requirement, or a tuple of it and the addresses of further evidence."""


class Inferred(str):
    """An address from whose text a requirement follows, although the text does not say it."""

    __slots__ = ()


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

RETRIED_CODES: Final = (
    "https://github.com/googleapis/googleapis/blob/master/google/cloud/bigquery/storage/v1/"
    "bigquerystorage_grpc_service_config.json"
)
"""The codes after which generated clients make a call again."""

GUIDE: Final = "https://cloud.google.com/bigquery/docs/reference/storage"
"""The Storage Read API guide: sessions, snapshots, limits, filters."""

QUOTAS: Final = "https://cloud.google.com/bigquery/quotas#storage-limits"
"""Limits of the Storage Read API, the length of a filter among them."""

TABLE_SCHEMAS: Final = "https://cloud.google.com/bigquery/docs/managing-table-schemas"
"""Columns that are added, relaxed and dropped: earlier rows have NULL in an added one."""

TABLE_SAMPLING: Final = "https://cloud.google.com/bigquery/docs/table-sampling"
"""TABLESAMPLE SYSTEM: a random part of the blocks of a table, by a percentage from 0 to 100."""

SQL_WHERE: Final = "https://cloud.google.com/bigquery/docs/reference/standard-sql/query-syntax#where_clause"
"""A filter selects the rows for which its boolean expression is TRUE, and not those for which it is FALSE or NULL."""

SQL_OPERATORS: Final = "https://cloud.google.com/bigquery/docs/reference/standard-sql/operators"
"""Comparison, IN, BETWEEN, LIKE, IS NULL, NOT, AND, OR."""

SQL_FUNCTIONS: Final = "https://cloud.google.com/bigquery/docs/reference/standard-sql/functions-all"
"""The functions of GoogleSQL."""

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

SESSION_NAMES: Final = "https://github.com/GoogleCloudDataproc/spark-bigquery-connector/issues/333"
"""A log with the names of three sessions of one program."""

STRICT_CLIENT: Final = "https://github.com/acuitymd/silk-chiffon"
"""A reader that checks the service's statements about a session and each response before it uses them."""

BEAM_SOURCE: Final = (
    "https://github.com/apache/beam/blob/master/sdks/java/io/google-cloud-platform/src/main/java/"
    "org/apache/beam/sdk/io/gcp/bigquery/BigQueryStorageStreamSource.java"
)
"""A reader that splits streams, and checks counts and progress."""

SERVICE_TESTS: Final = "https://github.com/flink-gcp/flink-connector-gcp"
"""Tests of a connector against the service: a stream read from an offset, and from its number of rows; JSON texts."""

DISCOVERY: Final = "https://bigquery.googleapis.com/discovery/v1/apis/bigquery/v2/rest"
"""The requests and answers of the REST API: ``queryResultsFormat`` and what an answer in Arrow has."""

PYTHON_QUERIES: Final = "https://github.com/googleapis/google-cloud-python/pull/18027"
"""A reader of query results in Arrow: the page, the stream of the job, and what says that rows remain."""

CACHED_RESULTS: Final = "https://cloud.google.com/bigquery/docs/cached-results"
"""Where results of queries are kept, and for how long."""

JOB_STREAMS: Final = "https://github.com/googleapis/google-cloud-java/pull/14458"
"""The name of the stream of a query's job, its options, and what it refuses."""

QUERY_PAGES: Final = "https://github.com/googleapis/google-cloud-java/pull/13944"
"""A reader of query results in Arrow, and the reviews of its faults."""

PERMANENT_AS_UNKNOWN: Final = "https://github.com/googleapis/python-bigquery-storage/pull/263"
"""The reason why a reader treats UNKNOWN in mid-stream as a lost connection and reads on."""

RPC_CODES: Final = "https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto"
"""The status codes, and which of them a client may answer with a retry."""

GRPC_CANCELLATION: Final = "https://grpc.io/docs/guides/cancellation/"
"""How a client that no longer wants the result of a call says so."""

GRPC_STREAM_ENDS: Final = "https://pkg.go.dev/google.golang.org/grpc#ClientConn.NewStream"
"""What a client does with a stream of responses, so that nothing of it stays: read it to its end, or cancel it."""

ERROR_GUIDE: Final = "https://google.aip.dev/193"
"""The errors of Google's APIs: their codes, and messages that help people."""

RETRY_GUIDE: Final = "https://google.aip.dev/194"
"""The statuses after which a client of Google's APIs asks again by itself."""

HTTP2: Final = "https://www.rfc-editor.org/rfc/rfc9113"
"""HTTP/2: connections and streams, and how each ends."""

JAVA_RETRIES: Final = (
    "https://github.com/googleapis/java-bigquerystorage/blob/main/google-cloud-bigquerystorage/src/main/java/"
    "com/google/cloud/bigquery/storage/util/Errors.java"
)
"""The statuses and texts after which the Java client reads on."""

GO_CLIENT: Final = "https://github.com/googleapis/google-cloud-go/blob/main/bigquery/storage_iterator.go"
"""The statuses after which the Go client reads on."""

NODE_CLIENT: Final = "https://github.com/googleapis/nodejs-bigquery-storage/tree/main/src/reader"
"""The statuses after which the Node client reads on."""

GRPC: Final = "https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md"
"""gRPC over HTTP/2: a server ends every call with trailers that have a status."""

PROTOBUF: Final = "https://protobuf.dev/programming-guides/encoding/"
"""The encoding of protobuf messages, as gRPC carries them."""

TIMESTAMP_MESSAGE: Final = "https://protobuf.dev/reference/protobuf/google.protobuf/#timestamp"
"""The message of a point in time, and the range of its fields."""

ENDLESS_READ: Final = "https://github.com/googleapis/google-cloud-go/issues/8660"
"""A read without a deadline that hung for ever in its client."""

PAYLOAD_CODEC: Final = "https://github.com/GoogleCloudDataproc/spark-bigquery-connector/pull/1222"
"""A connector that learns to decompress whole payloads."""

UNSPECIFIED_FORMAT: Final = "https://github.com/googleapis/python-bigquery-storage/issues/264"
"""A session asked for without a data format, and how the service refuses it."""

BAD_PARENT: Final = "https://github.com/googleapis/google-cloud-python/issues/10025"
"""A session asked for with a parent of the wrong form, and how the service refuses it."""

VIEW_READ: Final = "https://github.com/coiled/dask-bigquery/issues/41"
"""The refusal of a view."""

ORDER_PRESERVED: Final = "https://github.com/googleapis/google-cloud-python/pull/7793"
"""A client that reads the result of a query with ORDER BY in one stream, to keep its order."""

PARTITION_FILTER: Final = "https://github.com/GoogleCloudPlatform/DataflowTemplates/issues/2273"
"""The refusal of a table that requires a filter on its partitions."""

MISSING_TABLE: Final = "https://github.com/googleapis/google-cloud-java/issues/12981"
"""A session on a table that does not exist, and how the service refuses it."""

BAD_FILTER: Final = "https://github.com/GoogleCloudDataproc/spark-bigquery-connector/issues/421"
"""A filter that the service cannot parse, with the text of its refusal."""

LONG_FILTER: Final = "https://github.com/GoogleCloudDataproc/spark-bigquery-connector/issues/1301"
"""A filter above the limit of length, with the text of the refusal."""

PREFERRED_STREAMS: Final = "https://github.com/GoogleCloudDataproc/spark-bigquery-connector/issues/908"
"""The preferred minimum of streams above the maximum, and how the service refuses it."""

EXPIRED_SESSION: Final = "https://github.com/GoogleCloudDataproc/spark-bigquery-connector/issues/1316"
"""A read of a stream whose session is gone: the stream's full name, and how the service refuses it."""

IPC_FILE: Final = "https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format"
"""The IPC file format."""

ENCAPSULATION: Final = "https://arrow.apache.org/docs/format/Columnar.html#encapsulated-message-format"
"""The encapsulated message: continuation, length, metadata, padding, body."""

ARROW_GUIDE: Final = "https://cloud.google.com/bigquery/docs/reference/storage#arrow_schema_details"
"""How columns of BigQuery appear as Arrow fields."""

COLUMNAR: Final = "https://arrow.apache.org/docs/format/Columnar.html"
"""The columnar format and its messages."""

CANONICAL: Final = "https://arrow.apache.org/docs/format/CanonicalExtensions.html"
"""The canonical extension types."""

SELECTED_NAMES: Final = (
    "https://github.com/googleapis/python-bigquery/blob/main/google/cloud/bigquery/_pandas_helpers.py"
)
"""A client that selects columns by their names alone, RECORDs among them."""

NESTED_PRUNING: Final = "https://github.com/GoogleCloudDataproc/spark-bigquery-connector/pull/1512"
"""A connector that selects fields of records."""

ARROW_SECURITY: Final = "https://arrow.apache.org/docs/format/Security.html"
"""The duties of readers on input that they do not trust. Of decoding it says: "It is extremely recommended to run
dedicated validation checks when decoding the IPC format", and "Failing those checks should return a well-known error to
the caller, not crash." It recommends validation and requires no refusal, so clauses that rest on it are SHOULD.
"""

C_DATA: Final = "https://arrow.apache.org/docs/format/CDataInterface.html"
"""The interface through which libraries hand each other arrays without copying them: both see the same values."""

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

ROW_COUNTERS: Final = "https://github.com/googleapis/python-bigquery-storage/pull/424"
"""A client that moved to another counter of rows."""

ROWS_LOST: Final = "https://github.com/googleapis/google-cloud-python/issues/14900"
"""Rows lost by a client."""

STREAMS_BUNDLED: Final = "https://github.com/apache/beam/issues/26354"
"""A reader that takes several streams as one."""

NO_RESPONSE: Final = "https://github.com/googleapis/python-bigquery-storage/issues/733"
"""A read that ends without a response."""

CAPTURED: Final = "https://github.com/GoogleCloudDataproc/spark-bigquery-connector/tree/master/spark-bigquery-connector-common/src/test/resources"
"""Schemas and batches captured from the service, with columns of every mode and most types."""

LIVE_TEST: Final = "https://github.com/googleapis/python-bigquery/blob/main/tests/system/test_arrow.py"
"""Assertions on field metadata that run against the service."""

ENDLESS_SPLITS: Final = "https://github.com/apache/beam/issues/20155"
"""A reader that splits streams without end."""

IPC_STREAM: Final = "https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format"
"""The IPC streaming format."""

MESSAGE_FBS: Final = "https://github.com/apache/arrow/blob/main/format/Message.fbs"
"""Messages, record batches and their buffers, as flatbuffers tables."""

FILE_FBS: Final = "https://github.com/apache/arrow/blob/main/format/File.fbs"
"""The footer of a file, whose `custom_metadata` is "User-defined metadata"."""

FORWARD_COMPATIBILITY: Final = "https://arrow.apache.org/docs/format/Versioning.html#forward-compatibility"
"""The duty of a reader on a newer version's messages: "An older client library must be able to either read data
generated from a new client library or detect that it cannot properly read the data."
"""

SQL_TYPES: Final = "https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types"
"""The data types of GoogleSQL and their ranges."""

BIGNUMERIC_TYPE: Final = "https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types#bignumeric_type"
"""BIGNUMERIC, whose 77th digit is partial."""

SQL_KEYWORDS: Final = "https://cloud.google.com/bigquery/docs/reference/standard-sql/lexical#reserved_keywords"
"""The words that cannot be names unless they are quoted."""

READ_STATS: Final = "https://arrow.apache.org/docs/python/generated/pyarrow.ipc.ReadStats.html"
"""The counts that a reader of pyarrow reports for a stream."""

LZ4_FRAME: Final = "https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md"
"""The frames in which LZ4-compressed buffers arrive."""

AVRO_SPEC: Final = "https://avro.apache.org/docs/1.12.0/specification/"
"""The Avro format: schemas in JSON, and the binary encoding of datums."""

AVRO_GUIDE: Final = "https://cloud.google.com/bigquery/docs/reference/storage#avro_schema_details"
"""The Avro type of each type of BigQuery."""

AVRO_NAMES: Final = "https://github.com/apache/beam/issues/26318"
"""A reader that refuses a schema in which two records have one name."""

OBSERVED_TYPES: Final = "https://github.com/airbytehq/airbyte"
"""A decoder whose tests have the Arrow types that the service returned in September 2026."""

LIVE_TESTS: Final = "https://github.com/abdolence/bigquery-rs/tree/main/tests"
"""Tests against the service: values of every type and mode, projections, restrictions, streams."""

STATUS_CODES: Final = "https://github.com/grpc/grpc/blob/master/doc/statuscodes.md"
"""The status codes of gRPC: OK is "returned on success", and a request that cannot be parsed ends in INTERNAL."""

WRITES_RECORDED: Final = "https://github.com/jjviscomi/bqemulator/tree/main/tests/conformance/grpc_corpus/storage_write"
"""Calls of the Storage Write API recorded from the service, with opaque values masked."""

JAVA_WRITE_TEST: Final = (
    "https://github.com/googleapis/java-bigquerystorage/blob/main/google-cloud-bigquerystorage/src/test/java/"
    "com/google/cloud/bigquery/storage/v1/it/ITBigQueryStorageWriteClientTest.java"
)
"""Writes to the live service: offsets, errors, row errors, the types of streams, rows in Arrow."""

GO_WRITE_TEST: Final = (
    "https://github.com/googleapis/google-cloud-go/blob/main/bigquery/storage/managedwriter/integration_test.go"
)
"""Writes to the live service: views of streams, StorageError in an answer, missing values."""

PYTHON_WRITE_SAMPLE: Final = (
    "https://github.com/googleapis/python-bigquery-storage/blob/main/samples/pyarrow/append_rows_with_arrow.py"
)
"""A program whose test writes rows of most types to the live service in Arrow."""

FULL_STREAM_REFUSED: Final = "https://github.com/apache/arrow-go/pull/421"
"""How the service took full IPC streams in place of bare messages."""

WRITE_GUIDE: Final = "https://cloud.google.com/bigquery/docs/write-api"
"""The Storage Write API guide: types of streams, offsets, connections."""

_BEGINNINGS: Final[Mapping[EvidenceKind, tuple[str, ...]]] = MappingProxyType(
    {
        EvidenceKind.RECORDED: (
            BAD_FILTER, BAD_PARENT, CAPTURED, EXPIRED_SESSION, FULL_STREAM_REFUSED, GO_WRITE_TEST, JAVA_LIVE_TEST,
            JAVA_WRITE_TEST, LARGE_RESPONSES, LIVE_TEST, LIVE_TESTS,
            LONG_FILTER, MISSING_TABLE, NODE_LIVE_TEST, OBSERVED_TYPES, PARTITION_FILTER, PREFERRED_STREAMS,
            PYTHON_WRITE_SAMPLE, RECORDED,
            SERVICE_TESTS, SESSION_NAMES, UNSPECIFIED_FORMAT, VIEW_READ, WRITES_RECORDED,
        ),
        EvidenceKind.MEASURED: (MEASURED, NO_RESPONSE, RUST_CLIENT),
        EvidenceKind.NORMATIVE: (
            "https://arrow.apache.org/docs/format/", "https://avro.apache.org/docs/",
            "https://flatbuffers.dev/", "https://github.com/apache/arrow/blob/main/format/", "https://protobuf.dev/",
            "https://www.rfc-editor.org/rfc/", GRPC, LZ4_FRAME, STATUS_CODES,
        ),
        EvidenceKind.CLIENT: (
            "https://github.com/apache/arrow/blob/main/cpp/", AVRO_NAMES, BEAM_SOURCE,
            ENDLESS_READ, ENDLESS_SPLITS, GO_CLIENT,
            JAVA_RETRIES, JOB_STREAMS, NESTED_PRUNING, NODE_CLIENT, ORDER_PRESERVED, PAYLOAD_CODEC,
            PERMANENT_AS_UNKNOWN, PYTHON_CLIENT, PYTHON_QUERIES, QUERY_PAGES, ROWS_LOST,
            ROW_COUNTERS, SELECTED_NAMES, STREAMS_BUNDLED, STRICT_CLIENT,
        ),
        EvidenceKind.DOCUMENTATION: (
            DISCOVERY, ERROR_GUIDE, GRPC_CANCELLATION, GRPC_STREAM_ENDS, READ_STATS, RETRY_GUIDE,
            "https://cloud.google.com/bigquery/",
            "https://github.com/googleapis/googleapis/blob/master/",
        ),
    }
)  # fmt: skip
"""The kind of evidence of the addresses that begin so; the longest beginning decides."""


def evidence_of(address: str) -> EvidenceKind:
    """Return the kind of evidence that an address is.

    Raises:
        ValueError: the table has no beginning of the address.
    """
    if isinstance(address, Inferred):
        return EvidenceKind.INFERRED
    kinds = {start: kind for kind, starts in _BEGINNINGS.items() for start in starts if address.startswith(start)}
    if not kinds:
        raise ValueError(f"expected the address of a known kind of evidence, got {address!r}")
    return kinds[max(kinds, key=len)]
