"""The messages of ``google.cloud.bigquery.storage.v1.BigQueryRead``, built from one table.

The numbers and names are those of the public proto files (googleapis,
``google/cloud/bigquery/storage/v1/{storage,stream,arrow,avro}.proto``). Fields that are missing from the table survive
parsing as unknown fields; the contract permits them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance._protobuftables import declare
from conformance.contract.protoclasses import message_classes
from conformance.contract.sources import STORAGE_PROTO

PACKAGE: Final = "google.cloud.bigquery.storage.v1"
SERVICE: Final = f"/{PACKAGE}.BigQueryRead/"
"""Prefix of the three method names as gRPC spells them."""

DATA_FORMAT: Final[Mapping[str, int]] = {"": 0, "AVRO": 1, "ARROW": 2}
COMPRESSION: Final[Mapping[str, int]] = {"": 0, "LZ4_FRAME": 1, "ZSTD": 2}
"""``ArrowSerializationOptions.CompressionCodec``: compression of the buffers inside a record batch body."""
RESPONSE_COMPRESSION: Final[Mapping[str, int]] = {"": 0, "LZ4": 2}
"""``TableReadOptions.ResponseCompressionCodec``: a raw LZ4 block over the whole payload; the number 1 is unused."""
TIMESTAMP_PRECISION: Final[Mapping[str, int]] = {"": 0, "MICROS": 1, "NANOS": 2, "PICOS": 3}
"""``PicosTimestampPrecision`` of ArrowSerializationOptions and AvroSerializationOptions."""

# The function declare explains the rows. The descriptor pool refuses a oneof after an optional field.
_MESSAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "ArrowSchema": ("1 serialized_schema bytes",),
    "ArrowRecordBatch": ("1 serialized_record_batch bytes", "2 row_count int64"),
    "ArrowSerializationOptions": (
        "2 buffer_compression enum:ArrowCompression",
        "3 picos_timestamp_precision enum:Picos",
    ),
    "AvroSchema": ("1 schema string",),
    "AvroRows": ("1 serialized_binary_rows bytes", "2 row_count int64"),
    "AvroSerializationOptions": (
        "1 enable_display_name_attribute bool",
        "2 picos_timestamp_precision enum:Picos",
    ),
    "TableModifiers": ("1 snapshot_time .google.protobuf.Timestamp",),
    "TableReadOptions": (
        "1 selected_fields string*",
        "2 row_restriction string",
        "3 arrow_serialization_options ArrowSerializationOptions output_format_serialization_options",
        "4 avro_serialization_options AvroSerializationOptions output_format_serialization_options",
        "5 sample_percentage double?",
        "6 response_compression_codec enum:ResponseCompression?",
    ),
    "ReadStream": ("1 name string",),
    "ReadSession": (
        "1 name string",
        "2 expire_time .google.protobuf.Timestamp",
        "3 data_format enum:DataFormat",
        "4 avro_schema AvroSchema schema",
        "5 arrow_schema ArrowSchema schema",
        "6 table string",
        "7 table_modifiers TableModifiers",
        "8 read_options TableReadOptions",
        "10 streams ReadStream*",
        "12 estimated_total_bytes_scanned int64",
        "13 trace_id string",
        "14 estimated_row_count int64",
        "15 estimated_total_physical_file_size int64",
    ),
    "CreateReadSessionRequest": (
        "1 parent string",
        "2 read_session ReadSession",
        "3 max_stream_count int32",
        "4 preferred_min_stream_count int32",
    ),
    "ReadRowsRequest": (
        "1 read_stream string",
        "2 offset int64",
        "5 arrow_serialization_options ArrowSerializationOptions output_format_serialization_options",
    ),
    "ThrottleState": ("1 throttle_percent int32",),
    "Progress": ("1 at_response_start double", "2 at_response_end double"),
    "StreamStats": ("2 progress Progress",),
    "ReadRowsResponse": (
        "2 stats StreamStats",
        "3 avro_rows AvroRows rows",
        "4 arrow_record_batch ArrowRecordBatch rows",
        "5 throttle_state ThrottleState",
        "6 row_count int64",
        "7 avro_schema AvroSchema schema",
        "8 arrow_schema ArrowSchema schema",
        "9 uncompressed_byte_size int64?",
        "10 total_estimated_row_count int64?",
    ),
    "SplitReadStreamRequest": ("1 name string", "2 fraction double"),
    "SplitReadStreamResponse": ("1 primary_stream ReadStream", "2 remainder_stream ReadStream"),
}

# Enums are open in proto3, and nothing here uses the names of the values, so each enum is declared by its numbers.
_ENUMS: Final[Mapping[str, tuple[int, ...]]] = {
    "DataFormat": (0, 1, 2),
    "ArrowCompression": (0, 1, 2),
    "ResponseCompression": (0, 2),
    "Picos": (0, 1, 2, 3),
}

SPECS: Final = declare(
    STORAGE_PROTO, _MESSAGES, {name: {one: f"{name}_{one}" for one in numbers} for name, numbers in _ENUMS.items()}
)
"""The description of every message by its name."""

_CLASSES: Final = message_classes(PACKAGE, SPECS)

ArrowSchema: Any = _CLASSES["ArrowSchema"]
ArrowRecordBatch: Any = _CLASSES["ArrowRecordBatch"]
ReadStream: Any = _CLASSES["ReadStream"]
ReadSession: Any = _CLASSES["ReadSession"]
TableReadOptions: Any = _CLASSES["TableReadOptions"]
CreateReadSessionRequest: Any = _CLASSES["CreateReadSessionRequest"]
ReadRowsRequest: Any = _CLASSES["ReadRowsRequest"]
ReadRowsResponse: Any = _CLASSES["ReadRowsResponse"]
SplitReadStreamRequest: Any = _CLASSES["SplitReadStreamRequest"]
SplitReadStreamResponse: Any = _CLASSES["SplitReadStreamResponse"]

REQUESTS: Final[Mapping[str, Any]] = {
    "CreateReadSession": CreateReadSessionRequest,
    "ReadRows": ReadRowsRequest,
    "SplitReadStream": SplitReadStreamRequest,
}
"""The class of each method's request."""

METHOD_PATHS: Final[Mapping[str, str]] = {SERVICE + name: name for name in REQUESTS}
"""The bare names of the methods by the full ones, as gRPC spells them."""

RESPONSES: Final[Mapping[str, Any]] = {
    "CreateReadSession": ReadSession,
    "ReadRows": ReadRowsResponse,
    "SplitReadStream": SplitReadStreamResponse,
}
"""The class of each method's responses."""
