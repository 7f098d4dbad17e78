"""The values that a library gives through its own Python interface, compared with those that it hands over to pyarrow;
and those that it hands over after a cast or a concatenation.

Only types are compared whose Python value is certain and exact: booleans, integers, floats, decimals, text, binary,
lists and structs of these, these in dictionaries and runs, and unions of all of them. Of dates, times, timestamps and
durations, only what is null is compared: Python's classes hold fewer of them than Arrow, and libraries choose different
ones. A library may raise an error for a value that they do not hold, and not show that there is none.
"""

from __future__ import annotations

import contextlib
import decimal
import itertools
import math
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

import pyarrow as pa

from conformance.readers.ipc.implementation import Decoded, Unsupported
from conformance.wire.plain import Plain, PlainError, PlainTable, differences, plain_table

__all__ = ["Afterwards", "Objects", "OwnWay", "Ways", "compared", "compared_after", "is_certain"]

MOST: Final = 5
"""The most differences that are reported."""
_WIDE: Final = decimal.Context(prec=200)
"""Enough digits for every decimal; the default of 28 would round."""


@runtime_checkable
class OwnWay(Protocol):
    """A library whose columns can be taken through its own interface."""

    def own(self, made: Any, place: int) -> Sequence[Any]:
        """The values of one column of the result of ``decode``, as the Python objects of the library's interface.

        Raises :class:`Unsupported` if the interface lacks the type.
        """


@runtime_checkable
class Objects(Protocol):
    """A library whose own interface gives the values only if the job asks for them."""

    @property
    def objects(self) -> OwnWay:
        """The interface."""


@runtime_checkable
class Afterwards(Protocol):
    """A library that can do something with what it has read."""

    def after(self, made: Any, what: str) -> Decoded:
        """Do ``what`` the option ``after`` names with the result of ``decode``, and convert the outcome to pyarrow.

        Raises :class:`Unsupported` if the library cannot.
        """


@dataclass(frozen=True, slots=True)
class Ways:
    """The comparison of two ways out of a library: the number of columns compared, and their differences in words."""

    columns: int
    differences: tuple[str, ...] = ()


def compared(library: OwnWay, made: Any, decoded: Decoded, table: PlainTable) -> Ways:
    """Compare the columns of a library's own interface with ``table``, which pyarrow gave."""
    # Once: pyarrow makes the list again for each use, which takes minutes for 8000 columns.
    kinds = decoded.schema.types
    places = [place for place, kind in enumerate(kinds) if _is_compared(kind) or kind.id in _TIMES]
    found: list[str] = []
    lacking = 0
    for place in places:
        name, kind = table.names[place], kinds[place]
        if kind.id in _TIMES:
            gaps = _gaps(library, made, place, table.columns[place])
            lacking += gaps is None
            found += [f"column {place} {name!r}{gap}" for gap in gaps or ()]
            continue
        try:
            own = _all_plain(library.own(made, place), kind, table.columns[place])
        except Unsupported:
            lacking += 1
            continue
        except MemoryError:
            raise
        except BaseException as error:  # noqa: BLE001  # a library may raise anything; a Rust panic is no Exception
            found.append(f"column {place} {name!r}: its own interface raises {type(error).__qualname__}: {error}")
            continue
        ours, theirs = (PlainTable((name,), (column,), len(column)) for column in (table.columns[place], own))
        found += [text.replace("column 0", f"column {place}", 1) for text in differences(ours, theirs, MOST)]
    return Ways(len(places) - lacking, tuple(itertools.islice(found, MOST)))


def _gaps(library: OwnWay, made: Any, place: int, column: Sequence[Plain]) -> list[str] | None:
    """The rows whose values the library's own interface shows as null; None if it does not show the column.

    An error for values that its classes do not hold is no difference, and a panic is one.
    """
    try:
        own = library.own(made, place)
        rows = [row for row, (one, other) in enumerate(zip(own, column, strict=True)) if one is None is not other]
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  # a library may raise anything
        return None
    except BaseException as error:  # noqa: BLE001  # a Rust panic is no Exception
        return [f": its own interface raises {type(error).__qualname__}: {error}"]
    return [f", row {row}: expected a value, got null" for row in rows]


def compared_after(library: Afterwards, made: Any, what: str, table: PlainTable) -> Ways | None:
    """Compare the values after ``what`` with those before; None if the library cannot do it."""
    try:
        decoded = library.after(made, what)
        names = tuple(decoded.schema.names)
        got = plain_table(decoded.batches) if decoded.batches else PlainTable(names, tuple([] for _ in names), 0)
    except Unsupported:
        return None
    except MemoryError:
        raise
    except BaseException as error:  # noqa: BLE001  # as above
        return Ways(len(table.names), (f"{what}: raises {type(error).__qualname__}: {error}",))
    return Ways(len(table.names), tuple(f"{what}: {text}" for text in differences(table, got, MOST)))


