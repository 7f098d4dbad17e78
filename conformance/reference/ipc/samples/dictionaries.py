"""Samples of dictionaries: their values, the width of their indices, their place, and how they change."""

from __future__ import annotations

import pyarrow as pa

from conformance.reference.ipc.options import WriterOptions
from conformance.reference.ipc.samples.sample import runs, sample

__all__: list[str] = []

_WORDS = ("red", "green", "blue", "a colour of many words")
_DELTAS = WriterOptions(deltas=True)


def _encoded(
    indices: list[int | None], values: pa.Array, width: pa.DataType | None = None, *, ordered: bool = False
) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(indices, width or pa.int32()), values, ordered=ordered)


def _words(*words: str | None) -> pa.Array:
    return pa.array(words, pa.utf8())


_COLOURS = _words(*_WORDS)

for _bits in (8, 16, 32, 64):
    for _sign in ("", "u"):
        _kind = getattr(pa, f"{_sign}int{_bits}")()
        sample(f"dictionary.index-{_kind}", f"Indices of type {_kind}.", {
            "x": _encoded([0, 3, None, 1, 0], _COLOURS, _kind)
        })  # fmt: skip

_VALUES: dict[str, pa.Array] = {
    "utf8": _COLOURS,
    "large-utf8": _COLOURS.cast(pa.large_utf8()),
    "binary": pa.array([b"\0", b"\xff", b"", b"x"], pa.binary()),
    "int64": pa.array([10, -20, 30, 1 << 40], pa.int64()),
    "uint8": pa.array([1, 2, 3, 255], pa.uint8()),
    "float64": pa.array([0.5, -0.0, float("inf"), 1e300], pa.float64()),
    "bool": pa.array([True, False, True, False], pa.bool_()),
    "date32": pa.array([0, 1, 2, 3], pa.date32()),
    "timestamp": pa.array([0, 1, 2, 3], pa.timestamp("us", "UTC")),
    "decimal128": pa.array([1, 2, 3, 4], pa.decimal128(20, 2)),
    "fixed-size-binary": pa.array([b"ab", b"cd", b"ef", b"gh"], pa.binary(2)),
    "list": pa.array([[1], [], [2, 3], [4]], pa.list_(pa.int32())),
    "struct": pa.array([{"a": n, "b": str(n)} for n in range(4)], pa.struct([("a", pa.int64()), ("b", pa.utf8())])),
    "null": pa.nulls(4),
}
if hasattr(pa, "string_view"):
    _VALUES["string-view"] = pa.array(_WORDS, pa.string_view())
for _name, _array in _VALUES.items():
    sample(f"dictionary.of-{_name}", f"A dictionary of {_array.type}.", {"x": _encoded([3, None, 0, 1, 3], _array)})

