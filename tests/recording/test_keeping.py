"""What is kept of a call: within bounds, in order, and without the secrets of its client."""

from __future__ import annotations

import pytest

from conformance.protocol import DEFAULT_PROTOCOL
from conformance.recording.keeping import Bounds, KeptMessages, Metadata
from conformance.records import Call, CallEnd

TOKEN = "ya29.a-token-that-nobody-has"  # made up


def kept(bounds: Bounds, *, sent: Metadata = ()) -> KeptMessages:
    """A call that begins."""
    return KeptMessages(DEFAULT_PROTOCOL, "ReadRows", sent, bounds, 0.0)


def ended(one: KeptMessages, *, details: str = "", trailers: Metadata = ()) -> Call:
    """The call of the log after an end in OK."""
    return one.call(status="OK", details=details, end=CallEnd.COMPLETE, initial=(), trailers=trailers, seconds=0.1)


def test_a_call_beyond_its_bound_keeps_its_first_messages_and_is_not_complete() -> None:
    """Even if a later message would fit: a gap would look like the server's."""
    bounds = Bounds(call=10)
    one = kept(bounds)
    one.request(b"1234")
    for data in (b"5678", b"too long", b"9"):
        one.response(data)

    call = ended(one)

    assert (call.request, call.responses) == (b"1234", (b"5678",))
    assert (call.end, call.status) == (CallEnd.CANCELLED, "")
    assert call.details == "not kept: 1 of 3 responses kept, within the bounds; the call itself ended in OK"


def test_the_bound_of_all_calls_holds_until_they_are_written() -> None:
    """A call that was written gives its memory back."""
    bounds = Bounds(call=10, together=10)
    first, second, third = (kept(bounds) for _ in range(3))
    first.response(b"12345678")
    second.response(b"123")
    first.release()
    third.response(b"123")

    assert [one.full for one in (first, second, third)] == [False, True, False]
    assert bounds.used == 3


def test_the_order_of_messages_is_kept_where_the_client_streams() -> None:
    """A call with one request has the default order, whenever its client half-closed."""
    talk, plain = kept(Bounds()), kept(Bounds())
    for one in (talk, plain):
        one.request(b"a")
        one.response(b"b")
    talk.request(b"c")
    plain.half_close()

    assert ended(talk).order == "><>"
    assert ended(plain).order == ""
    assert ended(kept(Bounds())).requests == (b"",)


@pytest.mark.parametrize("key", ["authorization", "x-goog-api-key", "cookie", "x-some-token"])
def test_what_the_server_repeats_of_a_credential_is_masked(key: str) -> None:
    """In messages the length stays; in the server's own metadata a named secret goes whole."""
    one = kept(Bounds(), sent=((key, f"Bearer {TOKEN}"), ("x-other", "a harmless text")))
    one.response(b"a harmless text, " + TOKEN.encode())

    call = ended(one, details=f"no: {TOKEN}", trailers=(("set-cookie", "short"), ("x-echo", TOKEN)))

    assert call.responses == (b"a harmless text, " + b"*" * len(TOKEN),)
    assert call.details == "no: ***"
    assert [entry.value for entry in call.trailers] == [b"***", b"*" * len(TOKEN)]
