"""The answers of AppendRows: one to each request, in their order, with a result or an error."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from conformance.contract.clause import Violation, clause
from conformance.contract.sources import (
    GO_WRITE_TEST,
    JAVA_WRITE_TEST,
    PROTOBUF,
    PYTHON_WRITE_SAMPLE,
    STORAGE_PROTO,
    WRITE_GUIDE,
    Inferred,
)
from conformance.contract.view import once_per_view
from conformance.protocols.storage_write.contract import WRITE
from conformance.protocols.storage_write.contract.subjects import LARGE, LARGEST_TAKEN, AppendView, Why
from conformance.protocols.storage_write.contract.view import WriteCall, WriteView
from conformance.protocols.storage_write.records import SHORT_DEFAULT
from conformance.protocols.storage_write.wire.messages import METHODS, SPECS
from conformance.records import BqType, Level, Mode, types_in
from conformance.wire.protobuf import read_protobuf
from conformance.wire.protobufrules import ProtobufRule

_clause = functools.partial(clause, profiles=WRITE)


class _Message(NamedTuple):
    """A message of an answer of BigQueryWrite."""

    call: int
    response: int
    method: str
    data: bytes


@once_per_view
def _messages(view: WriteView) -> list[_Message]:
    return [
        _Message(call.index, at, call.raw.method, data)
        for call in view.served
        for at, data in enumerate(call.raw.responses if call.raw.method in METHODS else ())
    ]


@_clause("storage-write-answer.is-a-message", over=_messages, source=(PROTOBUF, STORAGE_PROTO))
def is_a_message(one: _Message) -> Iterator[Violation]:
    """Every answer is a message of its type, encoded as protobuf."""
    reading = read_protobuf(one.data, SPECS[METHODS[one.method][1]])
    for fault in reading.violations:
        if fault.rule is not ProtobufRule.WIRE_TYPE_DIFFERS:  # parsers take it for a field that they do not know
            yield Violation(fault.required, fault.observed, fault.path, start=fault.start, end=fault.end)
            return


def _answered(view: WriteView) -> Sequence[AppendView]:
    return [one for one in view.appends if one.answer is not None]


_ONLY_DOCUMENTED: Final = frozenset({BqType.RECORD, BqType.JSON, BqType.INTERVAL})
"""Types of which no public record shows that the service takes them in Arrow; of lists there is none either."""


def _lawful(view: WriteView, *, recorded: bool = True) -> Sequence[AppendView]:
    """The lawful appends that begin their connection, all of whose columns are ``recorded``, or the others."""
    columns = view.case.table.columns
    known = types_in(columns).isdisjoint(_ONLY_DOCUMENTED) and all(one.mode is not Mode.REPEATED for one in columns)
    found = [one for one in _first(view) if one.size <= LARGE and not _follows_too_large(view, one)]
    return [one for one in found if (known and not _has_other_columns(one)) is recorded]


def _first(view: WriteView) -> Sequence[AppendView]:
    """The lawful appends that begin their connection, while no other connection to their stream is open."""
    return [one for one in view.appends if not one.why and one.at == 0 and not one.has_another_open]


def _follows_too_large(view: WriteView, append: AppendView) -> bool:
    """True if a request to the same stream was refused before, because it is too large."""
    return append.stream is not None and _too_large(view).get(append.stream.name, append.call) < append.call


@once_per_view
def _too_large(view: WriteView) -> Mapping[str, int]:
    """The first call to each stream, by its name, that was refused because a request is too large."""
    refused = [one for one in view.appends if one.why == {Why.TOO_LARGE} and one.refused and one.stream is not None]
    return {one.stream.name: one.call for one in reversed(refused) if one.stream is not None}


@_clause(
    "storage-write-answer.one-to-each-request",
    over=lambda view: [call for call in view.calls_of("AppendRows") if call.ok],
    source=STORAGE_PROTO,
    breaks=(
        "the Java client, which matches answers to requests by their order (from its source): it waits for ever, or"
        " takes an answer for that to another request"
    ),
)
def one_to_each_request(call: WriteCall) -> Iterator[Violation]:
    """A connection on which the client has sent its last request ends in OK after one answer to each request.

    storage.proto: "Responses are received in the same order in which requests are sent."
    """
    wanted, came = len(call.raw.requests), len(call.raw.responses)
    if wanted != came:
        yield Violation(f"{wanted} answers", f"{came} answers")


@_clause("storage-write-answer.has-a-result-or-an-error", over=_answered, source=(JAVA_WRITE_TEST, STORAGE_PROTO))
def has_a_result_or_an_error(one: AppendView) -> Iterator[Violation]:
    """An answer has a result if the rows are written, and else an error."""
    if one.answer.WhichOneof("response") is None:
        yield Violation("append_result or error", "neither")


@_clause(
    "storage-write-answer.error-has-a-code",
    over=lambda view: [one for one in view.appends if one.in_band],
    source=(JAVA_WRITE_TEST, STORAGE_PROTO),
    breaks="clients that decide by the code whether to send the request again",
)
def error_has_a_code(one: AppendView) -> Iterator[Violation]:
    """The error of an answer has a code of gRPC other than OK."""
    code = one.answer.error.code
    if not 1 <= code <= 16:
        yield Violation("a code from 1 to 16", f"code {code}", field="error.code")


@_clause(
    "storage-write-answer.names-the-stream",
    over=lambda view: [one for one in _answered(view) if one.request.write_stream and one.step.stream != SHORT_DEFAULT],
    source=STORAGE_PROTO,
    level=Level.SHOULD,
    breaks="clients that write several streams on one connection",
)
def names_the_stream(one: AppendView) -> Iterator[Violation]:
    """The answer to a request that names its stream names the same stream.

    storage.proto: "The target of the append operation. Matches the write_stream in the corresponding request."
    """
    wanted, came = one.request.write_stream, one.answer.write_stream
    if wanted != came:
        yield Violation(repr(wanted), repr(came), field="write_stream")


@_clause(
    "storage-write-answer.lawful-is-acknowledged",
    over=lambda view: [one for one in _lawful(view) if not _is_default(one)],
    source=JAVA_WRITE_TEST,
    breaks="every client",
)
def lawful_is_acknowledged(one: AppendView) -> Iterator[Violation]:
    """An append of rows that fit the table, to a stream that was created, is acknowledged."""
    yield from _refused(one)


@_clause(
    "storage-write-answer.default-is-acknowledged",
    over=lambda view: [one for one in _lawful(view) if _is_default(one) and one.step.stream != SHORT_DEFAULT],
    source=(JAVA_WRITE_TEST, PYTHON_WRITE_SAMPLE),
    breaks="every client that writes to the default stream",
)
def default_is_acknowledged(one: AppendView) -> Iterator[Violation]:
    """An append to the default stream of a table, by its full name, is acknowledged."""
    yield from _refused(one)


@_clause(
    "storage-write-answer.short-default-is-acknowledged",
    over=lambda view: [one for one in _lawful(view) if one.step.stream == SHORT_DEFAULT],
    source=(JAVA_WRITE_TEST, PYTHON_WRITE_SAMPLE),
    breaks="Google's own samples: https://github.com/goccy/bigquery-emulator/issues/246",
)
def short_default_is_acknowledged(one: AppendView) -> Iterator[Violation]:
    """The name of a table and ``/_default``, without ``/streams``, names its default stream as well."""
    yield from _refused(one)


@_clause(
    "storage-write-answer.documented-type-is-acknowledged",
    over=lambda view: [one for one in _lawful(view, recorded=False) if not _has_other_columns(one)],
    source=WRITE_GUIDE,
    level=Level.SHOULD,
    breaks="every client with such columns",
)
def documented_type_is_acknowledged(one: AppendView) -> Iterator[Violation]:
    """An append of rows with RECORD, JSON, INTERVAL or REPEATED columns is acknowledged.

    The guide's table of Arrow types has them. No public program is known to write them to the service in Arrow.
    """
    yield from _refused(one)


@_clause(
    "storage-write-answer.columns-by-name-are-acknowledged",
    over=lambda view: [one for one in _lawful(view, recorded=False) if _has_other_columns(one)],
    source=Inferred(GO_WRITE_TEST),
    level=Level.SHOULD,
    breaks="clients whose programs are older than a column of the table, or have its columns in another order",
)
def columns_by_name_are_acknowledged(one: AppendView) -> Iterator[Violation]:
    """An append of rows that lack a NULLABLE column of the table, or have its columns in another order, is
    acknowledged.

    It was recorded of rows in protobuf; of rows in Arrow it is inferred.
    """
    yield from _refused(one)


@_clause(
    "storage-write-answer.second-writer-is-acknowledged",
    over=lambda view: [one for one in view.appends if not one.why and one.has_another_open and _is_default(one)],
    source=WRITE_GUIDE,
    level=Level.SHOULD,
    breaks="programs that write to the default stream from several processes or threads",
)
def second_writer_is_acknowledged(one: AppendView) -> Iterator[Violation]:
    """An append to the default stream is acknowledged while another connection to this stream is open.

    The guide lets any number of clients write to the default stream at the same time.
    """
    yield from _refused(one)


@_clause(
    "storage-write-answer.large-is-acknowledged",
    over=lambda view: [one for one in _first(view) if LARGE < one.size <= LARGEST_TAKEN],
    source=PYTHON_WRITE_SAMPLE,
    breaks=(
        "Google's sample for Python, which puts 7 MB of rows into a request, and bigframes, which puts 5 MB; servers on"
        " gRPC with its default limit of 4 MiB end such calls"
    ),
)
def large_is_acknowledged(one: AppendView) -> Iterator[Violation]:
    """An append of more than 4 MiB and at most 7 MB is acknowledged."""
    yield from _refused(one)


@_clause(
    "storage-write-answer.too-large-is-refused",
    over=lambda view: [one for one in view.appends if one.why == {Why.TOO_LARGE} and (one.acknowledged or one.refused)],
    source=(STORAGE_PROTO, GO_WRITE_TEST),
    level=Level.SHOULD,
    breaks="programs that are tested with such a server: the service refuses their requests",
)
def too_large_is_refused(one: AppendView) -> Iterator[Violation]:
    """An append of more than 20 MB is refused, in an answer or by the end of the call.

    storage.proto: "The size of a single AppendRowsRequest must be less than 20 MB in size. Requests larger than this
    return an error". A server of a machine of one's own may have no such limit.
    """
    if one.acknowledged:
        yield Violation("an error", "append_result")


@_clause(
    "storage-write-answer.small-follows-too-large",
    over=lambda view: [one for one in _first(view) if _follows_too_large(view, one)],
    source=GO_WRITE_TEST,
    breaks="clients that divide a request that is too large, and send its rows again",
)
def small_follows_too_large(one: AppendView) -> Iterator[Violation]:
    """After an append that is too large was refused, one that is not is acknowledged, on another connection."""
    yield from _refused(one)


def _has_other_columns(one: AppendView) -> bool:
    return bool(one.step.omit) or one.step.backwards


def _is_default(one: AppendView) -> bool:
    return one.stream is not None and one.stream.is_default


def _refused(one: AppendView) -> Iterator[Violation]:
    if one.refused:
        yield Violation("append_result", _error_of(one))


def _error_of(one: AppendView) -> str:
    """The error of an append, in words, without the names of the case's table: one fault has one text in all cases."""
    if not one.in_band:
        return f"the call ended in {one.status}"
    text, stream = str(one.answer.error.message), str(one.request.write_stream)
    for name, word in zip((stream, *stream.split("/")[5:6]), ("STREAM", "TABLE"), strict=False):
        text = text.replace(name, word) if name else text
    return f"code {one.answer.error.code}: {text}"
