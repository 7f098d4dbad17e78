"""Combined vectors: from a row of the space to bytes, and the rows that they hold."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from conformance.reference.ipc.combined.layouts import LAYOUTS, CombinedLayout, Pattern
from conformance.reference.ipc.combined.space import FACTORS, excluded
from conformance.reference.ipc.combined.writerchoices import FORMS
from conformance.reference.ipc.options import WriterOptions
from conformance.reference.ipc.writer import file_model, stream_model
from conformance.wire import Kind

__all__ = ["PREFIX", "Combined", "make", "name_of", "row_of"]

PREFIX: Final = "combined"
_ORDER: Final = ("container", "version", "codec", "order", "form", "size", "nulls", "layout")
"""The factors in the order of an id."""
_LENGTHS: Final[Mapping[str, tuple[int, ...]]] = {"several": (9, 0, 5), "zero": (0,), "one": (1,)}
_MANY: Final = (9,)
"""Rows of each batch: more than a byte of a bitmap has bits."""


@dataclasses.dataclass(frozen=True, slots=True)
class Combined:
    """One vector: its bytes, and the batches that they hold."""

    id: str
    title: str
    kind: Kind
    data: bytes
    batches: tuple[pa.RecordBatch, ...]


def name_of(row: Mapping[str, Hashable]) -> str:
    """Return the id of a vector: its values in a fixed order."""
    return ".".join((PREFIX, *(str(row[name]) or "plain" for name in _ORDER)))


def row_of(name: str) -> dict[str, Hashable]:
    """Return the values that an id gives.

    Raises:
        ValueError: no vector has this id; the text says why.
    """
    parts = name.split(".")
    if len(parts) != len(_ORDER) + 1 or parts[0] != PREFIX:
        raise ValueError(f"expected {PREFIX} and the values of {', '.join(_ORDER)}, joined by dots, got {name!r}")
    row: dict[str, Hashable] = {
        factor: "" if part == "plain" else part for factor, part in zip(_ORDER, parts[1:], strict=True)
    }
    for factor, value in row.items():
        if value not in FACTORS[factor]:
            raise ValueError(f"expected a {factor} of combined vectors, got {value!r} in {name!r}")
    if (why := excluded(row)) is not None:
        raise ValueError(f"{name}: excluded ({why.name}), since {why.why}")
    return row


def make(row: Mapping[str, Hashable]) -> Combined:
    """Return the vector of a row of the space; equal rows give equal bytes."""
    layout, form = LAYOUTS[str(row["layout"])], FORMS[str(row["form"])]
    codec, kind = str(row["codec"]), Kind(str(row["container"]))
    batches = tuple(_batches(layout, str(row["size"]), str(row["nulls"])))
    choices: dict[str, Any] = {
        "version": row["version"],
        "codec": "" if form.squeezes else codec,
        "big_endian": row["order"] == "big",
        "deltas": layout.changes == "delta",
        "ids": layout.ids,
        **form.choices,
    }
    options = WriterOptions(**choices)
    if kind is Kind.FILE:
        file = file_model(batches, options)
        form.apply(file.stream, codec, file)
        data = file.encode()
    else:
        stream = stream_model(batches, options)
        form.apply(stream, codec, None)
        data = stream.encode()
    return Combined(name_of(row), _title(row), kind, data, batches)


def _title(row: Mapping[str, Hashable]) -> str:
    """A sentence on a vector."""
    codec = f"compressed with {row['codec']}" if row["codec"] else "not compressed"
    return (
        f"A {row['container']} of {row['version']}, {row['order']}-endian, {codec}, form {row['form']}: "
        f"{row['layout']}, size {row['size']}, nulls {row['nulls']}."
    )


def _batches(layout: CombinedLayout, size: str, nulls: str) -> list[pa.RecordBatch]:
    """The batches: the column of the layout between a column of numbers and one of text."""
    lengths = _LENGTHS.get(size, _MANY)
    if layout.changes and len(lengths) == 1:
        lengths *= 2  # a dictionary changes with the second batch
    made, first = [], 0
    for number, length in enumerate(lengths):
        count = range(first, first + length)
        columns = [
            pa.array(count, pa.int32()),
            layout.make(_pattern(count, size, nulls), number, size == "hollow"),
            pa.array([f"row {row}" for row in count], pa.utf8()),
        ]
        made.append(pa.RecordBatch.from_arrays(columns, names=["before", "x", "after"]))
        first += length
    return made


def _pattern(count: Sequence[int], size: str, nulls: str) -> Pattern:
    values = [7 if size == "one-valued" else row for row in count]
    if nulls == "all":
        return [None for _ in values]
    return [None if nulls == "some" and place % 3 == 1 else value for place, value in enumerate(values)]
