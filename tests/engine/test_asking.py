"""A case whose calls meet goes to a server by the machine's clock, unless it differs in nothing that such cases use."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from conformance.contract.clause import load_chapters
from conformance.engine import asking
from conformance.engine.asking import Tried, _reference_of, asked, drawn, has_races
from conformance.protocol import plugin, protocol_names
from conformance.protocols.flight.reference.hosted import flight_target
from conformance.protocols.flight.reference.service import FlightService
from conformance.reference.plugin import ReferencePlugin

load_chapters()


class _AskedError(Exception):
    """The server by the machine's clock was needed."""


def racing() -> NoReturn:
    """Give no such server."""
    raise _AskedError


class SameEndpoint(FlightService):
    """Replaces what each history uses."""

    def endpoint(self, ticket: bytes) -> bytes:
        """As the reference."""
        return super().endpoint(ticket)


class OtherActions(FlightService):
    """Replaces what no history uses."""

    def list_actions(self, requests: Any) -> Any:
        """As the reference."""
        return super().list_actions(requests)


@pytest.fixture
def history(monkeypatch: pytest.MonkeyPatch) -> Tried:
    """A history whose calls meet, as the only one that is drawn."""
    found = next(one for one in drawn("flight") if has_races(one.case))
    monkeypatch.setattr(asking, "drawn", lambda _protocol: (found,))
    return found


@pytest.mark.parametrize("service", [FlightService, SameEndpoint])
def test_a_server_that_may_answer_otherwise_is_asked_by_the_clock_of_the_machine(history: Tried, service: type) -> None:
    """So is the reference itself, from which the others differ."""
    with pytest.raises(_AskedError):
        next(asked(flight_target(), (), [history], service=service, racing=racing))


def test_a_server_that_differs_in_nothing_that_histories_use_is_not_asked(history: Tried) -> None:
    """It gives the answer of the reference."""
    assert list(asked(flight_target(), (), [history], service=OtherActions, racing=racing)) == [[]]


@pytest.mark.parametrize("protocol", protocol_names())
def test_it_is_known_in_what_legal_variations_differ(protocol: str) -> None:
    """Otherwise each of them would be asked about every case."""
    spoken = plugin(ReferencePlugin, protocol)
    services = [spoken.service(name) for name in spoken.variations()]
    plain = [one for one in services if any(one.__init__ is base.__init__ for base in spoken.bases)]

    assert len(plain) > len(services) / 2
    assert all(_reference_of(one, protocol)[1] for one in plain)
