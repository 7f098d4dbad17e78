"""Failing cases become small ones, which are saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.engine.casestep import CaseWork
from conformance.engine.counterexample import MAX_TRIES, TRIES_PER_FAILURE, Shrinker
from conformance.engine.events import CounterexampleSaved
from conformance.generate import draw_case, load_case
from conformance.targets import TargetError
from tests.engine.samples import failing, sample_case


class Gone:
    """The step of a target that is there no more."""

    def take(self, work: CaseWork) -> CaseWork:
        """The case ends early."""
        work.error = TargetError("the server has gone")
        return work

    def verdicts(self, _work: CaseWork) -> list[Any]:
        """Nothing was judged."""
        return []


def test_a_target_that_goes_while_a_case_is_shrunk_ends_the_shrinking(tmp_path: Path) -> None:
    """A case that could not be tried has not passed: no case is saved as the smallest one that fails."""
    shrinker = Shrinker(Gone(), tmp_path)  # type: ignore[arg-type]  # all of a step that is asked for

    with pytest.raises(TargetError, match="the server has gone"):
        list(shrinker.pursue(sample_case("a"), [failing("a", "framing.x", "3 messages")]))

    assert list(tmp_path.iterdir()) == []


class Healed:
    """The step of a target that fails no more: shrinking tries until its budget is spent."""

    taken = 0

    def take(self, work: CaseWork) -> CaseWork:
        """Count the case."""
        self.taken += 1
        return work

    def verdicts(self, _work: CaseWork) -> list[Any]:
        """No failure."""
        return []


DRAWN = draw_case(1, 5, profile="arrow")
"""A case of three columns: simpler forms are made in milliseconds, and there are more than one failure may try."""


def pursued(shrinker: Shrinker, failures: int) -> list[CounterexampleSaved]:
    """The files of so many failures of one case, each of a clause of its own."""
    clauses = (f"framing.x{index}" for index in range(failures))
    return [saved for clause in clauses for saved in shrinker.pursue(DRAWN, [failing(DRAWN.id, clause, "3")])]


@pytest.mark.parametrize(
    ("cases", "tries"), [(0, TRIES_PER_FAILURE), (100, TRIES_PER_FAILURE), (200, 100), (100_000, MAX_TRIES)]
)
def test_shrinking_puts_half_as_many_cases_to_the_target_as_the_run(cases: int, tries: int, tmp_path: Path) -> None:
    """The first failure of a run of a few cases has all its tries; a long run has at most 600."""
    step = Healed()
    shrinker = Shrinker(step, tmp_path)  # type: ignore[arg-type]  # all of a step that is asked for
    shrinker.count(cases)

    pursued(shrinker, 12)

    assert (step.taken, shrinker.left) == (tries, 0)


def test_what_cannot_be_shrunk_any_more_is_saved_as_it_was_drawn(tmp_path: Path) -> None:
    """Every failure has a file."""
    first, second = pursued(Shrinker(Healed(), tmp_path), 2)  # type: ignore[arg-type]  # all of a step that is asked for

    assert (first.tries, second.tries) == (TRIES_PER_FAILURE, 0)
    assert load_case(Path(second.file)) == DRAWN


def test_no_counterexample_is_kept_behind_a_link(tmp_path: Path) -> None:
    """Neither the folder nor the one around it, which is the suite's own, may be a link of a stranger."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "state").symlink_to("elsewhere")
    shrinker = Shrinker(Healed(), tmp_path / "state" / "counterexamples")  # type: ignore[arg-type]  # as above

    assert pursued(shrinker, 1) == []
    assert "a symbolic link" in shrinker.remarks[0]
    assert not list((tmp_path / "elsewhere").iterdir())
