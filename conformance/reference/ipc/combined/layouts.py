"""The layouts of combined vectors: one column of each, made from a pattern of values and nulls."""

from __future__ import annotations

import dataclasses
import decimal
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from conformance.wire.intervals import DAY_TIME, YEAR_MONTH

__all__ = ["LAYOUTS", "CombinedLayout", "Pattern"]

Pattern: TypeAlias = Sequence[int | None]
"""A number for each slot, from which its value is made; None for a null."""
_Value: TypeAlias = Callable[[int, bool], Any]
"""The value of a slot from its number; the flag says whether children may be null."""

_WORDS: Final = ("red", "", "a colour of many words", "grün", "twelve bytes", "13 bytes long")
_NOTHING: Final = object()


@dataclasses.dataclass(frozen=True, slots=True)
class CombinedLayout:
    """One layout. ``make`` takes a pattern, the number of the batch, and whether the values have nothing inside.

    ``hollow`` says that the values can have nothing inside: no bytes, no items, no children; for a dictionary, that it
    can have no values, where every slot is null. ``encoded`` says that the column has dictionaries, and ``changes`` how
    they change from batch to batch. ``ids`` are those of the dictionaries, if two fields share one.
    """

    name: str
    make: Callable[[Pattern, int, bool], pa.Array]
    hollow: bool = False
    encoded: bool = False
    changes: str = ""
    ids: tuple[int, ...] | None = None


def _plain(
    name: str, kind: pa.DataType, value: _Value, empty: Any = _NOTHING, bare: pa.DataType | None = None
) -> CombinedLayout:
    """A layout that pyarrow makes from Python values; ``empty`` is the value with nothing inside, of type ``bare``."""

    def make(pattern: Pattern, _batch: int, hollow: bool) -> pa.Array:  # noqa: FBT001  # see Layout.make
        gaps = None in pattern
        values = [None if each is None else empty if hollow else value(each, gaps) for each in pattern]
        return pa.array(values, bare if hollow and bare is not None else kind)

    return CombinedLayout(name, make, hollow=empty is not _NOTHING)


def _stored(name: str, kind: pa.BaseExtensionType, value: _Value) -> CombinedLayout:
    below = _plain(name, kind.storage_type, value)
    return dataclasses.replace(below, make=lambda *asked: pa.ExtensionArray.from_storage(kind, below.make(*asked)))


# --- values ------------------------------------------------------------------------------------------


def _number(bits: int, *, signed: bool) -> _Value:
    def value(number: int, _gaps: bool) -> int:  # noqa: FBT001  # see _Value
        mixed = (number * 0x9E3779B97F4A7C15) % (1 << bits)
        return mixed - (1 << bits) if signed and mixed >> (bits - 1) else mixed

    return value


def _times(step: int, most: int) -> _Value:
    return lambda number, _: number * step % most


def _float(number: int, _gaps: bool) -> float:  # noqa: FBT001  # see _Value
    return (1.5, -0.0, float("inf"), float("nan"), -2.25, 0.0)[number % 6]


def _decimal(digits: int) -> _Value:
    with decimal.localcontext(prec=80):
        top = decimal.Decimal(10**digits - 1).scaleb(-2)
        values = (top, -top, decimal.Decimal("1.23"), decimal.Decimal("-0.01"))
    return lambda number, _: values[number % 4]


def _text(number: int, _gaps: bool = False) -> str:  # noqa: FBT001, FBT002  # see _Value
    return f"{_WORDS[number % len(_WORDS)]}{number if number % 2 else ''}"


def _binary(number: int, _gaps: bool) -> bytes:  # noqa: FBT001  # see _Value
    return b"\xff\0" * (number % 4) + _text(number).encode()


def _items(number: int, gaps: bool) -> list[int | None]:  # noqa: FBT001  # see _Value
    return [None if gaps and item == 1 else number + item for item in range(number % 4)]


def _texts(number: int, gaps: bool) -> list[str | None]:  # noqa: FBT001  # see _Value
    return [None if gaps and item == 1 else _text(number + item) for item in range(number % 4)]


def _pair(number: int, gaps: bool) -> dict[str, Any]:  # noqa: FBT001  # see _Value
    return {"a": None if gaps and number % 2 else number, "b": _text(number)}


def _pairs(number: int, gaps: bool) -> list[Any]:  # noqa: FBT001  # see _Value
    return [(_text(item), None if gaps and item == 1 else item) for item in range(number % 3)]


