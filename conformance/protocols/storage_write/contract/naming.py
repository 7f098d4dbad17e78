"""What requests and answers name: a stream, and the table to which it writes."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["answer_of", "decoded", "request_of", "stream_of", "table_of"]

_NAMED: Final = {
    "AppendRows": "write_stream",
    "BatchCommitWriteStreams": "parent",
    "CreateWriteStream": "parent",
    "FlushRows": "write_stream",
}
"""The field of a request with the name of a stream or of a table, if that is not ``name``."""


def request_of(method: str, data: bytes) -> Any:
    """A request of a method, decoded; None if it is no such message."""
    from conformance.protocols.storage_write.contract.classes import REQUESTS  # noqa: PLC0415  # who judges bytes alone needs no protobuf

    return decoded(REQUESTS[method], data)


def answer_of(method: str, data: bytes) -> Any:
    """An answer of a method, decoded; None if it is no such message."""
    from conformance.protocols.storage_write.contract.classes import RESPONSES  # noqa: PLC0415  # as above

    return decoded(RESPONSES[method], data)


def stream_of(method: str, request: bytes) -> str:
    """The name of the stream, or of the table, that a request is about; empty if it names none."""
    asked = request_of(method, request)
    return "" if asked is None else str(getattr(asked, _NAMED.get(method, "name")))


def table_of(name: str) -> str:
    """The table of a stream by its name, which may be short, or of a table."""
    return name.removesuffix("/_default").removesuffix("/streams").partition("/streams/")[0]


def decoded(kind: Any, data: bytes) -> Any:
    """A message of a class; None for bytes that are no such message."""
    from google.protobuf.message import DecodeError  # noqa: PLC0415  # as above

    try:
        return kind.FromString(data)
    except DecodeError:
        return None
