"""A Flight server as a target: started or found, driven, given up and replaced."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.generate import materialise
from conformance.protocols.flight.contract.encoding import part
from conformance.protocols.flight.records import DoExchange, FlightMethod, SendMessages
from conformance.protocols.flight.reference.server import FlightServer
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.table.spec import FlightSeeding, FlightSpec
from conformance.records import CallEnd, Case, Exchange
from conformance.targets import Target, open_target
from conformance.targets.spec import Endpoint, Limits, Ready, Start, TargetSpec
from conformance.targets.targeterrors import TargetUnavailable
from tests.protocols.flight.reference.direct import PATH, PUT_AND_GET, case_of

PUT = FlightSpec(FlightSeeding.PUT, echo="echo")
BROKEN = case_of(SendMessages(FlightMethod.GET_SCHEMA, (b"\x0a\xff",)))


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The homes of started servers are below the test's directory."""
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path))


def drive(target: Target, case: Case) -> Exchange:
    """The exchange of a case."""
    return target.drive(case, materialise(case.table))


@contextmanager
def at(service: FlightService | None = None, **parts: object) -> Iterator[Target]:
    """A server of this process as a target that runs already."""
    with FlightServer(service) as server:
        spec = TargetSpec("x", "flight", endpoint=Endpoint(grpc=server.endpoint), own=PUT, **parts)  # type: ignore[arg-type]  # parts of a specification
        with open_target(spec) as target:
            yield target


def started(*arguments: str, **parts: object) -> TargetSpec:
    """A server that the suite starts."""
    command = (sys.executable, "-m", "conformance.protocols.flight.reference", *arguments)
    ready = Ready(grpc_event="grpc.listen")
    return TargetSpec("x", "flight", start=Start(command, grace=1.0), ready=ready, own=PUT, **parts)  # type: ignore[arg-type]  # as above


def test_a_running_server_is_driven() -> None:
    """Its flights have names that no other run uses."""
    with at() as target:
        exchange = drive(target, case_of(*PUT_AND_GET))

    assert exchange.protocol == "flight"
    assert [(call.method, call.status) for call in exchange.calls] == [
        ("DoPut", "OK"),
        ("GetFlightInfo", "OK"),
        ("DoGet", "OK"),
    ]
    assert b"by-hand.table." in exchange.calls[1].request


def test_messages_of_both_sides_interleave() -> None:
    """The client of an exchange in turns waits for each answer, and the record says so."""
    case = case_of(DoExchange(PATH, in_turns=True))
    with at() as target:
        (call,) = drive(target, case).calls

    assert call.status == "OK"
    assert call.order.count("><") >= len(call.requests) - 3  # after the descriptor, the schema and the last batch: free


def test_an_isolated_case_is_not_put_to_a_server_of_others() -> None:
    """It may end the process."""
    with at() as target:
        exchange = drive(target, dataclasses.replace(BROKEN, isolated=True))

    assert exchange.calls == ()
    assert exchange.untestable == "the case needs a server process of its own, and this target is one that runs already"


def test_a_server_that_died_is_replaced() -> None:
    """The message that did it stays in the exchange, and the next case finds a server."""
    with open_target(started("--mutant", "flight-service.dies")) as target:
        first = drive(target, BROKEN)
        second = drive(target, case_of(*PUT_AND_GET))

    assert [(call.request, call.end) for call in first.calls] == [(b"\x0a\xff", CallEnd.CRASH)]
    assert [call.status for call in second.calls] == ["OK", "OK", "OK"]


def test_an_isolated_case_gets_a_server_of_its_own() -> None:
    """The one of the other cases lives on, with its flights."""
    with open_target(started("--mutant", "flight-service.dies")) as target:
        drive(target, case_of(*PUT_AND_GET))
        alone = drive(target, dataclasses.replace(BROKEN, isolated=True))
        again = drive(target, case_of(SendMessages(FlightMethod.LIST_FLIGHTS, (b"",))))

    assert alone.calls[0].end is CallEnd.CRASH
    assert [(call.status, bool(call.responses)) for call in again.calls] == [("OK", True)]


def test_a_server_that_does_not_start_is_unavailable() -> None:
    """The reason ends in its own last words."""
    with (
        pytest.raises(TargetUnavailable, match=r"(?s)x did not start: .* is called 'nobody'"),
        open_target(started("--mutant", "nobody")),
    ):
        pass


def test_an_answer_beyond_the_limit_of_a_message_is_over_budget() -> None:
    """The driver takes no more than the target file permits."""
    long = SendMessages(FlightMethod.HANDSHAKE, (part(2, bytes(4095)),))
    with at(limits=Limits(message=1024)) as target:
        exchange = drive(target, case_of(*PUT_AND_GET[:1], long))

    assert [call.end for call in exchange.calls] == [CallEnd.COMPLETE, CallEnd.OVER_BUDGET]


@pytest.mark.parametrize("spec", [FlightSpec(), FlightSpec(path=("db", "{name}"))])
def test_the_path_of_a_flight_is_that_of_the_target_file(spec: FlightSpec) -> None:
    """With a name of its own."""
    with FlightServer() as server:
        found = TargetSpec("x", "flight", endpoint=Endpoint(grpc=server.endpoint), own=spec)
        with open_target(found) as target:
            drive(target, case_of(*PUT_AND_GET))
        (flight,) = server.service.store.every()

    assert (b"\x1a\x02db" in flight.descriptor) == (len(spec.path) == 2)
