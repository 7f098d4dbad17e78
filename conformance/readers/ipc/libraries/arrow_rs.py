"""arrow-rs, through arro3: streams and files, each read completely.

The data also passes through the Arrow C stream interface: arro3 itself passes batches over it from its module that
reads to its module that stores them. A panic of arrow-rs cannot unwind through that interface and ends the process.
When everything has been read, pyarrow takes the batches over the same interface; an error of pyarrow there is an
error in the stage ``values``.
"""

from __future__ import annotations

import importlib.metadata
import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from conformance.readers.ipc.arrowcpp import twin
from conformance.readers.ipc.cinterface import exported, in_slices
from conformance.readers.ipc.giving import encoded_type
from conformance.readers.ipc.implementation import Decoded, IpcReaderInfo, Library, Unsupported
from conformance.readers.ipc.sources import in_pieces

_LACKS: Final = r"Not ?[Yy]et ?[Ii]mplemented|[Nn]ot (yet |currently )?supported"

READER = IpcReaderInfo(
    name="arro3",
    title="arrow-rs through arro3",
    language="Rust",
    kinds=("stream", "file"),
    options={"chunk": (), "way": ("", "batches", "imported"), "after": ("", "cast", "concatenated", "taken")},
    lacks=_LACKS,
)
WRITER = READER.as_writer(options={"codec": ("", "lz4", "zstd"), "given": ("", "sliced", "encoded")})


def load() -> Library:
    """Import arro3."""
    import arro3.core  # noqa: PLC0415  # only a worker imports a library under test
    import arro3.io  # noqa: PLC0415  # only a worker imports a library under test

    class Arro3:
        version: str = importlib.metadata.version("arro3-io")

        def decode(self, kind: str, data: bytes, schema: bytes, options: Mapping[str, Any]) -> Any:
            del schema  # the reader does not declare kind message
            if options.get("way") == "imported":
                return arro3.core.Table.from_arrow(exported(kind, data))
            read = arro3.io.read_ipc if kind == "file" else arro3.io.read_ipc_stream
            reader = read(in_pieces(data, options["chunk"]) if "chunk" in options else io.BytesIO(data))
            if options.get("way") == "batches":
                return arro3.core.Table.from_batches(list(reader), schema=reader.schema)
            return reader.read_all()

        def hand_over(self, made: Any) -> Decoded:
            return Decoded.of(pa.RecordBatchReader.from_stream(made))

        def own(self, made: Any, place: int) -> Sequence[Any]:
            values: Sequence[Any] = made.column(place).to_pylist()
            return values

        def after(self, made: Any, what: str) -> Decoded:
            return self.hand_over(_after(made, what, arro3.core.Table))

        def source(self, data: bytes) -> Any:
            return arro3.io.read_ipc_stream(io.BytesIO(data))

        def encode(self, kind: str, data: Any, options: Mapping[str, Any]) -> bytes:
            given = _given(data, arro3.core.Table, options)
            sink = io.BytesIO()
            write = arro3.io.write_ipc if kind == "file" else arro3.io.write_ipc_stream
            # The default of ``compression`` is LZ4; only None means no compression.
            write(given, sink, compression=options.get("codec") or None)
            return sink.getvalue()

    return Arro3()


def _given(reader: Any, table: Any, options: Mapping[str, Any]) -> Any:
    """What the options ask to write: the reader, a table of its batches in slices, of which some have no rows, or one
    of dictionaries.
    """
    if options.get("given") == "encoded":
        made = reader.read_all()
        if not made.num_columns:  # a table of no arrays has no rows
            return made
        columns = [_converted(made.column(place), encoded_type) for place in range(made.num_columns)]
        fields = [field.with_type(column.type) for field, column in zip(made.schema, columns, strict=True)]
        return table.from_arrays(columns, schema=type(made.schema)(fields, metadata=made.schema.metadata))
    if options.get("given") != "sliced":
        return reader
    pieces = [piece for batch in reader for piece in in_slices(batch, batch.num_rows)]
    return table.from_batches(pieces, schema=reader.schema)


def _after(made: Any, what: str, table: Any) -> Any:
    """The table after what the option ``after`` names."""
    if what == "concatenated":
        return made.combine_chunks()
    if what == "taken":
        return table.from_batches([_taken(batch) for batch in made.to_batches()], schema=made.schema)
    cast = {str(place): _converted(made.column(place), twin) for place in range(made.num_columns)}
    return table.from_pydict(cast).rename_columns([*made.column_names])


def _taken(batch: Any) -> Any:
    """The rows of a batch in reverse order, twice."""
    places = pa.array(range(batch.num_rows - 1, -1, -1), pa.uint64())
    return batch.take(places).take(places)


def _converted(column: Any, to: Callable[[pa.DataType], pa.DataType]) -> Any:
    """A column as a type of another layout with the same values; raises Unsupported if arrow-rs lacks the cast."""
    try:
        return column.cast(to(pa.field(column.field).type))
    except BaseException as error:  # a Rust panic is no Exception
        if re.search(_LACKS, f"{type(error).__qualname__}: {error}"):
            raise Unsupported(str(error)) from None
        raise