def _simple() -> Iterator[CombinedLayout]:
    yield CombinedLayout("null", lambda pattern, _batch, _hollow: pa.nulls(len(pattern)))
    yield _plain("bool", pa.bool_(), lambda number, _: number % 3 == 0)
    for bits in (8, 16, 32, 64):
        yield _plain(f"int{bits}", getattr(pa, f"int{bits}")(), _number(bits, signed=True))
        yield _plain(f"uint{bits}", getattr(pa, f"uint{bits}")(), _number(bits, signed=False))
    yield _plain("float16", pa.float16(), lambda *asked: np.float16(_float(*asked)))  # pyarrow 14 takes no other
    yield _plain("float32", pa.float32(), _float)
    yield _plain("float64", pa.float64(), _float)
    for bits, digits in ((32, 9), (64, 18), (128, 38), (256, 76)):
        if hasattr(pa, f"decimal{bits}"):
            yield _plain(f"decimal{bits}", getattr(pa, f"decimal{bits}")(digits, 2), _decimal(digits))
    yield _plain("date32", pa.date32(), _times(-997, 10**5))
    yield _plain("date64", pa.date64(), _times(86_400_000, 10**13))
    yield _plain("time32", pa.time32("ms"), _times(7_654_321, 86_400_000))
    yield _plain("time64", pa.time64("ns"), _times(7_654_321_987_654, 86_400_000_000_000))
    yield _plain("timestamp", pa.timestamp("us", "UTC"), _times(-1_234_567_891, 10**15))
    yield _plain("timestamp-seconds", pa.timestamp("s"), _times(98_765, 10**9))
    yield _plain("duration", pa.duration("ns"), _times(-12_345_678_901, 10**15))
    yield _stored("interval-year-month", YEAR_MONTH, _times(13, 10**6))
    yield _stored("interval-day-time", DAY_TIME, lambda number, _: number + (number * 3 << 32))
    yield _plain(
        "interval-month-day-nano", pa.month_day_nano_interval(), lambda number, _: (number, -number, number << 33)
    )
    yield _plain("fixed-size-binary", pa.binary(3), lambda number, _: bytes((number % 256, 0, 255)))
    for name, kind in (("utf8", "utf8"), ("large-utf8", "large_utf8"), ("utf8-view", "string_view")):
        if hasattr(pa, kind):
            yield _plain(name, getattr(pa, kind)(), _text, "")
    for name, kind in (("binary", "binary"), ("large-binary", "large_binary"), ("binary-view", "binary_view")):
        if hasattr(pa, kind):
            yield _plain(name, getattr(pa, kind)(), _binary, b"")


def _nested() -> Iterator[CombinedLayout]:
    for name in ("list", "large-list", "list-view", "large-list-view"):
        maker = getattr(pa, "list_" if name == "list" else name.replace("-", "_"), None)
        if maker is not None:
            yield _plain(name, maker(pa.int16()), _items, [])
            yield _plain(f"{name}-of-text", maker(pa.utf8()), _texts, [])
    yield _plain(
        "fixed-size-list", pa.list_(pa.int32(), 2), lambda number, gaps: [number, None if gaps else 7], [],
        pa.list_(pa.int32(), 0),
    )  # fmt: skip
    pair = pa.struct([("a", pa.int32()), ("b", pa.utf8())])
    yield _plain("struct", pair, _pair, {}, pa.struct([]))
    yield _plain("map", pa.map_(pa.utf8(), pa.int32()), _pairs, [])
    yield _plain("list-of-struct", pa.list_(pair), lambda number, gaps: [_pair(number, gaps)] * (number % 3), [])
    yield _plain(
        "struct-of-list", pa.struct([("l", pa.list_(pa.utf8())), ("f", pa.list_(pa.int8(), 2))]),
        lambda number, gaps: {"l": _texts(number, gaps), "f": None if gaps and number % 2 else [1, number % 100]},
    )  # fmt: skip
    yield _plain(
        "fixed-size-list-of-list", pa.list_(pa.list_(pa.utf8()), 2),
        lambda number, gaps: [_texts(number, gaps), None if gaps else []],
    )  # fmt: skip
    yield _plain(
        "map-of-list", pa.map_(pa.utf8(), pa.list_(pa.int16())),
        lambda number, gaps: [(_text(number), _items(number + 1, gaps))], [],
    )  # fmt: skip
    if hasattr(pa, "string_view"):
        yield _plain("list-of-view", pa.list_(pa.string_view()), _texts, [])


