"""Questions and answers over a program's pipes: one JSON object per line, checked against a schema in both directions.

A program may stop reading, stop writing, end inside a line, or write for ever. Each of these ends the question with a
:class:`LostError` that says how much of the answer had arrived; no call blocks beyond its deadline.
A published JSON Schema defines the messages: one for programs under test, one for readers and writers.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import json
import os
import selectors
import time
from collections.abc import Callable, Mapping
from importlib import resources
from typing import IO, Any, Final, TypeAlias

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from conformance.contain.errors import Lost, LostError, ProtocolError
from conformance.contain.parse import DEPTH, VALUES, ForeignJsonError, parse_object
from conformance.contain.text import safe

__all__ = ["LineProtocol", "Pipes", "decode_base64"]

CHUNK: Final = 1 << 16
"""Bytes per read or write: the capacity of a pipe on Linux (pipe(7))."""
SHOWN: Final = 300
"""Characters of a complaint about an answer, because a complaint may quote the full answer."""

Apart: TypeAlias = Mapping[str, tuple[str, Callable[[Any], str]]]
"""Members that a function checks instead of the schema: from the kind of answer to the member and the function."""


class LineProtocol:
    """The messages of one protocol, as defined by ``protocol.schema.json`` in ``package``.

    ``apart`` names members with many values: a function checks them like the schema, but a hundred times faster. The
    function returns a complaint about the value, or an empty text. ``depth`` limits the nesting of an answer.
    """

    def __init__(self, package: str, *, apart: Apart | None = None, depth: int = DEPTH) -> None:
        self._package = package
        self._apart = apart or {}
        self._depth = depth
        self._validator = functools.cache(self._made)

    @functools.cached_property
    def schema(self) -> Mapping[str, Any]:
        """The published JSON Schema of all messages."""
        text = resources.files(self._package).joinpath("protocol.schema.json").read_text(encoding="utf-8")
        parsed: Mapping[str, Any] = json.loads(text)
        return parsed

    def encode(self, request: Mapping[str, Any]) -> bytes:
        """A request as one line, without its line end; it is checked, too, because the schema applies to both sides."""
        self._validator("request").validate(request)
        return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()

    def decode(self, line: bytes, *, request: int, kinds: tuple[str, ...], values: int = VALUES) -> dict[str, Any]:
        """The answer in ``line`` to the request with the id ``request``; ``kinds`` are names in the schema's ``$defs``.

        The first kind is the expected answer; an answer of another kind has that kind's name as its ``status``. An
        answer of more than ``values`` JSON values is refused without parsing it.

        Raises:
            ProtocolError: The line is not such an answer.
        """
        try:
            answer = parse_object(line, depth=self._depth, values=values)
        except ForeignJsonError as error:
            said = str(error).removeprefix("expected a JSON object").removeprefix("expected JSON")
            raise ProtocolError(f"expected a JSON object on one line{said}") from None
        if answer.get("id") != request:
            raise ProtocolError(f"expected the answer to request {request} but got the id {_short(answer.get('id'))}")
        status = answer.get("status")
        wanted = status if isinstance(status, str) and status in kinds else kinds[0]
        member, check = self._apart.get(wanted, ("", _nothing))
        held = answer.get(member)
        # The schema checks the answer with an empty list in place of the member; `check` checks the member itself.
        outside = {**answer, member: []} if isinstance(held, list) else answer
        wrong = best_match(self._validator(wanted).iter_errors(outside))
        if wrong is not None:
            where = safe("".join(f"[{part!r}]" for part in wrong.path) or "the answer", SHOWN)
            complaint = safe(wrong.message, SHOWN)
            raise ProtocolError(f"expected {wanted} as protocol.schema.json has it, but in {where}: {complaint}")
        if complaint := check(held):
            raise ProtocolError(complaint)
        return answer

    def _made(self, name: str) -> Draft202012Validator:
        return Draft202012Validator({**self.schema["$defs"][name], "$defs": self.schema["$defs"]})


def decode_base64(text: str, what: str) -> bytes:
    """The decoded bytes of the base64 member ``what``; raises ProtocolError."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise ProtocolError(f"expected base64 in {what} but got {_short(text)}") from None


def _nothing(_value: object) -> str:
    return ""


def _short(value: object) -> str:
    """The value's representation, cut; a long text is cut before its representation is made."""
    return safe(repr(value[:SHOWN] if isinstance(value, str) else value), SHOWN)


class Pipes:
    """A program's stdin and stdout."""

    def __init__(self, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self._to = stdin
        self._from = stdout
        self._buffer = bytearray()
        # Non-blocking: a write to a pipe with some space left would otherwise block until all bytes fit (pipe(7)).
        os.set_blocking(stdin.fileno(), False)
        os.set_blocking(stdout.fileno(), False)

    def ask(self, frame: bytes, *, seconds: float, limit: int) -> bytes:
        """Send ``frame`` (without a line end) and return the answer, a line of at most ``limit`` bytes.

        Raises:
            LostError: No complete line arrived.
        """
        if surplus := self.surplus():
            raise LostError(Lost.OUT_OF_TURN, f"{surplus} bytes came that nothing had asked for")
        until = time.monotonic() + seconds
        unsent = memoryview(frame + b"\n")
        scanned = 0
        with selectors.DefaultSelector() as selector:
            # Both directions at once: a program that writes while it reads would otherwise deadlock with this side.
            selector.register(self._from, selectors.EVENT_READ)
            selector.register(self._to, selectors.EVENT_WRITE)
            while (at := self._buffer.find(b"\n", scanned)) < 0:
                scanned = len(self._buffer)
                if scanned > limit:
                    raise LostError(Lost.OVER_BUDGET, f"a line of more than {limit} bytes came")
                ready = selector.select(max(0.0, until - time.monotonic()))
                if time.monotonic() >= until:
                    raise LostError(Lost.DEADLINE, f"no answer within {seconds:.3g} s; {self._seen(unsent)}")
                for key, _ in ready:
                    if key.fileobj is self._from:
                        self._receive(unsent)
                    else:
                        unsent = unsent[self._send(unsent) :]
                        if not unsent:
                            selector.unregister(self._to)
        line = bytes(self._buffer[:at])
        del self._buffer[: at + 1]
        return line

    def surplus(self) -> int:
        """The number of bytes that arrived without a request, up to a limit."""
        with contextlib.suppress(OSError):  # nothing to read
            self._buffer += os.read(self._from.fileno(), CHUNK)
        return len(self._buffer)

    def close(self) -> None:
        """Close both pipes; the program sees the end of its input."""
        for pipe in (self._to, self._from):
            with contextlib.suppress(OSError):
                pipe.close()

    def _receive(self, unsent: memoryview) -> None:
        chunk = os.read(self._from.fileno(), CHUNK)
        if not chunk:
            raise LostError(Lost.CRASH, f"stdout ended; {self._seen(unsent)}")
        self._buffer += chunk

    def _send(self, unsent: memoryview) -> int:
        try:
            return os.write(self._to.fileno(), unsent[:CHUNK])
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            raise LostError(Lost.CRASH, f"stdin was closed; {self._seen(unsent)}") from None

    def _seen(self, unsent: memoryview) -> str:
        """How much of the question was read, and how much of the answer had arrived."""
        question = f"{len(unsent)} bytes of the question were never read, and " if unsent else ""
        seen = len(self._buffer)
        return question + (f"{seen} bytes of an incomplete line were seen" if seen else "no byte of an answer was seen")
