"""A client that gives a call up: what is recorded, and what the server sees of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from typing import cast

import grpc
import pytest

from conformance.generate import materialise
from conformance.protocols.flight.contract import encoding
from conformance.protocols.flight.records import Descriptor
from conformance.protocols.flight.reference.server import FlightServer, _until_gone
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.reference.store import Store
from conformance.protocols.flight.targets.pieces import frames
from conformance.protocols.flight.wire.messages import SERVICE
from conformance.records import Call, CallEnd, GivingUp
from conformance.targets import recordedcall
from conformance.targets.handing import batches_of
from conformance.targets.recordedcall import CallBudget, Caller, Leaving, open_channel
from tests.patience import LONG, patiently
from tests.protocols.flight.reference.direct import ROWS

BUDGET = CallBudget(seconds=LONG, responses=100, bytes=1 << 20)
NAMED = encoding.descriptor(Descriptor(path=("x",)))
PUT = Call(0, "", "DoPut", b"")


class Noting(FlightService):
    """Notes how many messages came of an upload that was given up."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self.came: list[int] = []
        self.noted = threading.Event()

    def given_up(self, came: Sequence[bytes]) -> None:
        """Note it."""
        self.came.append(len(came))
        self.noted.set()


@pytest.fixture
def served() -> Iterator[tuple[Noting, Caller]]:
    """A service, and a caller of it over gRPC."""
    service = Noting()
    with FlightServer(service) as server, open_channel(server.endpoint, message_limit=1 << 20) as channel:
        began = time.monotonic()
        yield (
            service,
            Caller(channel, began=began, message_limit=1 << 20, last_words=lambda _: None, service=SERVICE),
        )


def messages() -> list[bytes]:
    """A schema and two batches."""
    table = materialise(ROWS)
    parts = enumerate(frames(table.schema, batches_of(table)))
    return [encoding.data(one.header, one.body, of=None if at else NAMED) for at, one in parts]


@pytest.mark.parametrize("how", [GivingUp.CANCEL, GivingUp.DEADLINE])
@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_server_sees_that_its_client_has_gone(
    served: tuple[Noting, Caller], monkeypatch: pytest.MonkeyPatch, how: GivingUp, after: int
) -> None:
    """Nothing is stored; the call is one that the client ended, with the messages that it sent."""
    service, caller = served

    def left(seconds: float) -> Call:
        monkeypatch.setattr(recordedcall, "PATIENCE_SECONDS", seconds)
        return caller.converse(PUT, messages(), budget=BUDGET, leaving=Leaving(after, how))

    call = patiently(left, lambda made: len(made.requests) == after)

    assert (call.end, call.status) == (CallEnd.CANCELLED, "")
    service.noted.wait()
    assert service.came[0] <= after
    assert service.store.every() == []


class Ending:
    """Requests of a call, and its context: gRPC reports an end of the requests, and behind it the end of the call."""

    def __init__(self, *, gone: bool) -> None:
        self._reads = iter([b"one", None, None])
        self._gone = gone
        self._ended = False

    def __iter__(self) -> Ending:
        return self

    def __next__(self) -> bytes:
        if self._ended and self._gone:
            raise grpc.RpcError
        read = next(self._reads)
        if read is None:
            self._ended = True
            raise StopIteration
        return read

    def is_active(self) -> bool:
        """Nothing has been reported when the requests end."""
        return True


def test_the_news_that_a_client_has_gone_may_come_behind_its_last_message() -> None:
    """A call that was given up is not taken for one that was half-closed."""
    half_closed, gone = Ending(gone=False), Ending(gone=True)

    assert list(_until_gone(half_closed, cast("grpc.ServicerContext", half_closed))) == [b"one"]
    with pytest.raises(grpc.RpcError):
        list(_until_gone(gone, cast("grpc.ServicerContext", gone)))


def test_what_was_half_closed_is_stored(served: tuple[Noting, Caller]) -> None:
    """It is everything that the client sends."""
    service, caller = served

    call = caller.converse(PUT, messages(), budget=BUDGET, leaving=Leaving(2, GivingUp.HALF_CLOSE))

    assert (call.end, call.status, len(call.requests)) == (CallEnd.COMPLETE, "OK", 2)
    assert [flight.rows for flight in service.store.every()] == [2]


def test_a_read_is_given_up_by_its_deadline(served: tuple[Noting, Caller], monkeypatch: pytest.MonkeyPatch) -> None:
    """The client takes nothing until then; a call that ended before is complete."""
    service, caller = served
    caller.converse(PUT, messages(), budget=BUDGET)
    (flight,) = service.store.every()
    read = Call(0, "", "DoGet", encoding.part(1, service.store.ticket(flight, flight.batches)))

    def read_until(after: int, seconds: float) -> Call:
        monkeypatch.setattr(recordedcall, "PATIENCE_SECONDS", seconds)
        return caller.left_alone(read, leaving=Leaving(after, GivingUp.DEADLINE), budget=BUDGET)

    left = patiently(lambda seconds: read_until(1, seconds), lambda made: len(made.responses) == 1)
    whole = read_until(9, LONG)

    assert (left.end, left.status, len(left.responses)) == (CallEnd.CANCELLED, "", 1)
    assert (whole.end, whole.status, len(whole.responses)) == (CallEnd.COMPLETE, "OK", 3)
