"""The type of a sample, and the register of samples."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

import pyarrow as pa

from conformance.reference.ipc.models import FileModel, StreamModel
from conformance.reference.ipc.options import WriterOptions
from conformance.reference.ipc.writer import DEFAULTS, file_model, stream_model

__all__ = ["SAMPLES", "Family", "Sample", "runs", "sample"]

Family = Literal["types", "nulls", "rows", "dictionary", "nested", "names"]


@dataclasses.dataclass(frozen=True, slots=True)
class Sample:
    """A few record batches that show one thing.

    ``kind`` is the feature that it shows. ``schema`` is that of every batch, and is given if there are no batches.
    ``options`` are those that the sample is about, such as deltas. ``file`` says whether a file can hold it: a file
    cannot replace a dictionary.
    """

    id: str
    title: str
    kind: Family
    batches: tuple[pa.RecordBatch, ...]
    schema: pa.Schema
    options: WriterOptions = DEFAULTS
    file: bool = True

    def stream(self, **choices: object) -> StreamModel:
        """The sample as a stream's model; ``choices`` replace fields of its options."""
        return stream_model(self.batches, self._with(choices), schema=self.schema)

    def file_of(self, **choices: object) -> FileModel:
        """The sample as a file's model, as :meth:`stream` makes one.

        Raises:
            ValueError: a file cannot hold it.
        """
        return file_model(self.batches, self._with(choices), schema=self.schema)

    def _with(self, choices: Mapping[str, object]) -> WriterOptions:
        return dataclasses.replace(self.options, **choices)  # type: ignore[arg-type]  # checked by the options


def runs(ends: Sequence[int], values: pa.Array, width: pa.DataType | None = None) -> pa.RunEndEncodedArray:
    """Runs that end at these rows. ``from_arrays`` would infer a type, for which pyarrow imports pandas."""
    width = width or pa.int32()
    kind = pa.run_end_encoded(width, values.type)
    return pa.RunEndEncodedArray.from_buffers(kind, ends[-1], [None], children=[pa.array(ends, width), values])


_REGISTER: dict[str, Sample] = {}

SAMPLES: Final[Mapping[str, Sample]] = MappingProxyType(_REGISTER)
"""Every sample by id; complete once :mod:`conformance.reference.ipc.samples` is imported."""


def sample(
    id: str,  # noqa: A002  # what it is called wherever a sample is named
    title: str,
    *batches: pa.RecordBatch | Mapping[str, pa.Array],
    schema: pa.Schema | None = None,
    options: WriterOptions | None = None,
    file: bool = True,
) -> None:
    """Registers a sample; its family is the part of its id before the first dot."""
    made = [_batch(each, schema) for each in batches]
    family: Family = id.partition(".")[0]  # type: ignore[assignment]  # one of the literals; a test compares them
    _REGISTER[id] = Sample(id, title, family, tuple(made), _schema(made, schema), options or DEFAULTS, file=file)


def _batch(columns: pa.RecordBatch | Mapping[str, pa.Array], schema: pa.Schema | None) -> pa.RecordBatch:
    if isinstance(columns, pa.RecordBatch):
        return columns
    if schema is not None:
        return pa.RecordBatch.from_arrays(list(columns.values()), schema=schema)
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def _schema(batches: Sequence[pa.RecordBatch], schema: pa.Schema | None) -> pa.Schema:
    if schema is None and not batches:
        raise ValueError("expected a schema where there are no batches, got none")
    return schema if schema is not None else batches[0].schema
