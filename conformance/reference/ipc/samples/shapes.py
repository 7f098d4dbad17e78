"""Samples of nulls, rows, batches, nesting, names and metadata."""

from __future__ import annotations

import itertools

import pyarrow as pa

from conformance.reference.ipc.samples.sample import runs, sample
from conformance.reference.ipc.samples.types import columns

__all__: list[str] = []

_KINDS = {"bool": pa.bool_(), "int32": pa.int32(), "utf8": pa.utf8(), "list": pa.list_(pa.int8())}
_VALUES = {"bool": True, "int32": 7, "utf8": "seven", "list": [7]}


def _pattern(bits: str) -> dict[str, pa.Array]:
    """A column of each kind with a value where ``bits`` has a 1 and a null where it has a 0."""
    return {
        name: pa.array([_VALUES[name] if bit == "1" else None for bit in bits], kind) for name, kind in _KINDS.items()
    }


for _name, _title, _bits in (
    ("none", "Nothing is null.", "1111"),
    ("all", "Everything is null.", "0000"),
    ("first", "The first slot is null.", "01111111"),
    ("last", "The last slot is null.", "11111110"),
    ("ninth", "The only null is in the second byte of the bitmap.", "1111111101"),
    ("alternating", "Every second slot is null, over 17 slots.", "10" * 8 + "1"),
    ("words", "Nulls on both sides of a 64-bit word.", "1" * 63 + "00" + "1" * 66),
):
    sample(f"nulls.{_name}", _title, _pattern(_bits))

sample("nulls.sliced", "Slices, whose bitmaps and offsets begin inside those of their arrays.", {
    name: array.slice(3, 8) for name, array in _pattern("1" * 5 + "0" + "1" * 9).items()
})  # fmt: skip
sample("nulls.under-struct", "A struct that is null over children that are not.", {
    "x": pa.StructArray.from_arrays(
        [pa.array([1, 2, 3], pa.int64()), pa.array(["a", "b", "c"], pa.utf8())],
        ["a", "b"],
        mask=pa.array([False, True, False], pa.bool_()),
    )
})  # fmt: skip
sample("nulls.non-nullable", "Fields that are not nullable, and have no nulls.", _pattern("111"), schema=pa.schema(
    [pa.field(name, kind, nullable=False) for name, kind in _KINDS.items()]
))  # fmt: skip

_ALL = columns()
_EMPTY = {name: array.slice(0, 0) for name, array in _ALL.items()}
_ONE = pa.RecordBatch.from_pydict({"n": pa.array([1, 2, 3], pa.int32()), "t": pa.array(["a", None, "c"], pa.utf8())})
_NO_COLUMNS = pa.schema([])

