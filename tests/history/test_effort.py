"""Checking costs in proportion to the history: counted steps for n calls, 2n and 3n, and a sentence where it cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from conformance.history import History, HistoryCall, HistoryError, check, effort
from tests.contract.test_linear import is_linear, steps
from tests.history.growing import chain, later_rows, lost, parts, sessions_before, splits, tables, unread_chain

LINEAR = (sessions_before, tables, later_rows, parts, splits)


@pytest.mark.parametrize("made", LINEAR, ids=lambda made: made.__name__)
def test_checking_is_linear(made: Callable[[int], Iterator[HistoryCall]]) -> None:
    """Each call more costs what the one before it cost."""

    def cost(count: int) -> int:
        history = History(tuple(made(count)))
        return steps(lambda: check(history))

    assert is_linear(cost)


@pytest.mark.parametrize("made", [lost, chain], ids=lambda made: made.__name__)
def test_a_product_has_a_limit(made: Callable[[int], Iterator[HistoryCall]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a number of steps for each call and row, a sentence says what is too many."""
    monkeypatch.setattr(effort, "FREE", 0)

    assert check(History(tuple(made(4)))).calls
    with pytest.raises(HistoryError, match=r"got .* that need more: too many insertions"):
        check(History(tuple(made(100))))


def test_lengths_of_a_chain_are_computed_from_any_end() -> None:
    """Each length that is computed is what the next split needs."""
    judgement = check(History(tuple(unread_chain(30))))

    assert (judgement.unfinished, judgement.anomalies) == (0, ())
