"""The request messages of a case's steps, each with its routing header.

A field that the step leaves empty is not set, because several servers distinguish an unset field from an empty one.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from conformance.contract import proto
from conformance.records import CreateSession, RecordError
from conformance.targets.names import Names

__all__ = ["create_request", "read_request", "split_request"]

_DAY = 86_400_000_000
_PAST = 30 * _DAY  # time travel covers seven days at most (DOCS: "time travel window")
_FUTURE = _DAY // 24


def create_request(step: CreateSession, names: Names, *, now: int, before_append: int) -> tuple[bytes, str]:
    """The CreateReadSessionRequest of ``step`` and its routing header.

    ``now`` and ``before_append`` are microseconds since the Unix epoch; the latter is between seed and first append.
    """
    table = names.fill(step.table) or names.resource
    request = proto.CreateReadSessionRequest(
        parent=names.fill(step.parent) or f"projects/{names.project}",
        max_stream_count=step.max_stream_count,
        preferred_min_stream_count=step.preferred_min_stream_count,
    )
    session = request.read_session
    session.table = table
    session.data_format = _number(step.data_format, proto.DATA_FORMAT, "data_format")
    session.trace_id = step.trace_id
    if step.snapshot:
        instants = {"before-append": before_append, "past": now - _PAST, "future": now + _FUTURE}
        if step.snapshot not in instants:
            raise RecordError("step.snapshot", "one of " + ", ".join(instants), step.snapshot)
        session.table_modifiers.snapshot_time.FromMicroseconds(instants[step.snapshot])
    if not step.omit_options:
        _set_options(session.read_options, step)
    return request.SerializeToString(), f"read_session.table={quote(table, safe='/')}"


def _set_options(options: proto.TableReadOptions, step: CreateSession) -> None:
    options.SetInParent()
    options.selected_fields.extend(step.selected_fields)
    padding = step.restriction_bytes - len(step.row_restriction.encode())
    options.row_restriction = step.row_restriction + " " * padding
    if step.buffer_compression:
        codec = _number(step.buffer_compression, proto.COMPRESSION, "buffer_compression")
        options.arrow_serialization_options.buffer_compression = codec
    if step.response_compression:
        codec = _number(step.response_compression, proto.RESPONSE_COMPRESSION, "response_compression")
        options.response_compression_codec = codec
    if step.timestamps:
        avro = step.data_format == "AVRO"
        chosen = options.avro_serialization_options if avro else options.arrow_serialization_options
        chosen.picos_timestamp_precision = _number(step.timestamps, proto.TIMESTAMP_PRECISION, "timestamps")
    if step.sample_percentage is not None:
        options.sample_percentage = step.sample_percentage


def read_request(stream: str, offset: int) -> tuple[bytes, str]:
    """The ReadRowsRequest for ``stream`` from row ``offset``, and its routing header."""
    request = proto.ReadRowsRequest(read_stream=stream, offset=offset)
    return request.SerializeToString(), f"read_stream={quote(stream, safe='/')}"


def split_request(stream: str, fraction: float) -> tuple[bytes, str]:
    """The SplitReadStreamRequest for ``stream`` at ``fraction``, and its routing header."""
    request = proto.SplitReadStreamRequest(name=stream, fraction=fraction)
    return request.SerializeToString(), f"name={quote(stream, safe='/')}"


def _number(name: str, numbers: Mapping[str, int], key: str) -> int:
    """An enum's number by its name; a number as text stands for itself, so that a case can use an unknown one."""
    if name in numbers:
        return numbers[name]
    if name.isdecimal():
        return int(name)
    raise RecordError(f"step.{key}", "one of " + ", ".join(filter(None, numbers)) + " or a number", name)
