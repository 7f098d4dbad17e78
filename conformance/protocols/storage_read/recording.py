"""The Storage Read API for the proxy."""

from typing import Final

from google.protobuf.message import DecodeError

from conformance.contract import proto
from conformance.recording.plugin import RecordingPlugin

_STREAM: Final = {"ReadRows": "read_stream", "SplitReadStream": "name"}
"""The fields of requests that name a stream."""


def _stream_of(method: str, request: bytes) -> str:
    if method not in _STREAM:
        return ""
    try:
        return str(getattr(proto.REQUESTS[method].FromString(request), _STREAM[method]))
    except DecodeError:
        return ""


PLUGIN: Final = RecordingPlugin(stream_of=_stream_of)
