"""REST sides that attack: an attack gets the socket on which an answer is due, and sends what no library would."""

from __future__ import annotations

import os
import socket
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tests.hostile.attack import Act, Expected, Part, register

__all__ = ["whole"]

FLOOD_SECONDS: Final = 20.0
"""How long a flood or a drip goes on where nobody ends it."""


def _untestable(name: str, says: str, **more: Any) -> Callable[[Act], Act]:
    """Register an attack whose case cannot be seeded, for a reason that names what came."""
    return register(name, Part.REST, Expected(("untestable",), rf"cannot seed.*({says})"), **more)


def _drip(connection: socket.socket, piece: bytes, seconds: float = 0.05) -> None:
    until = time.monotonic() + FLOOD_SECONDS
    while time.monotonic() < until:
        connection.sendall(piece)
        time.sleep(seconds)


@_untestable("rest.dripping-body", "answer within|deadline")
def dripping_body(connection: socket.socket, method: str, path: str) -> None:
    """The body of the answer arrives one byte at a time, and never ends."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    _drip(connection, b" ")


def _head(connection: socket.socket, *headers: str, status: str = "200 OK") -> None:
    connection.sendall("\r\n".join((f"HTTP/1.1 {status}", *headers, "", "")).encode("latin-1"))


def whole(connection: socket.socket, body: bytes, *headers: str, status: str = "200 OK") -> None:
    """Send one answer whole, and end the connection."""
    _head(connection, f"Content-Length: {len(body)}", "Connection: close", *headers, status=status)
    connection.sendall(body)
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)


def _chunked(connection: socket.socket, *headers: str) -> None:
    _head(connection, "Transfer-Encoding: chunked", *headers)


def _until_late() -> Any:
    until = time.monotonic() + FLOOD_SECONDS
    while time.monotonic() < until:
        yield


SLOW: Final = "answer within|deadline"
MUCH: Final = "at most|more than|limit|too (much|long|many|large)"


@_untestable("rest.never-answers", SLOW)
def never_answers(connection: socket.socket, method: str, path: str) -> None:
    """The server accepts a request and never answers."""
    time.sleep(FLOOD_SECONDS)


@_untestable("rest.dripping-headers", SLOW)
def dripping_headers(connection: socket.socket, method: str, path: str) -> None:
    """The headers arrive one byte at a time, and never end."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Drip: ")
    _drip(connection, b"a")


@_untestable("rest.dripping-chunks", SLOW)
def dripping_chunks(connection: socket.socket, method: str, path: str) -> None:
    """The body arrives in chunks of one byte, each within the deadline of a read, and never ends."""
    _chunked(connection)
    _drip(connection, b"1\r\n \r\n", 0.3)


@_untestable("rest.endless-body", f"{SLOW}|{MUCH}")
def endless_body(connection: socket.socket, method: str, path: str) -> None:
    """A body without a length arrives as fast as the client reads it, and never ends."""
    _head(connection, "Connection: close")
    for _ in _until_late():
        connection.sendall(b" " * (1 << 20))


@_untestable("rest.endless-chunks", f"{SLOW}|{MUCH}")
def endless_chunks(connection: socket.socket, method: str, path: str) -> None:
    """Chunks of a MiB arrive as fast as the client reads them, and never end."""
    _chunked(connection)
    for _ in _until_late():
        connection.sendall(b"100000\r\n" + b" " * (1 << 20) + b"\r\n")


@_untestable("rest.endless-headers", f"{SLOW}|{MUCH}|header|line")
def endless_headers(connection: socket.socket, method: str, path: str) -> None:
    """Headers arrive as fast as the client reads them, and never end."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    for number, _ in enumerate(_until_late()):
        connection.sendall(b"".join(b"X-%d-%d: a\r\n" % (number, it) for it in range(1000)))


@_untestable("rest.header-line-of-gibs", f"{SLOW}|{MUCH}|header|line")
def header_line_of_gibs(connection: socket.socket, method: str, path: str) -> None:
    """One header line continues as fast as the client reads it, and never ends."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
    for _ in _until_late():
        connection.sendall(b"a" * (1 << 20))


@_untestable("rest.status-line-of-gibs", f"{SLOW}|{MUCH}|status|line")
def status_line_of_gibs(connection: socket.socket, method: str, path: str) -> None:
    """The status line continues as fast as the client reads it, and never ends."""
    connection.sendall(b"HTTP/1.1 200 ")
    for _ in _until_late():
        connection.sendall(b"O" * (1 << 20))