sample("rows.zero", "A batch without rows, of every type.", _EMPTY)
sample("rows.no-batches", "A schema and no batches.", schema=_ONE.schema)
sample(
    "rows.no-batches-of-any-type",
    "A schema of every type and no batches.",
    schema=pa.RecordBatch.from_pydict(_EMPTY).schema,
)
sample("rows.one", "One row.", _ONE.slice(0, 1))
sample("rows.several", "Three batches of different lengths.", _ONE, _ONE.slice(1), _ONE.slice(0, 1))
sample("rows.empty-between", "A batch without rows between two that have some.", _ONE, _ONE.slice(0, 0), _ONE)
sample("rows.empty-last", "A batch without rows at the end.", _ONE, _ONE.slice(0, 0))
sample("rows.no-columns", "A batch without columns and without rows.", pa.record_batch([], schema=_NO_COLUMNS))
sample("rows.no-columns-no-batches", "A schema without fields and no batches.", schema=_NO_COLUMNS)
sample("rows.no-columns-three", "A batch without columns that has three rows all the same.", _ONE.select([]))
sample("rows.thousand", "A thousand rows, which compress.", {
    "n": pa.array([row // 10 for row in range(1000)], pa.int64()),
    "t": pa.array([f"row {row % 7}" for row in range(1000)], pa.utf8()),
})  # fmt: skip


def _deep(depth: int) -> dict[str, pa.Array]:
    """A list in a list, a struct in a struct: ``depth`` of each around a number."""
    lists: pa.Array = pa.array([1, None, 3], pa.int32())
    structs: pa.Array = lists
    for _ in range(depth):
        lists = pa.ListArray.from_arrays(pa.array(range(len(lists) + 1), pa.int32()), lists)
        structs = pa.StructArray.from_arrays([structs], ["s"])
    return {"lists": lists, "structs": structs}


for _depth in (2, 8, 32, 60):
    sample(f"nested.depth-{_depth}", f"{_depth} lists, and {_depth} structs, inside each other.", _deep(_depth))

sample("nested.mixed", "Structs, lists, maps and fixed-size lists inside each other.", {
    "x": pa.array(
        [[{"m": [("k", [1, 2])], "f": [["a"], None]}], None, [None, {"m": None, "f": None}]],
        pa.list_(pa.struct([
            ("m", pa.map_(pa.utf8(), pa.list_(pa.int64()))),
            ("f", pa.list_(pa.list_(pa.utf8()), 2)),
        ])),
    )
})  # fmt: skip
sample("nested.order", "The columns whose nodes and buffers show the order of the walk.", {
    "s": pa.array([{"a": 1, "b": [2, 3], "c": 0.5}], pa.struct([
        ("a", pa.int32()), ("b", pa.list_(pa.int64())), ("c", pa.float64())
    ])),
    "t": pa.array(["u"], pa.utf8()),
})  # fmt: skip
sample("nested.list-sliced", "Lists whose child begins before their first offset.", {
    "x": pa.array([["a", "b"], ["c"], [], ["d"]], pa.list_(pa.utf8())).slice(1, 3),
    "m": pa.array([[("a", 1)], [("b", 2)], [], None], pa.map_(pa.utf8(), pa.int8())).slice(1, 3),
    "s": pa.array([[{"n": 1}], [{"n": 2}], [], None], pa.list_(pa.struct([("n", pa.int8())]))).slice(1, 3),
    "f": pa.array([[1, 2], [3, 4], None, [5, 6]], pa.list_(pa.int8(), 2)).slice(1, 3),
})  # fmt: skip
for _name in ("union-sparse", "union-dense", "run-end-encoded-32"):
    sample(f"nested.{_name}-in-struct", f"A struct around {_name}.", {
        "x": pa.StructArray.from_arrays([_ALL[_name], pa.array(range(len(_ALL[_name])), pa.int64())], ["inner", "n"])
    })  # fmt: skip


def _named(*names: str) -> pa.RecordBatch:
    return pa.record_batch([pa.array([number], pa.int64()) for number, _ in enumerate(names)], names=list(names))


sample("names.duplicate", "Two columns of one name.", _named("x", "x", "y"))
sample("names.duplicate-kinds", "Columns of one name and different types.", pa.record_batch(
    [pa.array([1], pa.int64()), pa.nulls(1), pa.array(["a"], pa.utf8()), pa.array([[1]], pa.list_(pa.int64()))],
    names=["x", "x", "x", "x"],
))  # fmt: skip
sample("names.empty", "A column whose name is empty.", _named("", "y"))
sample("names.unicode", "Names beyond ASCII.", _named("größe", "日本", "🙂", "e\u0301"))
sample("names.odd", "Names with dots, quotes, spaces and line breaks.", _named("a.b", 'q"q', " ", "a\nb", "a/b", "0"))
sample("names.long", "A name of four thousand letters.", _named("x" * 4000))
sample("names.many", "Two hundred columns.", _named(*(f"column_{number}" for number in range(200))))
sample("names.children", "A struct whose children share a name, and one whose child has none.", {
    "x": pa.StructArray.from_arrays([pa.array([1], pa.int64()), pa.array(["a"], pa.utf8())], ["n", "n"]),
    "y": pa.StructArray.from_arrays([pa.array([1], pa.int64())], [""]),
})  # fmt: skip
sample("names.list-item", "A list whose child has a name of its own.", {
    "l": pa.array([[1]], pa.list_(pa.field("element", pa.int32())))
})  # fmt: skip
sample("names.map-children", "A map whose key and value have names of their own.", {
    "m": pa.array([[(1, 2)]], pa.map_(pa.field("k", pa.int32(), nullable=False), pa.field("v", pa.int32())))
})  # fmt: skip
_PAIRS = {"owner": "Ærø", "empty": "", "long": "x" * 1000}
sample("names.schema-metadata", "Metadata of the schema.", {"x": pa.array([1], pa.int64())}, schema=pa.schema(
    [pa.field("x", pa.int64())], metadata=_PAIRS
))  # fmt: skip
sample("names.field-metadata", "Metadata of a field and of a child.", {
    "x": pa.array([[1]], pa.list_(pa.int64()))
}, schema=pa.schema(
    [pa.field("x", pa.list_(pa.field("item", pa.int64(), metadata=_PAIRS)), metadata=_PAIRS)]
))  # fmt: skip


def _extension(name: str, metadata: str, array: pa.Array) -> None:
    pairs = {"ARROW:extension:name": name, "ARROW:extension:metadata": metadata}
    schema = pa.schema([pa.field("x", array.type, metadata=pairs)])
    short = name.rpartition(".")[2].replace("_", "-")
    sample(f"types.extension-{short}", f"The extension type {name}.", {"x": array}, schema=schema)


_extension("conformance.unknown", '{"any": "thing"}', pa.array([1, None, 3], pa.int32()))
_extension("conformance.nested", "", pa.array([{"a": [1]}, None], pa.struct([("a", pa.list_(pa.int8()))])))
_extension("conformance.encoded", "x", pa.array(["a", None], pa.utf8()).dictionary_encode())
_extension("arrow.uuid", "", pa.array([bytes(16), None, bytes(range(16))], pa.binary(16)))
_extension("arrow.bool8", "", pa.array([1, 0, None, -1], pa.int8()))
_extension("arrow.json", "", pa.array(["{}", None, '[1, "a"]'], pa.utf8()))
_extension(
    "arrow.opaque", '{"type_name": "geometry", "vendor_name": "conformance"}', pa.array([b"x", None], pa.binary())
)
_extension("arrow.fixed_shape_tensor", '{"shape": [2, 1]}', pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int32(), 2)))


