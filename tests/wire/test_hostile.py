"""A sample of the inputs of :mod:`benchmarks.robustness`: no exception, no second, no memory out of proportion."""

from __future__ import annotations

import pytest

from benchmarks.robustness import MEASURED, Subject, attempt, subjects


@pytest.fixture(scope="module")
def known() -> list[Subject]:
    """Legal inputs of every kind."""
    return subjects()


@pytest.mark.parametrize("seed", range(4))
def test_hostile_bytes_do_nothing(known: list[Subject], seed: int) -> None:
    """Mutated streams, files, tensors and messages are read, decoded and dissected, or refused, in time."""
    for number in range(80):
        outcome = attempt(known, seed, number, measured=number % MEASURED == 0)
        assert not outcome.failure, (
            f"python -m benchmarks.robustness --seed {seed} --replay {number}\n{outcome.failure}"
        )


def test_inputs_are_made_again_from_their_number(known: list[Subject]) -> None:
    """What a run found can be replayed."""
    first, again = (attempt(known, 7, 3, measured=False) for _ in range(2))

    assert (first.subject, first.size) == (again.subject, again.size)
