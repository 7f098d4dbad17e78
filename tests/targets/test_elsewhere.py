"""Reads in another process give the responses that the driver gets, from the names of the streams alone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from conformance.contain.secrets import hide
from conformance.contract import proto
from conformance.records import Call, CallEnd
from conformance.targets.elsewhere import Elsewhere
from conformance.targets.recordedcall import CallBudget, Caller, open_channel
from tests.patience import LONG
from tests.targets.fake_server import FakeServer, serving

LIMIT = 100_000
BUDGET = CallBudget(seconds=LONG, responses=50, bytes=50_000)
SECRET = "elsewhere-5f0c2a91"


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    """The other process."""
    process = Elsewhere(None, Path.cwd(), message_limit=LIMIT)
    yield process
    process.close()


def asked() -> Call:
    """A read of a stream."""
    return Call(1, "s/0", "ReadRows", proto.ReadRowsRequest(read_stream="p/s/streams/0").SerializeToString())


def caller(channel: grpc.Channel, words: str | None = None) -> Caller:
    """The driver's own caller."""
    return Caller(
        channel,
        began=time.monotonic(),
        message_limit=LIMIT,
        last_words=lambda seconds: words,
        credentials=lambda: {"authorization": f"Bearer {SECRET}"},
    )


def test_it_reads_what_the_driver_reads(fake: FakeServer, elsewhere: Elsewhere) -> None:
    """All responses, the status and the place in the case; a read in part is cancelled."""
    with serving(fake) as (port, _), open_channel(f"127.0.0.1:{port}", message_limit=LIMIT) as channel:
        own = caller(channel)
        handed = elsewhere.caller(own, f"127.0.0.1:{port}")
        one = own.stream(asked(), routing="r", budget=BUDGET)
        other = handed.stream(asked(), routing="r", budget=BUDGET)
        part = handed.stream(asked(), routing="r", budget=BUDGET, take=1)

    assert (other.responses, other.status, other.step, other.label) == (one.responses, "OK", 1, "s/0")
    assert 0 <= one.started <= other.started
    assert (len(part.responses), part.end) == (1, CallEnd.CANCELLED)


def test_it_sends_the_metadata_and_no_secret_comes_back(fake: FakeServer, elsewhere: Elsewhere) -> None:
    """The credentials are those of the moment; a server that echoes them is masked."""
    hide(SECRET)
    seen: list[str] = []

    def rows(_request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        seen.append(dict(context.invocation_metadata())["authorization"])
        context.abort(grpc.StatusCode.PERMISSION_DENIED, f"no rights for {SECRET}")
        yield b""

    fake.rows = rows
    with serving(fake) as (port, _), open_channel(f"127.0.0.1:{port}", message_limit=LIMIT) as channel:
        made = elsewhere.caller(caller(channel), f"127.0.0.1:{port}").stream(asked(), routing="r", budget=BUDGET)

    assert seen == [f"Bearer {SECRET}"]
    assert (made.status, made.details) == ("PERMISSION_DENIED", "no rights for ***")


def test_the_end_of_the_server_is_told_in_its_last_words(fake: FakeServer, elsewhere: Elsewhere) -> None:
    """The other process sees a lost connection; the driver knows how the server ended."""
    with serving(fake) as (port, _):
        gone = f"127.0.0.1:{port}"
    with open_channel(gone, message_limit=LIMIT) as channel:
        made = elsewhere.caller(caller(channel, "killed"), gone).stream(asked(), routing="r", budget=BUDGET)

    assert (made.end, made.details) == (CallEnd.CRASH, "killed")
