"""Programs over JSON lines that attack: one answer for one case spoilt, or their process."""

from __future__ import annotations

import base64
import io
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from tests.hostile.attack import ATTACKS, Act, Expected, Part, by_slug, register, slug
from tests.hostile.lives import sleeper

__all__ = ["main"]


def main(name: str = "") -> None:
    """Answer line by line, as the attack on the process ``name`` has it."""
    if name:
        ATTACKS[name].act(serve)
    else:
        serve()


def serve(*, hello: Callable[[dict[str, Any]], Any] | None = None) -> None:
    """Answer every request as docs/examples/adapter.py does, but for the cases that are attacked."""
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "hello":
            answer = welcome(request)
            write(hello(answer) or answer if hello is not None else answer)
            continue
        attack = by_slug(slug(request["case"]), (Part.PROGRAM,))
        answer = serialized(request)
        if attack is not None:
            answer = attack.act(answer)
        if answer is not None:
            write(answer)


def write(answer: Any) -> None:
    """One answer, or bytes as they are."""
    sys.stdout.buffer.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode() + b"\n")
    sys.stdout.flush()


def welcome(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to hello."""
    reported = {"protocol": 1, "name": "hostile", "version": "1", "capabilities": ["arrow"], "input": "arrow"}
    return {"id": request["id"], "status": "ok", **reported}


def serialized(request: dict[str, Any]) -> dict[str, Any]:
    """The answer that obeys."""
    import pyarrow as pa  # noqa: PLC0415  # for the programs alone

    if set(request["needs"]) - {"arrow"}:
        return {"id": request["id"], "status": "unsupported"}
    table = pa.ipc.open_stream(io.BytesIO(base64.b64decode(request["arrow"])))
    batches = [_text(batch.serialize()) for batch in table]
    return {"id": request["id"], "status": "ok", "schema": _text(table.schema.serialize()), "batches": batches}


def _text(message: Any) -> str:
    return base64.b64encode(message).decode()


FLOOD_SECONDS: Final = 20.0
MIB: Final = 1 << 20
HANG: Final = Expected(("hang",), "no answer within")
BROKE: Final = Expected(("refused", "crash", "fail"), "protocol|expected")
DIED: Final = Expected(("crash",), "stdout ended|stdin was closed|exited|signal")
MUCH: Final = Expected(("hang",), "more than|within|at most")
NO_HELLO: Final = Expected(status=(2,), says="did not answer hello")
SERVED: Final = Expected(("pass",), status=(0,))


def _answer(name: str, expected: Expected, **more: Any) -> Callable[[Act], Act]:
    return register(name, Part.PROGRAM, expected, **more)


def _life(name: str, expected: Expected, **more: Any) -> Callable[[Act], Act]:
    return register(name, Part.PROGRAM_LIFE, expected, **more)


def _out(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.flush()


def _flood(piece: bytes) -> None:
    until = time.monotonic() + FLOOD_SECONDS
    while time.monotonic() < until:
        _out(piece)


# --- single answers -----------------------------------------------------------------------------------


@_answer("program.half-a-line", HANG)
def half_a_line(answer: dict[str, Any]) -> None:
    """The program sends the first half of an answer, and then nothing."""
    _out(json.dumps(answer).encode()[:40])
    threading.Event().wait()


@_answer("program.dripping-line", HANG)
def dripping_line(answer: dict[str, Any]) -> None:
    """An answer arrives at one byte per tenth of a second."""
    for byte in json.dumps(answer).encode():
        _out(bytes([byte]))
        time.sleep(0.1)


@_answer("program.line-without-end", MUCH)
def line_without_end(answer: dict[str, Any]) -> None:
    """A line of blanks arrives as fast as the suite reads it, and never ends."""
    _flood(b" " * MIB)


@_answer(
    "program.line-without-end-and-patience",
    MUCH,
    deadline=40.0,
    settings={"limits": {"message": 64 * MIB}, "deadlines": {"call": 30.0, "case": 30.0}},
)
def line_without_end_and_patience(answer: dict[str, Any]) -> None:
    """A line arrives as fast as the suite reads it and never ends; the target file permits 64 MiB."""
    _flood(b"x" * MIB)


@_answer("program.million-lines", Expected(("pass", "fail", "refused")))
def million_lines(answer: dict[str, Any]) -> None:
    """The program sends an answer and 100,000 more answers to no request."""
    line = json.dumps(answer).encode() + b"\n"
    for _ in range(1000):
        _out(line * 100)


@_answer("program.deep-json", BROKE)
def deep_json(answer: dict[str, Any]) -> bytes:
    """An answer nests 100,000 levels deep."""
    return b'{"id":' + str(answer["id"]).encode() + b',"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"


@_answer("program.million-batches", Expected(("refused", "crash", "fail", "hang")), deadline=15.0)
def million_batches(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer contains a million empty batches."""
    return {**answer, "batches": [""] * 1_000_000}


@_answer("program.ten-million-batches", BROKE, deadline=20.0)
def ten_million_batches(answer: dict[str, Any]) -> bytes:
    """An answer contains ten million empty batches, in 30 MB."""
    return json.dumps({**answer, "batches": []}).encode()[:-2] + b'"",' * 10_000_000 + b'""]}\n'


@_answer("program.hundred-thousand-real-batches", Expected(("fail", "hang", "refused")), deadline=20.0)
def hundred_thousand_real_batches(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer contains the right batch 100,000 times."""
    return {**answer, "batches": answer["batches"] * 100_000}


@_answer("program.unknown-keys", BROKE, deadline=15.0)
def unknown_keys(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer has 300,000 keys that the schema does not know."""
    return {**answer, **{f"k{number}": number for number in range(300_000)}}


@_answer("program.wrong-id", BROKE)
def wrong_id(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer has the id of a request that was never made."""
    return {**answer, "id": 10**30}


@_answer("program.answers-twice", Expected(("pass",)))
def answers_twice(answer: dict[str, Any]) -> bytes:
    """An answer arrives twice, so the second one precedes the next request."""
    return (json.dumps(answer).encode() + b"\n") * 2


@_answer("program.not-base64", BROKE)
def not_base64(answer: dict[str, Any]) -> dict[str, Any]:
    """The schema message is not base64."""
    return {**answer, "schema": "\u202e\x1b[31m::error::HOSTILE"}


@_answer("program.base64-of-400-mib", Expected(("hang", "fail", "refused")), deadline=20.0)
def base64_of_400_mib(answer: dict[str, Any]) -> bytes:
    """A batch of 400 MiB arrives in base64, for a table of four rows."""
    head = json.dumps({**answer, "batches": []}).encode()[:-2]
    _out(head + b'"')
    for _ in range(400):
        _out(b"AAAA" * (MIB // 4))
    return b'"]}\n'


@_answer("program.odd-values", BROKE)
def odd_values(answer: dict[str, Any]) -> bytes:
    """An answer's members are NaN, infinite, lists and lone surrogates."""
    return b'{"id": %d, "status": NaN, "schema": "\\ud800", "batches": [1e999, {}]}\n' % answer["id"]


@_answer("program.status-is-an-object", BROKE)
def status_is_an_object(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer's status is an object, and its id a boolean."""
    return {**answer, "id": True, "status": {"a": []}}


@_answer("program.lone-surrogates", Expected(("refused", "fail")))
def lone_surrogates(answer: dict[str, Any]) -> dict[str, Any]:
    """The message of an error consists of lone surrogates."""
    return {"id": answer["id"], "status": "error", "message": "\ud800\udfff" * 10}


@_answer("program.invalid-utf8", BROKE)
def invalid_utf8(answer: dict[str, Any]) -> bytes:
    """A line is not UTF-8."""
    return b"\xff\xfe{\x00\n"


@_answer("program.closes-its-output", DIED)
def closes_its_output(answer: dict[str, Any]) -> None:
    """The program closes its standard output and continues."""
    os.close(1)
    threading.Event().wait()


@_answer("program.closes-its-input", Expected(("pass",), status=(1,), later=False))
def closes_its_input(answer: dict[str, Any]) -> dict[str, Any]:
    """The program closes its standard input before it answers, which affects the next case."""
    os.close(0)
    return answer


@_answer("program.exits-quietly", DIED)
def exits_quietly(answer: dict[str, Any]) -> None:
    """The program ends with status 0 instead of answering."""
    os._exit(0)


@_answer("program.exits-within-a-line", DIED)
def exits_within_a_line(answer: dict[str, Any]) -> None:
    """The program ends in the middle of a line."""
    _out(json.dumps(answer).encode()[:40])
    os._exit(3)


@_answer("program.child-holds-the-pipes", Expected(("hang", "crash")))
def child_holds_the_pipes(answer: dict[str, Any]) -> None:
    """The program dies, and a child in its own session holds its pipes open."""
    sleeper(before=os.setsid)
    os.kill(os.getpid(), signal.SIGKILL)


@_answer("program.stops-reading", Expected(("pass",), status=(1,), later=False))
def stops_reading(answer: dict[str, Any]) -> None:
    """The program answers and never reads again, which affects the next case."""
    write(answer)
    threading.Event().wait()


@_answer("program.floods-stderr", Expected(("pass",)))
def floods_stderr(answer: dict[str, Any]) -> dict[str, Any]:
    """The program prints 512 MiB to its standard error before it answers."""
    for _ in range(512):
        os.write(2, b"x" * MIB)
    return answer


@_answer("program.hostile-words", Expected(("refused", "fail")))
def hostile_words(answer: dict[str, Any]) -> dict[str, Any]:
    """The message of an error contains control sequences for terminals and CI systems."""
    words = "\n::error::HOSTILE\n##vso[task.complete result=Failed]\r\x1b[2J\x9b31m\u202e\u2028"
    return {"id": answer["id"], "status": "error", "message": words}


@_answer("program.message-of-64-mib", Expected(("refused", "fail", "hang")))
def message_of_64_mib(answer: dict[str, Any]) -> dict[str, Any]:
    """An error's message has 64 MiB."""
    return {"id": answer["id"], "status": "error", "message": "m" * (64 * MIB)}


# --- the process --------------------------------------------------------------------------------------


@_life("program.no-hello", NO_HELLO)
def no_hello(serve: Any) -> None:
    """The program never answers hello."""
    threading.Event().wait()


@_life("program.dies-before-hello", NO_HELLO)
def dies_before_hello(serve: Any) -> None:
    """The program dies before it reads anything, with hostile text as its last output."""
    os.write(2, b"::error::HOSTILE\n\x1b[31m\xff\n")
    os.kill(os.getpid(), signal.SIGSEGV)


@_life("program.speaks-first", NO_HELLO)
def speaks_first(serve: Any) -> None:
    """The program prints a banner before the protocol."""
    _out(b"Welcome to hostile 1.0!\n")
    serve()


@_life("program.answers-before-the-question", Expected(status=(1, 2), says="hello|asked"))
def answers_before_the_question(serve: Any) -> None:
    """The program sends the answer to hello, and to a hundred requests, before it receives hello."""
    for number in range(1, 101):
        write(welcome({"id": number}))
    threading.Event().wait()


@_life("program.million-capabilities", Expected(status=(0, 1, 2)), deadline=15.0)
def million_capabilities(serve: Any) -> None:
    """The program declares a million capabilities."""
    serve(
        hello=lambda reported: {**reported, "capabilities": ["arrow", *(f"c{number}" for number in range(1_000_000))]}
    )


@_life("program.capability-of-20-mib", Expected(status=(0, 1, 2)))
def capability_of_20_mib(serve: Any) -> None:
    """The program's name, its version and a capability have 20 MiB each."""
    long = "v" * (20 * MIB)
    serve(hello=lambda reported: {**reported, "name": long, "version": long, "capabilities": ["arrow", long]})


@_life("program.hostile-version", SERVED)
def hostile_version(serve: Any) -> None:
    """The program's version contains control sequences for terminals and CI systems, and a lone surrogate."""
    words = "1\n::error::HOSTILE\n##vso[task.complete]\x1b[2J\u202e\ud800</script><img src=x onerror=alert(1)>"
    serve(hello=lambda reported: {**reported, "version": words, "name": words})


@_life("program.hello-of-gibs", NO_HELLO)
def hello_of_gibs(serve: Any) -> None:
    """The answer to hello is a line that never ends."""
    _flood(b"{" * MIB)


@_life("program.ignores-the-end", SERVED)
def ignores_the_end(serve: Any) -> None:
    """The program ignores SIGTERM and the end of its input, and leaves a daemon behind."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sleeper(before=os.setsid)
    serve()
    threading.Event().wait()


@_life("program.is-not-there", NO_HELLO)
def is_not_there(serve: Any) -> None:
    """The program replaces itself with a program that does not exist, and ends with 127."""
    os.execvp("sh", ["sh", "-c", "exec /nonexistent/program"])
