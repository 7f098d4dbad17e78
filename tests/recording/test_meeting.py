"""A fault plan in the proxy: what clients and the log see of each kind of fault."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from conformance.contract import proto
from conformance.contract.rpcstatus import TRAILER, quota_of
from conformance.engine.recorded import read_recorded
from conformance.recording.meeting import Clock
from conformance.recording.proxy import Listener, Proxy, ProxyPlan, Upstream
from conformance.records import CallEnd, FaultKind, PlannedFault
from conformance.reference.guard import ServerTls
from tests.certificates import make_certificates
from tests.http2 import prefixed, sent
from tests.recording.running import recording
from tests.targets.fake_server import FakeServer, serving

READ = f"{proto.SERVICE}ReadRows"
REQUEST = proto.ReadRowsRequest(read_stream="s/0").SerializeToString()
COUNTS = (2, 3, 4)
RESPONSES = [proto.ReadRowsResponse(row_count=count).SerializeToString() for count in COUNTS]


async def at_once(_seconds: float) -> None:
    """A clock that need not wait."""


@contextlib.contextmanager
def proxied(
    log: Path, *faults: PlannedFault, clock: Clock = at_once, accept: ServerTls | None = None
) -> Iterator[tuple[Proxy, FakeServer]]:
    """A fake server with streams of three responses, behind a proxy with a plan."""
    fake = FakeServer()
    fake.counts = COUNTS
    with (
        serving(fake) as (port, _),
        recording(f"127.0.0.1:{port}", log, faults=faults, clock=clock, accept=accept) as (proxy, _),
    ):
        yield proxy, fake


def read(channel: grpc.Channel, stream: str = "s/0") -> tuple[list[int], grpc.StatusCode, str, dict[str, object]]:
    """The row counts that came, the status with its message, and the trailers."""
    request = proto.ReadRowsRequest(read_stream=stream).SerializeToString()
    call = channel.unary_stream(READ, None, None)(request)
    counts = []
    with contextlib.suppress(grpc.RpcError):
        counts.extend(proto.ReadRowsResponse.FromString(data).row_count for data in call)
    return counts, call.code(), call.details() or "", dict(call.trailing_metadata() or ())


def test_a_status_of_the_plan_ends_a_call_after_its_responses(tmp_path: Path) -> None:
    """RESOURCE_EXHAUSTED comes with the time to wait, and the next call of the stream is passed on."""
    fault = PlannedFault(FaultKind.STATUS, responses=2, code="RESOURCE_EXHAUSTED", details="slower", retry_after=1.5)
    with proxied(tmp_path / "log", fault) as (proxy, _), grpc.insecure_channel(proxy.grpc) as channel:
        counts, code, details, trailers = read(channel)
        again = read(channel)[:2]
    quota = quota_of(trailers[TRAILER])  # type: ignore[arg-type]  # a binary key has bytes

    assert (counts, code, details) == ([2, 3], grpc.StatusCode.RESOURCE_EXHAUSTED, "slower")
    assert quota is not None
    assert quota.retry == 1.5
    assert again == ([2, 3, 4], grpc.StatusCode.OK)


@pytest.mark.parametrize("responses", [0, 1, 3])
def test_a_connection_breaks_after_the_responses_that_the_plan_says(tmp_path: Path, responses: int) -> None:
    """These responses are sent, and no byte of a further one, though the status was on its way."""
    fault = PlannedFault(FaultKind.RESET, responses=responses)
    with proxied(tmp_path / "log", fault) as (proxy, _):
        assert sent(proxy.grpc, READ, REQUEST) == prefixed(*RESPONSES[:responses])
        assert sent(proxy.grpc, READ, REQUEST) == prefixed(*RESPONSES)


def test_a_client_sees_that_its_connection_broke(tmp_path: Path) -> None:
    """A client of gRPC may drop responses that its program has not taken; it connects again."""
    fault = PlannedFault(FaultKind.RESET, responses=2)
    apart = [("grpc.use_local_subchannel_pool", 1)]
    with proxied(tmp_path / "log", fault) as (proxy, _), grpc.insecure_channel(proxy.grpc, apart) as channel:
        counts, code, _, _ = read(channel)
        with grpc.insecure_channel(proxy.grpc, apart) as new:  # the old channel may notice its end later than the call
            again = read(new)[:2]

    assert counts == [2, 3][: len(counts)]
    assert code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNKNOWN)
    assert again == ([2, 3, 4], grpc.StatusCode.OK)


def test_a_connection_of_tls_breaks_where_the_plan_says(tmp_path: Path) -> None:
    """The proxy speaks TLS with the client, and follows the frames behind it."""
    certificates = make_certificates(tmp_path)
    accept = ServerTls(certificates / "server.pem", certificates / "server.key")
    trusted = ssl.create_default_context(cafile=certificates / "ca.pem")
    trusted.set_alpn_protocols(["h2"])
    fault = PlannedFault(FaultKind.RESET, responses=2)
    with proxied(tmp_path / "log", fault, accept=accept) as (proxy, _):
        assert sent(proxy.grpc, READ, REQUEST, tls=trusted) == prefixed(*RESPONSES[:2])


def test_a_connection_breaks_in_the_middle_of_a_message(tmp_path: Path) -> None:
    """Each message has seven bytes with its prefix: the second is cut."""
    fault = PlannedFault(FaultKind.RESET, bytes=10)
    with proxied(tmp_path / "log", fault) as (proxy, _):
        assert sent(proxy.grpc, READ, REQUEST) == prefixed(*RESPONSES)[:10]


def test_after_goaway_the_call_goes_on_and_the_next_one_has_another_connection(tmp_path: Path) -> None:
    """GOAWAY without an error ends nothing."""
    fault = PlannedFault(FaultKind.GOAWAY, responses=1)
    with proxied(tmp_path / "log", fault) as (proxy, _), grpc.insecure_channel(proxy.grpc) as channel:
        first, second = read(channel)[:2], read(channel)[:2]
        connections = proxy.connections

    assert first == second == ([2, 3, 4], grpc.StatusCode.OK)
    assert connections == 2


def test_a_delay_waits_on_the_clock_of_the_plan(tmp_path: Path) -> None:
    """No other clock is read: an hour passes at once."""
    waited: list[float] = []

    async def clock(seconds: float) -> None:
        waited.append(seconds)

    fault = PlannedFault(FaultKind.DELAY, responses=1, seconds=3600)
    with proxied(tmp_path / "log", fault, clock=clock) as (proxy, _), grpc.insecure_channel(proxy.grpc) as channel:
        assert read(channel)[:2] == ([2, 3, 4], grpc.StatusCode.OK)
    assert waited == [3600]


def test_streams_and_calls_are_counted(tmp_path: Path) -> None:
    """The plan names the second read of the second stream."""
    fault = PlannedFault(FaultKind.STATUS, stream=1, call=1)
    with proxied(tmp_path / "log", fault) as (proxy, _), grpc.insecure_channel(proxy.grpc) as channel:
        codes = [read(channel, stream)[1].name for stream in ("a", "b", "a", "b", "b")]

    assert codes == ["OK", "OK", "OK", "UNAVAILABLE", "OK"]


def test_the_log_says_that_the_plan_broke_a_call_off(tmp_path: Path) -> None:
    """Such a call counts as cancelled: its rows are not the stream, and its status is not the server's."""
    log = tmp_path / "log"
    faults = (PlannedFault(FaultKind.STATUS, responses=1), PlannedFault(FaultKind.RESET, call=1, responses=2))
    with proxied(log, *faults) as (proxy, _), grpc.insecure_channel(proxy.grpc) as channel:
        for _ in range(2):
            read(channel)
        with grpc.insecure_channel(proxy.grpc, [("grpc.use_local_subchannel_pool", 1)]) as new:
            read(new)
    calls = [call for exchange in read_recorded(log).exchanges for call in exchange.exchange.calls]

    assert [(call.end, len(call.responses)) for call in calls] == [
        (CallEnd.CANCELLED, 1),
        (CallEnd.CANCELLED, 2),
        (CallEnd.COMPLETE, 3),
    ]
    assert calls[0].details == "the fault plan broke the call off: UNAVAILABLE after 1 response"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (PlannedFault(FaultKind.DEADLINE, seconds=1), "is its client's"),
        (PlannedFault(FaultKind.STATUS, method="Read"), "'Read'"),
    ],
)
def test_a_proxy_refuses_faults_that_it_cannot_make(fault: PlannedFault, said: str) -> None:
    """The message says what a proxy cannot do."""
    with pytest.raises(ValueError, match=said):
        ProxyPlan(Listener(), Upstream(("127.0.0.1", 1)), (fault,))