@_untestable("rest.continues-for-ever", f"{SLOW}|{MUCH}|continue|100")
def continues_for_ever(connection: socket.socket, method: str, path: str) -> None:
    """100 Continue arrives as fast as the client reads it, and nothing else."""
    for _ in _until_late():
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)


@_untestable("rest.slow-redirects", "redirect")
def slow_redirects(connection: socket.socket, method: str, path: str) -> None:
    """Every answer redirects to the same address, after most of the deadline."""
    time.sleep(0.4)
    whole(connection, b"", f"Location: {path}", status="307 Temporary Redirect")


@_untestable("rest.redirects-elsewhere", "redirect")
def redirects_elsewhere(connection: socket.socket, method: str, path: str) -> None:
    """The answer redirects to another host, where a listener notes whether anything arrives."""
    other = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=_note_arrival, args=(other,), daemon=True).start()
    port = other.getsockname()[1]
    whole(connection, b"", f"Location: http://localhost:{port}/stolen", status="307 Temporary Redirect")


def _note_arrival(listener: socket.socket) -> None:
    listener.accept()
    (Path(os.environ["HOSTILE_PLACE"]) / "events" / "forbidden.request-sent-to-another-host").touch()


def _bomb(mebibytes: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(b" " * (1 << 20)) for _ in range(mebibytes)) + packer.flush()


@_untestable("rest.gzip-bomb", f"{MUCH}|{SLOW}")
def gzip_bomb(connection: socket.socket, method: str, path: str) -> None:
    """A MiB of gzip holds a GiB of blanks."""
    whole(connection, _bomb(1024), "Content-Encoding: gzip", "Content-Type: application/json")


@_untestable("rest.gzip-bomb-that-drips", f"{MUCH}|{SLOW}")
def gzip_bomb_that_drips(connection: socket.socket, method: str, path: str) -> None:
    """The first half of a gzip bomb arrives at once, and the rest never."""
    bomb = _bomb(1024)
    _head(connection, f"Content-Length: {len(bomb)}", "Content-Encoding: gzip")
    connection.sendall(bomb[: len(bomb) // 2])
    _drip(connection, b"")


@_untestable("rest.not-gzip", "")
def not_gzip(connection: socket.socket, method: str, path: str) -> None:
    """The body is declared as gzip, but is not gzip."""
    whole(connection, b"{}" * 100, "Content-Encoding: gzip")


@_untestable("rest.unknown-encoding", "encod|zstd|br|JSON")
def unknown_encoding(connection: socket.socket, method: str, path: str) -> None:
    """The body is declared as encoded five times, in ways that the client did not ask for."""
    whole(connection, b"{}", "Content-Encoding: zstd, br, deflate, gzip, nothing")


@_untestable("rest.chunk-of-2-to-the-70", "chunk|size|length|broken|invalid")
def chunk_of_2_to_the_70(connection: socket.socket, method: str, path: str) -> None:
    """A chunk declares 2^70 bytes."""
    _chunked(connection)
    connection.sendall(b"400000000000000000\r\n{}")
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)


@_untestable("rest.negative-chunk", "chunk|size|length|broken|invalid")
def negative_chunk(connection: socket.socket, method: str, path: str) -> None:
    """A chunk declares minus two bytes."""
    _chunked(connection)
    connection.sendall(b"-2\r\n{}\r\n0\r\n\r\n")
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)


@_untestable("rest.chunk-size-of-gibs", f"chunk|size|length|broken|invalid|{MUCH}")
def chunk_size_of_gibs(connection: socket.socket, method: str, path: str) -> None:
    """The line with the size of a chunk never ends."""
    _chunked(connection)
    for _ in _until_late():
        connection.sendall(b"0" * (1 << 20))


@_untestable("rest.trailers-for-ever", "")
def trailers_for_ever(connection: socket.socket, method: str, path: str) -> None:
    """After the last chunk, trailers arrive without end."""
    _chunked(connection)
    connection.sendall(b"2\r\n{}\r\n0\r\n")
    for _ in _until_late():
        connection.sendall(b"X-T: a\r\n" * 10000)


@_untestable("rest.length-too-large", "")
def length_too_large(connection: socket.socket, method: str, path: str) -> None:
    """The body is shorter than its declared length, and the connection ends."""
    _head(connection, "Content-Length: 99999999999999999999")
    connection.sendall(b'{"a": 1')
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)


