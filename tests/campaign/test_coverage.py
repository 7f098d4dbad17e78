from __future__ import annotations

import pytest

from conformance.campaign.coverage import covers, universe
from conformance.generate import draw_case
from conformance.generate.drawing import profiles


@pytest.mark.parametrize("profile", profiles())
def test_a_case_covers_nothing_outside_the_universe(profile: str) -> None:
    """The cells that were never reached are counted against all possible cells."""
    cells = {cell for index in range(400) for cell in covers(draw_case(5, index, profile=profile))}

    assert cells - universe(profile) == set()


def test_a_thousand_cases_reach_most_of_the_universe() -> None:
    """The universe holds what drawing can reach."""
    cells = {cell for index in range(1500) for cell in covers(draw_case(5, index, profile="arrow"))}

    assert len(universe("arrow") - cells) < len(universe("arrow")) // 20
