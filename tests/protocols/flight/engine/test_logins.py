"""Logins and sessions in a recording: which calls show that they are kept, and what a legal server may do."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from conformance.engine.conversed import as_driven, conversations
from conformance.protocols.flight.contract.encoding import action, part
from conformance.protocols.flight.engine.logins import logins, sessions
from conformance.protocols.flight.records import FlightLogin, Handshake
from conformance.records import Call
from tests.protocols.flight.engine.test_recordings import alone


def handshake(login: int, *, at: float) -> Call:
    """A Handshake that gave the token of a login."""
    return Call(0, f"login {login}", "Handshake", b"", started=at, seconds=0.5)


def ask(label: str, *, at: float, status: str = "OK", method: str = "ListFlights") -> Call:
    """A call of a client."""
    return Call(0, label, method, b"", status=status, details="", started=at, seconds=0.5)


def act(kind: str, label: str = "session 1", *, at: float, seconds: float = 0.5) -> Call:
    """An action of a session."""
    return Call(0, label, "DoAction", action(kind, b""), (part(1, b""),), started=at, seconds=seconds)


SET, GET = "SetSessionOptions", "GetSessionOptions"


class TestLogins:
    """The first call with a token."""

    def test_it_is_of_its_handshake(self) -> None:
        """Calls of others may come between."""
        assert logins([handshake(1, at=0.0), ask("", at=1.0), ask("login 1", at=2.0)]) == {0: 2}

    @pytest.mark.parametrize(
        "calls",
        [
            pytest.param([handshake(1, at=0.0), ask("login 1", at=90.0)], id="a token that is old"),
            pytest.param([handshake(1, at=0.0), handshake(2, at=1.0), ask("login 1", at=2.0)], id="another login"),
            pytest.param([handshake(1, at=0.0), ask("login 1", at=0.2)], id="a call before the Handshake was over"),
        ],
    )
    def test_what_may_be_refused_is_of_none(self, calls: Sequence[Call]) -> None:
        """The server may have made an end of the token."""
        assert logins(calls) == {}

    @pytest.mark.parametrize(("refused", "judged"), [(1, True), (2, False)])
    def test_a_later_refusal_says_nothing(self, refused: int, judged: bool) -> None:  # noqa: FBT001
        """A token may be over when its flight is read."""
        info = Call(0, "login 1", "GetFlightInfo", b"", (part(3, part(1, part(1, b"t"))),), started=1.0, seconds=0.1)
        read = ask("login 1", at=2.0, method="DoGet", status="UNAUTHENTICATED" if refused == 2 else "OK")
        calls = [handshake(1, at=0.0), info, Call(0, read.label, "DoGet", part(1, b"t"), status=read.status,
                 details="", started=2.0)]  # fmt: skip

        (one,) = (found for found in conversations(alone(calls, labelled=True)) if len(found.exchange.calls) == 3)

        step = as_driven(one).case.steps[0]
        assert (isinstance(step, Handshake) and step.login is FlightLogin.RIGHT) is judged


class TestSessions:
    """Actions of one session, as long as nothing else may change an option."""

    def test_actions_that_follow_each_other_are_one_exchange(self) -> None:
        """Calls of other sessions, and those that ask for a schema or a list, change nothing."""
        calls = [act(SET, at=0.0), act(SET, "session 2", at=1.0), ask("session 1", at=2.0), act(GET, at=3.0)]

        assert sessions(calls) == {0: 0, 1: 1, 3: 0}

    @pytest.mark.parametrize(
        "calls",
        [
            pytest.param([act(SET, at=0.0), ask("session 1", at=1.0, method="DoPut"), act(GET, at=2.0)], id="a DoPut"),
            pytest.param([act(SET, at=0.0), ask("", at=1.0, method="DoGet"), act(GET, at=2.0)], id="a statement"),
            pytest.param([act(SET, at=0.0, seconds=9.0), act(GET, at=2.0)], id="at the same time"),
            pytest.param([act(SET, at=0.0), act(GET, at=99.0)], id="later"),
            pytest.param([act(SET, at=0.0), act(GET, "session 2", at=1.0)], id="another session"),
        ],
    )
    def test_others_are_apart(self, calls: Sequence[Call]) -> None:
        """The options may be others."""
        found = sessions(calls)

        assert found[len(calls) - 1] == len(calls) - 1

    def test_an_action_of_no_session_is_of_none(self) -> None:
        """Whoever has no cookie may have a session by other means."""
        assert sessions([act(SET, "", at=0.0), act("other", at=1.0)]) == {}
