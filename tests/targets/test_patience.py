"""A request that a quota refuses is sent again after growing pauses, a bounded number of times, and counted."""

from __future__ import annotations

import math

import pytest

from conformance.targets.patience import Patience
from conformance.targets.service import Service

SAID = "requests that a quota or rate limit refused: {} sent again, {} given up; no verdict rests on such a refusal"


class Refusing:
    """A request that is refused ``times`` times."""

    def __init__(self, times: int) -> None:
        self.left = times

    def __call__(self) -> str:
        """Refuse, or answer."""
        if self.left:
            self.left -= 1
            raise ValueError("quota")
        return "answer"


def asked(patience: Patience, times: int, *, until: float = math.inf) -> str:
    """The answer after so many refusals."""
    return patience.ask(Refusing(times), limited=lambda error: isinstance(error, ValueError), until=until)


def test_pauses_double_until_the_answer_comes() -> None:
    """Each further request is counted for the report."""
    waits: list[float] = []
    patience = Patience(Service(retries=4, pause=1.5), wait=waits.append)

    assert asked(patience, 3) == "answer"
    assert waits == [1.5, 3.0, 6.0]
    assert patience.remarks == (SAID.format(3, 0),)


def test_the_number_of_requests_is_bounded() -> None:
    """The last refusal is raised, and counted apart."""
    waits: list[float] = []
    patience = Patience(Service(retries=1, pause=1.0), wait=waits.append)

    with pytest.raises(ValueError, match="quota"):
        asked(patience, 5)

    assert waits == [1.0]
    assert patience.remarks == (SAID.format(1, 1),)


def test_no_pause_goes_beyond_the_time_of_a_case() -> None:
    """Nothing waits for an answer that would come too late."""
    waits: list[float] = []

    with pytest.raises(ValueError, match="quota"):
        asked(Patience(Service(retries=9, pause=1.0), wait=waits.append), 1, until=0.0)

    assert waits == []


def test_without_a_service_nothing_is_sent_again() -> None:
    """An emulator that refuses has answered."""
    patience = Patience(None)

    with pytest.raises(ValueError, match="quota"):
        asked(patience, 1)

    assert patience.remarks == ()


def test_another_refusal_is_final() -> None:
    """Only a quota is worth a second request."""
    with pytest.raises(ValueError, match="quota"):
        Patience(Service()).ask(Refusing(1), limited=lambda _: False, until=math.inf)
