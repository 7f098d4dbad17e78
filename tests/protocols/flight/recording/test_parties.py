"""Logins and sessions behind the proxy: their numbers in the log, what is judged by them, and what is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from conformance.contract.judge import Judge
from conformance.engine.conversed import as_driven, conversations, without_table
from conformance.engine.corpus import load_corpus
from conformance.engine.events import ExchangeRecorded
from conformance.engine.log import read_log
from conformance.engine.parties import party_of
from conformance.engine.selection import clauses_on
from conformance.generate import materialise
from conformance.protocols.flight.contract.encoding import part
from conformance.protocols.flight.contract.view import FlightView
from conformance.protocols.flight.engine.logins import CLAUSES
from conformance.protocols.flight.recording.parties import Parties
from conformance.protocols.flight.reference.deviations import flight_service
from conformance.protocols.flight.reference.handshake import LOGIN
from conformance.protocols.flight.reference.mutants import FLIGHT_MUTANTS
from conformance.protocols.flight.reference.server import FlightServer
from conformance.protocols.flight.reference.variations import FLIGHT_VARIATIONS
from conformance.protocols.flight.table.spec import FlightSeeding, FlightSpec, Login, LoginForm
from conformance.recording.keeping import Bounds, KeptMessages
from conformance.records import Outcome, Verdict
from conformance.targets import open_target
from conformance.targets.endpoint import Endpoint
from conformance.targets.spec import TargetSpec
from tests.recording.running import recording

CASES: Final = [
    load_corpus(protocol="flight")[name] for name in ("flight.login", "flight.session", "flight.put-and-get")
]
JUDGE: Final = Judge(without_table(clauses_on("flight")[0])[0])
LEGAL: Final = [name for name in FLIGHT_VARIATIONS if name.startswith(("flight-session", "flight-handshake"))]


def recorded(log: Path, deviation: str | None, form: LoginForm = LoginForm.PAYLOAD) -> list[ExchangeRecorded]:
    """What a proxy writes of cases with a login and a session, put to the reference or to a deviation of it."""
    service = flight_service(deviation)()
    service.login = LOGIN
    spoken = FlightSpec(FlightSeeding.PUT, login=Login(*LOGIN, form=form))
    with FlightServer(service) as server, recording(server.endpoint, log) as (proxy, _):
        spec = TargetSpec("proxied", "flight", endpoint=Endpoint(grpc=proxy.grpc), own=spoken)
        with open_target(spec, alone=True) as target:
            for case in CASES:
                target.drive(case, materialise(case.table))
    return [event for event in read_log(log) if isinstance(event, ExchangeRecorded)]


def verdicts(found: list[ExchangeRecorded]) -> Iterator[Verdict]:
    """The verdicts on a recording."""
    for one in conversations(found):
        driven = as_driven(one)
        view = FlightView(driven.case, driven.exchange, materialise(driven.case.table))
        yield from JUDGE.in_order(one.case, JUDGE(view))


@pytest.mark.parametrize("form", list(LoginForm))
def test_the_reference_passes_every_clause_on_parties(tmp_path: Path, form: LoginForm) -> None:
    """Each of them is judged, whatever the form of the login."""
    found = list(verdicts(recorded(tmp_path / "said.log", None, form)))

    assert [one.clause for one in found if one.outcome is not Outcome.PASS] == []
    # The reference refuses to read options of a session that is closed, so that there is nothing to judge.
    assert {one.clause for one in found} >= CLAUSES - {"flight-session.closed-is-gone"}


@pytest.mark.parametrize("name", LEGAL)
def test_a_legal_server_is_not_accused(tmp_path: Path, name: str) -> None:
    """Whatever it does with cookies and tokens."""
    found = verdicts(recorded(tmp_path / "said.log", name))

    assert [(one.clause, one.findings) for one in found if one.outcome is not Outcome.PASS] == []


@pytest.mark.parametrize("clause", sorted(CLAUSES))
def test_a_wrong_server_is_found(tmp_path: Path, clause: str) -> None:
    """Each clause fails on a mutant that was made for it, in the log of a proxy."""
    mutants = [one.name for one in FLIGHT_MUTANTS.values() if clause in one.kills and not one.process]

    failed = {
        one.clause
        for name in mutants
        for one in verdicts(recorded(tmp_path / f"{name}.log", name))
        if one.outcome is Outcome.FAIL
    }

    assert clause in failed


def test_the_log_has_numbers_and_no_secret(tmp_path: Path) -> None:
    """Every call after a login has its number; each session of the driver has one of its own."""
    calls = [call for one in recorded(tmp_path / "said.log", None) for call in one.exchange.calls]

    labels = {call.method: {party_of(one.label).login for one in calls if one.method == call.method} for call in calls}
    assert 0 not in labels["DoPut"]
    assert len({party_of(call.label).session for call in calls} - {0}) >= 1
    assert b"Bearer " not in (tmp_path / "said.log").read_bytes()


def kept(method: str, sent: tuple[tuple[str, str | bytes], ...], *responses: bytes) -> KeptMessages:
    """A call that has ended, with the metadata of its client."""
    one = KeptMessages("flight", method, sent, Bounds(), 0.0)
    for response in responses:
        one.response(response)
    return one


class TestNumbers:
    """What counts as the same login, and as the same session."""

    def test_a_token_that_nobody_gave_is_of_no_login(self) -> None:
        """So is a Handshake that failed."""
        parties = Parties()
        failed = kept("Handshake", (), part(2, b"a token of a login"))

        labels = [parties.label(failed, (), served=False)]
        labels.append(parties.label(kept("DoGet", (("auth-token-bin", b"a token of a login"),)), (), served=True))

        assert labels == ["", ""]

    def test_a_session_that_is_over_is_another_one(self) -> None:
        """The cookie of the answer counts; cookies of others say nothing."""
        parties = Parties()
        sent = (("cookie", "lb=1; arrow_flight_session_id=a"),)

        labels = [
            parties.label(kept("DoAction", sent), (), served=True),
            parties.label(kept("DoAction", sent), (("set-cookie", "arrow_flight_session_id=b"),), served=True),
            parties.label(kept("DoAction", (("cookie", "lb=1"),)), (), served=True),
        ]

        assert labels == ["session 1", "session 2", ""]
