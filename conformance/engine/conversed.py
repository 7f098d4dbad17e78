"""What a client and its server said to each other, as cases: sessions with their reads and splits, and no table.

A proxy records calls one by one. Here the calls on one session become one exchange, and its case is made from the
requests: each call carries out the step that it asked for. Nobody knows the table, and nobody says which requests had
to be refused. So the server's word decides: a call that ended in OK was legal, and a refusal was permitted. Clauses
that need to know more are not judged (:data:`CLAUSES_ON_CALLS`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from google.protobuf.message import DecodeError

from conformance.contract import proto
from conformance.contract.clause import Clause
from conformance.contract.messages import Messages
from conformance.engine.events import ExchangeRecorded
from conformance.engine.selection import LeftOut
from conformance.records import (
    Asker,
    AskerKind,
    Call,
    CallEnd,
    Case,
    CreateSession,
    Exchange,
    Expect,
    ReadRows,
    SplitStream,
    Step,
    Table,
)

__all__ = ["CLAUSES_ON_CALLS", "UNKNOWN_TABLE", "as_driven", "conversations", "is_conversed", "without_table"]

UNKNOWN_TABLE: Final = Table((), rows=())
"""The table of a case whose table nobody knows: no columns."""

_ON_CALLS: Final[Mapping[str, tuple[str, ...]]] = {
    "compression": (
        "codec-is-the-one-asked-for",
        "lz4-frame-is-applied",
        "none-without-asking",
        "payload-has-its-size",
        "payload-size-is-positive-or-minus-one",
        "payload-size-is-set",
        "zstd-is-applied",
    ),
    "offsets": (
        "between-responses",
        "end-yields-nothing",
        "inside-a-response",
        "last-row",
        "resumed-schema-is-the-sessions",
    ),
    "responses": ("stay-within-128-mb",),
    "rows": (
        "deprecated-count-is-zero-or-true",
        "every-batch-has-rows",
        "every-response-has-a-payload",
        "first-response-has-the-schema",
        "payload-is-of-the-format",
        "progress-does-not-fall",
        "progress-is-a-fraction",
        "progress-starts-before-it-ends",
        "reading-together-repeats",
        "rereading-repeats",
        "response-is-a-message",
        "row-count-is-true",
        "schema-is-the-sessions",
        "throttling-is-a-percentage",
        "uncompressed-size-is-unset",
    ),
    "session": (
        "answer-is-a-session",
        "carries-a-schema",
        "data-format-is-echoed",
        "estimates-are-not-negative",
        "expire-time-is-ahead",
        "expire-time-is-an-instant",
        "expire-time-is-set",
        "expire-time-is-six-hours-ahead",
        "name-has-the-pattern",
        "name-is-in-the-parent",
        "names-differ",
        "read-options-are-echoed",
        "schema-is-of-the-format",
        "stream-names-differ",
        "streams-are-below-it",
        "streams-stay-below-a-thousand",
        "streams-stay-below-the-maximum",
        "table-is-echoed",
        "trace-id-is-echoed",
    ),
    "snapshot": ("time-is-echoed",),
    "split": (
        "answer-has-two-children-or-none",
        "children-are-below-the-session",
        "children-are-the-parent",
        "children-have-names-of-their-own",
        "child-resumes",
        "parent-is-unchanged",
        "splitting-ends",
    ),
}

CLAUSES_ON_CALLS: Final = frozenset(f"{chapter}.{name}" for chapter, names in _ON_CALLS.items() for name in names)
"""The clauses on calls that requests and answers alone decide. A test shows that each fails on its mutant without the
table, and that none fails on a correct server.
"""

NOT_KNOWN: Final = "needs the table, or to know which requests must be refused; a recorded conversation has neither"


def without_table(clauses: Iterable[Clause]) -> tuple[tuple[Clause, ...], tuple[LeftOut, ...]]:
    """The clauses of ``clauses`` that judge an exchange without a table, and the others with the reason."""
    every = tuple(clauses)
    kept = tuple(one for one in every if isinstance(one.over, Messages) or one.id in CLAUSES_ON_CALLS)
    return kept, tuple(LeftOut("clause", one.id, NOT_KNOWN) for one in every if one not in kept)


def is_conversed(recorded: ExchangeRecorded) -> bool:
    """True if a proxy recorded the exchange without a case: it has neither table nor steps."""
    case, asked_by = recorded.case, recorded.exchange.asked_by
    return asked_by.kind is AskerKind.PROXY and not case.steps and case.table == UNKNOWN_TABLE


def conversations(recorded: Iterable[ExchangeRecorded]) -> tuple[ExchangeRecorded, ...]:
    """The calls of ``recorded`` grouped by session name, each group as one exchange; groups in order of first call.

    A read or split belongs to the session whose answer named its stream, else to the session in the stream's name. A
    call whose session nothing names is an exchange of its own. Two answers with one session name are one exchange, so
    that the clause on different names sees both.
    """
    groups: dict[str, list[tuple[Call, Exchange]]] = {}
    owner: dict[str, str] = {}
    calls = [(call, one.exchange) for one in recorded for call in one.exchange.calls]
    for call, exchange in sorted(calls, key=lambda pair: _instant(*pair)):
        key = _session_of(call, owner) or f"call {len(groups)}"
        groups.setdefault(key, []).append((call, exchange))
    return tuple(_gathered(number, key, pairs) for number, (key, pairs) in enumerate(groups.items(), 1))


def _instant(call: Call, exchange: Exchange) -> float:
    """The start of a call in seconds since the Unix epoch."""
    return exchange.now / 1e6 + call.started


def _session_of(call: Call, owner: dict[str, str]) -> str:
    """The name of the call's session, empty if there is none; ``owner`` maps each stream so far to its session."""
    request, answer = _decoded(proto.REQUESTS, call.method, call.request), _answer(call)
    if call.method == "CreateReadSession":
        name = "" if answer is None else str(answer.name)
        owner.update({str(stream.name): name for stream in (answer.streams if answer is not None else ())})
        return name
    if request is None:
        return ""
    stream = str(request.read_stream if call.method == "ReadRows" else request.name)
    name = owner.get(stream) or stream.rpartition("/streams/")[0]
    if call.method == "SplitReadStream" and answer is not None:
        owner.update(
            {str(child.name): name for child in (answer.primary_stream, answer.remainder_stream) if child.name}
        )
    return name