@_untestable("rest.length-is-nonsense", "")
def length_is_nonsense(connection: socket.socket, method: str, path: str) -> None:
    """The answer declares two lengths, one negative and one in words, and the body is HTML."""
    _head(connection, "Content-Length: -1", "Content-Length: many")
    connection.sendall(b"<html>")
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)


@_untestable("rest.http-0-9", "HTTP")
def http_0_9(connection: socket.socket, method: str, path: str) -> None:
    """The answer has neither status nor headers."""
    connection.sendall(b"{}")
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)


@_untestable("rest.html", "JSON")
def html(connection: socket.socket, method: str, path: str) -> None:
    """An HTML page arrives with status 200."""
    whole(connection, b"<!doctype html><script>alert(1)</script>" * 100, "Content-Type: text/html")


@_untestable("rest.deep-json", "JSON")
def deep_json(connection: socket.socket, method: str, path: str) -> None:
    """JSON nests 100,000 levels deep."""
    whole(connection, b"[" * 100_000 + b"]" * 100_000)


@_untestable("rest.deep-json-error", "JSON")
def deep_json_error(connection: socket.socket, method: str, path: str) -> None:
    """An error's body nests 100,000 levels deep."""
    whole(connection, b'{"error":' * 100_000 + b"1" + b"}" * 100_000, status="400 Bad Request")


@_untestable("rest.million-values", "JSON|values|at most")
def million_values(connection: socket.socket, method: str, path: str) -> None:
    """An answer of 60 MB holds ten million lists."""
    whole(connection, b'{"rows":[' + b"[[]]," * 10_000_000 + b"[]]}")


@_untestable("rest.number-of-a-million-digits", "JSON|digits|number|values")
def number_of_a_million_digits(connection: socket.socket, method: str, path: str) -> None:
    """An answer holds a number of a million digits."""
    whole(connection, b'{"totalRows":' + b"9" * 1_000_000 + b"}")


@_untestable("rest.errors-of-odd-shapes", "")
def errors_of_odd_shapes(connection: socket.socket, method: str, path: str) -> None:
    """An error's body has lists and numbers where objects and texts belong."""
    whole(connection, b'{"error": [{"message": {"a": [null, 1e999, NaN]}}]}', status="500 Oops")


@_untestable("rest.rows-of-odd-shapes", "rows|tabledata|shape|expected|count")
def rows_of_odd_shapes(connection: socket.socket, method: str, path: str) -> None:
    """tabledata.list answers with numbers, texts and lists where rows belong."""
    if method == "GET":
        whole(connection, b'{"totalRows": "4", "rows": [1, "a", [], null, {"f": 1}, {"f": [{"v": {}}, 2]}]}')
    else:
        whole(connection, b'{"insertErrors": []}')


@register("rest.pages-for-ever", Part.REST, Expected(("untestable", "fail")))
def pages_for_ever(connection: socket.socket, method: str, path: str) -> None:
    """Every page of rows is empty and names the same next page."""
    whole(connection, b'{"totalRows": "4", "rows": [], "pageToken": "again"}')


@register(
    "rest.job-never-completes",
    Part.REST,
    Expected(("untestable",), "complete", (1,), later=False),
    settings={"seed": {"paths": ["sql"]}},
)
def job_never_completes(connection: socket.socket, method: str, path: str) -> None:
    """The job of every statement is still running at every request."""
    whole(connection, b'{"jobComplete": false, "jobReference": {"projectId": "p", "jobId": "j"}}')


@_untestable("rest.status-999", "")
def status_999(connection: socket.socket, method: str, path: str) -> None:
    """The status is 999, and its reason consists of control characters."""
    whole(connection, b"{}", status="999 \x1b[31m\x07\x85")


@_untestable("rest.closes-at-once", "")
def closes_at_once(connection: socket.socket, method: str, path: str) -> None:
    """The server closes the connection instead of answering."""


@_untestable("rest.asks-for-a-password", "auth|40[17]|HTTP")
def asks_for_a_password(connection: socket.socket, method: str, path: str) -> None:
    """The server asks for a password with a challenge of a MiB."""
    challenge = "WWW-Authenticate: Digest " + ",".join(f'a{number}="b"' for number in range(5000))
    whole(connection, b"", challenge, status="401 Unauthorized")


@_untestable("rest.sets-cookies", "")
def sets_cookies(connection: socket.socket, method: str, path: str) -> None:
    """A refusal sets ninety cookies."""
    cookies = [f"Set-Cookie: c{number}={'v' * 50}; Path=/" for number in range(90)]
    whole(connection, b"no", *cookies, status="403 Forbidden")
