"""The model and the model-free checker agree on drawn scenarios, at drawn servers and at the reference."""

from __future__ import annotations

import pytest

from conformance.contract.viewing import view_of
from conformance.engine.owed import reference_target
from conformance.generate import draw_scenario, materialise
from conformance.protocols.storage_read.model import Contradiction, DeviationKind
from tests.history.drawing import FAULTS, Server
from tests.history.judges import Session, disagreements, driven, play
from tests.studies import sample

SERVERS = (Server, *FAULTS)


def test_model_and_checker_agree_on_drawn_servers() -> None:
    """Whatever one of them says of a session that both can judge, the other says too."""
    wrong, broken = [], 0
    for seed in range(200):
        sessions = play(seed, draw_scenario(7, seed), SERVERS[seed % len(SERVERS)])
        wrong += disagreements(sessions)
        broken += sum(bool(session.found and session.anomalies) for session in sessions)

    assert wrong == []
    assert broken > 50


@pytest.mark.parametrize("count", sample((10, 24), ("10",), env="thorough"))
@pytest.mark.parametrize("name", [None, "combination.restricted-live-table", "history.splits-the-live-table"])
def test_model_and_checker_agree_on_the_reference_and_its_mutants(name: str | None, count: int) -> None:
    """The same for what is decoded from the bytes of a server."""
    wrong, broken = [], 0
    with reference_target(mutant=name) as target:
        for index in range(count):
            case = draw_scenario(7, index)
            table = materialise(case.table)
            sessions = list(driven(case, view_of(case, target.drive(case, table), table)))
            wrong += disagreements(sessions)
            broken += sum(bool(session.found and session.anomalies) for session in sessions)

    assert wrong == []
    assert bool(broken) is (name is not None)


@pytest.mark.parametrize(
    ("kind", "partial", "visible"),
    [
        (DeviationKind.MISSING, True, False),
        (DeviationKind.MISSING, False, True),
        (DeviationKind.REFUSED, False, False),
        (DeviationKind.STRANGE, False, True),
    ],
)
def test_only_what_ids_show_is_compared(kind: DeviationKind, *, partial: bool, visible: bool) -> None:
    """The checker does not know what a restriction selects, and judges no status."""
    session = Session("s", (Contradiction(kind, 1),), frozenset(), {1, 2}, partial, {1: (1, 3)})

    assert session.visible() is visible
    assert bool(disagreements([session])) is visible
