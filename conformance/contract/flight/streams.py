"""The Arrow stream inside FlightData messages: the prefix of each message put back, so that it is an IPC stream.

``data_header`` is the metadata of an encapsulated message without its prefix, and ``data_body`` its body
(https://github.com/apache/arrow/blob/main/format/Flight.proto, ``FlightData``). The end of the call is the end of the
stream, which has no end marker.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from conformance.contract.flight.decoding import Data

__all__ = ["stream_of"]

_CONTINUATION = b"\xff\xff\xff\xff"


def stream_of(messages: Iterable[Data]) -> tuple[bytes, tuple[int, ...]]:
    """The IPC stream of the messages that have a header, and where each of these messages begins in it."""
    out = bytearray()
    starts: list[int] = []
    for message in messages:
        if not message.header:
            continue
        starts.append(len(out))
        padding = -len(message.header) % 8
        out += _CONTINUATION + struct.pack("<i", len(message.header) + padding) + message.header + bytes(padding)
        out += message.body or b""
    return bytes(out), tuple(starts)
