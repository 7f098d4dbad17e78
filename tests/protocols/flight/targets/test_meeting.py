"""Calls at the same time: they meet before their first and their last message, and wait for no call that is over."""

from __future__ import annotations

import threading

import pytest

from conformance.protocols.flight.targets.meeting import ALONE, MeetingPoint, at_once


def test_calls_are_open_together() -> None:
    """Neither has sent its last message before the other has sent its first."""
    sent: list[str] = []
    lock = threading.Lock()

    def send(meeting: MeetingPoint) -> bool:
        for message in meeting.messages([b"first", b"between", b"last"]):
            with lock:
                sent.append(message.decode())
        return True

    assert at_once([send, send]) == [True, True]
    assert sent[:2] == ["first", "first"]
    assert sent[-2:] == ["last", "last"]


def test_a_part_that_makes_no_call_is_not_waited_for() -> None:
    """It does not apply: the other goes on alone."""
    assert at_once([lambda _: False, lambda meeting: list(meeting.messages([b"a", b"b"])) == [b"a", b"b"]]) == [
        False,
        True,
    ]


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_call_by_itself_sends_all(count: int) -> None:
    """Whatever their number."""
    messages = [b"%d" % at for at in range(count)]

    assert list(ALONE.messages(messages)) == messages


def test_the_error_of_a_part_is_raised() -> None:
    """And the others come to their end."""

    def fail(_: MeetingPoint) -> bool:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        at_once([fail, lambda meeting: bool(list(meeting.messages([b"a", b"b"])))])
