"""Extension types in place of the intervals for which pyarrow has no Python class.

pyarrow accepts year-month and day-time intervals in schemas and tables, but every access to an array of them from
Python raises KeyError. Arrays that this package decodes therefore have one of the two extension types of this module;
for arrays that pyarrow decoded, :func:`readable` replaces the type by that of an integer.
"""

from __future__ import annotations

import ctypes
from typing import Final

import pyarrow as pa

__all__ = ["BARE", "DAY_TIME", "YEAR_MONTH", "IntervalType", "has_bare_interval", "readable"]


class IntervalType(pa.ExtensionType):  # type: ignore[misc]  # pyarrow has no annotations
    """An interval as an extension of an integer of its width: int32 for months, int64 for days and milliseconds.

    ``unit`` is ``"year-month"`` or ``"day-time"``. The type is not registered with pyarrow, because no IPC reader ever
    has to recognise it.
    """

    def __init__(self, unit: str) -> None:
        self.unit = unit
        super().__init__(pa.int32() if unit == "year-month" else pa.int64(), f"arrow-conformance.interval.{unit}")

    def __arrow_ext_serialize__(self) -> bytes:  # pyarrow's own protocol
        return self.unit.encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> IntervalType:
        del storage_type
        return cls(serialized.decode())

    def __hash__(self) -> int:
        # pyarrow takes this away from extension types; as the values of a dictionary, they are keys.
        return hash((IntervalType, self.unit))

    def __reduce__(self) -> tuple[type[IntervalType], tuple[str]]:
        return IntervalType, (self.unit,)


YEAR_MONTH: Final = IntervalType("year-month")
"""Months as int32."""
DAY_TIME: Final = IntervalType("day-time")
"""Days in the low half of an int64 and milliseconds in the high half: the byte order of two little-endian int32."""

BARE: Final = {"year-month": 21, "day-time": 22}
"""The ids of the types that pyarrow cannot access; old versions do not even have names for them."""
# Source: https://arrow.apache.org/docs/format/CDataInterface.html#data-type-description-format-strings
_FORMATS: Final = {b"tiM": b"i", b"tiD": b"l"}
"""The format strings of these types in the C data interface, and those of integers of the same width."""


def has_bare_interval(made: pa.DataType) -> bool:
    """True if ``made``, or a type nested in it, is an interval that pyarrow cannot access."""
    if made.id in BARE.values():
        return True
    if isinstance(made, pa.BaseExtensionType):
        return has_bare_interval(made.storage_type)
    if pa.types.is_dictionary(made):
        return has_bare_interval(made.value_type)
    if pa.types.is_run_end_encoded(made):
        return has_bare_interval(made.value_type)
    return any(has_bare_interval(made.field(number).type) for number in range(made.num_fields))


class _CSchema(ctypes.Structure):
    """struct ArrowSchema of https://arrow.apache.org/docs/format/CDataInterface.html."""


_CSchema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_CSchema))),
    ("dictionary", ctypes.POINTER(_CSchema)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
_C_ARRAY: Final = 80
"""The size of struct ArrowArray: five 64-bit integers and five pointers."""


def _repaint(schema: _CSchema) -> None:
    """Replace the format string of every interval in the schema tree by that of an integer."""
    schema.format = _FORMATS.get(schema.format, schema.format)
    for number in range(schema.n_children):
        _repaint(schema.children[number].contents)
    if schema.dictionary:
        _repaint(schema.dictionary.contents)


def readable(batch: pa.RecordBatch) -> pa.RecordBatch:
    """``batch`` with the intervals that pyarrow cannot access as integers of their width; no buffer is copied.

    The batch passes through the C data interface, whose importer does not need a Python class for each column.
    """
    array, schema = ctypes.create_string_buffer(_C_ARRAY), _CSchema()
    batch._export_to_c(ctypes.addressof(array), ctypes.addressof(schema))  # noqa: SLF001  # its name in every version
    _repaint(schema)
    # The importer takes ownership of both structs, so that nothing has to be released here
    # (https://arrow.apache.org/docs/format/CDataInterface.html#moving-an-array).
    return pa.RecordBatch._import_from_c(ctypes.addressof(array), ctypes.addressof(schema))  # noqa: SLF001
