"""The cases to write: small tables of every type and form, drawn from a seed, in a form that needs no pyarrow.

A recipe is a JSON document. Its values are plain values (:mod:`conformance.wire.plain`), except for a union's, which
are pairs of type id and value. :mod:`conformance.drift.building` builds the same memory from it in every version.
A case is a recipe with its writings; a writing is a container with options.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.drift.chance import Chance
from conformance.drift.recipevalues import DrawnValues, TypeDocument

__all__ = ["CLASSES", "DriftRecipe", "Writing", "draw_recipes"]

Field = dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Writing:
    """One way to write a recipe: ``container`` is ``stream`` or ``file``; ``options`` are named like those of IPC.

    They are ``codec``, ``version``, ``legacy``, ``deltas``, ``unify``, ``allow_64bit``, and ``table``, which writes a
    table in one call and not batch by batch.
    """

    container: str
    options: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The writing's part of an id: ``stream``, ``file+zstd``, ``stream+legacy+V4`` …"""
        parts = [str(value) if isinstance(value, str) else name for name, value in self.options.items() if value]
        return "+".join((self.container, *parts))


@dataclasses.dataclass(frozen=True, slots=True)
class DriftRecipe:
    """A case to write: ``kind`` is its class in the matrix, ``document`` the recipe that workers build."""

    id: str
    kind: str
    document: Mapping[str, Any]
    writings: tuple[Writing, ...]


ROWS: Final = (0, 1, 7, 8, 9, 64, 65)
"""Row counts around the bytes and words of a validity bitmap, where off-by-one errors occur."""

_PLAIN: Final[tuple[TypeDocument, ...]] = (
    {"kind": "null"},
    {"kind": "bool"},
    *({"kind": f"{sign}int{bits}"} for sign in ("", "u") for bits in (8, 16, 32, 64)),
    {"kind": "float16"},
    {"kind": "float32"},
    {"kind": "float64"},
)
_TEMPORAL: Final[tuple[TypeDocument, ...]] = (
    {"kind": "date32"},
    {"kind": "date64"},
    {"kind": "time32", "unit": "s"},
    {"kind": "time32", "unit": "ms"},
    {"kind": "time64", "unit": "us"},
    {"kind": "time64", "unit": "ns"},
    *({"kind": "timestamp", "unit": unit} for unit in ("s", "ms", "us", "ns")),
    {"kind": "timestamp", "unit": "us", "zone": "UTC"},
    {"kind": "timestamp", "unit": "ms", "zone": "Europe/Paris"},
    {"kind": "timestamp", "unit": "ns", "zone": "+05:30"},
    *({"kind": "duration", "unit": unit} for unit in ("s", "ms", "us", "ns")),
    {"kind": "interval"},
)
_DECIMALS: Final[tuple[TypeDocument, ...]] = (
    {"kind": "decimal128", "precision": 38, "scale": 9},
    {"kind": "decimal128", "precision": 1, "scale": 0},
    {"kind": "decimal128", "precision": 5, "scale": -2},
    {"kind": "decimal256", "precision": 76, "scale": 38},
    {"kind": "decimal32", "precision": 9, "scale": 2},
    {"kind": "decimal64", "precision": 18, "scale": 4},
)
_BYTES: Final[tuple[TypeDocument, ...]] = (
    {"kind": "utf8"},
    {"kind": "binary"},
    {"kind": "large_utf8"},
    {"kind": "large_binary"},
    {"kind": "fixed_size_binary", "width": 5},
    {"kind": "fixed_size_binary", "width": 0},
)
_VIEWS: Final[tuple[TypeDocument, ...]] = ({"kind": "string_view"}, {"kind": "binary_view"})


def _field(name: str, made: TypeDocument, *, nullable: bool = True) -> Field:
    return {"name": name, "type": made, "nullable": nullable}


def _nested(item: TypeDocument, other: TypeDocument) -> tuple[TypeDocument, ...]:
    return (
        {"kind": "list", "item": _field("item", item)},
        {"kind": "large_list", "item": _field("element", item)},
        {"kind": "fixed_size_list", "item": _field("item", item), "size": 3},
        {"kind": "struct", "fields": [_field("x", item), _field("y", other)]},
        {"kind": "map", "key": _field("key", {"kind": "utf8"}, nullable=False), "value": _field("value", item)},
        {"kind": "list", "item": _field("item", {"kind": "struct", "fields": [_field("", item), _field("", other)]})},
    )


def _list_views(item: TypeDocument, _: TypeDocument) -> tuple[TypeDocument, ...]:
    return (
        {"kind": "list_view", "item": _field("item", item)},
        {"kind": "large_list_view", "item": _field("item", item)},
    )


