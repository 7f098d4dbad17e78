from __future__ import annotations

import pytest

from conformance.engine.corpus import resolve_case
from conformance.generate import draw_case
from conformance.generate.drawing import profiles
from conformance.generate.families import draw_guided, draw_member, redraw, weights_text
from conformance.records import BqType, Case, Column


def leaves(columns: tuple[Column, ...]) -> set[BqType]:
    """The types of columns at every depth, RECORD aside."""
    found = {column.type for column in columns if not column.fields}
    return found.union(*(leaves(column.fields) for column in columns))


@pytest.mark.parametrize("profile", profiles())
def test_a_family_shares_its_columns_and_nothing_else(profile: str) -> None:
    """Two families do not."""
    cases = [draw_member(3, index, profile=profile, family=4) for index in range(400)]
    families = [cases[first : first + 4] for first in range(0, 400, 4)]

    assert all(len({case.table.columns for case in family}) == 1 for family in families)
    assert len({family[0].table.columns for family in families}) == 100
    assert len({(case.table.recipe, case.steps) for case in cases}) == 400


def test_a_member_is_the_same_whichever_others_are_drawn() -> None:
    """Any executor draws any range of cases."""
    drawn = [draw_member(3, index, profile="arrow", family=8) for index in range(200)]
    again = [draw_member(3, index, profile="arrow", family=8) for index in reversed(range(200))]

    assert drawn == again[::-1]


def test_long_tables_are_rarer_in_families() -> None:
    """They are there, and about a quarter as often as among the cases of every run."""
    members, others = (
        [draw_member(5, index, profile="arrow", family=family).table.recipe for index in range(2000)]
        for family in (8, 1)
    )
    long, elsewhere = (sum(one is not None and one.rows >= 1000 for one in drawn) for drawn in (members, others))

    assert 0 < long < elsewhere / 2


def test_families_of_one_are_the_cases_of_every_run() -> None:
    """Under the same ids."""
    assert draw_member(3, 17, profile="arrow", family=1) == draw_case(3, 17, profile="arrow")


@pytest.mark.parametrize("profile", profiles())
@pytest.mark.parametrize("family", [1, 8])
def test_an_id_is_enough_to_draw_a_case_again(profile: str, family: int) -> None:
    """Of a family, of the guided part, and of a run."""
    weights = weights_text({BqType.DATE: 12, BqType.INT64: 0})
    drawn: list[Case] = []
    for index in range(20):
        drawn.append(draw_member(3, index, profile=profile, family=family))
        drawn.append(draw_guided(3, index, profile=profile, family=family, weights=weights))

    assert [resolve_case(case.id) for case in drawn] == drawn


@pytest.mark.parametrize(
    "name", ["generated.arrow.s1", "generated.other.s1.i1", "guided.arrow.s1.i1", "guided.arrow.s1.w12.i1", "a.b"]
)
def test_other_ids_are_of_no_drawn_case(name: str) -> None:
    """And no error: the corpus may know them."""
    assert redraw(name) is None


def test_weights_decide_which_types_are_drawn() -> None:
    """A type of weight 0 is not drawn at all."""
    weights = weights_text({kind: 3 * (kind is BqType.DATE) for kind in BqType})
    found = [
        leaves(draw_guided(3, index, profile="arrow", family=8, weights=weights).table.columns) for index in range(40)
    ]

    assert set().union(*found) == {BqType.DATE}


def test_a_weight_beyond_its_digit_is_refused() -> None:
    """With the type in the message."""
    with pytest.raises(ValueError, match=r"expected types repeated 0 to 12 times but got \{'DATE': 13\}"):
        weights_text({BqType.DATE: 13})
