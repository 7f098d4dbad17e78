"""The ways into and out of Arrow C++ that pyarrow has beside its readers: sources, datasets, casts, concatenation."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.types as is_

from conformance.readers.ipc.cinterface import Exporting, in_slices
from conformance.readers.ipc.giving import takes_nulls
from conformance.readers.ipc.implementation import Decoded, Unsupported
from conformance.readers.ipc.job import METADATA
from conformance.readers.ipc.sources import in_pieces, on_disk
from conformance.wire.intervals import has_bare_interval
from conformance.wire.plain import plain_table

__all__ = [
    "AFTER",
    "AsObjects",
    "decoded_as",
    "give",
    "imported",
    "measured",
    "new_writer",
    "nulls_agree",
    "opened",
    "scanned",
    "twin",
    "written_tensor",
]


def decoded_as(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Decoded:
    """The batches with pyarrow's spelling of their types."""
    return Decoded(schema, list(batches), [str(field.type) for field in schema])


_PADDING: Final = 3
"""Rows of nulls in front of a column: no multiple of eight, so that bitmaps begin inside a byte."""
_SCANS: Final = 500
"""How often a file with deltas is scanned again."""


@contextlib.contextmanager
def opened(data: bytes, options: Mapping[str, Any]) -> Iterator[Any]:
    """The source that the options ask for: a buffer, a file object, or a file that is mapped into memory."""
    if options.get("mapped"):
        with on_disk(data) as path, pa.memory_map(path) as source:
            yield source
    elif "chunk" in options:
        yield in_pieces(data, options["chunk"])
    else:
        yield pa.py_buffer(data)


def scanned(data: bytes, options: Mapping[str, Any]) -> Decoded:
    """The rows of a file as a dataset scans them."""
    from pyarrow import dataset, fs  # noqa: PLC0415  # no other way needs them

    with on_disk(data) as path:
        system = fs.LocalFileSystem(use_mmap=bool(options.get("mapped")))
        found = dataset.dataset(path, format="ipc", filesystem=system)
        chosen = options.get("included_fields")
        names = None if chosen is None else [found.schema.names[place] for place in sorted(chosen)]
        threads = options.get("threads", True)
        table = found.to_table(columns=names, use_threads=threads)
        # A scan decodes batches while deltas are appended; what goes wrong by chance shows up in many scans.
        for _ in range(_SCANS if _has_deltas(data) else 0):
            if not found.to_table(columns=names, use_threads=threads).equals(table):
                raise ValueError("two scans of the same file give different rows")
        return decoded_as(table.schema, table.to_batches())


def _has_deltas(data: bytes) -> bool:
    with pa.ipc.open_file(pa.py_buffer(data)) as reader:
        reader.read_all()
        return bool(reader.stats.num_dictionary_deltas)


class AsObjects:
    """The values of pyarrow as Python objects."""

    def own(self, made: Decoded, place: int) -> Sequence[Any]:
        """The objects of one column."""
        return [value for batch in made.batches for value in batch.column(place).to_pylist()]


# --- writing -----------------------------------------------------------------------------------------

_ROWS: Final = 2
"""The most rows of a batch that a writer makes of a table in chunks."""


def new_writer(kind: str, sink: Any, schema: pa.Schema, how: pa.ipc.IpcWriteOptions, options: Mapping[str, Any]) -> Any:
    """The writer of a stream or file, with metadata of the file if the options ask for it."""
    if kind != "file":
        return pa.ipc.new_stream(sink, schema, options=how)
    metadata = dict(METADATA) if options.get("metadata") == "file" else None
    return pa.ipc.new_file(sink, schema, options=how, metadata=metadata)


def give(writer: Any, batches: pa.RecordBatchReader, options: Mapping[str, Any]) -> None:
    """Give all batches to a writer, as the options say."""
    given = options.get("given")
    if options.get("unify") or given == "chunked":  # only write_table unifies dictionaries
        writer.write_table(batches.read_all(), max_chunksize=_ROWS if given == "chunked" else None)
        return
    metadata = dict(METADATA) if options.get("metadata") == "batches" else None
    for batch in batches:
        writer.write_batch(batch, custom_metadata=metadata)


