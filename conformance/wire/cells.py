"""Conversion of arrays to plain values, one function per layout; :mod:`conformance.wire.plain` describes the form."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from conformance.wire.intervals import BARE, IntervalType, has_bare_interval, readable
from conformance.wire.liveness import bits

__all__ = ["Plain", "PlainError", "cells"]

Plain: TypeAlias = bool | int | str | list[Any] | dict[str, Any] | None
"""A plain value: ``null``, ``true``, an integer, a string, an array, or an object of one of these forms:
``{"f64": 16 hex digits or "nan"}``, ``{"hex": …}``, ``{"decimal": unscaled}``, an interval with those of ``"months"``,
``"days"``, ``"ms"`` and ``"ns"`` that its unit has, ``{"struct": […]}``, ``{"map": [[key, value], …]}``."""


class PlainError(ValueError):
    """An array has no plain values that could be given, or a document is not a table of plain values."""


def cells(array: pa.Array, made: pa.DataType, limit: int) -> list[Plain]:
    """The value of every slot of ``array``, read as type ``made``, which may differ from the array's own type.

    The types differ for intervals that pyarrow cannot access: their array has a substitute type.
    Raises :class:`PlainError` if there would be more than ``limit`` values, nested values included.
    """
    return _Walk(limit).values(array, made)


class _Walk:
    """Converts one column and counts the values that it makes."""

    __slots__ = ("left", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = self.left = limit

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise PlainError(f"the column has more than {self.limit} values; compare it by other means")

    def values(self, array: pa.Array, made: pa.DataType) -> list[Plain]:
        self.spend(len(array))
        if isinstance(made, pa.BaseExtensionType):
            below = BARE[made.unit] if isinstance(made, IntervalType) else None
            storage = array.storage if isinstance(array, pa.ExtensionArray) else array
            if below is None:
                return self.values(storage, made.storage_type)
            return _masked(storage, _VALUES[below](storage, made))
        if has_bare_interval(array.type):
            # pyarrow cannot access the values of such an interval; the copy has integers of the same width.
            batch = pa.record_batch([array], names=[""])
            array = readable(batch).column(0)
        if not len(array):
            return []
        nested = _NESTED.get(made.id)
        return nested(self, array, made) if nested is not None else _masked(array, _VALUES[made.id](array, made))

    # --- nested layouts -----------------------------------------------------------------------------

    def in_list(self, array: pa.Array, made: pa.DataType) -> list[Plain]:
        width = 8 if made.id == pa.lib.Type_LARGE_LIST else 4
        offsets = _numbers(array, 1, f"i{width}", 1).tolist()
        first, last = offsets[0], offsets[-1]
        below = self.values(array.values[first:last], made.value_type)
        # The offsets of a slice do not start at 0, and the child starts with the slice here.
        return _masked(array, [below[a - first : b - first] for a, b in itertools.pairwise(offsets)])

    def in_list_view(self, array: pa.Array, made: pa.DataType) -> list[Plain]:
        kind = "i8" if made.id == _LARGE_LIST_VIEW else "i4"
        starts, sizes = (_numbers(array, number, kind).astype(np.int64) for number in (1, 2))
        chosen = sizes > 0
        # A null list view may overlap others or cover everything; only visible lists select values of the child.
        valid = _validity(array)
        if valid is not None:
            chosen &= valid
        first, last = (int(starts[chosen].min()), int((starts + sizes)[chosen].max())) if chosen.any() else (0, 0)
        self.spend(int(sizes[chosen].sum()))
        below = self.values(array.values[first:last], made.value_type)
        pairs = zip((starts - first).tolist(), sizes.tolist(), chosen.tolist(), strict=True)
        return _masked(array, [below[start : start + size] if chosen else [] for start, size, chosen in pairs])

    def in_fixed_size_list(self, array: pa.Array, made: pa.DataType) -> list[Plain]:
        size, first = made.list_size, array.offset
        # `values` is the child of the full array, whatever the slice.
        child = array.values[first * size : (first + len(array)) * size]
        below = self.values(child, made.value_type)
        return _masked(array, [below[at * size : (at + 1) * size] for at in range(len(array))])

    def in_map(self, array: pa.Array, made: pa.DataType) -> list[Plain]:
        offsets = _numbers(array, 1, "i4", 1).tolist()
        first = offsets[0]
        entries = array.values[first : offsets[-1]]
        keys, items = self.values(entries.field(0), made.key_type), self.values(entries.field(1), made.item_type)
        pairs = [[key, item] for key, item in zip(keys, items, strict=True)]
        return _masked(array, [{"map": pairs[a - first : b - first]} for a, b in itertools.pairwise(offsets)])

    def in_struct(self, array: pa.Array, made: pa.DataType) -> list[Plain]:
        count = made.num_fields
        if not count:
            return _masked(array, [{"struct": []} for _ in range(len(array))])
        columns = [self.values(array.field(number), made.field(number).type) for number in range(count)]
        return _masked(array, [{"struct": list(row)} for row in zip(*columns, strict=True)])

    def in_union(self, array: pa.Array, made: pa.DataType) -> list[Plain]:
        type_ids = _numbers(array, 1, "i1").tolist()
        columns = {
            code: self.values(array.field(number), made.field(number).type)
            for number, code in enumerate(made.type_codes)
        }
        slots = range(len(array)) if made.mode == "sparse" else _numbers(array, 2, "i4").tolist()
        return [columns[code][slot] for code, slot in zip(type_ids, slots, strict=True)]

    def in_run_end_encoded(self, array: pa.Array, made: pa.DataType) -> list[Plain]:
        first, length = array.offset, len(array)
        ends = array.run_ends
        # A slice keeps the run ends of the full array: only the runs that overlap the slice are read.
        stops = _numbers(ends, 1, f"i{made.run_end_type.bit_width // 8}").astype(np.int64)
        begin = int(np.searchsorted(stops, first, "right"))
        end = int(np.searchsorted(stops, first + length, "left")) + 1
        edges = np.clip(stops[begin:end], first, first + length) - first
        below = self.values(array.values[begin:end], made.value_type)
        counts = np.diff(edges, prepend=0).tolist()
        repeated = (itertools.repeat(value, count) for value, count in zip(below, counts, strict=True))
        return list(itertools.chain.from_iterable(repeated))

    def in_dictionary(self, array: pa.Array, made: pa.DataType) -> list[Plain]:
        kind = made.index_type
        signed = "i" if pa.types.is_signed_integer(kind) else "u"
        indices = _numbers(array, 1, f"{signed}{kind.bit_width // 8}")
        valid = _validity(array)
        used = indices if valid is None else indices[valid]
        if not len(used):
            return [None] * len(array)
        lowest, highest, size = int(used.min()), int(used.max()), len(array.dictionary)
        if lowest < 0 or highest >= size:
            wrong = lowest if lowest < 0 else highest
            raise PlainError(f"a dictionary index of {wrong}, into a dictionary of {size} values")
        below = self.values(array.dictionary[lowest : highest + 1], made.value_type)
        if valid is None:
            return [below[index - lowest] for index in indices.tolist()]
        pairs = zip(indices.tolist(), valid.tolist(), strict=True)
        return [below[index - lowest] if is_valid else None for index, is_valid in pairs]


# --- helpers for all layouts ------------------------------------------------------------------------


def _buffer(array: pa.Array, number: int) -> memoryview:
    buffer = array.buffers()[number]
    return memoryview(b"") if buffer is None else memoryview(buffer).cast("B")


def _numbers(array: pa.Array, number: int, kind: str, more: int = 0) -> npt.NDArray[Any]:
    """The numbers in one buffer for the array's slots, and ``more`` numbers after them; zeros if it is empty."""
    buffer, count = _buffer(array, number), len(array) + more
    if not len(buffer):
        return np.zeros(count, kind)
    return np.frombuffer(buffer, f"<{kind}", count, array.offset * int(kind[1:]))