def _unions(item: TypeDocument, other: TypeDocument) -> tuple[TypeDocument, ...]:
    fields = [_field("i", item), _field("o", other)]
    return tuple({"kind": name, "fields": fields, "codes": [0, 5]} for name in ("dense_union", "sparse_union"))


def _run_ends(item: TypeDocument, _: TypeDocument) -> tuple[TypeDocument, ...]:
    return tuple(
        {"kind": "run_end_encoded", "ends": {"kind": f"int{bits}"}, "value": item, "runs": True}
        for bits in (16, 32, 64)
    )


# --- writings ---------------------------------------------------------------------------------------

_STREAM: Final = Writing("stream", {})
_FILE: Final = Writing("file", {})
_SAMPLED: Final = tuple(
    Writing(container, options)
    for options in (
        {"codec": "lz4"},
        {"codec": "zstd"},
        {"version": "V4"},
        {"legacy": True},
        {"legacy": True, "version": "V4"},
        {"codec": "zstd", "version": "V4"},
        {"codec": "lz4", "legacy": True},
        {"allow_64bit": True},
        {"table": True},
    )
    for container in ("stream", "file")
)
_DICTIONARY: Final = tuple(
    Writing(container, options)
    for options in ({"deltas": True}, {"unify": True, "table": True}, {"deltas": True, "codec": "lz4"})
    for container in ("stream", "file")
)


def _sample(chance: Chance, *, dictionary: bool) -> tuple[Writing, ...]:
    """The two plain writings, for dictionaries all writings with their options, and a sample of the others."""
    more = _DICTIONARY if dictionary else ()
    return (_STREAM, _FILE, *more, *chance.sample(_SAMPLED, 3))


# --- recipes ----------------------------------------------------------------------------------------


def _document(fields: list[Field], batches: list[list[Any]], rows: list[int], **more: Any) -> dict[str, Any]:
    return {"fields": fields, "batches": batches, "rows": rows, **more}


def _columns(chance: Chance, kinds: Sequence[TypeDocument], *, batches: int, form: str) -> dict[str, Any]:
    """A table with columns of ``kinds``; its rows, its nulls and the columns' nullability are random."""
    values, columns = DrawnValues(chance), []
    rows = [chance.choice(ROWS) for _ in range(batches)]
    nulls = [chance.choice((0.0, 0.3, 0.3, 1.0)) for _ in kinds]
    fields = [
        _field(f"c{place}", made, nullable=made["kind"] == "null" or share > 0 or chance.random() < 0.5)
        for place, (made, share) in enumerate(zip(kinds, nulls, strict=True))
    ]
    for number, count in enumerate(rows, start=1):
        values.seen = number / len(rows)
        columns.append([values.column(made, count, share) for made, share in zip(kinds, nulls, strict=True)])
    return _document(fields, columns, rows, form=form)


_SIMPLE: Final = (*_PLAIN, *_TEMPORAL, *_BYTES, _DECIMALS[0])
_FORMS: Final = ((1, "whole"), (1, "sliced"), (3, "whole"))


def _flat(kinds: Sequence[TypeDocument]) -> Callable[[Chance, int], list[TypeDocument]]:
    return lambda _, place: [kinds[place % len(kinds)]]


def _pair(chance: Chance) -> tuple[TypeDocument, TypeDocument]:
    return chance.choice(_SIMPLE[1:]), chance.choice(_SIMPLE[1:])


def _made_of(
    shapes: Callable[[TypeDocument, TypeDocument], tuple[TypeDocument, ...]],
) -> Callable[[Chance, int], list[TypeDocument]]:
    def kinds(chance: Chance, place: int) -> list[TypeDocument]:
        made = shapes(*_pair(chance))
        return [made[place % len(made)]]

    return kinds


def _deep(chance: Chance, _: int) -> list[TypeDocument]:
    made: TypeDocument = chance.choice(_SIMPLE[1:])
    for _ in range(chance.choice((2, 3, 4))):
        made = chance.choice(_nested(made, chance.choice(_SIMPLE[1:])))
    return [made, chance.choice(_SIMPLE)]


def _wide(chance: Chance, _: int) -> list[TypeDocument]:
    return [chance.choice(_SIMPLE) for _ in range(12)]


def _encoded(chance: Chance, place: int) -> list[TypeDocument]:
    value = chance.choice(_DICTIONARY_VALUES)
    values = DrawnValues(chance)
    pool: list[Any] = []
    while len(pool) < 6:
        one = values.value(value)
        if one not in pool:
            pool.append(one)
    if chance.random() < 0.3:
        pool.insert(chance.randrange(6), None)
    growth = ("fixed", "own", "growing")[place % 3]
    index = {"kind": chance.choice(("int8", "int16", "int32", "int64", "uint8", "uint32"))}
    made = {"kind": "dictionary", "index": index, "value": value, "ordered": chance.random() < 0.3}
    made |= {"pool": pool, "growth": growth}
    return [made if place % 4 else {"kind": "list", "item": _field("item", made)}, chance.choice(_SIMPLE)]


