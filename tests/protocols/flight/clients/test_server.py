"""The scripted server gives the bytes of its script, ends calls as it says, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from conformance.protocols.flight.clients.script import EndOfCall, Reply, Script
from conformance.protocols.flight.clients.server import ScriptedServer
from conformance.protocols.flight.contract.encoding import part
from conformance.protocols.flight.wire.messages import SERVICE
from tests.http2 import prefixed, sent


@pytest.fixture(name="server")
def _server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


def called(server: ScriptedServer, method: str, request: bytes = b"") -> tuple[list[bytes], str]:
    """The messages of a call, and its status."""
    found: list[bytes] = []
    with grpc.insecure_channel(server.address) as channel:
        call: Any = channel.stream_stream(f"{SERVICE}{method}", bytes, bytes)(iter([request]))
        try:
            found.extend(call)
        except grpc.RpcError as error:
            return found, error.code().name
    return found, "OK"


def test_messages_come_as_they_are(server: ScriptedServer) -> None:
    """Bytes that are no protobuf come unchanged."""
    server.play(Script({"DoGet": Reply((b"\xff", b"", b"one"))}))

    assert called(server, "DoGet") == ([b"\xff", b"", b"one"], "OK")
    assert server.asked == [("DoGet", (b"",))]


def test_a_ticket_has_its_reply(server: ScriptedServer) -> None:
    """A known ticket gets its own reply, any other that of the method."""
    server.play(Script({"DoGet": Reply((b"any",))}, {b"known": Reply((b"own",))}))

    assert called(server, "DoGet", part(1, b"known"))[0] == [b"own"]
    assert called(server, "DoGet", part(1, b"other"))[0] == [b"any"]


def test_a_status_comes_behind_some_messages(server: ScriptedServer) -> None:
    """The call ends after as many messages as the script says."""
    server.play(Script({"DoGet": Reply((b"one", b"two"), EndOfCall(code="NOT_FOUND", after=1))}))

    assert called(server, "DoGet") == ([b"one"], "NOT_FOUND")


@pytest.mark.parametrize(("kind", "behind"), [("reset", b""), ("inside", prefixed(b"two" * 10)[: 5 + 15])])
def test_a_connection_breaks(server: ScriptedServer, kind: str, behind: bytes) -> None:
    """What comes before the break is sent, byte for byte, and no more of the next message than the script says."""
    server.play(Script({"DoGet": Reply((b"one", b"two" * 10), EndOfCall(kind, after=1))}))

    assert sent(server.address, f"{SERVICE}DoGet") == prefixed(b"one") + behind


@pytest.mark.parametrize("kind", ["reset", "inside"])
def test_a_broken_connection_ends_the_call(server: ScriptedServer, kind: str) -> None:
    """A client of gRPC gets an error; it may drop the message that came before if its program has not taken it."""
    server.play(Script({"DoGet": Reply((b"one", b"two" * 10), EndOfCall(kind, after=1))}))

    found, status = called(server, "DoGet")

    assert found in ([b"one"], [])
    assert status == "UNAVAILABLE"


def test_goaway_ends_no_call(server: ScriptedServer) -> None:
    """A call that is in progress goes on."""
    server.play(Script({"DoGet": Reply((b"one", b"two"), EndOfCall("goaway", after=1))}))

    assert called(server, "DoGet") == ([b"one", b"two"], "OK")


def test_what_no_script_answers_is_unimplemented(server: ScriptedServer) -> None:
    """Methods without a reply, and the questions of Flight SQL about the server."""
    server.play(Script({"GetFlightInfo": Reply((b"",))}))

    assert called(server, "DoAction")[1] == "UNIMPLEMENTED"
    assert called(server, "GetFlightInfo", b"...CommandGetSqlInfo")[1] == "UNIMPLEMENTED"
