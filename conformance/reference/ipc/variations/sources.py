"""The URLs of the texts that permit the variations."""

from __future__ import annotations

from typing import Final

COL: Final = "https://arrow.apache.org/docs/format/Columnar.html"
FBS: Final = "https://github.com/apache/arrow/blob/main/format"
FRAMING: Final = f"{COL}#encapsulated-message-format"
STREAM: Final = f"{COL}#ipc-streaming-format"
FILE: Final = f"{COL}#ipc-file-format"
DICTIONARY: Final = f"{COL}#dictionary-messages"
BATCH: Final = f"{COL}#recordbatch-message"
COMPRESSION: Final = f"{COL}#compression"
LZ4: Final = "https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md"
ALIGNMENT: Final = f"{COL}#buffer-alignment-and-padding"
METADATA: Final = f"{COL}#custom-application-metadata"
ORDER: Final = f"{COL}#byte-order-endianness"
OTHER: Final = "https://arrow.apache.org/docs/format/Other.html"
