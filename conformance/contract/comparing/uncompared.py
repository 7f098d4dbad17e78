"""Selects loose batches: batches of files, or of reads that were cut short, for which no expected values are known.

The clauses on BigQuery's own limits examine only these batches: where the expected values are known, comparing with
them is stricter than any limit.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

import pyarrow as pa

from conformance.contract.comparing.bitwise import bit_for_bit
from conformance.contract.comparing.received import compared
from conformance.contract.view import BatchBytes, View, once_per_view

__all__ = ["Loose", "leaves", "outside"]


@once_per_view
def _loose(view: View) -> list[BatchBytes]:
    """The batches with rows that could be decoded, in an exchange whose values are not compared with a case."""
    if not view.batches or bit_for_bit(view) or compared(view):
        return []
    return [batch for batch in view.batches if (rows := batch.arrow()) is not None and rows.num_rows]


class LooseAspect:
    """The aspect of loose batches; it is clean only in an exchange without any, so every clause runs on them."""

    def state(self, view: View) -> Hashable | None:
        """Return a clean state if the exchange has no loose batches, else None."""
        return None if _loose(view) else "nothing loose"


class Loose:
    """A selector of loose batches that hold values of a type at any depth."""

    aspect = LooseAspect()

    def __init__(self, of_type: Callable[[pa.DataType], bool]) -> None:
        self._of_type = of_type

    def __call__(self, view: View) -> Sequence[BatchBytes]:
        """Return these batches."""
        return [batch for batch in _loose(view) if any(True for _ in leaves(batch, self._of_type))]

    def shown_by(self, _state: object) -> bool:
        """False: in a clean state of this aspect the exchange has no loose batches."""
        return False


def leaves(batch: BatchBytes, of_type: Callable[[pa.DataType], bool]) -> Iterator[tuple[str, pa.Array]]:
    """Yield path and values of every field of a type; slots that a NULL parent hides are NULL or left out."""
    rows = batch.arrow()
    assert rows is not None, "only decodable batches are loose"
    for field, column in zip(rows.schema, rows.columns, strict=True):
        yield from _below(field.name, column, of_type)


def _below(path: str, array: pa.Array, of_type: Callable[[pa.DataType], bool]) -> Iterator[tuple[str, pa.Array]]:
    if of_type(array.type):
        yield path, array
    elif pa.types.is_struct(array.type):
        for index, child in enumerate(array.flatten()):
            yield from _below(f"{path}.{array.type.field(index).name}", child, of_type)
    elif pa.types.is_list(array.type):
        yield from _below(f"{path}.item", array.flatten(), of_type)


def outside(array: pa.Array, low: int, high: int) -> tuple[int, int] | None:
    """Return the extreme value beyond the limits, and the number of values beyond; None if all are within.

    The value is the least if any is below ``low``, else the greatest.
    """
    import pyarrow.compute as pc  # noqa: PLC0415  # slow to import, and `check` of most messages does without

    values = array.view(pa.int32() if array.type.bit_width == 32 else pa.int64())
    least, greatest = (pa.scalar(limit, values.type) for limit in (low, high))  # no type to infer: that takes pandas
    beyond = values.filter(pc.or_(pc.less(values, least), pc.greater(values, greatest)))
    if not len(beyond):
        return None
    found = pc.min(beyond).as_py()
    return (found if found < low else pc.max(beyond).as_py()), len(beyond)