def _validity(array: pa.Array) -> npt.NDArray[np.bool_] | None:
    """A mask of the valid slots; None if all slots are valid."""
    if not len(_buffer(array, 0)):
        return None
    return bits(_buffer(array, 0), array.offset + len(array))[array.offset :]


def _masked(array: pa.Array, values: list[Any]) -> list[Plain]:
    valid = _validity(array)
    if valid is None or valid.all():
        return values
    for slot in np.flatnonzero(~valid).tolist():
        values[slot] = None
    return values


def _sliced(array: pa.Array, number: int, width: int) -> bytes:
    """The bytes of the array's slots in a buffer of fixed-size values."""
    start = array.offset * width
    return bytes(_buffer(array, number)[start : start + len(array) * width])


# --- values without children ------------------------------------------------------------------------


def _null(array: pa.Array, _: pa.DataType) -> list[Plain]:
    return [None] * len(array)


def _bool(array: pa.Array, _: pa.DataType) -> list[Plain]:
    made: list[Plain] = bits(_buffer(array, 1), array.offset + len(array))[array.offset :].tolist()
    return made


def _integer(kind: str) -> Callable[[pa.Array, pa.DataType], list[Plain]]:
    return lambda array, _: _numbers(array, 1, kind).tolist()


def _float(kind: str) -> Callable[[pa.Array, pa.DataType], list[Plain]]:
    def values(array: pa.Array, _: pa.DataType) -> list[Plain]:
        with np.errstate(invalid="ignore"):  # converting a signalling NaN is not an error here
            # Big-endian, so that the digits start with the sign and the exponent.
            wide = _numbers(array, 1, kind).astype(">f8")
        digits = wide.tobytes().hex()
        made: list[Plain] = [{"f64": digits[at : at + 16]} for at in range(0, len(digits), 16)]
        for slot in np.flatnonzero(np.isnan(wide)).tolist():
            made[slot] = {"f64": "nan"}
        return made

    return values


