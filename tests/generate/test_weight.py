"""The weight of a recipe, and the bound on the weight of drawn ones."""

from __future__ import annotations

import pytest

from conformance.generate import materialise
from conformance.generate.families import draw_member
from conformance.generate.weight import MOST_BYTES, bounded, weight
from conformance.records import BqType, Column, Mode, Recipe, ValueProfile

NUMBER = Column("n", BqType.INT64)
DEEP = Column("r", BqType.RECORD, Mode.REPEATED, (Column("t", BqType.STRING, Mode.REPEATED),))
BEYOND = (("arrow", 16, 18113), ("arrow", 16, 456), ("arrow", 1, 15494), ("server", 1, 3424))
"""Members of seed 0 that weighed 30 to 45 MiB before there was a bound."""


@pytest.mark.parametrize(
    ("column", "bytes_of_ten"),
    [
        (NUMBER, 80),
        (Column("d", BqType.DATE), 40),
        (Column("b", BqType.BIGNUMERIC), 320),
        (Column("r", BqType.RANGE, range_of=BqType.DATE), 80),
        (Column("r", BqType.RECORD, fields=(NUMBER, Column("m", BqType.INT64))), 160),
    ],
)
def test_fixed_widths_are_exact(column: Column, bytes_of_ten: int) -> None:
    """Rows times bytes."""
    assert weight((column,), Recipe(10)) == bytes_of_ten


def test_an_array_has_the_mean_and_something_to_spare() -> None:
    """And never more than all arrays with the most items."""
    array = (Column("n", BqType.INT64, Mode.REPEATED),)

    one, many = (weight(array, Recipe(rows, max_items=8)) for rows in (1, 10_000))

    assert one == 4 + 8 * 8
    assert 40_000 + 40_000 * 8 < many < 40_000 + 41_000 * 8


def test_arrays_in_arrays_multiply() -> None:
    """Each level has its items for each item of the one above."""
    flat = weight((Column("t", BqType.STRING, Mode.REPEATED),), Recipe(100, max_items=8))

    assert weight((DEEP,), Recipe(100, max_items=8)) > 4 * flat


def test_a_recipe_within_the_bound_is_left_alone() -> None:
    """It is the very same, so that the case keeps its bytes."""
    recipe = Recipe(4097, values=ValueProfile.WIDE, seed=7)

    assert bounded((NUMBER,), recipe) is recipe


def test_a_recipe_beyond_it_gets_smaller_values_and_then_fewer_rows() -> None:
    """Seed and NULLs stay."""
    wide = bounded((DEEP,), Recipe(129, values=ValueProfile.WIDE, max_items=8, seed=7))
    long = bounded((NUMBER,), Recipe(3 << 21, seed=7))

    assert wide == Recipe(129, values=ValueProfile.RANDOM, max_items=8, seed=7)
    assert long == Recipe(3 << 19, seed=7)


@pytest.mark.parametrize(("profile", "family", "index"), BEYOND)
def test_the_heaviest_that_were_drawn_are_bounded(profile: str, family: int, index: int) -> None:
    """Their rows are made from what they are drawn as now."""
    case = draw_member(0, index, profile=profile, family=family)

    assert case.table.recipe is not None
    assert weight(case.table.columns, case.table.recipe) <= MOST_BYTES
    assert materialise(case.table).nbytes <= MOST_BYTES


def test_rows_weigh_about_what_was_computed() -> None:
    """Of those drawn tables that weigh anything, none weighs much more."""
    found = []
    for index in range(400):
        case = draw_member(3, index, profile="arrow", family=1)
        assert case.table.recipe is not None
        computed = weight(case.table.columns, case.table.recipe)
        if computed > 1 << 16:
            found.append(materialise(case.table).nbytes / computed)

    assert len(found) > 20
    assert max(found) < 1.25