# --- after reading -----------------------------------------------------------------------------------


def _in_python(made: Decoded) -> None:
    """Raise :class:`Unsupported` for columns that no Python object of pyarrow can stand for."""
    if any(map(has_bare_interval, made.schema.types)):
        raise Unsupported("pyarrow has no class for this interval")


def _cast(to: Callable[[pa.DataType], pa.DataType], made: Decoded) -> Iterator[pa.RecordBatch]:
    """Each column cast to the type that ``to`` gives for its own, in slices, and validated."""
    _in_python(made)
    for batch in made.batches:
        for piece in in_slices(batch, batch.num_rows):
            columns = [column.cast(to(column.type)) for column in piece.columns]
            for column in columns:
                column.validate(full=True)
            yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names) if columns else piece


def _concatenated(made: Decoded) -> Iterator[pa.RecordBatch]:
    """All batches as one; each is cut in two before, so that slices with offsets are concatenated."""
    _in_python(made)
    pieces = []
    for batch in made.batches:
        pieces += in_slices(batch, batch.num_rows)
    if pieces:
        columns = [pa.concat_arrays([piece.column(place) for piece in pieces]) for place in range(len(made.schema))]
        yield pa.RecordBatch.from_arrays(columns, schema=made.schema)


def _taken(made: Decoded) -> Iterator[pa.RecordBatch]:
    """The rows of each batch in reverse order, twice."""
    for batch in made.batches:
        places = pa.array(range(batch.num_rows - 1, -1, -1), pa.int64())
        yield batch.take(places).take(places)


def imported(source: Exporting) -> pa.RecordBatchReader:
    """What pyarrow makes of an object with the C stream interface. Raises :class:`Unsupported` below pyarrow 15."""
    if not hasattr(pa.RecordBatchReader, "from_stream"):
        raise Unsupported("this version of pyarrow does not import by the PyCapsule interface")
    return pa.RecordBatchReader.from_stream(source)


def _exported(made: Decoded) -> Iterator[pa.RecordBatch]:
    """The batches after the way through the C stream interface."""
    yield from imported(Exporting(pa.RecordBatchReader.from_batches(made.schema, made.batches)))


def _inspected(made: Decoded) -> Iterator[pa.RecordBatch]:
    """The batches as they are, after each column is asked which values are null, and each struct for its children."""
    _in_python(made)
    for batch in made.batches:
        for column, values in zip(batch.columns, plain_table([batch]).columns, strict=True):
            nulls_agree(column, [value is None for value in values])
        measured(batch)
        yield batch


def measured(batch: pa.RecordBatch) -> None:
    """Ask for the sizes of a batch, and of each of its maps for the row that an entry is in."""
    for size in (batch.nbytes, batch.get_total_buffer_size()):
        if size < 0:
            raise ValueError(f"nbytes: expected the size of a batch, got {size}")
    for column in batch.columns:
        if is_.is_map(column.type):
            column.value_parent_indices()


def _in_pandas(made: Decoded) -> Iterator[pa.RecordBatch]:
    """The batches as they are, after each column was given to pandas, whose classes hold fewer types and values.

    Raises :class:`Unsupported` without pandas.
    """
    _in_python(made)
    try:
        importlib.import_module("pandas")
    except ImportError as error:
        raise Unsupported(str(error)) from None
    for batch in made.batches:
        for column in batch.columns:
            # An error may be pandas' own, which lacks indexes of half-floats: only the end of the process is a fault.
            with contextlib.suppress(Exception):
                pa.table({"x": column}).to_pandas()
        yield batch


def nulls_agree(column: pa.Array, nulls: Sequence[bool]) -> None:
    """Ask a column which values are null; a struct's children, flattened, are null where the struct is.

    Raises:
        ValueError: it says something else than its values.
    """
    found = column.is_null().to_pylist()
    if found != [*nulls]:
        raise ValueError(f"is_null: expected {[*nulls]}, got {found}, of {column.type}")
    if is_.is_struct(column.type):
        for child in column.flatten():
            hidden = [number for number, null in enumerate(nulls) if null and child[number].as_py() is not None]
            if hidden:
                raise ValueError(f"flatten: expected nulls where the struct is null, got values in the rows {hidden}")