def _decimal(width: int) -> Callable[[pa.Array, pa.DataType], list[Plain]]:
    def values(array: pa.Array, _: pa.DataType) -> list[Plain]:
        raw = _sliced(array, 1, width)
        numbers = (int.from_bytes(raw[at : at + width], "little", signed=True) for at in range(0, len(raw), width))
        return [{"decimal": str(number)} for number in numbers]

    return values


def _fixed_size_binary(array: pa.Array, made: pa.DataType) -> list[Plain]:
    width = made.byte_width
    digits = _sliced(array, 1, width).hex()
    return [{"hex": digits[2 * width * at : 2 * width * (at + 1)]} for at in range(len(array))]


def _as_text(raw: bytes) -> Plain:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return _as_hex(raw)


def _as_hex(raw: bytes) -> Plain:
    return {"hex": raw.hex()}


def _variable(kind: str, show: Callable[[bytes], Plain]) -> Callable[[pa.Array, pa.DataType], list[Plain]]:
    def values(array: pa.Array, _: pa.DataType) -> list[Plain]:
        offsets = _numbers(array, 1, kind, 1).tolist()
        first, last = offsets[0], offsets[-1]
        raw = bytes(_buffer(array, 2)[first:last])
        if show is _as_text and raw.isascii():
            text = raw.decode()
            return [text[a - first : b - first] for a, b in itertools.pairwise(offsets)]
        return [show(raw[a - first : b - first]) for a, b in itertools.pairwise(offsets)]

    return values


