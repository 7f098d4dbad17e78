"""Streams and files as models: messages, end marker and Footer, open to change before they become bytes."""

from __future__ import annotations

import dataclasses
import struct
from typing import Any, Final

from conformance.reference.flatbuffers import TableLayout, write
from conformance.reference.message import CONTINUATION, END_OF_STREAM, DraftMessage

__all__ = ["MAGIC", "UNSHARED", "EncodedMessage", "FileModel", "StreamModel"]

MAGIC: Final = b"ARROW1"
UNSHARED: Final = TableLayout(shared_vtables=False)
"""Every table has a vtable of its own. Common builders write back to front and share only vtables that come later;
this writer goes front to back, and a shared vtable that came earlier is legal and rare: one variation has it."""
_SCHEMA, _DICTIONARY, _BATCH = 1, 2, 3


@dataclasses.dataclass(frozen=True, slots=True)
class EncodedMessage:
    """Bytes in the place of a message; ``kind`` is the header type that a Footer lists them under, 0 for none."""

    data: bytes
    kind: int = 0

    def encode(self) -> bytes:
        """The bytes themselves."""
        return self.data


@dataclasses.dataclass(slots=True)
class StreamModel:
    """A stream that has not been written yet: its messages in order, and its end marker."""

    messages: list[DraftMessage | EncodedMessage]
    end: bytes = END_OF_STREAM

    def _of_kind(self, kind: int) -> list[DraftMessage]:
        return [each for each in self.messages if isinstance(each, DraftMessage) and each.tree["header_type"] == kind]

    @property
    def schema(self) -> DraftMessage:
        """The Schema message.

        Raises:
            LookupError: it has been replaced by bytes.
        """
        for message in self._of_kind(_SCHEMA):
            return message
        raise LookupError("no Schema message")

    @property
    def dictionaries(self) -> list[DraftMessage]:
        """The dictionary batches, deltas among them."""
        return self._of_kind(_DICTIONARY)

    @property
    def batches(self) -> list[DraftMessage]:
        """The record batches."""
        return self._of_kind(_BATCH)

    def rewrite(self, message: DraftMessage, data: bytes) -> None:
        """Puts bytes in the place of a message."""
        self.messages[self.place(message)] = EncodedMessage(data, message.tree["header_type"])

    def place(self, message: DraftMessage) -> int:
        """The position of a message in the stream, found by identity: equal messages differ."""
        return next(number for number, each in enumerate(self.messages) if each is message)

    def encode(self) -> bytes:
        """The bytes of the stream."""
        return b"".join(each.encode() for each in self.messages) + self.end


@dataclasses.dataclass(slots=True)
class FileModel:
    """A file that has not been written yet: a stream, and the ``Footer`` tree without its blocks.

    :meth:`complete` fills in the blocks, unless the tree carries ``dictionaries`` and ``recordBatches`` of its own.
    ``lead`` are bytes before the stream, ``trail`` bytes after the Footer's length; ``length`` replaces the
    Footer's true length.
    """

    stream: StreamModel
    footer: dict[str, Any]
    lead: bytes = MAGIC + bytes(2)
    trail: bytes = MAGIC
    length: int | None = None
    layout: TableLayout = UNSHARED

    def complete(self) -> tuple[bytes, dict[str, Any]]:
        """Return all bytes before the Footer, and the Footer as a tree with its blocks filled in."""
        out = bytearray(self.lead)
        blocks: dict[int, list[tuple[int, int, int]]] = {_DICTIONARY: [], _BATCH: []}
        for message in self.stream.messages:
            data = message.encode()
            kind = message.kind if isinstance(message, EncodedMessage) else message.tree["header_type"]
            if kind in blocks:
                metadata = _metadata_length(data)
                blocks[kind].append((len(out), metadata, len(data) - metadata))
            out += data
        out += self.stream.end
        footer = {"dictionaries": blocks[_DICTIONARY], "recordBatches": blocks[_BATCH], **self.footer}
        return bytes(out), footer

    def encode(self) -> bytes:
        """The bytes of the file."""
        before, footer = self.complete()
        return self.assemble(before, footer)

    def assemble(self, before: bytes, footer: dict[str, Any]) -> bytes:
        """The bytes of a file, from the bytes before the Footer and the Footer's tree."""
        data = write("Footer", footer, layout=self.layout)
        data += bytes(-len(data) % 4)
        length = len(data) if self.length is None else self.length
        return before + data + struct.pack("<i", length) + self.trail


def _metadata_length(data: bytes) -> int:
    """The number of bytes of a message before its body."""
    prefix = 8 if data.startswith(CONTINUATION) else 4
    (length,) = struct.unpack_from("<i", data, prefix - 4)
    return prefix + int(length)