def _answer(call: Call) -> Any:
    """The decoded answer of a unary call that ended in OK, else None."""
    if call.status != "OK" or call.end is not CallEnd.COMPLETE or not call.responses:
        return None
    return _decoded(proto.RESPONSES, call.method, call.responses[0])


def _decoded(kinds: Any, method: str, data: bytes) -> Any:
    try:
        return kinds[method].FromString(data)
    except DecodeError:
        return None


def _gathered(number: int, name: str, pairs: Sequence[tuple[Call, Exchange]]) -> ExchangeRecorded:
    """One exchange of a group: its clock is that of its first call."""
    (first, exchange), began = pairs[0], _instant(*pairs[0])
    calls = tuple(dataclasses.replace(call, started=_instant(call, one) - began) for call, one in pairs)
    said = name if "/" in name else f"a {first.method} call outside of any session"
    case = Case(f"recorded.{number:04}", f"{exchange.asked_by} and its server: {said}", UNKNOWN_TABLE, steps=())
    now = exchange.now + round(first.started * 1e6)
    return ExchangeRecorded(case, dataclasses.replace(exchange, case_id=case.id, calls=calls, now=now))


# --- as the judge sees it ---------------------------------------------------------------------------


def as_driven(recorded: ExchangeRecorded) -> ExchangeRecorded:
    """A conversation in the form of an exchange of the suite's driver: with a step for each call, made from its
    request.
    """
    steps, calls = [], []
    children: dict[str, str] = {}
    streams: set[str] = set()
    for index, call in enumerate(recorded.exchange.calls):
        together = call.method == "ReadRows" and _overlaps(call, recorded.exchange.calls)
        steps.append(_step(index, call, streams, children, together=together))
        calls.append(dataclasses.replace(call, step=index))
    case = dataclasses.replace(recorded.case, steps=tuple(steps))
    return ExchangeRecorded(case, dataclasses.replace(recorded.exchange, calls=tuple(calls), asked_by=Asker()))


def _step(index: int, call: Call, streams: set[str], children: dict[str, str], *, together: bool) -> Step:
    """The step that ``call`` carries out; ``streams`` and ``children`` are those that earlier answers named."""
    expect = Expect((call.status or "OK",))
    request, answer = _decoded(proto.REQUESTS, call.method, call.request), _answer(call)
    if call.method == "CreateReadSession":
        streams.update(stream.name for stream in (answer.streams if answer is not None else ()))
        return CreateSession(expect=expect) if request is None else _create(request, expect)
    stream = "" if request is None else str(request.read_stream if call.method == "ReadRows" else request.name)
    # A name that no answer gave is a literal name, so that the read is not taken for one of the session.
    place = children.get(stream, "0" if stream in streams else "")
    literal = "" if place else stream or "?"
    if call.method == "ReadRows":
        offset = "0" if request is None else str(request.offset)
        return ReadRows(stream=place or "0", name=literal, offset=offset, together=together, expect=expect)
    label = f"x{index}"
    if answer is not None:
        children[str(answer.primary_stream.name)] = f"{label}.primary"
        children[str(answer.remainder_stream.name)] = f"{label}.remainder"
    fraction = 0.5 if request is None else float(request.fraction)
    return SplitStream(label=label, stream=place or "0", name=literal, fraction=fraction, expect=expect)


def _create(request: Any, expect: Expect) -> CreateSession:
    session = request.read_session
    options = session.read_options
    body = options.arrow_serialization_options.buffer_compression
    return CreateSession(
        data_format=_name(proto.DATA_FORMAT, session.data_format),
        selected_fields=tuple(options.selected_fields),
        row_restriction=options.row_restriction,
        max_stream_count=request.max_stream_count,
        preferred_min_stream_count=request.preferred_min_stream_count,
        buffer_compression=_name(proto.COMPRESSION, body),
        response_compression=_name(proto.RESPONSE_COMPRESSION, options.response_compression_codec),
        sample_percentage=options.sample_percentage if options.HasField("sample_percentage") else None,
        snapshot="before-append" if session.HasField("table_modifiers") else "",
        parent=request.parent,
        table=session.table,
        trace_id=session.trace_id,
        omit_options=not session.HasField("read_options"),
        expect=expect,
    )


def _name(numbers: Any, number: int) -> str:
    """The name of an enum's number as a step spells it; an unknown number stands for itself."""
    return next((name for name, one in numbers.items() if one == number), str(number))


def _overlaps(call: Call, calls: Sequence[Call]) -> bool:
    """True if another read with the same request ran at the same time."""
    return any(
        other is not call
        and other.method == call.method
        and other.request == call.request
        and other.started < call.started + call.seconds
        and call.started < other.started + other.seconds
        for other in calls
    )


def judgeable(recorded: Iterable[ExchangeRecorded]) -> Iterator[ExchangeRecorded]:
    """Every exchange in the form in which it is judged."""
    return (as_driven(one) if is_conversed(one) else one for one in recorded)
