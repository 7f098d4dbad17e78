"""Every clause on clients fails on its wrong client, and on no other; the correct one passes all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from conformance.clients.task import ClientTask, client_clauses
from conformance.contract.clientjudging import Situation
from conformance.engine.events import CaseJudged
from conformance.protocols.storage_read.clients.pool import ClientPool
from conformance.protocols.storage_read.clients.situations import Set, faulty
from conformance.protocols.storage_read.clients.standin import FAULTS
from conformance.records import Outcome, Verdict
from tests.patience import LONG
from tests.protocols.storage_read.clients.healthy import healthy
from tests.protocols.storage_read.clients.standins import reader_of, standins
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


@pytest.fixture(scope="module")
def quick() -> Iterator[ClientPool]:
    """All clients in one process and before one server, but for those that end their process or take long."""
    with ClientPool(standins("", *(fault for fault in QUICK if fault != "dies")), seconds=LONG) as pool:
        yield pool


def situations() -> list[Set]:
    """The chosen situations, and a healthy one."""
    return [healthy(), *(one for one in faulty() if one.id in CHOSEN)]


def judged(pool: ClientPool, fault: str, chosen: Sequence[Set]) -> list[Verdict]:
    """The verdicts on the stand-in with a fault."""
    events = list(ClientTask(pool, reader_of(fault), chosen, client_clauses()).events())
    return [verdict for event in events if isinstance(event, CaseJudged) for verdict in event.verdicts]


def test_the_correct_client_passes(quick: ClientPool) -> None:
    """It passes every clause in every situation, and each clause is judged in one of them."""
    verdicts = judged(quick, "", [healthy(), *faulty()])

    assert [verdict for verdict in verdicts if verdict.outcome is not Outcome.PASS] == []
    assert {verdict.clause for verdict in verdicts} == {clause.id for clause in client_clauses()}


@pytest.mark.parametrize("fault", sample(FAULTS, QUICK, env="studies"))
def test_a_wrong_client_fails_its_clause_and_no_other(quick: ClientPool, fault: str) -> None:
    """Each fault is seen by the clause that it was made for."""
    chosen = situations()
    if reader_of(fault) in quick.names:
        verdicts = judged(quick, fault, chosen)
    else:
        if fault in {"loops", "fills-memory"}:
            chosen = [one for one in chosen if one.kind is Situation.REFUSED]
        with ClientPool(standins(fault), seconds=1.0 if fault == "loops" else LONG) as pool:
            verdicts = judged(pool, fault, chosen)

    failed = {verdict.clause for verdict in verdicts if verdict.outcome is not Outcome.PASS}
    assert verdicts
    assert failed == {FAULTS[fault].kills, *FAULTS[fault].also}


def test_every_clause_has_a_wrong_client() -> None:
    """The faults kill all clauses on clients."""
    assert {fault.kills for fault in FAULTS.values()} == {clause.id for clause in client_clauses()}