sample("dictionary.nulls-in-indices", "Null slots, and a dictionary without nulls.", {
    "x": _encoded([None, 0, None, 1], _COLOURS)
})  # fmt: skip
sample("dictionary.nulls-in-values", "No null slots, and a dictionary with a null that is pointed to.", {
    "x": _encoded([0, 1, 2, 1], _words("a", None, "c"))
})  # fmt: skip
sample("dictionary.nulls-in-both", "Nulls on both sides.", {"x": _encoded([0, None, 1, 2], _words("a", None, "c"))})
sample(
    "dictionary.all-null", "Every slot is null, and the dictionary is empty.", {"x": _encoded([None, None], _words())}
)
sample(
    "dictionary.duplicates", "A dictionary that holds a value twice.", {"x": _encoded([0, 1, 2], _words("a", "b", "a"))}
)
sample("dictionary.unused", "A dictionary with values that nothing points to.", {"x": _encoded([2, 2], _COLOURS)})
sample("dictionary.empty", "A batch without rows, and a dictionary without values.", {"x": _encoded([], _words())})
sample("dictionary.no-batches", "Dictionary-encoded fields, and no batches.", schema=pa.schema(
    [("x", pa.dictionary(pa.int8(), pa.utf8())), ("y", pa.dictionary(pa.int32(), pa.int64()))]
))  # fmt: skip
sample("dictionary.ordered", "A dictionary that says that it is ordered.", {
    "x": _encoded([0, 1, None], _words("a", "b"), ordered=True)
})  # fmt: skip
sample("dictionary.two", "Two columns with dictionaries of their own.", {
    "x": _encoded([0, 1], _COLOURS),
    "n": pa.array([1, 2], pa.int64()),
    "y": _encoded([1, 0], pa.array([5, 6], pa.int64())),
})  # fmt: skip
sample("dictionary.ids-apart", "Ids that do not count from 0.", {
    "x": _encoded([0, 1], _COLOURS), "y": _encoded([1, 0], pa.array([5, 6], pa.int64()))
}, options=WriterOptions(ids=(1 << 40, 7)))  # fmt: skip
sample("dictionary.shared", "Two columns that share a dictionary.", {
    "x": _encoded([0, 1], _COLOURS), "y": _encoded([3, None], _COLOURS)
}, options=WriterOptions(ids=(0, 0)))  # fmt: skip
sample("dictionary.shared-widths", "Two columns that share a dictionary, with indices of different widths.", {
    "x": _encoded([0, 1], _COLOURS, pa.int8()), "y": _encoded([3, None], _COLOURS, pa.int64())
}, options=WriterOptions(ids=(3, 3)))  # fmt: skip
sample("dictionary.many-values", "A dictionary of 300 values, more than a byte can count.", {
    "x": _encoded([299, 0, 256], pa.array([f"value {n}" for n in range(300)], pa.utf8()), pa.int16())
})  # fmt: skip

# --- their place --------------------------------------------------------------------------------------

_ROWS = pa.array([0, 2, 2, 3], pa.int32())
_INNER = _encoded([0, 1, None], _words("a", "b"))
sample("dictionary.in-list", "A list of encoded text.", {"x": pa.ListArray.from_arrays(_ROWS, _INNER)})
sample("dictionary.in-large-list", "A large list of encoded text.", {
    "x": pa.LargeListArray.from_arrays(_ROWS.cast(pa.int64()), _INNER)
})  # fmt: skip
sample("dictionary.in-fixed-size-list", "A fixed-size list of encoded text.", {
    "x": pa.FixedSizeListArray.from_arrays(_encoded([0, 1, None, 1], _words("a", "b")), 2)
})  # fmt: skip
if hasattr(pa, "ListViewArray"):
    sample("dictionary.in-list-view", "A list-view of encoded text.", {
        "x": pa.ListViewArray.from_arrays(pa.array([1, 0], pa.int32()), pa.array([2, 1], pa.int32()), _INNER)
    })  # fmt: skip
sample("dictionary.in-struct", "A struct with an encoded child.", {
    "x": pa.StructArray.from_arrays([_INNER, pa.array([1, 2, 3], pa.int64())], ["d", "n"])
})  # fmt: skip
sample("dictionary.in-map", "A map with encoded keys and values.", {
    "x": pa.MapArray.from_arrays(_ROWS, _encoded([0, 1, 0], _words("k", "l")), _encoded([0, 1, None], _words("v", "w")))
})  # fmt: skip
_CODES = pa.array([0, 1, 0], pa.int8())
sample("dictionary.in-sparse-union", "A sparse union with an encoded child.", {
    "x": pa.UnionArray.from_sparse(_CODES, [_INNER, pa.array([1, 2, 3], pa.int64())])
})  # fmt: skip
sample("dictionary.in-dense-union", "A dense union with an encoded child.", {
    "x": pa.UnionArray.from_dense(_CODES, pa.array([0, 0, 1], pa.int32()), [_INNER, pa.array([1], pa.int64())])
})  # fmt: skip
sample("dictionary.in-runs", "Runs of encoded text.", {
    "x": runs([2, 5, 6], _INNER)
})  # fmt: skip
sample("dictionary.nested-list", "A dictionary of lists of encoded text.", {
    "x": _encoded([1, 0, None, 2], pa.ListArray.from_arrays(_ROWS, _INNER), pa.int8())
})  # fmt: skip
sample("dictionary.nested-struct", "A dictionary of structs with an encoded child, next to a plain dictionary.", {
    "x": _encoded([1, 0], pa.StructArray.from_arrays([_INNER], ["d"])), "y": _encoded([0, 3], _COLOURS)
})  # fmt: skip
sample("dictionary.nested-thrice", "A dictionary of lists of encoded lists of encoded text.", {
    "x": _encoded([1, 0], pa.ListArray.from_arrays(
        pa.array([0, 1, 3], pa.int32()), _encoded([0, 2, 1], pa.ListArray.from_arrays(_ROWS, _INNER))
    ))
})  # fmt: skip

