"""Extract the Arrow messages of a full read from the recorded protobuf responses.

Readers that take bytes use it inside a worker. Clients extract the messages themselves, each in its own way.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from conformance.contract import proto
from conformance.formats.messages import ARROW
from conformance.readers.fullread import FullRead

__all__ = ["NoArrowMessage", "RecordedMessages", "inflated", "messages", "stream_bytes"]

MAX_INFLATED: Final = 1 << 30
"""The largest size in bytes that a compressed response may declare: the proto caps a response at 128 MB."""


class NoArrowMessage(Exception):  # noqa: N818  # its name becomes a reading's error class
    """The recorded responses contain no Arrow message where one is needed."""


@dataclass(frozen=True, slots=True)
class RecordedMessages:
    """The schema message, and the batch messages of every stream in the session's order."""

    schema: bytes
    batches: tuple[bytes, ...]


@functools.lru_cache(maxsize=1)  # each reader of a worker calls it again
def messages(read: FullRead) -> RecordedMessages:
    """Extract the Arrow messages of a full read.

    The schema is the session's, as for the clients that decode against the session (Go, Node, Spark); if the session
    has no schema, it is that of the first response with one.

    Raises:
        NoMessage: There is no Arrow schema at all, or a response carries no record batch.
        google.protobuf.message.DecodeError: A response is not a ReadRowsResponse.
    """
    if read.bare is not None:
        return RecordedMessages(*read.bare)
    schema = ARROW.schema_in(proto.ReadSession.FromString(read.session))
    batches = []
    for stream in read.streams:
        for index, data in enumerate(stream.responses):
            response = proto.ReadRowsResponse.FromString(data)
            schema = schema or ARROW.schema_in(response)
            stored = ARROW.rows_in(response)
            if stored is None:
                raise NoArrowMessage(f"expected an Arrow record batch in response {index} of {stream.name}, got none")
            # Without a request for a codec, clients take the payload as it stands, whatever size is declared.
            batches.append(inflated(response, stored) if read.asks_response_compression else stored)
    if not schema:
        raise NoArrowMessage("expected an Arrow schema in the session or in a response, got none")
    return RecordedMessages(schema, tuple(batches))


def inflated(response: Any, data: bytes) -> bytes:
    """The rows of a response, after undoing whole-response compression (``uncompressed_byte_size`` > 0: raw LZ4)."""
    size = response.uncompressed_byte_size if response.HasField("uncompressed_byte_size") else 0
    if size <= 0:
        return data
    if size > MAX_INFLATED:
        raise NoArrowMessage(f"expected at most {MAX_INFLATED} bytes in a response, got {size} announced")
    return bytes(pa.Codec("lz4_raw").decompress(data, decompressed_size=size))


@functools.lru_cache(maxsize=1)  # as above
def stream_bytes(read: FullRead) -> bytes:
    """Schema message and batch messages end to end, as clients that decode one stream see them (Spark, ADBC).

    No end-of-stream marker is appended: it would hide a truncated last message.
    """
    cut = messages(read)
    return b"".join((cut.schema, *cut.batches))