# --- unions, runs, dictionaries ----------------------------------------------------------------------


def _codes(pattern: Pattern) -> list[int]:
    """Odd numbers are in the second child; so are the nulls at odd slots."""
    return [(slot if each is None else each) % 2 for slot, each in enumerate(pattern)]


def _sparse(pattern: Pattern, _batch: int, _hollow: bool) -> pa.Array:  # noqa: FBT001  # see Layout.make
    numbers = pa.array(pattern, pa.int32())
    words = pa.array([None if each is None else _text(each) for each in pattern], pa.utf8())
    return pa.UnionArray.from_sparse(pa.array(_codes(pattern), pa.int8()), [numbers, words], ["n", "w"])


def _dense(pattern: Pattern, _batch: int, _hollow: bool) -> pa.Array:  # noqa: FBT001  # see Layout.make
    codes = _codes(pattern)
    chosen = [[each for each, code in zip(pattern, codes, strict=True) if code == child] for child in (0, 1)]
    counters = itertools.count(), itertools.count()
    places = [next(counters[code]) for code in codes]
    children = [
        pa.array(chosen[0], pa.int32()),
        pa.array([None if n is None else _text(n) for n in chosen[1]], pa.utf8()),
    ]
    ids = pa.array([(5, 127)[code] for code in codes], pa.int8())
    return pa.UnionArray.from_dense(ids, pa.array(places, pa.int32()), children, ["n", "w"], [5, 127])


def _runs(bits: int, value: Callable[[Pattern], pa.Array]) -> Callable[[Pattern, int, bool], pa.Array]:
    def make(pattern: Pattern, _batch: int, _hollow: bool) -> pa.Array:  # noqa: FBT001  # see Layout.make
        halved = [None if each is None else each // 2 for each in pattern]
        runs = [(key, len(list(slots))) for key, slots in itertools.groupby(halved)]
        values = value([key for key, _ in runs])
        width = getattr(pa, f"int{bits}")()
        ends = pa.array(itertools.accumulate(length for _, length in runs), width)
        kind = pa.run_end_encoded(width, values.type)
        # The method that takes arrays raises TypeError in pyarrow 14 for any runs.
        return pa.RunEndEncodedArray.from_buffers(kind, len(pattern), [None], 0, 0, [ends, values])

    return make


def _of_text(pattern: Pattern) -> pa.Array:
    return pa.array([None if each is None else _text(each) for each in pattern], pa.utf8())


def _encoded(pattern: Pattern, values: pa.Array, width: pa.DataType | None = None) -> pa.DictionaryArray:
    """Indices into ``values``; a null stays null, also if a value is null."""
    count = len(values)
    indices = [None if each is None or not count else each % count for each in pattern]
    return pa.DictionaryArray.from_arrays(pa.array(indices, width or pa.int32()), values)


def _dictionary(
    name: str,
    values: Callable[[int], pa.Array],
    *,
    width: pa.DataType | None = None,
    changes: str = "",
    around: Callable[[pa.Array], pa.Array] = lambda array: array,
) -> CombinedLayout:
    """``values`` are the dictionary of a batch by its number; ``around`` puts the encoded array into another."""

    def make(pattern: Pattern, batch: int, hollow: bool) -> pa.Array:  # noqa: FBT001  # see Layout.make
        known = values(batch)
        return around(_encoded(pattern, known.slice(0, 0) if hollow else known, width))

    return CombinedLayout(name, make, hollow=not changes, encoded=True, changes=changes)


def _words(kind: pa.DataType | None = None) -> pa.Array:
    return pa.array(_WORDS[:4], kind or pa.utf8())


def _growing(kind: pa.DataType) -> Callable[[int], pa.Array]:
    return lambda batch: pa.array(_WORDS[: 2 + 2 * batch], kind)


def _replaced(batch: int) -> pa.Array:
    return pa.array([f"{word} {batch}" for word in _WORDS[: 4 - batch]], pa.utf8())


def _in_list(array: pa.Array) -> pa.Array:
    """A list of one item around each slot; it is null where the slot is."""
    offsets = [None if not each.is_valid else slot for slot, each in enumerate(array)]
    return pa.ListArray.from_arrays(pa.array([*offsets, len(array)], pa.int32()), array)


def _in_struct(array: pa.Array) -> pa.Array:
    return pa.StructArray.from_arrays([array, pa.array(range(len(array)), pa.int8())], ["d", "n"])


def _with_null(pattern: Pattern, _batch: int, _hollow: bool) -> pa.Array:  # noqa: FBT001  # see Layout.make
    indices = [2 if each is None else (0, 1, 3)[each % 3] for each in pattern]
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.uint16()), pa.array(["a", "b", None, "c"]))


