"""pyarrow with its defaults: Arrow C++ decodes, nothing is validated afterwards, and the values are examined.

The values come from pyarrow's own buffers. Arrow's security considerations ask users to validate data of unknown
origin before they access it. This reader shows what happens to a user who does not; its answers say whether the
decoding failed or the access to the values (:class:`~conformance.readers.ipc.JobStage`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from conformance.contract.ipc.expectation import STATISTICS
from conformance.readers.ipc.arrowcpp import (
    AFTER,
    AsObjects,
    decoded_as,
    give,
    imported,
    new_writer,
    opened,
    scanned,
    written_tensor,
)
from conformance.readers.ipc.cinterface import exported
from conformance.readers.ipc.giving import given_as
from conformance.readers.ipc.implementation import Decoded, IpcReaderInfo, Library, Unsupported

_LACKS: Final = r"^ArrowNotImplementedError|Cannot read pre-1\.0\.0 Union"
_READ_OPTIONS: Final = {
    "included_fields": (),
    "native_endian": (True, False),
    "threads": (True, False),
    "chunk": (),
    "mapped": (False, True),
    "way": ("", "table", "scan", "imported"),
    "after": ("", "cast", "concatenated", "exported", "inspected", "padded", "objects", "pandas", "recast", "taken"),
}

READER = IpcReaderInfo(
    name="pyarrow",
    title="Arrow C++ through pyarrow, unvalidated",
    language="C++",
    kinds=("message", "stream", "file", "tensor"),
    options=_READ_OPTIONS,
    lacks=_LACKS,
    # https://arrow.apache.org/docs/dev/cpp/security.html: Validate and ValidateFull check the validity of data.
    left_to_validation=("reader.refuses.body", "reader.refuses.offsets", "reader.refuses.dictionary"),
)
WRITER = READER.as_writer(
    title="Arrow C++ through pyarrow",
    kinds=("stream", "file", "tensor"),
    options={
        "codec": ("", "lz4", "zstd"),
        "legacy": (False, True),
        "version": ("V5", "V4"),
        "deltas": (False, True),
        "unify": (False, True),
        "allow_64bit": (False, True),
        "level": (0, 1, 9),
        "threads": (False, True),
        "given": ("", "sliced", "chunked", "cut", "encoded", "nulls", "built"),
        "metadata": ("", "batches", "file"),
        "layout": ("", "column-major", "strided"),
        "through": ("", "coo", "csr", "csc", "csf"),
    },
)


class PyArrow:
    """Arrow C++, through the functions that pyarrow documents for users."""

    version: str = pa.__version__

    def decode(self, kind: str, data: bytes, schema: bytes, options: Mapping[str, Any]) -> Decoded:
        """Read all batches in the bytes, even if the batches do not fit together in one table."""
        if kind == "tensor":
            return self._tensor(data)
        if kind == "message":
            if options:
                raise Unsupported("pyarrow's read_record_batch takes no options")
            known = pa.ipc.read_schema(pa.py_buffer(schema))
            return decoded_as(known, [pa.ipc.read_record_batch(pa.py_buffer(data), known)])
        if options.get("way") == "imported":
            source = imported(exported(kind, data))
            return decoded_as(source.schema, source)
        if options.get("way") == "scan":
            return scanned(data, options)
        how = pa.ipc.IpcReadOptions(
            ensure_native_endian=options.get("native_endian", True),
            use_threads=options.get("threads", True),
            included_fields=options.get("included_fields"),
        )
        with opened(data, options) as source:
            return self._read(kind, source, how, whole=options.get("way") == "table")

    @staticmethod
    def _read(kind: str, source: Any, how: pa.ipc.IpcReadOptions, *, whole: bool) -> Decoded:
        """Read a stream or file, batch by batch or into one table."""
        if kind == "file":
            with pa.ipc.open_file(source, options=how) as reader:
                places = range(reader.num_record_batches)
                batches = reader.read_all().to_batches() if whole else [reader.get_batch(at) for at in places]
                return dataclasses.replace(decoded_as(reader.schema, batches), statistics=_counted(reader.stats))
        with pa.ipc.open_stream(source, options=how) as reader:
            decoded = decoded_as(reader.schema, reader.read_all().to_batches() if whole else list(reader))
            return dataclasses.replace(decoded, statistics=_counted(reader.stats))

    def after(self, made: Decoded, what: str) -> Decoded:
        """The batches after a cast, a concatenation, or the way over the C stream interface and back."""
        try:
            return decoded_as(made.schema, AFTER[what](made))
        except pa.ArrowNotImplementedError as error:
            raise Unsupported(str(error)) from None

    objects: Final = AsObjects()

    def hand_over(self, made: Decoded) -> Decoded:
        """Return the result of :meth:`decode`, which is already in pyarrow's form."""
        return made

    def source(self, data: bytes) -> pa.RecordBatchReader:
        """Open the stream that is to be written; its batches are read while they are written."""
        return pa.ipc.open_stream(pa.py_buffer(data))

    def tensor(self, data: bytes) -> pa.Tensor:
        """Read the tensor that is to be written; pyarrow has no function that reads or writes sparse ones."""
        return pa.ipc.read_tensor(pa.py_buffer(data))

    def encode(self, kind: str, data: Any, options: Mapping[str, Any]) -> bytes:
        """Write with the writer of streams, of files or of tensors."""
        if kind == "tensor":
            return written_tensor(data, options)
        codec, level = options.get("codec"), options.get("level")
        how = pa.ipc.IpcWriteOptions(
            metadata_version=pa.ipc.MetadataVersion[options.get("version", "V5")],
            allow_64bit=options.get("allow_64bit", False),
            use_legacy_format=options.get("legacy", False),
            compression=pa.Codec(codec, level) if codec and level else codec or None,
            use_threads=options.get("threads", False),
            emit_dictionary_deltas=options.get("deltas", False),
            unify_dictionaries=options.get("unify", False),
        )
        sink = pa.BufferOutputStream()
        batches = given_as(data, options.get("given", ""))
        with new_writer(kind, sink, batches.schema, how, options) as writer:
            give(writer, batches, options)
        written: bytes = sink.getvalue().to_pybytes()
        return written

    @staticmethod
    def _tensor(data: bytes) -> Decoded:
        """A tensor as one row: its shape, the names of its dimensions, and its values in row-major order."""
        tensor = pa.ipc.read_tensor(pa.py_buffer(data))
        names = [name or None for name in tensor.dim_names] or [None] * len(tensor.shape)
        values = pa.array(tensor.to_numpy().reshape(-1), tensor.type)
        columns = [
            pa.array([list(tensor.shape)], pa.list_(pa.int64())),
            pa.array([list(names)], pa.list_(pa.string())),
            pa.ListArray.from_arrays([0, len(values)], values),
        ]
        batch = pa.RecordBatch.from_arrays(columns, names=["shape", "names", "values"])
        return Decoded(batch.schema, [batch], [str(tensor.type)])


def load() -> Library:
    """The library; pyarrow is always installed."""
    # A fork that imports one of these takes longer for the import than for its work. Not every environment has both.
    for name in ("pyarrow.dataset", "pandas"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    return PyArrow()


def _counted(stats: Any) -> dict[str, int]:
    return {name: getattr(stats, f"num_{name}") for name in STATISTICS}
