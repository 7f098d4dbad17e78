"""The checker against a program that tries everything: both must call the same drawn histories permitted."""

from __future__ import annotations

import pytest

from conformance.history import AnomalyKind, History, check
from tests.history.drawing import FAULTS, Server, draw
from tests.history.oracle import permitted

SERVERS: tuple[type[Server], ...] = tuple(FAULTS)
MANY = 100_000
"""The histories of the campaign."""


def drawn(seed: int) -> tuple[History, type[Server] | None]:
    """The history of a seed, and its fault: every second history has one, each in its turn."""
    fault = SERVERS[seed // 2 % len(SERVERS)] if seed % 2 else None
    return draw(seed, fault), fault


def disagreement(seed: int) -> str:
    """How checker, oracle and generator disagree about a seed; empty if they agree."""
    history, fault = drawn(seed)
    judgement = check(history)
    allowed = permitted(history)
    if allowed is bool(judgement.anomalies):
        return f"seed {seed}: permitted is {allowed}, found {sorted(judgement.kinds)}"
    if fault is None and not allowed:
        return f"seed {seed}: the generator drew a history that is not permitted"
    if fault is not None and not judgement.kinds <= FAULTS[fault]:
        return f"seed {seed}: {fault.__name__} was named {sorted(judgement.kinds)}"
    return ""


def test_checker_and_oracle_agree() -> None:
    """On each of 600 histories both come to the same result, under a name that fits the fault."""
    assert [said for seed in range(600) if (said := disagreement(seed))] == []


@pytest.mark.slow(env="thorough")
@pytest.mark.timeout(3600)
def test_checker_and_oracle_agree_on_a_campaign() -> None:
    """On each of 100,000 histories both come to the same result."""
    assert [said for seed in range(MANY) if (said := disagreement(seed))] == []


def test_every_kind_of_anomaly_is_drawn() -> None:
    """The agreement says something about each name."""
    found = {kind for seed in range(1, 1200, 2) for kind in check(drawn(seed)[0]).kinds}

    assert found == set(AnomalyKind)
