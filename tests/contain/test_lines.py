"""A question ends with an answer or with a sentence about how far it had got, never later than its deadline."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Callable, Iterator
from typing import IO

import pytest

from conformance.contain.errors import Lost, LostError
from conformance.contain.lines import Pipes
from tests.patience import LONG, patiently

Peer = Callable[[IO[bytes], IO[bytes]], None]


@contextlib.contextmanager
def talking(peer: Peer) -> Iterator[Pipes]:
    """Pipes to ``peer``, which runs in a thread with its own stdin and stdout."""
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()

    def run() -> None:
        with contextlib.suppress(OSError), os.fdopen(their_in, "rb") as stdin, os.fdopen(their_out, "wb") as stdout:
            peer(stdin, stdout)

    thread = threading.Thread(target=run)
    thread.start()
    pipes = Pipes(os.fdopen(our_out, "wb"), os.fdopen(our_in, "rb"))
    try:
        yield pipes
    finally:
        pipes.close()
        thread.join()


def say(words: bytes) -> Peer:
    """A peer that reads one line, says ``words`` and ends."""

    def peer(stdin: IO[bytes], stdout: IO[bytes]) -> None:
        stdin.readline()
        stdout.write(words)
        stdout.flush()

    return peer


def wait_after(words: bytes) -> Peer:
    """A peer that says ``words`` and then waits for the end of its input."""

    def peer(stdin: IO[bytes], stdout: IO[bytes]) -> None:
        say(words)(stdin, stdout)
        stdin.read()

    return peer


def failure(peer: Peer, *, frame: bytes = b"{}", seconds: float = LONG, limit: int = 1000) -> LostError:
    """The error that a question to ``peer`` ends with."""
    with talking(peer) as pipes, pytest.raises(LostError) as raised:
        pipes.ask(frame, seconds=seconds, limit=limit)
    return raised.value


def test_a_question_is_answered_by_a_line() -> None:
    """The answer is the line without its end, and pipes serve more than one question."""

    def echo(stdin: IO[bytes], stdout: IO[bytes]) -> None:
        for line in stdin:
            stdout.write(b"got " + line)
            stdout.flush()

    with talking(echo) as pipes:
        answers = [pipes.ask(frame, seconds=LONG, limit=1000) for frame in (b"one", b"two")]

    assert answers == [b"got one", b"got two"]


def test_questions_and_answers_may_be_larger_than_a_pipe() -> None:
    """Neither side waits for the other while megabytes are under way."""
    big = b"x" * 3_000_000

    def echo(stdin: IO[bytes], stdout: IO[bytes]) -> None:
        stdout.write(stdin.readline())
        stdout.flush()

    with talking(echo) as pipes:
        answer = pipes.ask(big, seconds=LONG, limit=4_000_000)

    assert answer == big


@pytest.mark.parametrize("cut", range(1, 5))
def test_an_answer_cut_by_the_end_tells_how_much_was_seen(cut: int) -> None:
    """A program that ends in the middle of a line is a crash, with the bytes counted."""
    error = failure(say(b"{}}}\n"[:cut]))

    assert error.how is Lost.CRASH
    assert str(error) == f"stdout ended; {cut} bytes of an incomplete line were seen"


def test_an_end_without_a_word_is_a_crash() -> None:
    """A program that ends before any byte says so."""
    error = failure(say(b""))

    assert (error.how, str(error)) == (Lost.CRASH, "stdout ended; no byte of an answer was seen")


def test_half_an_answer_is_a_hang() -> None:
    """A program that stops in the middle of a line costs its deadline."""
    error = patiently(
        lambda seconds: failure(wait_after(b'{"id"'), seconds=seconds), lambda error: "no byte" not in str(error)
    )

    assert error.how is Lost.DEADLINE
    assert re.fullmatch(r"no answer within \S+ s; 5 bytes of an incomplete line were seen", str(error))


def test_a_program_that_does_not_read_is_a_hang() -> None:
    """A question that nobody reads ends at its deadline as well, and says how much was left."""
    done = threading.Event()

    def deaf(_stdin: IO[bytes], _stdout: IO[bytes]) -> None:
        done.wait()

    with talking(deaf) as pipes:
        with pytest.raises(LostError) as raised:
            pipes.ask(b"x" * 1_000_000, seconds=0.2, limit=1000)
        done.set()

    assert raised.value.how is Lost.DEADLINE
    assert "bytes of the question were never read, and no byte of an answer was seen" in str(raised.value)


def test_a_closed_input_is_a_crash() -> None:
    """A program that closes its stdin while a question is under way is a crash."""
    done = threading.Event()

    def closed(stdin: IO[bytes], _stdout: IO[bytes]) -> None:
        stdin.close()
        done.wait()

    with talking(closed) as pipes:
        with pytest.raises(LostError) as raised:
            pipes.ask(b"x" * 1_000_000, seconds=LONG, limit=1000)
        done.set()

    assert raised.value.how is Lost.CRASH
    assert str(raised.value).startswith("stdin was closed; ")


def test_a_line_without_an_end_is_over_budget() -> None:
    """A flood is cut at the limit."""

    def flood(stdin: IO[bytes], stdout: IO[bytes]) -> None:
        stdin.readline()
        while True:
            stdout.write(b"x" * 10_000)

    error = failure(flood)

    assert (error.how, str(error)) == (Lost.OVER_BUDGET, "a line of more than 1000 bytes came")


def test_words_that_nobody_asked_for_are_noticed() -> None:
    """A second line after an answer is an error of the next question, not its answer."""
    with talking(wait_after(b"one\ntwo\n")) as pipes:
        first = pipes.ask(b"{}", seconds=LONG, limit=1000)
        with pytest.raises(LostError) as raised:
            pipes.ask(b"{}", seconds=LONG, limit=1000)

    assert first == b"one"
    assert str(raised.value) == "4 bytes came that nothing had asked for"
