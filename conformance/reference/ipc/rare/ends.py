"""The ends of streams and files: a last message without a body, with an end marker behind it or without one.

The text lets a writer end a stream by a marker or by its last byte: it "can signal end-of-stream (EOS) either by
writing 8 bytes containing the 4-byte continuation indicator (0xFFFFFFFF) followed by 0 metadata length (0x00000000) or
closing the stream interface". A reader that waits for a byte behind a message without a body does not see the last one.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import pyarrow as pa

from conformance.reference.ipc.models import StreamModel
from conformance.reference.ipc.options import WriterOptions
from conformance.reference.ipc.rare.register import PREFIX, Rare, RareBytes, register, written
from conformance.reference.ipc.variations.sources import FILE, STREAM
from conformance.reference.ipc.writer import stream_model, write_file
from conformance.wire import Kind


def _without_rows() -> Sequence[pa.RecordBatch]:
    """A batch with rows, and behind it one without."""
    some = pa.RecordBatch.from_pydict({"x": pa.array([1, None, 3], pa.int32()), "y": pa.array([0.5, 1.5, 2.5])})
    return [some, some.slice(0, 0)]


def _without_columns() -> Sequence[pa.RecordBatch]:
    """Two batches of three rows that have no values."""
    return [pa.RecordBatch.from_struct_array(pa.array([{}] * 3, pa.struct([])))] * 2


def _of_nulls() -> Sequence[pa.RecordBatch]:
    """Two batches whose columns are of the null type."""
    return [pa.RecordBatch.from_pydict({"x": pa.nulls(3), "y": pa.nulls(3)})] * 2


NO_ROWS: Final = pa.RecordBatch.from_pydict({"x": pa.array([], pa.int32()), "y": pa.array([], pa.utf8())})
FRAMINGS: Final = {"usual": False, "legacy": True}
LAST: Final[Mapping[str, tuple[str, Callable[[], Sequence[pa.RecordBatch]]]]] = {
    "rows": ("a batch without rows", _without_rows),
    "columns": ("a batch without columns", _without_columns),
    "nulls": ("a batch of the null type", _of_nulls),
}
"""The last batches: what each is in words, and the batches."""
_Make: TypeAlias = Callable[[WriterOptions], tuple[StreamModel, Sequence[pa.RecordBatch]]]
"""Makes a stream and the batches that it holds."""


def _batches_last(make: Callable[[], Sequence[pa.RecordBatch]]) -> _Make:
    def made(how: WriterOptions) -> tuple[StreamModel, Sequence[pa.RecordBatch]]:
        batches = make()
        return stream_model(batches, how), batches

    return made


def _schema_alone(how: WriterOptions) -> tuple[StreamModel, Sequence[pa.RecordBatch]]:
    return stream_model([], how, schema=NO_ROWS.schema), [NO_ROWS]


def _dictionary_last(how: WriterOptions) -> tuple[StreamModel, Sequence[pa.RecordBatch]]:
    """A dictionary that is replaced by one without values after the last batch."""
    words = pa.DictionaryArray.from_arrays(pa.array([1, None, 0], pa.int8()), pa.array([7, 8], pa.int32()))
    none = pa.DictionaryArray.from_arrays(pa.array([], pa.int8()), pa.array([], pa.int32()))
    some, rest = (pa.RecordBatch.from_arrays([each], names=["x"]) for each in (words, none))
    model = stream_model([some, rest], how)
    del model.messages[-1]
    return model, [some]


MAKERS: Final[Mapping[str, tuple[str, _Make]]] = {
    **{what: (words, _batches_last(make)) for what, (words, make) in LAST.items()},
    "schema": ("the schema", _schema_alone),
    "dictionary": ("a dictionary without a body", _dictionary_last),
}


def _stream(make: _Make, how: WriterOptions) -> RareBytes:
    model, batches = make(how)
    return RareBytes(model.encode(), batches)


def _file(make: Callable[[], Sequence[pa.RecordBatch]]) -> RareBytes:
    return written(make(), Kind.FILE)


def _file_of_schema() -> RareBytes:
    return RareBytes(write_file([], schema=NO_ROWS.schema), [NO_ROWS])


def _register() -> None:
    for closed, (framing, legacy), (what, (words, make)) in itertools.product(
        (False, True), FRAMINGS.items(), MAKERS.items()
    ):
        how = WriterOptions(legacy=legacy, end="close" if closed else "marker")
        end, behind = ("closed", "nothing") if closed else ("marker", "an end marker")
        title = f"A stream, in {framing} framing, that ends in {words} with {behind} behind it."
        register(Rare(f"{PREFIX}.end.stream.{end}.{framing}.{what}", title, Kind.STREAM, STREAM,
                      functools.partial(_stream, make, how), under=None))  # fmt: skip
    for what, (words, batches) in LAST.items():
        register(Rare(f"{PREFIX}.end.file.{what}", f"A file whose last block is {words}.", Kind.FILE, FILE,
                      functools.partial(_file, batches), under=None))  # fmt: skip
    register(
        Rare(f"{PREFIX}.end.file.schema", "A file of a schema alone.", Kind.FILE, FILE, _file_of_schema, under=None)
    )


_register()