_DICTIONARY_VALUES: Final[tuple[TypeDocument, ...]] = (
    {"kind": "utf8"},
    {"kind": "utf8"},
    {"kind": "large_binary"},
    {"kind": "int64"},
    {"kind": "decimal128", "precision": 38, "scale": 9},
    {"kind": "timestamp", "unit": "us", "zone": "UTC"},
    {"kind": "list", "item": _field("item", {"kind": "int32"})},
    {"kind": "struct", "fields": [_field("x", {"kind": "utf8"}), _field("y", {"kind": "int8"})]},
)

CLASSES: Final[Mapping[str, tuple[int, Callable[[Chance, int], list[TypeDocument]]]]] = {
    "primitive": (33, _flat(_PLAIN)),
    "temporal": (51, _flat(_TEMPORAL)),
    "decimal": (18, _flat(_DECIMALS)),
    "bytes": (24, _flat(_BYTES)),
    "view": (18, _flat(_VIEWS)),
    "nested": (54, _made_of(_nested)),
    "deep": (24, _deep),
    "wide": (12, _wide),
    "list-view": (18, _made_of(_list_views)),
    "union": (18, _made_of(_unions)),
    "run-end": (18, _made_of(_run_ends)),
    "dictionary": (36, _encoded),
}
"""For each class, the number of recipes in a full run, and the function that draws the column types of its n-th one."""


def draw_recipes(seed: int, *, share: float = 1.0) -> Iterator[DriftRecipe]:
    """The recipes of a seed, always the same ones; a ``share`` of each class, at least three, makes a shorter run."""
    for kind, (count, kinds) in CLASSES.items():
        for place in range(max(3, round(count * share))):
            chance = Chance(seed, f"{kind} {place}")
            batches, form = _FORMS[(place // 2) % 3]
            document = _columns(chance, kinds(chance, place), batches=batches, form=form)
            yield DriftRecipe(f"{kind}.{place:03}", kind, document, _sample(chance, dictionary=kind == "dictionary"))
    yield from _schemas(seed)


def _schemas(seed: int) -> Iterator[DriftRecipe]:
    """Recipes for other parts of schemas: no columns, no batches, metadata, extension types, unusual names."""
    chance = Chance(seed, "schema")
    number = _field("n", {"kind": "int32"})
    extended = [_extension(name, text, made) for name, text, made in _EXTENSIONS]
    values = DrawnValues(chance)
    documents = {
        "no-columns": _document([], [[], []], [3, 0]),
        "no-batches": _document([number], [], []),
        "zero-rows": _document([number, _field("s", {"kind": "utf8"})], [[[], []]], [0]),
        "metadata": _document(
            [number | {"metadata": {"unit": "m", "empty": "", "ä": "ö"}}],
            [[[1, None]]],
            [2],
            metadata={"k": "v", "ARROW:other": "x"},
        ),
        "names": _document([_field(name, {"kind": "int8"}) for name in ("", "a", "a", "列", " ")], [[[1]] * 5], [1]),
        **{
            f"extension-{place}": _document([field], [[values.column(field["type"], 5, 0.3)]], [5])
            for place, field in enumerate(extended)
        },
    }
    for name, document in documents.items():
        yield DriftRecipe(f"schema.{name}", "schema", document, _sample(chance, dictionary=False))


def _extension(name: str, text: str, made: TypeDocument) -> Field:
    pairs = {"ARROW:extension:name": name, "ARROW:extension:metadata": text}
    return _field("e", made) | {"metadata": pairs}


_EXTENSIONS: Final[tuple[tuple[str, str, TypeDocument], ...]] = (
    ("arrow.uuid", "", {"kind": "fixed_size_binary", "width": 16}),
    ("arrow.bool8", "", {"kind": "int8"}),
    ("arrow.json", "{}", {"kind": "utf8"}),
    ("arrow.opaque", '{"type_name": "t", "vendor_name": "v"}', {"kind": "binary"}),
    (
        "arrow.fixed_shape_tensor",
        '{"shape":[3]}',
        {"kind": "fixed_size_list", "item": _field("item", {"kind": "int32"}), "size": 3},
    ),
    ("arrow.uuid", "", {"kind": "utf8"}),
    ("example.unknown", "x", {"kind": "int64"}),
)
"""Canonical extension types (https://arrow.apache.org/docs/format/CanonicalExtensions.html) on their storage types; the
last two are one on a wrong storage type and one that is not registered anywhere."""
