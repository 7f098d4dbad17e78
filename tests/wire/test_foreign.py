"""Data of other formats is recognised by its first bytes, or as text; Arrow and noise are not."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from base64 import b64encode
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc, parquet

from conformance.wire.foreign import magic_of, recognise

TABLE = pa.table({"n": [1, None, 3], "t": ["a", "b", None]})
STREAM = TABLE.schema.serialize().to_pybytes()


def _written(folder: Path, form: str) -> bytes:
    """The table as a file of another format."""
    path = folder / "table"
    match form:
        case "parquet":
            parquet.write_table(TABLE, path)
        case "orc":
            orc.write_table(TABLE, path)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("parquet", "a Parquet file"),
        ("orc", "an ORC file"),
    ],
)
def test_files_that_arrow_also_writes_are_recognised(tmp_path: Path, form: str, name: str) -> None:
    """The files are written by pyarrow, not made up."""
    found = magic_of(_written(tmp_path, form))

    assert found is not None
    assert (found.name, "read it with" in found.advice) == (name, True)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (gzip.compress(STREAM, mtime=0), "data compressed with gzip"),
        (pa.Codec("zstd").compress(STREAM, asbytes=True), "data compressed with zstd"),
        (pa.Codec("lz4").compress(STREAM, asbytes=True), "data compressed with LZ4"),
        (bz2.compress(STREAM), "data compressed with bzip2"),
        (lzma.compress(STREAM), "data compressed with xz"),
        (b64encode(STREAM), "a message in base64"),
        (b"FEA1" + bytes(28) + b"FEA1", "a Feather V1 file, which is not Arrow IPC"),
        (b"ARROW1\0\0", "an Arrow file"),
        (json.dumps({"schema": {"fields": []}}).encode(), "JSON"),
        (b'[\n {"a": 1}\n]\n', "JSON"),
        (b'{"a": 1}\n{"a": 2}\n', "JSON"),
        (b"a,b\r\n1,2\r\n", "CSV"),
        ("\ufeffname;größe\nö;2\n".encode(), "CSV"),
        (b"a\tb\n", "text"),
        (b"Error: no such table\n", "text"),
        ("é".encode() * 5000, "text"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrappings_and_text_are_recognised(data: bytes, name: str) -> None:
    """Compressed data by its magic, JSON and CSV by the form of their text."""
    found = recognise(data)

    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("data", [STREAM, b"", bytes(64), b"\n\n", bytes(range(256)), b"\xff\xfe\x80 noise"])
def test_arrow_and_noise_are_nothing_else(data: bytes) -> None:
    """What is not known is not named."""
    assert recognise(data) is None
