"""Recipes: the same ones always, of every type, and built into what they say."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from conformance.drift.building import LackingError, build_batches, build_schema
from conformance.drift.recipes import CLASSES, DriftRecipe, draw_recipes
from conformance.wire.plain import plain_values

RECIPES = list(draw_recipes(0))


def kinds(made: Any) -> set[str]:
    """Every kind of type that a recipe's document names."""
    if isinstance(made, list):
        return set().union(*map(kinds, made))
    if not isinstance(made, dict):
        return set()
    own = {made["kind"]} if isinstance(made.get("kind"), str) else set()
    return own.union(*map(kinds, made.values()))


def meant(made: dict[str, Any], value: Any) -> Any:
    """The plain value of a recipe's value: a union's says which child it is of."""
    name = made["kind"]
    if name.endswith("_union"):
        number = made["codes"].index(value[0])
        return meant(made["fields"][number]["type"], value[1])
    if value is None:
        return None
    if "item" in made:
        return [meant(made["item"]["type"], one) for one in value]
    if name == "struct":
        pairs = zip(made["fields"], value["struct"], strict=True)
        return {"struct": [meant(field["type"], one) for field, one in pairs]}
    if name == "map":
        return {"map": [[key, meant(made["value"]["type"], one)] for key, one in value["map"]]}
    return meant(made["value"], value) if "value" in made else value


def test_a_seed_gives_the_same_recipes() -> None:
    """Recipes follow from the seed alone, and another seed gives others."""
    assert list(draw_recipes(0)) == RECIPES
    assert [one.document for one in draw_recipes(1)] != [one.document for one in RECIPES]


def test_there_are_enough_recipes_with_names_of_their_own() -> None:
    """A full run has three hundred cases at least, each with its own id, in every class."""
    assert len(RECIPES) >= 300
    assert len({recipe.id for recipe in RECIPES}) == len(RECIPES)
    assert {recipe.kind for recipe in RECIPES} == {*CLASSES, "schema"}
    assert all(len({one.name for one in recipe.writings}) == len(recipe.writings) for recipe in RECIPES)


def test_every_type_and_option_is_drawn() -> None:
    """No type that the builder knows is left out, and no option of writers."""
    options = {name for recipe in RECIPES for writing in recipe.writings for name in writing.options}
    drawn = set().union(*(kinds(recipe.document) for recipe in RECIPES))

    assert options == {"codec", "version", "legacy", "deltas", "unify", "allow_64bit", "table"}
    assert drawn >= {
        "null", "bool", "uint64", "float16", "date64", "time32", "timestamp", "duration", "interval",
        "decimal32", "decimal64", "decimal128", "decimal256", "utf8", "large_binary", "fixed_size_binary",
        "string_view", "binary_view", "list", "large_list", "fixed_size_list", "struct", "map", "list_view",
        "large_list_view", "dense_union", "sparse_union", "run_end_encoded", "dictionary",
    }  # fmt: skip


@pytest.mark.parametrize("kind", [*CLASSES, "schema"])
def test_what_is_built_says_what_the_recipe_says(kind: str) -> None:
    """The arrays have the recipe's values, complete or sliced, whatever bytes are around their buffers."""
    for recipe in (one for one in RECIPES if one.kind == kind):
        try:
            schema = build_schema(recipe.document)
        except LackingError:
            continue
        check(recipe, build_batches(recipe.document, schema))
        check(recipe, build_batches(recipe.document, schema, around=0xAA))


def check(recipe: DriftRecipe, batches: list[Any]) -> None:
    """Compare every column of every batch."""
    document = recipe.document
    assert [batch.num_rows for batch in batches] == document["rows"]
    for batch, columns in zip(batches, document["batches"], strict=True):
        batch.validate(full=True)
        for place, (field, values) in enumerate(zip(document["fields"], columns, strict=True)):
            assert plain_values(batch.column(place)) == [meant(field["type"], one) for one in values], recipe.id


def test_dictionaries_grow_from_batch_to_batch() -> None:
    """Some dictionaries begin with the one before, so that deltas can be written."""
    grown = 0
    for recipe in (one for one in RECIPES if one.kind == "dictionary" and len(one.document["rows"]) > 1):
        column = recipe.document["fields"][0]["type"]
        if column.get("growth") == "growing":
            batches = build_batches(recipe.document, build_schema(recipe.document))
            sizes = [len(batch.column(0).dictionary) for batch in batches]
            grown += any(0 < before < after for before, after in itertools.pairwise(sizes))

    assert grown > 0
