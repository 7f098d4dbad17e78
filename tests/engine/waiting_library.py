"""A library that, given bytes in pieces, decodes a message when the byte behind it arrives: it does not see a last
message without a body where no end marker follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.readers.ipc import Decoded, IpcReaderInfo, Library
from conformance.wire import Header, read_stream
from tests.engine.ipc_library import Standin

READER: Final = IpcReaderInfo(
    name="waiting",
    title="a library that waits for a byte behind each message",
    language="Python",
    module=__name__,
    kinds=("stream",),
    options={"chunk": ()},
)


class Waiting(Standin):
    """pyarrow, but for bytes that come in pieces."""

    def decode(self, kind: str, data: bytes, schema: bytes, options: Mapping[str, Any]) -> Decoded:
        """Read a stream; in pieces, not one whose last message is still awaited."""
        last = read_stream(data).messages[-1]
        if "chunk" in options and last.header is not Header.END_OF_STREAM and not last.body_length:
            raise ValueError("the stream ended early")
        return super().decode(kind, data, schema, {})


def load() -> Library:
    """The library, which is always there."""
    return Waiting()
