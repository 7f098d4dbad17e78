"""The messages of ``google.cloud.bigquery.storage.v1.BigQueryWrite``, built from one table.

The numbers and names are those of the public proto files (googleapis,
``google/cloud/bigquery/storage/v1/{storage,stream,table,arrow}.proto``); messages of ``google.protobuf`` and
``google.rpc`` are declared among them, since on the wire only their numbers count. Fields that are missing from the
table survive parsing as unknown fields; the contract permits them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance._protobuftables import declare

SOURCE: Final = "https://github.com/googleapis/googleapis/blob/master/google/cloud/bigquery/storage/v1/storage.proto"
"""The calls, their requests and responses."""
PACKAGE: Final = "google.cloud.bigquery.storage.v1"
SERVICE: Final = f"/{PACKAGE}.BigQueryWrite/"
"""Prefix of the names of its methods as gRPC spells them."""

TYPES: Final[Mapping[str, int]] = {"COMMITTED": 1, "PENDING": 2, "BUFFERED": 3}
"""``WriteStream.Type``."""
VIEWS: Final[Mapping[str, int]] = {"": 0, "BASIC": 1, "FULL": 2}
"""``WriteStreamView``."""
FIELD_TYPES: Final[Mapping[str, int]] = {
    "STRING": 1,
    "INT64": 2,
    "FLOAT64": 3,
    "RECORD": 4,
    "BYTES": 5,
    "BOOL": 6,
    "TIMESTAMP": 7,
    "DATE": 8,
    "TIME": 9,
    "DATETIME": 10,
    "GEOGRAPHY": 11,
    "NUMERIC": 12,
    "BIGNUMERIC": 13,
    "INTERVAL": 14,
    "JSON": 15,
    "RANGE": 16,
}
"""``TableFieldSchema.Type`` by the names of the suite; the proto calls FLOAT64 DOUBLE and RECORD STRUCT."""
MODES: Final[Mapping[str, int]] = {"NULLABLE": 1, "REQUIRED": 2, "REPEATED": 3}
"""``TableFieldSchema.Mode``."""
ERRORS: Final[Mapping[str, int]] = {
    "STREAM_ALREADY_COMMITTED": 2,
    "STREAM_NOT_FOUND": 3,
    "INVALID_STREAM_TYPE": 4,
    "INVALID_STREAM_STATE": 5,
    "STREAM_FINALIZED": 6,
    "SCHEMA_MISMATCH_EXTRA_FIELDS": 7,
    "OFFSET_ALREADY_EXISTS": 8,
    "OFFSET_OUT_OF_RANGE": 9,
}
"""``StorageError.StorageErrorCode``, as far as the suite asks for it."""
STORAGE_ERROR: Final = f"type.googleapis.com/{PACKAGE}.StorageError"
"""The type of a StorageError in the details of a status."""

_MESSAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "Int64Value": ("1 value int64",),
    "Status": ("1 code int32", "2 message string", "3 details .google.protobuf.Any*"),
    "ArrowSchema": ("1 serialized_schema bytes",),
    "ArrowRecordBatch": ("1 serialized_record_batch bytes", "2 row_count int64"),
    "ArrowData": ("1 writer_schema ArrowSchema", "2 rows ArrowRecordBatch"),
    "FieldElementType": ("1 type enum:FieldType",),
    "TableFieldSchema": (
        "1 name string",
        "2 type enum:FieldType",
        "3 mode enum:Mode",
        "4 fields TableFieldSchema*",
        "6 description string",
        "7 max_length int64",
        "8 precision int64",
        "9 scale int64",
        "10 default_value_expression string",
        "11 range_element_type FieldElementType",
    ),
    "TableSchema": ("1 fields TableFieldSchema*",),
    "WriteStream": (
        "1 name string",
        "2 type enum:StreamType",
        "3 create_time .google.protobuf.Timestamp",
        "4 commit_time .google.protobuf.Timestamp",
        "5 table_schema TableSchema",
        "7 write_mode enum:WriteMode",
        "8 location string",
    ),
    "CreateWriteStreamRequest": ("1 parent string", "2 write_stream WriteStream"),
    "GetWriteStreamRequest": ("1 name string", "3 view enum:View"),
    "AppendRowsRequest": (
        "1 write_stream string",
        "2 offset Int64Value",
        "5 arrow_rows ArrowData rows",
        "6 trace_id string",
    ),
    "AppendResult": ("1 offset Int64Value",),
    "RowError": ("1 index int64", "2 code enum:RowErrorCode", "3 message string"),
    "AppendRowsResponse": (
        "1 append_result AppendResult response",
        "2 error Status response",
        "3 updated_schema TableSchema",
        "4 row_errors RowError*",
        "5 write_stream string",
    ),
    "FinalizeWriteStreamRequest": ("1 name string",),
    "FinalizeWriteStreamResponse": ("1 row_count int64",),
    "BatchCommitWriteStreamsRequest": ("1 parent string", "2 write_streams string*"),
    "StorageError": ("1 code enum:ErrorCode", "2 entity string", "3 error_message string"),
    "BatchCommitWriteStreamsResponse": ("1 commit_time .google.protobuf.Timestamp", "2 stream_errors StorageError*"),
    "FlushRowsRequest": ("1 write_stream string", "2 offset Int64Value"),
    "FlushRowsResponse": ("1 offset int64",),
}

# Enums are open in proto3, and nothing here uses the names of the values, so each enum is declared by its numbers.
_ENUMS: Final[Mapping[str, range]] = {
    "FieldType": range(17),
    "Mode": range(4),
    "StreamType": range(4),
    "WriteMode": range(2),
    "View": range(3),
    "RowErrorCode": range(2),
    "ErrorCode": range(15),
}

SPECS: Final = declare(
    SOURCE, _MESSAGES, {name: {one: f"{name}_{one}" for one in numbers} for name, numbers in _ENUMS.items()}
)
"""The description of every message by its name."""

METHODS: Final[Mapping[str, tuple[str, str]]] = {
    "CreateWriteStream": ("CreateWriteStreamRequest", "WriteStream"),
    "AppendRows": ("AppendRowsRequest", "AppendRowsResponse"),
    "GetWriteStream": ("GetWriteStreamRequest", "WriteStream"),
    "FinalizeWriteStream": ("FinalizeWriteStreamRequest", "FinalizeWriteStreamResponse"),
    "BatchCommitWriteStreams": ("BatchCommitWriteStreamsRequest", "BatchCommitWriteStreamsResponse"),
    "FlushRows": ("FlushRowsRequest", "FlushRowsResponse"),
}
"""The names of each method's request and answer."""

METHOD_PATHS: Final[Mapping[str, str]] = {SERVICE + name: name for name in METHODS}
"""The bare names of the methods by the full ones, as gRPC spells them."""
