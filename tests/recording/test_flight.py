"""Arrow Flight through the proxy: the suite's driver and the log see the same calls, and no login is in the log."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import grpc
import pytest

from conformance.contract import proto
from conformance.engine.corpus import load_corpus
from conformance.engine.events import ExchangeRecorded
from conformance.engine.log import read_log
from conformance.engine.proof import is_heavy
from conformance.engine.recorded import read_recorded
from conformance.engine.result import fold
from conformance.generate import materialise
from conformance.protocols.flight.contract.encoding import part, text
from conformance.protocols.flight.records import FlightMethod
from conformance.protocols.flight.reference.deviations import flight_service
from conformance.protocols.flight.reference.handshake import LOGIN
from conformance.protocols.flight.reference.server import FlightServer
from conformance.protocols.flight.table.dialect import SqlSpec
from conformance.protocols.flight.table.spec import FlightSeeding, FlightSpec, Login
from conformance.protocols.flight.wire.messages import SERVICE
from conformance.recording.journal import Ended, Journal
from conformance.recording.keeping import Bounds, KeptMessages
from conformance.records import Call, CallEnd, Exchange, FaultKind, Outcome
from conformance.records import PlannedFault as Planned
from conformance.targets import open_target
from conformance.targets.endpoint import Endpoint
from conformance.targets.spec import TargetSpec
from tests.recording.running import recording

CASES: Final = [one for one in load_corpus(protocol="flight").values() if not is_heavy(one)][::3]
"""A sample, with each method."""
SECRET: Final = "a password that nobody has"


def through(log: Path) -> list[Exchange]:
    """What the driver saw when it put the cases to a reference behind the proxy."""
    service = flight_service()()
    service.login = LOGIN
    spoken = FlightSpec(FlightSeeding.PUT, echo="echo", login=Login(*LOGIN), sql=SqlSpec())
    with FlightServer(service) as server, recording(server.endpoint, log) as (proxy, _):
        spec = TargetSpec("proxied", "flight", endpoint=Endpoint(grpc=proxy.grpc), own=spoken)
        with open_target(spec, alone=True) as target:
            return [target.drive(case, materialise(case.table)) for case in CASES]


def recorded(log: Path) -> list[Call]:
    """The calls in a log, by their start."""
    found = [event.exchange for event in read_log(log) if isinstance(event, ExchangeRecorded)]
    assert {one.protocol for one in found} == {"flight"}
    return sorted((call for one in found for call in one.calls), key=lambda call: call.started)


def compared(call: Call) -> tuple[object, ...]:
    """What both sides must see alike; the order of messages depends on the moment at which one comes."""
    return call.method, call.requests, call.responses, call.status, call.details, call.trailers


def test_every_method_passes_unchanged(tmp_path: Path) -> None:
    """What the driver received is in the log, call by call, for each of the ten methods."""
    seen = through(tmp_path / "said.log")

    made = [call for one in seen for call in one.calls if call.end is CallEnd.COMPLETE]
    kept = [call for call in recorded(tmp_path / "said.log") if call.end is CallEnd.COMPLETE]
    assert {call.method for call in made} == set(FlightMethod)
    plain = {compared(call) for call in kept if call.method != FlightMethod.HANDSHAKE}
    assert [one for one in map(compared, made) if one[0] != FlightMethod.HANDSHAKE and one not in plain] == []


def test_a_fault_of_a_plan_happens_to_a_call_of_flight(tmp_path: Path) -> None:
    """Each ticket has a count of its own."""
    plan = (Planned(FaultKind.STATUS, method="DoGet", call=1, code="UNAVAILABLE", details="planned"),)
    with (
        FlightServer() as server,
        recording(server.endpoint, tmp_path / "said.log", faults=plan) as (proxy, _),
        grpc.insecure_channel(proxy.grpc) as channel,
    ):
        get = channel.unary_stream(SERVICE + "DoGet")
        codes = []
        for ticket in (b"a", b"a", b"b"):
            with pytest.raises(grpc.RpcError) as refused:
                list(get(part(1, ticket)))
            codes.append(refused.value.code().name)

    assert codes == ["NOT_FOUND", "UNAVAILABLE", "NOT_FOUND"]


def test_a_log_with_calls_of_both_protocols_is_judged(tmp_path: Path) -> None:
    """Each call by the clauses on its protocol: a server may speak both."""
    with Journal(tmp_path / "said.log", target="both", bounds=Bounds()) as journal:
        for method in (SERVICE + "GetFlightInfo", proto.SERVICE + "CreateReadSession"):
            kept = journal.keep(method, ())
            assert kept is not None
            kept.request(b"")
            kept.response(b"\xff")
            journal.end(kept, Ended("OK", "", CallEnd.COMPLETE, (), (), 0.0))

    result = fold(read_recorded(tmp_path / "said.log").judged())

    failed = {one.clause for one in result.verdicts if one.outcome is Outcome.FAIL}
    assert failed == {"flight-service.answers-decode", "session.answer-is-a-session"}


@pytest.mark.parametrize("payload", [text(2, "a user") + text(3, SECRET), SECRET.encode()])
def test_a_login_is_not_kept(payload: bytes) -> None:
    """Neither what the client sends nor the token that it gets; the messages around both can still be read."""
    one = KeptMessages("flight", "Handshake", (), Bounds(), 0.0)
    one.request(b"\x08\x01" + part(2, payload))
    one.response(part(2, b"a token of the server"))
    call = one.call(status="OK", details=f"welcome {SECRET}", end=CallEnd.COMPLETE, initial=(), trailers=(), seconds=0)

    assert call.request == b"\x08\x01" + part(2, b"*" * len(payload))
    assert call.responses == (part(2, b"*" * 21),)
    assert ("***" in call.details) is (payload != SECRET.encode())


def test_bytes_that_are_no_handshake_are_not_kept_either() -> None:
    """Nobody knows where the secret is."""
    one = KeptMessages("flight", "Handshake", (), Bounds(), 0.0)
    one.request(b"\xff" + SECRET.encode())

    call = one.call(status="OK", details="", end=CallEnd.COMPLETE, initial=(), trailers=(), seconds=0)

    assert set(call.request) == set(b"*")
