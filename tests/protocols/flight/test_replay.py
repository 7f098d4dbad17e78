"""Recorded calls of Flight: which call finds which answer, and how a stream in both directions is answered."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from conformance.protocols.flight.contract.encoding import data, descriptor, part, text
from conformance.protocols.flight.records import Descriptor
from conformance.protocols.flight.replay import PLUGIN, key_of
from conformance.protocols.flight.wire.messages import SERVICE
from conformance.readers.tape import NotRecordedError
from conformance.records import Call, CallEnd, MetadataEntry
from conformance.replay.server import Replay
from conformance.replay.shelf import Held

PATH = descriptor(Descriptor(path=("a", "b")))
FIRST = data(of=PATH)


def call(method: str, request: bytes, *responses: bytes, status: str = "OK") -> Call:
    """A recorded call."""
    return Call(0, "", method, request, responses, status=status)


def test_calls_that_ask_the_same_get_the_answers_in_their_order() -> None:
    """And the last one from then on."""
    asked = call("GetFlightInfo", PATH)
    tapes = PLUGIN.together(
        [dataclasses.replace(asked, status="NOT_FOUND"), dataclasses.replace(asked, responses=(b"x",))]
    )

    found = [tapes.answer("GetFlightInfo", key_of("GetFlightInfo", PATH), PATH) for _ in range(3)]

    assert [(responses, ending.status) for responses, ending in found] == [((), "NOT_FOUND"), *[((b"x",), "OK")] * 2]


@pytest.mark.parametrize(
    ("method", "one", "other", "same"),
    [
        ("GetFlightInfo", PATH, descriptor(Descriptor(path=("a/b",))), False),
        ("GetFlightInfo", PATH, text(3, "a") + text(3, "b") + b"\x08\x01", True),
        ("DoGet", part(1, b"\xff"), part(1, b"\\xff"), False),
        ("DoPut", FIRST, data(b"header", of=PATH), True),
        ("DoAction", text(1, "x"), text(1, "x") + part(2, b"body"), False),
        ("ListFlights", b"", part(1, b"some"), False),
        ("ListActions", b"", part(9, b"unknown"), True),
        ("DoGet", b"\xff", b"\xfe", False),
    ],
)
def test_what_is_asked_for_finds_the_call(method: str, one: bytes, other: bytes, *, same: bool) -> None:
    """Whatever the order of fields, and for what is no message by its bytes."""
    assert (key_of(method, one) == key_of(method, other)) is same


def test_a_call_that_the_client_ended_is_no_answer() -> None:
    """Nor is one whose connection broke."""
    asked = call("DoGet", part(1, b"t"), b"half")
    tapes = PLUGIN.together(
        dataclasses.replace(asked, end=end, status="") for end in (CallEnd.CANCELLED, CallEnd.CRASH)
    )

    with pytest.raises(NotRecordedError):
        tapes.answer("DoGet", key_of("DoGet", asked.request), asked.request)


@pytest.fixture
def channel(tmp_path: Path) -> Iterator[grpc.Channel]:
    """A channel to a replay server of one exchange in turns."""
    talk = call("DoExchange", FIRST, b"first", b"second")
    talk = dataclasses.replace(
        talk,
        more_requests=(b"more",),
        order="><><|",
        initial_metadata=(MetadataEntry("x-initial", b"1"),),
        trailers=(MetadataEntry("x-trailer-bin", b"\xff"),),
    )
    with Replay(log=tmp_path / "asked.log", tls=False) as server:
        server.shelf.put(Held("flight", PLUGIN.together([talk])))
        with grpc.insecure_channel(f"127.0.0.1:{server.addresses['grpc']}") as made:
            yield made


def test_an_exchange_goes_on_in_turns(channel: grpc.Channel) -> None:
    """Each answer comes after as many requests as when it was recorded, with the metadata on both ends."""
    events: list[str] = []

    def requests() -> Iterator[bytes]:
        yield FIRST
        events.append("asks on")
        yield b"more"

    running = channel.stream_stream(SERVICE + "DoExchange")(requests())
    events.extend(answer.decode() for answer in running)

    assert sorted(events) == ["asks on", "first", "second"]
    assert ("x-initial", "1") in tuple(running.initial_metadata())
    assert ("x-trailer-bin", b"\xff") in tuple(running.trailing_metadata())
    assert events.index("asks on") < events.index("second")


def test_a_client_that_sends_less_gets_all_answers(channel: grpc.Channel) -> None:
    """The answers that waited for its other messages come once it ends its requests."""
    answers = list(channel.stream_stream(SERVICE + "DoExchange")(iter([FIRST])))

    assert answers == [b"first", b"second"]
