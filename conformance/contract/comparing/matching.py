"""Matching the rows of a read with the rows of the table: lost, repeated, foreign and changed rows.

Rows arrive in no order, so they are matched by value, vectorised: every column becomes one 64-bit hash per row. A
row with a wrong value that corresponds to an otherwise lost row is *changed*, and neither lost nor foreign; the
chapters on values report its difference. Only columns of the same name and type take part; the chapters on the
schema report the others. Without such a column the rows can only be counted.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Hashable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from conformance._pandas import to_numpy
from conformance.contain.text import told_apart
from conformance.contract.comparing.cellbits import has_float, one_array, take

__all__ = [
    "Hashes",
    "RowMatch",
    "common",
    "comparable",
    "fingerprints",
    "match_rows",
    "row_hashes",
    "shape",
    "show_row",
    "show_rows",
]

Hashes: TypeAlias = npt.NDArray[np.uint64]

_NULL = np.uint64(0x9E3779B97F4A7C15)
_STEP = np.uint64(0xD1B54A32D192ED03)
_NAN = np.uint64(0x7FF8000000000000)
"""The bits used for every NaN, so that every NaN is one value."""

MAX_ROW_TEXT = 160
"""The most characters of a row in a message."""
MAX_WHOLE = 100_000
"""The characters in which the first difference of two long rows is looked for."""
MAX_PAIRED_BY_AGREEMENT = 64
"""With more unmatched rows on both sides the best pairs are no longer informative; rows are then paired in order."""


@dataclasses.dataclass(frozen=True, slots=True)
class RowMatch:
    """The rows that do not match exactly: indices into the expected rows (``missing``) or into the received ones.

    ``changed`` are pairs (expected, got) of one row with different values;
    ``repeated`` are surplus copies of an expected row; ``foreign`` are rows without any counterpart.
    """

    changed: tuple[tuple[int, int], ...]
    missing: tuple[int, ...]
    repeated: tuple[int, ...]
    foreign: tuple[int, ...]

    @property
    def exact(self) -> bool:
        """True if the rows are the expected ones, each as often as expected."""
        return not (self.changed or self.missing or self.repeated or self.foreign)


def match_rows(expected: pa.Table, got: pa.Table, *, hashes: dict[tuple[str, ...], Hashes] | None = None) -> RowMatch:
    """Match the rows of ``got`` with those of ``expected`` as multisets.

    ``hashes`` keeps those of the expected rows by their columns, for a caller that matches several tables with them.
    """
    if _plainly_equal(expected, got):
        return RowMatch((), (), (), ())
    expected, got = _with_names_once(expected, got)
    names = common(expected.schema, got.schema)
    wanted, came = _kept_hashes(expected, names, {} if hashes is None else hashes), row_hashes(got, names)
    if len(wanted) == len(came) and np.array_equal(wanted, came):
        return RowMatch((), (), (), ())
    _, inverse = np.unique(np.concatenate([wanted, came]), return_inverse=True)
    keys_wanted, keys_came = inverse[: len(wanted)], inverse[len(wanted) :]
    groups = int(inverse.max(initial=-1)) + 1
    number_wanted, number_came = np.bincount(keys_wanted, minlength=groups), np.bincount(keys_came, minlength=groups)
    lost = np.flatnonzero(_rank(keys_wanted) >= number_came[keys_wanted])
    surplus = np.flatnonzero(_rank(keys_came) >= number_wanted[keys_came])
    known = number_wanted[keys_came[surplus]] > 0
    pairs = _pair(expected, got, names, lost, surplus[~known])
    left, right = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
    return RowMatch(
        tuple(pairs),
        tuple(row for row in lost.tolist() if row not in left),
        tuple(surplus[known].tolist()),
        tuple(row for row in surplus[~known].tolist() if row not in right),
    )


def _kept_hashes(table: pa.Table, names: list[str], kept: dict[tuple[str, ...], Hashes]) -> Hashes:
    key = tuple(names)
    if key not in kept:
        kept[key] = row_hashes(table, names)
    return kept[key]


def _plainly_equal(expected: pa.Table, got: pa.Table) -> bool:
    """True if pyarrow finds the tables equal and they contain no floats, for which pyarrow's -0.0 equals 0.0."""
    return not any(map(has_float, expected.schema.types)) and bool(expected.equals(got))


