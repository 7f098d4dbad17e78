"""Recognises data of other formats by how they begin, so that a report can name them instead of their first bytes.

Some bytes are no Arrow message because they are another format, or an Arrow message in a wrapping. This module judges
nothing: a legacy Arrow message may begin with any of these bytes, so callers ask only after no message was found.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Final

__all__ = ["MAGIC", "Foreign", "magic_of", "recognise"]

MAGIC: Final = b"ARROW1"
"""The first and last bytes of an Arrow file (https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format)."""


@dataclasses.dataclass(frozen=True, slots=True)
class Foreign:
    """A format other than an Arrow message: its name with an article, and what its owner can do next."""

    name: str
    advice: str


def _packed(name: str, command: str) -> Foreign:
    return Foreign(f"data compressed with {name}", f"decompress it first: `{command} FILE | conformance check -`")


_AS_ARROW: Final = "`pyarrow.ipc.new_file` writes the table as Arrow"

_MAGICS: Final = {
    MAGIC: Foreign("an Arrow file", "`conformance check FILE` judges it as a whole"),
    b"PAR1": Foreign("a Parquet file", f"read it with `pyarrow.parquet.read_table`; {_AS_ARROW}"),
    b"PARE": Foreign("an encrypted Parquet file", f"read it with `pyarrow.parquet.read_table`; {_AS_ARROW}"),
    b"FEA1": Foreign(
        "a Feather V1 file, which is not Arrow IPC", f"read it with `pyarrow.feather.read_table`; {_AS_ARROW}"
    ),
    b"ORC": Foreign("an ORC file", f"read it with `pyarrow.orc.read_table`; {_AS_ARROW}"),
    b"Obj\x01": Foreign("an Avro file", "ask the service for the Arrow format"),
    b"\x1f\x8b": _packed("gzip", "gzip -dc"),
    b"\x28\xb5\x2f\xfd": _packed("zstd", "zstd -dc"),
    b"\x04\x22\x4d\x18": _packed("LZ4", "lz4 -dc"),
    b"BZh": _packed("bzip2", "bzip2 -dc"),
    b"\xfd7zXZ\0": _packed("xz", "xz -dc"),
    b"PK\x03\x04": Foreign("a ZIP archive", "unpack it first; `conformance check DIRECTORY` judges what it holds"),
    b"/////": Foreign("a message in base64", "decode it first: `base64 -d FILE | conformance check -`"),
}
"""Formats by their first bytes; in base64, the continuation word of a message is ``/////``."""

_JSON: Final = Foreign("JSON", f"read it with `pyarrow.json.read_json`; {_AS_ARROW}")
_CSV: Final = Foreign("CSV", f"read it with `pyarrow.csv.read_csv`; {_AS_ARROW}")
_TEXT: Final = Foreign("text", "an Arrow message begins with the bytes FF FF FF FF")

_LOOKED_AT: Final = 4096
"""The number of bytes by which text is recognised."""
_JSON_START: Final = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\d\]tfn-])")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_SEPARATORS: Final = ",;\t|"


def magic_of(data: bytes | bytearray | memoryview) -> Foreign | None:
    """The format whose magic the bytes begin with, else None.

    >>> magic_of(b"PAR1....").name
    'a Parquet file'
    """
    head = bytes(data[:8])
    return next((foreign for magic, foreign in _MAGICS.items() if head.startswith(magic)), None)


def recognise(data: bytes | bytearray | memoryview) -> Foreign | None:
    r"""The format that bytes without an Arrow message seem to have, by their magic or as text; else None.

    >>> recognise(b"id,name\\n1,Ada\\n").name
    'CSV'
    """
    if (found := magic_of(data)) is not None:
        return found
    head = bytes(data[:_LOOKED_AT])
    try:
        # A character may be cut at the end of what is looked at.
        text = head.decode("utf-8-sig", errors="strict" if len(head) == len(data) else "ignore")
    except UnicodeDecodeError:
        return None
    if _CONTROL.search(text) or not text.strip() or len(text.encode()) < len(head) - 6:
        return None
    if _JSON_START.match(text):
        return _JSON
    first, second = ([*text.splitlines(), ""])[:2]
    separated = (one for one in _SEPARATORS if first.count(one) and first.count(one) == second.count(one))
    return _TEXT if next(separated, None) is None else _CSV