def _children_of_every_type() -> None:
    """A list around every type that a list can contain: a walk that skips a child loses it here."""
    for name, array in _ALL.items():
        offsets = pa.array([0, *itertools.repeat(len(array), 2)], pa.int32())
        sample(f"nested.list-of-{name}", f"A list of {name}.", {"x": pa.ListArray.from_arrays(offsets, array)})


_children_of_every_type()
for _name in ("union-sparse", "union-dense", "run-end-encoded-32"):
    sample(f"nested.lists-of-{_name}", f"Three lists of {_name}, so that a slice begins inside the child.", {
        "x": pa.ListArray.from_arrays(pa.array([0, 1, 1, len(_ALL[_name])], pa.int32()), _ALL[_name])
    })  # fmt: skip
if "string-view" in _ALL:
    _views = pa.array(["a text of more than twelve bytes", None, "b"], pa.string_view())
    sample("nested.runs-of-views", "Runs whose values are views of text, some of it in a buffer of its own.", {
        "x": runs([2, 3, 7], _views)
    })  # fmt: skip
_texts = pa.array(["", "b", "", None, "", "c"], pa.utf8())
sample("nested.runs-of-text", "Runs of text, of which every other one is empty, and one null.", {
    "x": runs([1, 2, 4, 5, 6, 9], _texts)
})  # fmt: skip
sample("nested.fixed-size-lists-of-text", "Lists of two texts, with a null between them.", {
    "x": pa.array([["a", ""], None, ["c", "d"]], pa.list_(pa.utf8(), 2))
})  # fmt: skip
