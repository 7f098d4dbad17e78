"""Text that attacks terminals, builds, XML and readers, wherever a target may put text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import grpc
import pyarrow as pa

from tests.hostile.attack import PATIENT, Act, Expected, Part, register
from tests.hostile.rest import whole

__all__: list[str] = []

MIB: Final = 1 << 20
REFUSED: Final = Expected(("refused", "fail", "crash"))
UNTESTABLE: Final = Expected(("untestable",), "cannot seed")
BUILD: Final = (
    "\n::error file=a,line=1::HOSTILE\r\n##vso[task.complete result=Failed]HOSTILE\n##[error]HOSTILE\n##teamcity[x]"
)
TERMINAL: Final = "\x1b]0;HOSTILE\x07\x1b[2J\x1b[31m\x9b1m\x08\x08\x7f\x00\x0b\x0c"
UNICODE: Final = "\u202eHOSTILE\u202c\u2066\u2028\u2029\ufeff\ufffe\uffff\U000e0041\u200b"
MARKUP: Final = (
    "]]></failure></testsuite><script>alert(1)</script><img src=x onerror=alert(1)>&#0;'\"`{{7*7}}[bold red]"
)


def _session(name: str, expected: Expected = REFUSED, **more: Any) -> Callable[[Act], Act]:
    return register(name, Part.SESSION, expected, **more)


def _rows(name: str, expected: Expected = REFUSED, **more: Any) -> Callable[[Act], Act]:
    return register(name, Part.ROWS, expected, **more)


def _rest(name: str, expected: Expected = UNTESTABLE, **more: Any) -> Callable[[Act], Act]:
    return register(name, Part.REST, expected, **more)


def _refuse(context: Any, details: str | bytes) -> None:
    context.set_code(grpc.StatusCode.INTERNAL)
    context.set_details(details)
    context.abort(grpc.StatusCode.INTERNAL, details)


@_session("text.status-for-terminals", settings={"deadlines": PATIENT})
def status_for_terminals(answer: Any, context: Any) -> None:
    """The message of a status contains escape sequences and control characters."""
    _refuse(context, TERMINAL)


@_session("text.status-for-builds")
def status_for_builds(answer: Any, context: Any) -> None:
    """The message of a status contains commands for CI systems, each on its own line."""
    _refuse(context, BUILD)


@_session("text.status-of-odd-unicode")
def status_of_odd_unicode(answer: Any, context: Any) -> None:
    """The message of a status contains direction marks, separators and noncharacters."""
    _refuse(context, UNICODE)


@_session("text.status-of-markup")
def status_of_markup(answer: Any, context: Any) -> None:
    """The message of a status contains XML and HTML end tags, a script, and template expressions."""
    _refuse(context, MARKUP)


@_session("text.status-is-no-utf8")
def status_is_no_utf8(answer: Any, context: Any) -> None:
    """The message of a status contains bytes that are not UTF-8, including surrogates."""
    _refuse(context, b"\xff\xfe\xed\xa0\x80\xed\xbf\xbf\xf4\x90\x80\x80")


@_session("text.status-of-a-mib")
def status_of_a_mib(answer: Any, context: Any) -> None:
    """The message of a status has a MiB."""
    _refuse(context, "m" * MIB)


@_rows("text.status-in-the-stream")
def status_in_the_stream(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """A stream ends after its first response with a status whose message combines all of these."""
    yield next(answers)
    _refuse(context, BUILD + TERMINAL + UNICODE + MARKUP)


@_session("text.column-names")
def column_names(answer: Any, context: Any) -> None:
    """The names of the session's columns contain commands, escapes and markup."""
    names = [BUILD, TERMINAL, UNICODE, MARKUP, "n" * MIB]
    schema = pa.schema([pa.field(name, pa.int64()) for name in names])
    answer.arrow_schema.serialized_schema = schema.serialize().to_pybytes()


@_session("text.metadata")
def metadata(answer: Any, context: Any) -> None:
    """Keys and values of the schema metadata, and a time zone, contain commands, escapes and markup."""
    hostile = {BUILD: TERMINAL, UNICODE: MARKUP, b"\xff": b"\xff\xed\xa0\x80"}
    zone = pa.timestamp("us", tz=BUILD + TERMINAL + UNICODE)
    schema = pa.schema([pa.field("row_id", zone, metadata=hostile)], metadata=hostile)
    answer.arrow_schema.serialized_schema = schema.serialize().to_pybytes()


@_session("text.session-names")
def session_names(answer: Any, context: Any) -> None:
    """The names of session, table and stream contain commands, escapes and markup."""
    answer.name += BUILD + TERMINAL
    answer.table += UNICODE + MARKUP
    answer.trace_id = BUILD
    answer.streams[0].name += TERMINAL + MARKUP


@_rows("text.trailers")
def trailers(answers: Iterator[Any], context: Any) -> Iterator[Any]:
    """Trailing metadata has bytes that are not text, with the names of binary values."""
    yield next(answers)
    context.set_trailing_metadata((("x-bin", b"\xff\xed\xa0\x80\x1b[2J"), ("grpc-status-details-bin", b"\xff" * 4096)))
    _refuse(context, "details are elsewhere")


def _error(text: bytes) -> bytes:
    return b'{"error": {"message": "' + text + b'"}}'


@_rest("text.rest-lone-surrogates")
def rest_lone_surrogates(connection: Any, method: str, path: str) -> None:
    """An error's message over REST is a lone surrogate."""
    whole(connection, _error(rb"\ud800 and \udfff"), status="400 Bad Request")


@_rest("text.rest-for-builds")
def rest_for_builds(connection: Any, method: str, path: str) -> None:
    """An error message over REST contains control sequences for CI systems and terminals."""
    whole(connection, _error(rb"\n::error::HOSTILE\n##vso[task.complete]\u001b[2J\u0000"), status="400 Bad Request")


@_rest("text.rest-no-utf8")
def rest_no_utf8(connection: Any, method: str, path: str) -> None:
    """The body of an error over REST consists of bytes that are not text."""
    whole(connection, bytes(range(256)) * 20, status="500 \xff\x1b[31m")


@_rest("text.rest-keys")
def rest_keys(connection: Any, method: str, path: str) -> None:
    """Errors of rows have locations and reasons that contain escapes and lone surrogates."""
    hostile = rb'"\n::error::HOSTILE\ud800\u001b[2J"'
    entry = b'{"index": %s, "errors": [{%s: %s}]}' % (hostile, hostile, hostile)
    whole(connection, b'{"insertErrors": [' + entry + b'], "totalRows": %s, "rows": [{"f": %s}]}' % (hostile, hostile))
