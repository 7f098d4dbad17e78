"""Calls through the proxy: what each side sends is what the other side receives, and what the log holds."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import grpc
import pytest

from conformance.engine.events import ExchangeRecorded, RunEnded
from conformance.engine.log import read_log
from conformance.recording.keeping import MOST_PER_CALL, Bounds
from conformance.records import Call, CallEnd
from tests.patience import LONG
from tests.recording.calls import OPTIONS, RECORDED, Drawn, Fault, Seen, by_key, drawn, make, serving
from tests.recording.running import recording

SEED: Final = 14
ALL: Final = Bounds(call=MOST_PER_CALL, together=8 << 30)
"""On a busy machine the log may be far behind."""


def differing(call: Drawn, client: Seen, server: Seen) -> list[str]:
    """What one side sent and the other did not receive in this way."""
    found = []
    if (
        call.fault is Fault.LATE
    ):  # the deadline may pass before the server has all requests, or the client all responses
        parts = (server.messages, call.requests), (client.messages, call.responses)
        found = ["messages"] if any(list(whole[: len(part)]) != part for part, whole in parts) else []
        return found if client.code is grpc.StatusCode.DEADLINE_EXCEEDED else [*found, f"status {client.code}"]
    if server.messages != list(call.requests):
        found.append(f"requests {list(map(len, server.messages))} for {list(map(len, call.requests))}")
    if server.metadata != by_key(call.sent):
        found.append(f"metadata {server.metadata} for {by_key(call.sent)}")
    if client.messages != list(call.responses):
        found.append(f"responses {list(map(len, client.messages))} for {list(map(len, call.responses))}")
    if client.metadata != by_key(call.initial) and call.initial:
        found.append(f"initial metadata {client.metadata} for {by_key(call.initial)}")
    if call.fault is Fault.CANCELLED:
        found += [] if client.code is grpc.StatusCode.CANCELLED else [f"status {client.code}"]
        found += [] if server.cancelled.wait(LONG) else ["the server was not told of the client's end"]
        return found
    if (client.code, client.details) != (call.code, call.details):
        found.append(f"status {client.code}: {client.details!r} for {call.code}: {call.details!r}")
    if client.trailers != by_key(call.trailers):
        found.append(f"trailers {client.trailers} for {by_key(call.trailers)}")
    return found


def unrecorded(call: Drawn, kept: Call) -> list[str]:
    """What the log says otherwise than the call was."""
    if call.fault is Fault.LATE:
        return [] if kept.end is CallEnd.CANCELLED else [f"end {kept.end}"]
    found = []
    if kept.requests != call.requests:
        found.append("requests")
    if kept.responses != call.responses:
        found.append("responses")
    if call.fault is Fault.CANCELLED:
        return found if kept.end is CallEnd.CANCELLED else [*found, f"end {kept.end}"]
    if (kept.end, kept.status) != (CallEnd.COMPLETE, call.code.name):
        found.append(f"end {kept.end} {kept.status}")
    if by_key((one.key, one.value) for one in kept.trailers) != by_key(
        (key, value.encode() if isinstance(value, str) else value) for key, value in call.trailers
    ):
        found.append("trailers")
    return found


def campaign(count: int, log: Path, *, big: int) -> None:
    """Make drawn calls, sixteen at a time, and compare both sides and the log with what was drawn."""
    calls = drawn(count, SEED, big=big)
    with (
        serving(calls) as (upstream, server),
        recording(upstream, log, bounds=ALL) as (proxy, _),
        grpc.insecure_channel(proxy.grpc, options=OPTIONS) as channel,
        ThreadPoolExecutor(16) as pool,
    ):
        client = list(pool.map(lambda call: make(channel, call, server[call.number]), calls))
        wrong = {
            call.number: found for call in calls if (found := differing(call, client[call.number], server[call.number]))
        }
    assert wrong == {}

    *events, last = read_log(log)
    assert isinstance(last, RunEnded)
    kept = [call for event in events if isinstance(event, ExchangeRecorded) for call in event.exchange.calls]
    # Of a call whose deadline passes, no request may have come.
    by_number = {int(call.request[:8]): call for call in kept if call.request}
    expected = [call for call in calls if call.method in RECORDED]
    assert len(by_number) == sum(bool(call.request) for call in kept)
    assert {call.number for call in expected if call.fault is not Fault.LATE} <= set(by_number)
    other = {
        call.number: found
        for call in expected
        if call.number in by_number and (found := unrecorded(call, by_number[call.number]))
    }
    assert other == {}


def test_both_sides_see_the_same_bytes(tmp_path: Path) -> None:
    """Messages, metadata, statuses and their details, cancellations and deadlines of 150 drawn calls with faults."""
    campaign(150, tmp_path / "said.log", big=300_000)


@pytest.mark.slow(env="thorough")
@pytest.mark.timeout(3600)  # a busy machine is no defect
def test_both_sides_see_the_same_bytes_at_length(tmp_path: Path) -> None:
    """The same over 10,000 calls."""
    campaign(10_000, tmp_path / "said.log", big=1 << 20)


def test_a_refusal_passes_whatever_comes_first(tmp_path: Path) -> None:
    """A server may refuse a call before it has the messages: the client gets its status, and not one of the library."""

    class Refusing(grpc.GenericRpcHandler):  # type: ignore[type-arg]  # it is generic in the stubs alone
        def service(self, _details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:  # type: ignore[type-arg]
            def refused(_requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
                context.abort(grpc.StatusCode.UNAUTHENTICATED, "nobody is let in")

            return grpc.stream_stream_rpc_method_handler(refused)

    server = grpc.server(ThreadPoolExecutor(2), [Refusing()])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    found = set()
    try:
        with (
            recording(f"127.0.0.1:{port}", tmp_path / "said.log") as (proxy, _),
            grpc.insecure_channel(proxy.grpc) as channel,
        ):
            method = channel.stream_stream(RECORDED[2], None, None)
            for _ in range(100):
                with pytest.raises(grpc.RpcError) as caught:
                    list(method(iter([bytes(100)] * 20), timeout=LONG))
                found.add((caught.value.code(), caught.value.details()))
    finally:
        server.stop(None).wait()

    assert found == {(grpc.StatusCode.UNAUTHENTICATED, "nobody is let in")}