def _padded(made: Decoded) -> Iterator[pa.RecordBatch]:
    """Each column behind nulls of its type, which have to be a valid array, and then the column alone again."""
    _in_python(made)
    for batch in made.batches:
        columns = [_behind_nulls(field, column) for field, column in zip(batch.schema, batch.columns, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=batch.schema) if columns else batch


def _behind_nulls(field: pa.Field, column: pa.Array) -> pa.Array:
    if not takes_nulls(field):
        return column
    nulls = pa.nulls(_PADDING, column.type)
    nulls.validate(full=True)
    try:
        return pa.concat_arrays([nulls, column]).slice(_PADDING)
    except pa.ArrowException as error:  # of a dictionary that it cannot unify with that of the nulls
        raise Unsupported(str(error)) from None


_WIDER: Final = {
    **{f"int{bits}": f"int{2 * bits}" for bits in (8, 16, 32)},
    **{f"uint{bits}": f"uint{2 * bits}" for bits in (8, 16, 32)},
    "float": "float64",
    "halffloat": "float32",
    "string": "large_utf8",
    "large_string": "utf8",
    "string_view": "utf8",
    "binary": "large_binary",
    "large_binary": "binary",
    "binary_view": "binary",
    "null": "int32",
}
"""Another type with the same values, by pyarrow's spelling of a type."""


def twin(kind: pa.DataType) -> pa.DataType:
    """Return a type of another layout that has the same values; the type itself if there is none."""
    if is_.is_dictionary(kind) or is_.is_run_end_encoded(kind):
        made = kind.value_type
    elif is_.is_list(kind):
        made = pa.large_list(kind.value_field)
    elif is_.is_large_list(kind) or is_.is_fixed_size_list(kind) or _is_view(kind):
        made = pa.list_(kind.value_field)
    elif is_.is_struct(kind):
        made = pa.struct([field.with_type(twin(field.type)) for field in kind])
    elif is_.is_decimal(kind) and kind.bit_width < 256:
        made = pa.decimal256(kind.precision, kind.scale)
    else:
        made = getattr(pa, _WIDER.get(str(kind), ""), lambda: kind)()
    return made


def _is_view(kind: pa.DataType) -> bool:
    tests = (getattr(is_, name, None) for name in ("is_list_view", "is_large_list_view"))
    return any(test is not None and test(kind) for test in tests)


def _itself(kind: pa.DataType) -> pa.DataType:
    return kind


AFTER: Final[Mapping[str, Callable[[Decoded], Iterator[pa.RecordBatch]]]] = MappingProxyType(
    {
        "cast": functools.partial(_cast, twin),
        "concatenated": _concatenated,
        "exported": _exported,
        "inspected": _inspected,
        "taken": _taken,
        "padded": _padded,
        "pandas": _in_pandas,
        "recast": functools.partial(_cast, _itself),
    }
)
"""What the option ``after`` names."""

_SPARSE: Final[Mapping[str, Any]] = MappingProxyType(
    {"coo": pa.SparseCOOTensor, "csr": pa.SparseCSRMatrix, "csc": pa.SparseCSCMatrix, "csf": pa.SparseCSFTensor}
)
"""What the option ``through`` names."""


def written_tensor(made: pa.Tensor, options: Mapping[str, Any]) -> bytes:
    """The message of a tensor whose values are first put in memory as the option ``layout`` says, and then made sparse
    and dense again as ``through`` says.
    """
    if layout := options.get("layout"):
        array = made.to_numpy()
        laid = _strided(array) if layout == "strided" else array.copy(order="F")
        made = pa.Tensor.from_numpy(laid, dim_names=made.dim_names)
    if through := options.get("through"):
        made = _SPARSE[through].from_tensor(made).to_tensor()
    sink = pa.BufferOutputStream()
    pa.ipc.write_tensor(made, sink)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def _strided(array: Any) -> Any:
    """The array as every second place, in each dimension, of a larger one."""
    larger = np.zeros([2 * size for size in array.shape], array.dtype)
    places: tuple[Any, ...] = (..., *[slice(None, None, 2)] * array.ndim)  # without the dots, a scalar is a number
    chosen = larger[places]
    chosen[...] = array
    return chosen
