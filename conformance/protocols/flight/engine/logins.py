"""Which calls of Arrow Flight show that a login, or a session, is kept; the proxy has numbered both.

A login is judged by the first call with its token: a later one may come when the token is over. A session is judged by
its actions as long as nothing else that may change an option runs between them.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from conformance.engine.parties import party_of
from conformance.protocols.flight.contract.decoding import action_of
from conformance.protocols.flight.records import FlightLogin, FlightMethod, Handshake
from conformance.protocols.flight.wire.messages import CLOSE_SESSION, GET_OPTIONS, SET_OPTIONS
from conformance.records import Call, Expect, Step

__all__ = ["CLAUSES", "login_step", "logins", "sessions"]

_ON_PARTIES: Final = {
    "handshake": ("token-is-accepted",),
    "session": ("cleared-is-gone", "closed-is-gone", "refused-is-not-set", "set-is-read-back", "value-is-kept"),
}
CLAUSES: Final = frozenset(f"flight-{chapter}.{name}" for chapter, names in _ON_PARTIES.items() for name in names)
"""The clauses on logins and sessions that requests and answers alone decide."""

SECONDS: Final = 60.0
"""The time after which a token or a session may be over, whatever its server says."""

_REFUSED: Final = "UNAUTHENTICATED"
_ACTIONS: Final = (SET_OPTIONS, GET_OPTIONS, CLOSE_SESSION)
_ASKING: Final = frozenset({FlightMethod.GET_SCHEMA, FlightMethod.LIST_ACTIONS, FlightMethod.LIST_FLIGHTS})
"""The methods that change no option: any other call may carry out a statement that sets one."""


def logins(calls: Sequence[Call]) -> dict[int, int]:
    """For each Handshake that is judged, the number of the first call with its token; calls are in their order."""
    found: dict[int, int] = {}
    latest: int | None = None
    for number, call in enumerate(calls):
        login = party_of(call.label).login
        if call.method == FlightMethod.HANDSHAKE:
            latest = number
        elif login and latest is not None and party_of(calls[latest].label).login == login and latest not in found:
            began = calls[latest].started + calls[latest].seconds
            if began <= call.started <= began + SECONDS:
                found[latest] = number
            latest = None
    return found


def login_step(call: Call, later: Sequence[Call], expect: Expect) -> Step | None:
    """The step of a Handshake whose token the next of the ``later`` calls of its group has; None of any other call.

    A call after that one may be refused because the token is over: then nothing is judged.
    """
    if call.method != FlightMethod.HANDSHAKE or not later or not party_of(call.label).login:
        return None
    first, *others = later
    if party_of(first.label).login != party_of(call.label).login or any(one.status == _REFUSED for one in others):
        return None
    return Handshake(login=FlightLogin.RIGHT, expect=expect)


@dataclasses.dataclass(frozen=True, slots=True)
class _Run:
    """Actions of one session that nothing came between: the number of the first call, and the last one."""

    number: int
    last: Call


def sessions(calls: Sequence[Call]) -> dict[int, int]:
    """For each action of a session, the number of the call that its exchange begins with; calls are in their order."""
    found: dict[int, int] = {}
    runs: dict[int, _Run] = {}
    others: dict[int, float] = defaultdict(float)  # when the last other call of a session ended; of nobody's, 0
    for number, call in enumerate(calls):
        session = party_of(call.label).session
        if not session or not _is_of_session(call):
            if call.method not in _ASKING:
                others[session] = max(others[session], call.started + call.seconds)
            continue
        run = runs.get(session)
        if run is None or call.started - run.last.started > SECONDS or _is_apart(run, call, others, session):
            found[number] = number
        else:
            found[number] = run.number
        runs[session] = _Run(found[number], call)
    return found


def _is_apart(run: _Run, call: Call, others: dict[int, float], session: int) -> bool:
    """True if the last action was not over, or if another call ran since it began."""
    last = run.last
    return last.started + last.seconds > call.started or max(others[session], others[0]) > last.started


def _is_of_session(call: Call) -> bool:
    action = action_of(call)
    return action is not None and action.text("type") in _ACTIONS
