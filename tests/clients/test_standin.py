"""Every clause on clients fails on its wrong client, and on no other; the correct one passes all of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from conformance.clients.pool import ClientPool
from conformance.clients.situations import Set, faulty
from conformance.clients.standin import FAULTS
from conformance.clients.task import ClientTask, client_clauses
from conformance.contract.clients import Situation
from conformance.engine.events import CaseJudged
from conformance.readers.info import ReaderInfo, Takes
from conformance.readers.ipc.adapters import Adapter
from conformance.readers.programs.spec import ClientProgram
from conformance.records import Outcome
from tests.clients.healthy import healthy
from tests.patience import LONG
from tests.studies import sample

CHOSEN = (
    "empty.no-streams",
    "empty.no-rows",
    "interrupted.unavailable.stream-0.after-1",
    "interrupted.reset.after-2",
    "refused.permission-denied.after-1",
    "broken.cut-in-half.response-2",
    "abandoned.broken-before-more",
)
"""A situation of each kind is enough to see each fault, and takes a tenth of the time of all."""

QUICK = tuple(fault for fault in FAULTS if fault not in ("loops", "fills-memory", "keeps-calls"))
"""The others wait until a limit of time or memory ends them."""


class Standin(ClientProgram):
    """The stand-in with a fault, as a program that needs no build."""

    def command(self) -> list[str]:
        """The command that starts it."""
        return [sys.executable, "-m", "conformance.clients.standin", *([self.package] if self.package else [])]


def standin(fault: str) -> dict[str, ClientProgram]:
    """The program with one path."""
    info = ReaderInfo("standin.rows", "a stand-in", "", Takes.SERVER)
    return {"standin": Standin(Adapter("standin", "Stand-in", "Python", Path(__file__).parent), fault, {"rows": info})}


def situations() -> list[Set]:
    """The chosen situations, and a healthy one."""
    return [healthy(), *(one for one in faulty() if one.id in CHOSEN)]


def failed(fault: str, chosen: Sequence[Set], seconds: float = LONG) -> set[str]:
    """The clauses that fail on the stand-in with a fault."""
    with ClientPool(standin(fault), seconds=seconds) as pool:
        events = list(ClientTask(pool, "standin.rows", chosen, client_clauses()).events())
    verdicts = [verdict for event in events if isinstance(event, CaseJudged) for verdict in event.verdicts]
    assert verdicts
    return {verdict.clause for verdict in verdicts if verdict.outcome is not Outcome.PASS}


def test_the_correct_client_passes() -> None:
    """It passes every clause in every situation, and each clause is judged in one of them."""
    chosen = [healthy(), *faulty()]

    with ClientPool(standin("")) as pool:
        events = list(ClientTask(pool, "standin.rows", chosen, client_clauses()).events())
    verdicts = [verdict for event in events if isinstance(event, CaseJudged) for verdict in event.verdicts]

    assert [verdict for verdict in verdicts if verdict.outcome is not Outcome.PASS] == []
    assert {verdict.clause for verdict in verdicts} == {clause.id for clause in client_clauses()}


@pytest.mark.parametrize("fault", sample(FAULTS, QUICK, env="studies"))
def test_a_wrong_client_fails_its_clause_and_no_other(fault: str) -> None:
    """Each fault is seen by the clause that it was made for."""
    chosen = situations()
    if fault in {"loops", "fills-memory"}:
        chosen = [one for one in chosen if one.kind is Situation.REFUSED]

    assert failed(fault, chosen, 1.0 if fault == "loops" else LONG) == {FAULTS[fault].kills, *FAULTS[fault].also}


def test_every_clause_has_a_wrong_client() -> None:
    """The faults kill all clauses on clients."""
    assert {fault.kills for fault in FAULTS.values()} == {clause.id for clause in client_clauses()}