def _view(show: Callable[[bytes], Plain]) -> Callable[[pa.Array, pa.DataType], list[Plain]]:
    def values(array: pa.Array, _: pa.DataType) -> list[Plain]:
        raw, valid = _sliced(array, 1, 16), _validity(array)
        data = [memoryview(b"" if buffer is None else buffer).cast("B") for buffer in array.buffers()[2:]]
        made: list[Plain] = []
        for slot, (size, _prefix, buffer, offset) in enumerate(struct.iter_unpack("<iiii", raw)):
            if valid is not None and not valid[slot]:
                made.append(None)  # the view of a null was not judged and may point anywhere
            elif size <= _INLINE:
                made.append(show(raw[16 * slot + 4 : 16 * slot + 4 + size]))
            else:
                made.append(show(bytes(data[buffer][offset : offset + size])))
        return made

    return values


def _months(array: pa.Array, _: pa.DataType) -> list[Plain]:
    return [{"months": months} for months in _numbers(array, 1, "i4").tolist()]


def _day_time(array: pa.Array, _: pa.DataType) -> list[Plain]:
    return [{"days": days, "ms": ms} for days, ms in struct.iter_unpack("<ii", _sliced(array, 1, 8))]


def _month_day_nano(array: pa.Array, _: pa.DataType) -> list[Plain]:
    parts = struct.iter_unpack("<iiq", _sliced(array, 1, 16))
    return [{"months": months, "days": days, "ns": ns} for months, days, ns in parts]


_INLINE: Final = 12


def _known(table: dict[str, Any]) -> dict[int, Any]:
    """``table`` with pyarrow's type ids as keys, without the types that this pyarrow lacks."""
    return {getattr(pa.lib, f"Type_{name}"): how for name, how in table.items() if hasattr(pa.lib, f"Type_{name}")}


_VALUES: Final[dict[int, Callable[[pa.Array, pa.DataType], list[Plain]]]] = _known(
    {
        "NA": _null,
        "BOOL": _bool,
        **{f"{sign}INT{8 * width}": _integer(f"{kind}{width}") for sign, kind in (("", "i"), ("U", "u"))
           for width in (1, 2, 4, 8)},
        **dict.fromkeys(("DATE32", "TIME32"), _integer("i4")),
        **dict.fromkeys(("DATE64", "TIME64", "TIMESTAMP", "DURATION"), _integer("i8")),
        "HALF_FLOAT": _float("f2"),
        "FLOAT": _float("f4"),
        "DOUBLE": _float("f8"),
        **{f"DECIMAL{8 * width}": _decimal(width) for width in (4, 8, 16, 32)},
        "INTERVAL_MONTH_DAY_NANO": _month_day_nano,
        "FIXED_SIZE_BINARY": _fixed_size_binary,
        "BINARY": _variable("i4", _as_hex),
        "STRING": _variable("i4", _as_text),
        "LARGE_BINARY": _variable("i8", _as_hex),
        "LARGE_STRING": _variable("i8", _as_text),
        "BINARY_VIEW": _view(_as_hex),
        "STRING_VIEW": _view(_as_text),
    }
) | {BARE["year-month"]: _months, BARE["day-time"]: _day_time}  # fmt: skip
"""The converter for each type without children; nulls are applied afterwards."""

_NESTED: Final[dict[int, Callable[[_Walk, pa.Array, pa.DataType], list[Plain]]]] = _known(
    {
        "LIST": _Walk.in_list,
        "LARGE_LIST": _Walk.in_list,
        "LIST_VIEW": _Walk.in_list_view,
        "LARGE_LIST_VIEW": _Walk.in_list_view,
        "FIXED_SIZE_LIST": _Walk.in_fixed_size_list,
        "MAP": _Walk.in_map,
        "STRUCT": _Walk.in_struct,
        "SPARSE_UNION": _Walk.in_union,
        "DENSE_UNION": _Walk.in_union,
        "RUN_END_ENCODED": _Walk.in_run_end_encoded,
        "DICTIONARY": _Walk.in_dictionary,
    }
)
_LARGE_LIST_VIEW: Final = getattr(pa.lib, "Type_LARGE_LIST_VIEW", -1)
