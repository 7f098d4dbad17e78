"""Every file that is made from the suite itself is as it would be made now."""

from __future__ import annotations

from typing import Final

import pytest

from publish.generated import PARTS, Part
from publish.refresh import changes

COMPARED_ELSEWHERE: Final = {"servers", "flight"}
"""``tests/engine/test_prove.py`` compares what the sampled proof has found anyway, and
``tests/protocols/flight/reference/test_mutants.py`` the findings on each mutant.
"""
SLOW: Final = {"shown", "vectors"}
"""The reference answers every case for the first; a quick test compares the cases in the file with the corpus. Each
vector is judged for the second; ``tests/reference/test_vectors.py`` compares the bytes of all, and the facts of some.
"""


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(part, id=part.name, marks=[pytest.mark.slow(env="thorough")] if part.name in SLOW else [])
        for part in PARTS
        if part.name not in COMPARED_ELSEWHERE
    ],
)
def test_a_part_is_up_to_date(part: Part) -> None:
    """``python -m publish.refresh`` would change nothing; otherwise these are the lines that it prints."""
    if part.left_out:
        pytest.skip(part.left_out)

    assert [change.line(part.root) for change in changes(part)] == []


def test_parts_are_made_in_their_order() -> None:
    """A part comes after those that it is made from, and each has a name of its own."""
    names = [part.name for part in PARTS]

    assert len({*names}) == len(names)
    for index, part in enumerate(PARTS):
        assert {*part.after} <= {*names[:index]}


def test_what_is_said_of_the_tests_names_parts() -> None:
    """A part that is renamed is compared again."""
    assert {part.name for part in PARTS} >= COMPARED_ELSEWHERE | SLOW
