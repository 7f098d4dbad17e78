"""SIGTERM ends a process in order whatever it inherits; SIGINT does where it is not ignored."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType
from typing import Any

import pytest

from conformance.contain.interrupts import ending, stopping
from tests.interrupts import interrupts


def test_a_signal_sets_the_event() -> None:
    """Either of them."""
    for number in (signal.SIGINT, signal.SIGTERM):
        with interrupts(heard=True), stopping() as done:
            signal.raise_signal(number)

            assert done.is_set()


def test_a_signal_ends_a_wait_wherever_it_arrives() -> None:
    """The handler runs between two lines of what waits, and takes no lock that this holds."""

    def arrive(_frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line":
            signal.raise_signal(signal.SIGTERM)
        return arrive

    with stopping() as done:
        before = sys.gettrace()
        sys.settrace(arrive)
        try:
            done.wait()
        finally:
            sys.settrace(before)

        assert done.is_set()


def test_a_signal_ends_a_wait_whichever_thread_it_arrives_in() -> None:
    """The system chooses the thread, and only a signal to the one that waits interrupts what it waits for."""
    with stopping() as done:
        number = signal.SIGTERM
        other = threading.Thread(target=lambda: signal.pthread_kill(threading.get_ident(), number))
        other.start()
        done.wait()
        other.join()

        assert done.is_set()


def test_a_set_after_the_end_does_nothing() -> None:
    """As of a program that ends after its server."""
    with stopping() as done:
        pass

    done.set()


def test_an_interrupt_that_is_ignored_stays_ignored() -> None:
    """A process in the background of a shell ends with SIGTERM alone."""
    with interrupts(heard=False), stopping() as done:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGHUP)
        heard = done.is_set()
        signal.raise_signal(signal.SIGTERM)

        assert (heard, done.is_set(), ending()) == (False, True, (signal.SIGTERM,))


@pytest.mark.parametrize("heard", [True, False])
def test_handlers_are_those_of_before_again(*, heard: bool) -> None:
    """Whether or not SIGINT was ignored."""
    with interrupts(heard=heard):
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = [signal.getsignal(number) for number in numbers]
        with stopping():
            pass

        assert [signal.getsignal(number) for number in numbers] == before