def _shared(pattern: Pattern, _batch: int, _hollow: bool) -> pa.Array:  # noqa: FBT001  # see Layout.make
    narrow, wide = _encoded(pattern, _words(), pa.int8()), _encoded([*reversed(pattern)], _words(), pa.int64())
    return pa.StructArray.from_arrays([narrow, wide], ["a", "b"])


def _encodings() -> Iterator[CombinedLayout]:
    yield _dictionary("dictionary", lambda _: _words())
    yield _dictionary("dictionary-int8", lambda _: _words(), width=pa.int8())
    yield _dictionary("dictionary-uint64", lambda _: _words(), width=pa.uint64())
    yield _dictionary("dictionary-of-numbers", lambda _: pa.array([1 << 40, -2, 3], pa.int64()))
    yield _dictionary("dictionary-of-list", lambda _: pa.array([[1], [], [2, 3]], pa.list_(pa.int32())))
    yield _dictionary("dictionary-of-struct", lambda _: pa.array([_pair(1, False), _pair(2, False)]))  # noqa: FBT003
    yield CombinedLayout("dictionary-with-null", _with_null, encoded=True)
    yield CombinedLayout("dictionary-shared", _shared, encoded=True, ids=(0, 0))
    yield _dictionary("dictionary-of-nulls", lambda _: pa.nulls(3))
    yield _dictionary("dictionary-of-runs", lambda _: _runs(32, _of_text)([0, 2, 3], 0, False))  # noqa: FBT003
    yield _dictionary("dictionary-in-list", lambda _: _words(), around=_in_list)
    yield _dictionary("dictionary-in-struct", lambda _: _words(), around=_in_struct)
    yield _dictionary("dictionary-nested", lambda _: _in_list(_encoded([1, 0, 2], _words(), pa.int8())))
    yield _dictionary("dictionary-delta", _growing(pa.utf8()), changes="delta")
    yield _dictionary("dictionary-delta-in-list", _growing(pa.large_utf8()), changes="delta", around=_in_list)
    yield _dictionary("dictionary-replaced", _replaced, changes="replaced")
    if hasattr(pa, "string_view"):
        yield _dictionary("dictionary-of-view", lambda _: _words(pa.string_view()))
        yield _dictionary("dictionary-delta-of-view", _growing(pa.string_view()), changes="delta")


def _others() -> Iterator[CombinedLayout]:
    yield CombinedLayout("union-sparse", _sparse)
    yield CombinedLayout("union-dense", _dense)
    yield CombinedLayout("struct-of-union", lambda pattern, batch, hollow: _in_struct(_dense(pattern, batch, hollow)))
    yield CombinedLayout("list-of-union", lambda *asked: _in_list(_dense(*asked)))
    yield CombinedLayout("list-of-sparse-union", lambda *asked: _in_list(_sparse(*asked)))
    yield CombinedLayout("run-end-encoded", _runs(32, _of_text))
    yield CombinedLayout("run-end-encoded-16", _runs(16, lambda pattern: pa.array(pattern, pa.int64())))
    yield CombinedLayout(
        "run-end-encoded-64",
        _runs(64, lambda pattern: pa.array([None if n is None else n % 2 == 0 for n in pattern], pa.bool_())),
    )
    yield CombinedLayout("runs-of-dictionary", _runs(32, lambda pattern: _encoded(pattern, _words())), encoded=True)
    yield CombinedLayout("struct-of-runs", lambda *asked: _in_struct(_runs(32, _of_text)(*asked)))
    yield CombinedLayout("struct-of-struct-of-runs", lambda *asked: _in_struct(_in_struct(_runs(32, _of_text)(*asked))))


LAYOUTS: Final[Mapping[str, CombinedLayout]] = {
    layout.name: layout for layout in (*_simple(), *_nested(), *_encodings(), *_others())
}
"""Every layout by name; layouts whose types this pyarrow lacks are left out."""