# --- how they change ----------------------------------------------------------------------------------


def _one(indices: list[int | None], *words: str | None) -> dict[str, pa.Array]:
    return {"x": _encoded(indices, _words(*words))}


sample("dictionary.same", "Two batches with one dictionary.", _one([0, 1], "a", "b"), _one([1, 1], "a", "b"))
sample(
    "dictionary.delta",
    "The second batch's dictionary extends the first's, and is sent as a delta.",
    _one([0, 1], "a", "b"),
    _one([2, 0, 1], "a", "b", "c"),
    options=_DELTAS,
)
sample(
    "dictionary.deltas",
    "Three deltas, one of which is sent between two that nothing points to.",
    _one([0], "a"),
    _one([0], "a", "b"),
    _one([2], "a", "b", "c"),
    _one([4, 3, 0], "a", "b", "c", "d", None),
    options=_DELTAS,
)
sample(
    "dictionary.delta-of-empty",
    "The first dictionary is empty, and the second a delta.",
    _one([None]),
    _one([0, 1], "a", "b"),
    options=_DELTAS,
)
sample(
    "dictionary.delta-of-two",
    "One of two dictionaries grows.",
    {**_one([0], "a"), "y": _encoded([0], _words("q"))},
    {**_one([1], "a", "b"), "y": _encoded([0], _words("q"))},
    options=_DELTAS,
)
sample(
    "dictionary.replaced",
    "The second batch's dictionary replaces the first's.",
    _one([0, 1], "a", "b"),
    _one([0, 1], "c", "d"),
    file=False,
)
sample(
    "dictionary.replaced-longer",
    "The second dictionary extends the first, and is sent whole.",
    _one([0, 1], "a", "b"),
    _one([2, 1], "a", "b", "c"),
    file=False,
)
sample(
    "dictionary.replaced-shorter",
    "The second dictionary is shorter than the first.",
    _one([0, 2], "a", "b", "c"),
    _one([0, None], "z"),
    file=False,
)
sample(
    "dictionary.replaced-and-back",
    "A dictionary is replaced, and then the first one comes back.",
    _one([0, 1], "a", "b"),
    _one([0, 1], "c", "d"),
    _one([1, 0], "a", "b"),
    file=False,
)
sample(
    "dictionary.delta-then-replaced",
    "A dictionary grows, is replaced, and the replacement grows.",
    _one([0], "a"),
    _one([1], "a", "b"),
    _one([0], "x"),
    _one([1, 0], "x", "y"),
    options=_DELTAS,
    file=False,
)
sample(
    "dictionary.nested-replaced",
    "The inner one of two nested dictionaries changes, so that both are sent again.",
    {"x": _encoded([0, 1], pa.ListArray.from_arrays(_ROWS, _INNER))},
    {"x": _encoded([0, 1], pa.ListArray.from_arrays(_ROWS, _encoded([0, 1, None], _words("c", "d"))))},
    file=False,
)
