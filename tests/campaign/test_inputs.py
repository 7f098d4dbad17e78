"""Mutated inputs as the cases of a campaign: their names, what they cover, and what they are made of."""

from __future__ import annotations

import pytest

from conformance.campaign.campaignjob import MUTATED
from conformance.campaign.coverage import universe
from conformance.campaign.inputs import input_id, make_input, parse_input_id, plan_input


def test_a_name_says_seed_and_number() -> None:
    """That is all that it takes to make the input again."""
    assert parse_input_id(input_id(3, 4711)) == (3, 4711)


@pytest.mark.parametrize("name", ["mutated.s1", "mutated.s1.i2.x", "mangled.s1.i2", "mutated.s-1.i2", ""])
def test_other_names_are_none_of_an_input(name: str) -> None:
    """They are the names of other cases, or of nothing."""
    assert parse_input_id(name) is None


def test_what_inputs_cover_is_part_of_what_there_is() -> None:
    """So that what was never reached can be counted."""
    cells = {cell for index in range(300) for cell in plan_input(5, index, make_input(5, index))["covers"]}

    assert cells <= universe(MUTATED)
    assert {cell.partition(":")[0] for cell in cells} == {"subject", "change", "judged"}
