"""Every clause on Flight clients fails on its wrong client, and on no other; the correct one passes all of them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
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
from conformance.readers.programs.spec import ClientProgram
from conformance.records import Outcome, Verdict
from tests.patience import LONG
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
    """The stand-in with a fault, as a program that needs no build."""

    def command(self) -> list[str]:
        """The command that starts it."""
        module = "conformance.protocols.flight.clients.standin"
        return [sys.executable, "-m", module, *([self.package] if self.package else [])]


def standin(fault: str, gaps: Mapping[str, str] = MappingProxyType({})) -> dict[str, ClientProgram]:
    """The program with a path for each thing that a client can ask for."""
    infos = {
        asks: ReaderInfo(f"standin.{asks}", "a stand-in", "", Takes.SERVER, asks=asks, gaps=gaps) for asks in METHODS
    }
    return {"standin": Standin(Adapter("standin", "Stand-in", "Python", Path(__file__).parent), fault, infos)}


def verdicts(
    fault: str,
    asking: Sequence[str],
    sets: Sequence[FlightSet],
    seconds: float = LONG,
    gaps: Mapping[str, str] = MappingProxyType({}),
) -> list[Verdict]:
    """The verdicts on the stand-in with a fault, by these paths."""
    names = [f"standin.{asks}" for asks in asking]
    with FlightPool(standin(fault, gaps), names, seconds=seconds) as pool:
        events = [event for name in names for event in ClientTask(pool, name, sets, client_clauses("flight")).events()]
    found = [verdict for event in events if isinstance(event, CaseJudged) for verdict in event.verdicts]
    assert found
    return [verdict for verdict in found if verdict.outcome is not Outcome.UNSUPPORTED]


@pytest.mark.parametrize(
    "ids", sample((CHOSEN, None), ("chosen",), env="studies", name=lambda ids: "chosen" if ids else "every")
)
def test_the_correct_client_passes(ids: Sequence[str] | None) -> None:
    """It passes every clause in these situations by each path, and each clause is judged in one of them."""
    found = verdicts("", tuple(METHODS), [one for one in scripted() if ids is None or one.id in ids])

    assert [verdict for verdict in found if verdict.outcome is not Outcome.PASS] == []
    assert {verdict.clause for verdict in found} == {clause.id for clause in client_clauses("flight")}


@pytest.mark.parametrize("fault", sample(FAULTS, QUICK, env="studies"))
def test_a_wrong_client_fails_its_clause_and_no_other(fault: str) -> None:
    """Each fault is seen by the clause that it was made for."""
    sets = [one for one in scripted() if one.id in CHOSEN]
    assert len(sets) == len(CHOSEN)
    if fault == "loops":
        sets = [one for one in sets if one.id.startswith("do-get.body-cut")]

    found = verdicts(fault, ("rows", "metadata", "flight", "put", "exchange"), sets, 1.0 if fault == "loops" else LONG)

    assert {one.clause for one in found if one.outcome is not Outcome.PASS} == {
        FAULTS[fault].kills, *FAULTS[fault].also
    }  # fmt: skip


def test_the_report_says_how_often_a_client_was_asked() -> None:
    """A client that gives an error where chance decides is asked eight times; elsewhere an answer is an answer."""
    sets = [one for one in scripted() if one.id in ("do-get.schema-again.first", "do-get.body-cut.last")]
    with FlightPool(standin(""), ["standin.rows"], seconds=LONG) as pool:
        *_, ended = ClientTask(pool, "standin.rows", sets, client_clauses("flight")).events()

    assert isinstance(ended, RunEnded)
    tried = "asked more than once, because an error may be chance there: do-get.schema-again.first (8 tries)"
    assert ended.remarks == ("written in Python", tried)


@pytest.mark.parametrize(("fault", "fails"), [("", set()), ("refuses", set()), ("drops-last-row", {WHOLE})])
def test_a_documented_gap_is_an_error_or_every_row(fault: str, fails: set[str]) -> None:
    """A client may refuse a legal stream that it is documented not to support, and may not lose rows of it."""
    sets = [one for one in scripted() if one.id == "do-get.dictionary"]

    found = verdicts(fault, ("rows",), sets, gaps={"dictionary": "https://example.com/"})

    assert {one.clause for one in found if one.outcome is not Outcome.PASS} == fails


def test_every_clause_has_a_wrong_client() -> None:
    """The faults kill all clauses on Flight clients."""
    assert {fault.kills for fault in FAULTS.values()} == {clause.id for clause in client_clauses("flight")}
