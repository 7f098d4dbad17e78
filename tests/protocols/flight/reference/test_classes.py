"""One fault of a server is one class of failures, however many actions show it."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.engine.outcomes import finding_class
from conformance.protocols.flight.reference.deviations import flight_service
from conformance.protocols.flight.reference.service import FlightService
from conformance.records import Finding, Outcome
from tests.protocols.flight.reference.direct import tried


class SameBytes(FlightService):
    """Cancellations and options of the session have the same bytes as their result, which are no message."""

    def set_result(self, errors: Mapping[str, int]) -> bytes:  # noqa: D102  # see the class
        return b"x"

    def cancel(self, body: bytes) -> bytes:  # noqa: D102  # see the class
        super().cancel(body)
        return b"x"


def found(service: type[FlightService], clause: str) -> list[Finding]:
    """What a clause finds in the answers of a service."""
    return [finding for failed, finding in tried(service, (clause,)) if failed == clause]


def classes(findings: list[Finding]) -> set[str]:
    """The classes of failures."""
    return {finding_class(Outcome.FAIL, one) for one in findings}


def test_results_that_are_no_messages() -> None:
    """The place names the message; what is wrong is the same."""
    wrong = found(SameBytes, "flight-actions.results-decode")

    assert {one.field.partition(".")[0] for one in wrong} == {"CancelFlightInfoResult", "SetSessionOptionsResult"}
    assert len(classes(wrong)) == 1


def test_a_list_without_the_actions_that_are_served() -> None:
    """The list is wrong, and not each action."""
    missing = found(flight_service("flight-actions.no-list"), "flight-actions.served-is-listed")

    assert len({one.required for one in missing}) > 1
    assert len(classes(missing)) == 1
