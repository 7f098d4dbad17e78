"""The reference's refusals: one row per reason, with status code and text.

The texts are those of public records of the service (with the URL of each); if no record exists, the row says so, and
the code is the natural one. Errors raised while a session is built begin with ``request failed: ``,
errors on a live stream with ``there was an error operating on '<stream>': ``.
This module decides the texts; the step that finds the reason decides when to refuse.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import grpc

__all__ = ["REFUSALS", "Reason", "Refusal"]


class Reason(enum.StrEnum):
    """Why a call is refused; every member has one row in :data:`REFUSALS`."""

    FORMAT_UNSPECIFIED = "format-unspecified"
    AVRO_NAME = "avro-name"
    BAD_RESOURCE = "bad-resource"
    MISSING_TABLE = "missing-table"
    NOT_A_TABLE = "not-a-table"
    NO_PARTITION_FILTER = "no-partition-filter"
    UNKNOWN_FIELDS = "unknown-fields"
    BAD_RESTRICTION = "bad-restriction"
    LONG_RESTRICTION = "long-restriction"
    PREFERRED_OVER_MAX = "preferred-over-max"
    NEGATIVE_STREAM_COUNT = "negative-stream-count"
    LONG_TRACE_ID = "long-trace-id"
    SNAPSHOT_TOO_OLD = "snapshot-too-old"
    SNAPSHOT_BEFORE_TABLE = "snapshot-before-table"
    SNAPSHOT_IN_FUTURE = "snapshot-in-future"
    SAMPLE_OUT_OF_RANGE = "sample-out-of-range"
    UNKNOWN_COMPRESSION = "unknown-compression"
    TWO_COMPRESSIONS = "two-compressions"
    UNKNOWN_STREAM = "unknown-stream"
    WRITTEN_TABLE = "written-table"
    SESSION_EXPIRED = "session-expired"
    OFFSET_BEYOND_END = "offset-beyond-end"
    OFFSET_NEGATIVE = "offset-negative"
    BAD_FRACTION = "bad-fraction"
    INTERVAL_OUT_OF_RANGE = "interval-out-of-range"
    ROW_TOO_LARGE = "row-too-large"


class Refusal(Exception):  # noqa: N818  # an answer of the service, not a failure of it
    """A call ends in ``code`` with ``details`` and further ``trailers``; raised by a step, turned into a status by the
    server.
    """

    def __init__(
        self, code: grpc.StatusCode, details: str, *, trailers: tuple[tuple[str, str | bytes], ...] = ()
    ) -> None:
        super().__init__(details)
        self.code = code
        self.details = details
        self.trailers = trailers


_INVALID: Final = grpc.StatusCode.INVALID_ARGUMENT
_PRECONDITION: Final = grpc.StatusCode.FAILED_PRECONDITION
_ON_STREAM: Final = "there was an error operating on '{stream}': "

REFUSALS: Final[Mapping[Reason, tuple[grpc.StatusCode, str]]] = MappingProxyType(
    {
        # https://github.com/googleapis/python-bigquery-storage/issues/264
        Reason.FORMAT_UNSPECIFIED: (_INVALID, "request failed: data format unspecified"),
        # No public record; the rule is in the comment of AvroSerializationOptions.enable_display_name_attribute.
        Reason.AVRO_NAME: (
            _INVALID,
            "request failed: column '{name}' has no valid Avro name; set enable_display_name_attribute",
        ),
        # https://github.com/googleapis/google-cloud-python/issues/10025
        Reason.BAD_RESOURCE: (_INVALID, "Invalid resource field value in the request."),
        # https://github.com/googleapis/google-cloud-java/issues/12981
        Reason.MISSING_TABLE: (grpc.StatusCode.NOT_FOUND, "Not found: Table {table}"),
        # docs of flink-gcp/flink-connector-gcp, measured in 2026; https://github.com/coiled/dask-bigquery/issues/41
        Reason.NOT_A_TABLE: (_INVALID, "request failed: non-table entities cannot be read with the storage API"),
        # https://github.com/GoogleCloudPlatform/DataflowTemplates/issues/2273
        Reason.NO_PARTITION_FILTER: (
            _INVALID,
            (
                "request failed: Query error: Cannot query over table '{table}' without a filter over column(s) "
                "'{column}' that can be used for partition elimination"
            ),
        ),
        # googleapis/nodejs-bigquery-storage, system-test/reader_client_test.ts
        Reason.UNKNOWN_FIELDS: (
            _INVALID,
            "request failed: The following selected fields do not exist in the table schema: {fields}",
        ),
        # https://github.com/GoogleCloudDataproc/spark-bigquery-connector/issues/421
        Reason.BAD_RESTRICTION: (
            _INVALID,
            "request failed: Row filter for table {table} is invalid. Filter is '{restriction}'",
        ),
        # https://github.com/GoogleCloudDataproc/spark-bigquery-connector/issues/1301
        Reason.LONG_RESTRICTION: (
            _INVALID,
            (
                "read_session.read_options.row_restriction exceeded maximum allowed length. "
                "Maximum bytes allowed: {maximum}"
            ),
        ),
        # https://github.com/GoogleCloudDataproc/spark-bigquery-connector/issues/908
        Reason.PREFERRED_OVER_MAX: (
            _INVALID,
            (
                "request failed: preferred_min_stream_count must be less than or equal to max_stream_count; "
                "received: {preferred}"
            ),
        ),
        # No public record.
        Reason.NEGATIVE_STREAM_COUNT: (_INVALID, "request failed: {field} must not be negative; received: {count}"),
        # No public record; the limit is in the comment of ReadSession.trace_id.
        Reason.LONG_TRACE_ID: (_INVALID, "request failed: trace_id must be at most 256 bytes; received: {size}"),
        # docs of flink-gcp/flink-connector-gcp, measured in 2026
        Reason.SNAPSHOT_TOO_OLD: (
            _INVALID,
            "time travel timestamp exceeds the maximum time travel duration of 168h",
        ),
        # No public record.
        Reason.SNAPSHOT_BEFORE_TABLE: (_INVALID, "request failed: table {table} did not exist at the snapshot time"),
        # No public record.
        Reason.SNAPSHOT_IN_FUTURE: (_INVALID, "request failed: the snapshot time lies in the future"),
        # No public record.
        Reason.SAMPLE_OUT_OF_RANGE: (
            _INVALID,
            "request failed: sample_percentage must lie between 0 and 100; received: {percentage}",
        ),
        # No public record.
        Reason.UNKNOWN_COMPRESSION: (_INVALID, "request failed: unknown compression codec {codec}"),
        # No public record; the rule is in the comment of TableReadOptions.response_compression_codec.
        Reason.TWO_COMPRESSIONS: (
            _INVALID,
            "request failed: response_compression_codec cannot be combined with buffer_compression",
        ),
        # No public record of the text.
        Reason.UNKNOWN_STREAM: (grpc.StatusCode.NOT_FOUND, _ON_STREAM + "the stream does not exist"),
        # https://github.com/googleapis/google-cloud-java/pull/14458; the code is not recorded
        Reason.WRITTEN_TABLE: (_PRECONDITION, "This API does not support explicitly-specified destination tables"),
        # https://github.com/GoogleCloudDataproc/spark-bigquery-connector/issues/1316
        Reason.SESSION_EXPIRED: (_PRECONDITION, _ON_STREAM + "session expired at {expired}"),
        # https://github.com/goccy/bigquery-emulator/issues/507
        Reason.OFFSET_BEYOND_END: (_PRECONDITION, _ON_STREAM + "offset {offset} has not been allocated yet"),
        # No public record.
        Reason.OFFSET_NEGATIVE: (_INVALID, _ON_STREAM + "the offset must not be negative; received: {offset}"),
        # No public record; the rule is in the comment of SplitReadStreamRequest.fraction.
        Reason.BAD_FRACTION: (
            _INVALID,
            _ON_STREAM + "fraction must be greater than 0 and less than 1; received: {fraction}",
        ),
        # abdolence/bigquery-rs, docs/src/types.md
        Reason.INTERVAL_OUT_OF_RANGE: (
            grpc.StatusCode.INTERNAL,
            (
                "Operation was attempted past the valid range. "
                "Out of range conversion for microseconds value: {micros} to nanoseconds"
            ),
        ),
        # No public record of the text; the limit is in the comment of BigQueryRead.ReadRows.
        Reason.ROW_TOO_LARGE: (_PRECONDITION, _ON_STREAM + "row {row} is larger than the limit of {maximum} bytes"),
    }
)
