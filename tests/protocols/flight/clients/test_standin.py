"""Every clause on Flight clients fails on its wrong client, and on no other; the correct one passes all of them."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pytest

from conformance.clients.task import ClientTask, client_clauses
from conformance.engine.events import CaseJudged, RunEnded
from conformance.protocols.flight.clients.answers import METHODS
from conformance.protocols.flight.clients.pool import FlightPool
from conformance.protocols.flight.clients.situations import FlightSet, scripted
from conformance.protocols.flight.clients.standin import FAULTS, WHOLE
from conformance.readers.info import ReaderInfo, Takes
from conformance.readers.ipc.adapters import Adapter
from conformance.readers.programs.clientspec import ClientProgram
from conformance.records import Outcome, Verdict
from tests.patience import LONG
from tests.protocols.flight.clients.standins import path_of
from tests.studies import sample

CHOSEN = (
    "do-get.plain",
    "do-get.empty-batch.first",
    "do-get.dictionary",
    "do-get.metadata-alone.middle",
    "do-get.schema-again.first",
    "do-get.body-cut.last",
    "do-get.plain.reset.between",
    "do-get.no-metadata.middle.not-found.between.trailers-text",
    "get-flight-info.plain",
    "do-put.plain",
    "do-exchange.plain",
)
"""A situation of each kind is enough to see each fault, and takes a small part of the time of all."""

QUICK = tuple(fault for fault in FAULTS if fault not in ("dies", "loops"))
"""The others start a process for each situation, or wait until a limit of time ends it."""


class Standin(ClientProgram):
    """Stand-ins with faults, as a program that needs no build."""

    def command(self) -> list[str]:
        """The command that starts it."""
        return [sys.executable, "-m", *self.direct]


def standins(faults: Sequence[str], gaps: Mapping[str, str] = MappingProxyType({})) -> dict[str, ClientProgram]:
    """One program with a path for each thing that each of these clients can ask for."""
    infos = {
        f"{path_of(fault)}.{asks}": ReaderInfo(
            f"standin.{path_of(fault)}.{asks}", "a stand-in", "", Takes.SERVER, asks=asks, gaps=gaps
        )
        for fault in faults
        for asks in METHODS
    }
    adapter = Adapter("standin", "Stand-in", "Python", Path(__file__).parent)
    return {"standin": Standin(adapter, "", infos, ("tests.protocols.flight.clients.standins",))}


@pytest.fixture(scope="module")
def quick() -> Iterator[FlightPool]:
    """All clients in one process and before one server, but for those that end their process or take long."""
    with FlightPool(standins(("", *QUICK)), seconds=LONG) as pool:
        yield pool


def verdicts(pool: FlightPool, fault: str, asking: Sequence[str], sets: Sequence[FlightSet]) -> list[Verdict]:
    """The verdicts on the stand-in with a fault, by these paths."""
    names = [f"standin.{path_of(fault)}.{asks}" for asks in asking]
    events = [event for name in names for event in ClientTask(pool, name, sets, client_clauses("flight")).events()]
    found = [verdict for event in events if isinstance(event, CaseJudged) for verdict in event.verdicts]
    assert found
    return [verdict for verdict in found if verdict.outcome is not Outcome.UNSUPPORTED]


@functools.cache
def every() -> Mapping[str, FlightSet]:
    """Every situation by its id."""
    return {one.id: one for one in scripted()}


@pytest.mark.parametrize(
    "ids", sample((CHOSEN, None), ("chosen",), env="studies", name=lambda ids: "chosen" if ids else "every")
)
def test_the_correct_client_passes(quick: FlightPool, ids: Sequence[str] | None) -> None:
    """It passes every clause in these situations by each path, and each clause is judged in one of them."""
    found = verdicts(quick, "", tuple(METHODS), [one for one in every().values() if ids is None or one.id in ids])

    assert [verdict for verdict in found if verdict.outcome is not Outcome.PASS] == []
    assert {verdict.clause for verdict in found} == {clause.id for clause in client_clauses("flight")}


@pytest.mark.parametrize("fault", sample(FAULTS, QUICK, env="studies"))
def test_a_wrong_client_fails_its_clause_and_no_other(quick: FlightPool, fault: str) -> None:
    """Each fault is seen by the clause that it was made for."""
    sets = [every()[name] for name in CHOSEN]
    asking = ("rows", "metadata", "flight", "put", "exchange")

    if fault in QUICK:
        found = verdicts(quick, fault, asking, sets)
    else:
        if fault == "loops":
            sets = [one for one in sets if one.id.startswith("do-get.body-cut")]
        with FlightPool(standins([fault]), seconds=1.0 if fault == "loops" else LONG) as pool:
            found = verdicts(pool, fault, asking, sets)

    assert {one.clause for one in found if one.outcome is not Outcome.PASS} == {
        FAULTS[fault].kills, *FAULTS[fault].also
    }  # fmt: skip


def test_the_report_says_how_often_a_client_was_asked(quick: FlightPool) -> None:
    """A client that gives an error where chance decides is asked eight times; elsewhere an answer is an answer."""
    sets = [every()[name] for name in ("do-get.schema-again.first", "do-get.body-cut.last")]
    *_, ended = ClientTask(quick, f"standin.{path_of('')}.rows", sets, client_clauses("flight")).events()

    assert isinstance(ended, RunEnded)
    tried = "asked more than once, because an error may be chance there: do-get.schema-again.first (8 tries)"
    assert ended.remarks == ("written in Python", tried)


def test_a_documented_gap_is_an_error_or_every_row() -> None:
    """A client may refuse a legal stream that it is documented not to support, and may not lose rows of it."""
    fails: Mapping[str, set[str]] = {"": set(), "refuses": set(), "drops-last-row": {WHOLE}}
    gaps = {"dictionary": "https://example.com/"}

    with FlightPool(standins(tuple(fails), gaps), seconds=LONG) as pool:
        found = {fault: verdicts(pool, fault, ("rows",), [every()["do-get.dictionary"]]) for fault in fails}

    assert {
        fault: {one.clause for one in made if one.outcome is not Outcome.PASS} for fault, made in found.items()
    } == fails


def test_every_clause_has_a_wrong_client() -> None:
    """The faults kill all clauses on Flight clients."""
    assert {fault.kills for fault in FAULTS.values()} == {clause.id for clause in client_clauses("flight")}
