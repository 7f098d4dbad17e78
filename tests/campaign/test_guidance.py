from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path

import pytest

from conformance.campaign.campaignjob import CampaignJob
from conformance.campaign.coverage import universe
from conformance.campaign.guidance import begin, draw, weigh
from conformance.engine.corpus import resolve_case
from conformance.generate import draw_case
from conformance.records import Column
from tests.campaign.jobs import job


def guided(tmp_path: Path) -> CampaignJob:
    """A job whose last two hundred cases are guided."""
    return dataclasses.replace(job(tmp_path), cases=300, guided=200)


def types(columns: tuple[Column, ...]) -> Counter[str]:
    """How often each type occurs."""
    found = Counter(str(column.type) for column in columns)
    for column in columns:
        found += types(column.fields)
    return found


def test_the_first_part_is_drawn_as_in_every_run(tmp_path: Path) -> None:
    """A case of it is replayed by its id alone."""
    one = guided(tmp_path)

    assert draw(one, 99, None) == draw_case(3, 99, profile="arrow")


def test_a_type_that_was_not_reached_is_drawn_more_often(tmp_path: Path) -> None:
    """The weights lean towards what is missing."""
    one = guided(tmp_path)
    reached = [cell for cell in universe("arrow") if "INTERVAL" not in cell]
    plain = weigh(one, universe("arrow"), [])
    leaning = weigh(one, reached, [])

    def intervals(weights: object) -> int:
        assert weights in (plain, leaning)
        drawn = (draw(one, index, plain if weights is plain else leaning) for index in range(100, 300))
        return sum((types(case.table.columns) for case in drawn), Counter())["INTERVAL"]

    assert intervals(leaning) > 3 * intervals(plain)


def test_weights_follow_from_cells_whatever_their_order(tmp_path: Path) -> None:
    """Deterministic, on any cluster."""
    one = guided(tmp_path)
    cells = sorted(universe("arrow"))[:300]

    assert weigh(one, cells, cells[:5]) == weigh(one, reversed(cells), reversed(cells[:5]))


def test_a_guided_case_wants_weights(tmp_path: Path) -> None:
    """There is nothing to draw it by before the first part was judged."""
    with pytest.raises(ValueError, match="expected weights for case 100, which is guided"):
        draw(guided(tmp_path), 100, None)


@pytest.mark.parametrize("profile", ["server", "scenario"])
def test_a_job_in_another_form_has_each_case_in_it(tmp_path: Path, profile: str) -> None:
    """The id of the case is enough to replay it."""
    one = dataclasses.replace(job(tmp_path), profile=profile, form="avro")

    work = begin(one, 7, None)

    assert work.error is None
    assert work.case.id.endswith("s3.i7@avro")
    assert work.case == resolve_case(work.case.id)