def is_certain(kind: pa.DataType) -> bool:
    """True if the Python value of the type is certain and exact."""
    if kind.id in _LISTS or kind.id in _ENCODED:
        return is_certain(kind.value_type)
    return kind.id in _SIMPLE or _is_plain_struct(kind)


def _is_plain_struct(kind: pa.DataType) -> bool:
    """True for a struct of such values whose names differ: Python's dictionaries hold each name once."""
    if not pa.types.is_struct(kind):
        return False
    fields = list(kind)
    return len({field.name for field in fields}) == len(fields) and all(is_certain(field.type) for field in fields)


def _is_compared(kind: pa.DataType) -> bool:
    """True if columns of the type are compared: what is certain, and unions of it."""
    if pa.types.is_union(kind):
        return all(is_certain(field.type) for field in kind)
    return is_certain(kind)


def _all_plain(own: Sequence[Any], kind: pa.DataType, ours: Sequence[Plain]) -> list[Plain]:
    """The plain values of a column of a library's own interface."""
    if not pa.types.is_union(kind):
        return [_plain(value, kind) for value in own]
    expected = itertools.chain(ours, itertools.repeat(None))  # a library may give more values than there are
    return [_of_union(value, kind, plain) for value, plain in zip(own, expected, strict=False)]


def _of_union(value: Any, kind: pa.DataType, expected: Plain) -> Plain:
    """A value of a union, which does not say of which child it is: as the child that has ``expected``, if there is one.

    Raises:
        PlainError: no child has such a value.
    """
    made: list[Plain] = []
    for child in kind:
        if isinstance(value, int) and child.type.id in _BINARY:
            continue  # ``bytes`` of a number are as many zeros
        with contextlib.suppress(Exception):
            made.append(_plain(value, child.type))
    if not made:
        raise PlainError(f"{value!r} is no value of {kind}")
    return expected if expected in made else made[0]


def _plain(value: Any, kind: pa.DataType) -> Plain:
    if value is None:
        return None
    if kind.id in _ENCODED:
        return _plain(value, kind.value_type)
    if kind.id in _LISTS:
        return [_plain(each, kind.value_type) for each in value]
    if pa.types.is_struct(kind):
        return {"struct": [_plain(value[field.name], field.type) for field in kind]}
    return _SIMPLE[kind.id](value, kind)


def _bool(value: Any, _: pa.DataType) -> Plain:
    return bool(value)


def _integer(value: Any, _: pa.DataType) -> Plain:
    return int(value)


def _float(value: Any, _: pa.DataType) -> Plain:
    return {"f64": "nan" if math.isnan(value) else struct.pack(">d", value).hex()}


def _decimal(value: Any, kind: pa.DataType) -> Plain:
    unscaled = _WIDE.scaleb(decimal.Decimal(value), kind.scale)
    if unscaled != unscaled.to_integral_value(context=_WIDE):
        raise PlainError(f"{value} has more than {kind.scale} digits after the point")
    return {"decimal": str(int(unscaled))}


def _text(value: Any, _: pa.DataType) -> Plain:
    return str(value)


def _binary(value: Any, _: pa.DataType) -> Plain:
    return {"hex": bytes(value).hex()}


_TABLE: Final = (
    (_bool, "BOOL"),
    (_integer, "INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64"),
    (_float, "HALF_FLOAT FLOAT DOUBLE"),
    (_decimal, "DECIMAL32 DECIMAL64 DECIMAL128 DECIMAL256"),
    (_text, "STRING LARGE_STRING STRING_VIEW"),
    (_binary, "BINARY LARGE_BINARY BINARY_VIEW FIXED_SIZE_BINARY"),
)


def _ids(names: str) -> Iterator[int]:
    """The ids of types in pyarrow, without those of types that this pyarrow lacks."""
    for name in names.split():
        number = getattr(pa.lib, f"Type_{name}", None)
        if number is not None:
            yield number


_SIMPLE: Final[dict[int, Callable[[Any, pa.DataType], Plain]]] = {
    number: convert for convert, names in _TABLE for number in _ids(names)
}
_LISTS: Final = frozenset(_ids("LIST LARGE_LIST FIXED_SIZE_LIST LIST_VIEW LARGE_LIST_VIEW"))
_BINARY: Final = frozenset(_ids("BINARY LARGE_BINARY BINARY_VIEW FIXED_SIZE_BINARY"))
_TIMES: Final = frozenset(_ids("DATE32 DATE64 TIME32 TIME64 TIMESTAMP DURATION"))
_ENCODED: Final = frozenset(_ids("DICTIONARY RUN_END_ENCODED"))