def _with_names_once(expected: pa.Table, got: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The tables with numbers for names if both have the same names and one occurs twice: position tells them apart."""
    names = expected.column_names
    if names != got.column_names or len(set(names)) == len(names):
        return expected, got
    numbers = [str(index) for index in range(len(names))]
    return expected.rename_columns(numbers), got.rename_columns(numbers)


def _rank(keys: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Return the number of equal keys before each key: 0 for the first of its kind."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    first = np.searchsorted(ordered, ordered)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(keys)) - first
    return rank


def _pair(
    expected: pa.Table, got: pa.Table, names: list[str], lost: npt.NDArray[np.intp], strange: npt.NDArray[np.intp]
) -> list[tuple[int, int]]:
    """Pair lost rows with strange ones: those that agree in most columns first, then in order."""
    if not len(lost) or not len(strange):
        return []
    if len(lost) == len(strange) == 1 or max(len(lost), len(strange)) > MAX_PAIRED_BY_AGREEMENT:
        return list(zip(lost.tolist(), strange.tolist(), strict=False))
    agreement = np.zeros((len(lost), len(strange)), dtype=np.int64)
    for name in names:
        left = fingerprints(take(_column(expected, name), lost))
        right = fingerprints(take(_column(got, name), strange))
        agreement += left[:, None] == right[None, :]
    pairs = []
    for _ in range(min(agreement.shape)):
        row, column = divmod(int(agreement.argmax()), agreement.shape[1])
        pairs.append((int(lost[row]), int(strange[column])))
        agreement[row, :] = -1
        agreement[:, column] = -1
    return pairs


def common(expected: pa.Schema, got: pa.Schema) -> list[str]:
    """Return the names that both schemas have once, with types that hold the same values, in the order of the first."""
    return [
        field.name
        for field in expected
        if expected.get_field_index(field.name) >= 0  # below 0, too, if several fields have the name
        and (index := got.get_field_index(field.name)) >= 0
        and comparable(field.type, got.field(index).type)
    ]


def comparable(one: pa.DataType, other: pa.DataType) -> bool:
    """True if two types hold the same values; names of list items, nullability and metadata may differ."""
    return shape(one) == shape(other)


def shape(kind: pa.DataType) -> Hashable:
    """Return a key that is equal for two types exactly if they are :func:`comparable`."""
    if pa.types.is_struct(kind):
        return ("struct", *((field.name, shape(field.type)) for field in kind))
    return ("list", shape(kind.value_type)) if pa.types.is_list(kind) else kind


def _is_fixed_width(kind: pa.DataType) -> bool:
    return bool(pa.types.is_primitive(kind) or pa.types.is_decimal(kind) or pa.types.is_interval(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_binary(kind))


def _column(table: pa.Table, name: str | int) -> pa.Array:
    return one_array(table.column(name))


def row_hashes(table: pa.Table, names: Sequence[str] | None = None) -> Hashes:
    """Return one hash per row over the columns ``names``, or over all columns by position."""
    columns: Sequence[str] | range = range(table.num_columns) if names is None else names
    hashes = np.zeros(table.num_rows, np.uint64)
    for column in columns:
        hashes = _mix(hashes * _STEP + fingerprints(_column(table, column)))
    return hashes


def fingerprints(array: pa.Array) -> Hashes:
    """Return one hash per value: equal values have equal hashes; NULL is a value of its own, and all NaNs are one
    value.
    """
    if not len(array):
        return np.zeros(0, np.uint64)
    kind = array.type
    if pa.types.is_struct(kind):
        hashes = np.full(len(array), np.uint64(kind.num_fields))
        for index in range(kind.num_fields):
            hashes = _mix(hashes * _STEP + fingerprints(array.field(index)))
    elif pa.types.is_list(kind):
        hashes = _of_lists(array)
    elif _is_text(kind):
        hashes = _of_texts(array)
    elif pa.types.is_boolean(kind):
        hashes = _of_fixed_width(array.cast(pa.uint8()))
    elif _is_fixed_width(kind):
        hashes = _of_fixed_width(array)
    else:  # a type that no BigQuery column has: slow, and its values equal those of no other type
        hashes = _of_texts(pa.array([_shown(value) for value in array], pa.utf8()))
    hashes = _mix(hashes)
    if array.null_count:
        hashes = np.where(to_numpy(array.is_null()), _NULL, hashes)
    return hashes


def _of_lists(array: pa.ListArray) -> Hashes:
    offsets = to_numpy(array.offsets).astype(np.int64)
    items = fingerprints(array.values.slice(offsets[0], offsets[-1] - offsets[0]))
    starts, lengths = offsets[:-1] - offsets[0], np.diff(offsets)
    place = np.arange(len(items), dtype=np.int64) - np.repeat(starts, lengths)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_mix(items + (place + 1).astype(np.uint64) * _STEP))])
    ends = starts + lengths
    return np.asarray(sums[ends] - sums[starts] + lengths.astype(np.uint64), np.uint64)


def _of_texts(array: pa.Array) -> Hashes:
    encoded = array.dictionary_encode()
    values = encoded.dictionary.view(pa.binary()).to_pylist()
    digests = b"".join([hashlib.blake2b(value, digest_size=8).digest() for value in values]) + bytes(8)
    indices = encoded.indices.fill_null(0) if encoded.null_count else encoded.indices
    return np.asarray(np.frombuffer(digests, "<u8")[to_numpy(indices)], np.uint64)


def _of_fixed_width(array: pa.Array) -> Hashes:
    width = array.type.bit_width // 8
    if array.null_count == len(array):  # the values buffer may then be missing
        return np.zeros(len(array), np.uint64)
    data = np.frombuffer(array.buffers()[1], np.uint8)[array.offset * width : (array.offset + len(array)) * width]
    if width < 8:
        return np.asarray(data.view(f"<u{width}"), np.uint64)
    words = data.view("<u8").reshape(len(array), width // 8)
    if pa.types.is_float64(array.type):
        return np.asarray(np.where(np.isnan(data.view("<f8")), _NAN, words[:, 0]), np.uint64)
    hashes = np.zeros(len(array), np.uint64)
    for word in words.T:
        hashes = _mix(hashes * _STEP + word)
    return hashes


def _mix(values: Hashes) -> Hashes:
    """The finalizer of SplitMix64: every bit of the input affects every bit of the output."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _shown(value: pa.Scalar) -> str:
    """Return a value for people, or why Python cannot show it: a date outside the calendar, an unknown time zone."""
    try:
        return repr(value.as_py())
    except (ValueError, OverflowError, LookupError, NotImplementedError, pa.ArrowException) as error:
        return f"a {value.type} that Python cannot show ({type(error).__name__})"


def show_row(table: pa.Table, row: int, most: int = MAX_ROW_TEXT) -> str:
    """Return a row for people, cut after ``most`` characters."""
    parts, size = [], 0
    for index, field in enumerate(table.schema):
        parts.append(f"{field.name!r}: {_shown(table.column(index)[row])}")
        size += len(parts[-1])
        if size > most:
            break
    text = "{" + ", ".join(parts) + "}"
    return text if len(text) <= most else text[: most - 3] + "…"


def show_rows(one: pa.Table, row: int, other: pa.Table, place: int) -> tuple[str, str]:
    """Return two different rows for people, each cut to one line, and never as the same text."""
    shown = show_row(one, row), show_row(other, place)
    if shown[0] != shown[1]:
        return shown
    return told_apart(show_row(one, row, MAX_WHOLE), show_row(other, place, MAX_WHOLE), MAX_ROW_TEXT)
