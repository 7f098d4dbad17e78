"""A library of IPC data that stands in for readers and writers: it does what the bytes say.

A reader decodes with pyarrow, and does to itself what the name of the first column says. A writer goes by the type of
the first column, since what it is given are the reference's samples. Every process of a reader imports this module, so
it imports little.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Final

import pyarrow as pa

from conformance.contract.ipc.expectation import STATISTICS
from conformance.readers.ipc import Decoded, IpcReaderInfo, IpcWriterInfo, Library, Unsupported
from conformance.readers.ipc.arrowcpp import new_writer
from conformance.readers.ipc.job import METADATA
from tests.readers.ipc import absent_library
from tests.readers.ipc.faulty_library import DEEDS

READER: Final = IpcReaderInfo(
    name="standin",
    title="a library that does what it reads",
    language="Python",
    module=__name__,
    kinds=("stream",),
    options={"included_fields": (), "threads": (True,), "after": ("", "cast")},
    lacks="too modern",
)
WRITER: Final = IpcWriterInfo(
    name="standin",
    title="a library that writes by type",
    language="Python",
    module=__name__,
    kinds=("stream", "file"),
    options={"codec": ("", "lz4"), "legacy": (False, True)},
)
ATTACHING: Final = dataclasses.replace(WRITER, name="attaching", options={"metadata": ("", "batches", "file")})
"""The same library, through an interface that takes metadata."""
READERS: Final[Mapping[str, IpcReaderInfo]] = {"standin": READER, "absent": absent_library.READER}
WRITERS: Final[Mapping[str, IpcWriterInfo]] = {
    "standin": WRITER,
    "absent": IpcWriterInfo(name="absent", title="absent", language="Python", module=absent_library.__name__),
}


class Standin:
    """pyarrow itself, with the faults of :data:`DEEDS` and those below."""

    version = "0.2"

    def decode(self, kind: str, data: bytes, schema: bytes, options: Mapping[str, Any]) -> Decoded:
        """Read a stream; the name of the first column says what goes wrong."""
        del kind, schema
        how = pa.ipc.IpcReadOptions(included_fields=options.get("included_fields"))
        reader = pa.ipc.open_stream(pa.py_buffer(data), options=how)
        word = reader.schema.names[0]
        if word == "gullible":
            return Decoded(reader.schema, [])
        batches = list(reader)
        if (deed := DEEDS.get(word.encode())) is not None:
            deed()
        if word.startswith("counts "):
            counted = {name: getattr(reader.stats, f"num_{name}") for name in STATISTICS}
            counted[word.removeprefix("counts ")] += 1
            return Decoded(reader.schema, batches, statistics=counted)
        if word == "wrong":
            batches = [
                pa.record_batch([pa.array([7] * batch.num_rows, pa.int64())], names=["wrong"]) for batch in batches
            ]
        return Decoded(reader.schema, _Booby(word.removeprefix("later ")) if word.startswith("later ") else batches)

    def hand_over(self, made: Decoded) -> Decoded:
        """It is handed over already."""
        return made

    def after(self, made: Decoded, what: str) -> Decoded:
        """A cast that adds one to every number."""
        del what
        batch = made.batches[0]
        numbers = [None if value is None else value + 1 for value in batch.column(0).to_pylist()]
        return Decoded(made.schema, [pa.record_batch([pa.array(numbers, pa.int64())], names=batch.schema.names)])

    def source(self, data: bytes) -> pa.RecordBatchReader:
        """Open what is to be written."""
        return pa.ipc.open_stream(data)

    def encode(self, kind: str, data: pa.RecordBatchReader, options: Mapping[str, Any]) -> bytes:
        """Write it; the type of the first column says what goes wrong."""
        (deed := _BY_TYPE.get(str(data.schema.types[0]), _nothing))()
        if deed is _fault:
            return b"no stream at all"
        how = pa.ipc.IpcWriteOptions(
            compression=options.get("codec") or None, use_legacy_format=options.get("legacy", False)
        )
        sink = pa.BufferOutputStream()
        place = "" if deed is _drop else options.get("metadata")
        with new_writer(kind, sink, data.schema, how, {"metadata": place}) as writer:
            for batch in data:
                written_batch = batch.slice(0, 1) if deed is _lose else batch
                writer.write_batch(written_batch, custom_metadata=dict(METADATA) if place == "batches" else None)
        written: bytes = sink.getvalue().to_pybytes()
        return written


class _Booby(list[Any]):
    """Batches at which a look ends badly."""

    def __init__(self, word: str) -> None:
        super().__init__()
        self._word = word

    def __iter__(self) -> Any:
        DEEDS[self._word.encode()]()


def _nothing() -> None:
    pass


def _fault() -> None:
    pass


def _lose() -> None:
    pass


def _drop() -> None:
    pass


def _lack() -> None:
    raise Unsupported("no such type")


_BY_TYPE: Final[Mapping[str, Callable[[], None]]] = {
    "int8": DEEDS[b"segv"],
    "int16": DEEDS[b"block"],
    "uint8": _fault,
    "uint16": _lose,
    "uint32": _lack,
    "uint64": DEEDS[b"refuse"],
    "float": _drop,
}


def load() -> Library:
    """The stand-in."""
    return Standin()
