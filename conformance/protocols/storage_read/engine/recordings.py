"""What is said on Storage Read: the session of each call, and the step that it carries out.

:mod:`.conversed` asks this for the calls that a proxy recorded.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from google.protobuf.message import DecodeError

from conformance.contract import proto
from conformance.readers.queryread import job_in, job_of, results_of
from conformance.records import Call, CallEnd, CreateSession, Expect, ReadResult, ReadRows, RunQuery, SplitStream, Step

__all__ = ["CLAUSES", "driven", "groups"]

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
    "encoding": ("fields-have-their-types", "singular-fields-occur-once"),
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
        "answer-is-a-message",
        "children-are-below-the-session",
        "children-are-the-parent",
        "children-have-names-of-their-own",
        "child-resumes",
        "parent-is-unchanged",
        "splitting-ends",
    ),
}

CLAUSES: Final = frozenset(f"{chapter}.{name}" for chapter, names in _ON_CALLS.items() for name in names)
"""The clauses on calls that requests and answers alone decide. A test shows that each fails on its mutant without the
table, and that none fails on a correct server.
"""


def groups(calls: Sequence[Call]) -> Iterator[tuple[str, str]]:
    """The name of each call's session, empty if nothing names one, and what the call belongs to in words.

    A read or split belongs to the session whose answer named its stream, else to the session in the stream's name. A
    query and the reads of its result belong to its job.
    """
    owner: dict[str, str] = {}
    for call in calls:
        name = _session_of(call, owner)
        yield name, name or f"a {call.method} call outside of any session"


def driven(calls: Sequence[Call]) -> tuple[tuple[Step, ...], tuple[Call, ...]]:
    """The steps that the calls carry out, and the calls with the index of their step."""
    steps, made = [], []
    children: dict[str, str] = {}
    streams: set[str] = set()
    for index, call in enumerate(calls):
        together = call.method == "ReadRows" and _overlaps(call, calls)
        steps.append(_step(index, call, streams, children, together=together))
        made.append(dataclasses.replace(call, step=index))
    return tuple(steps), tuple(made)


def _session_of(call: Call, owner: dict[str, str]) -> str:
    """The name of the call's session, empty if there is none; ``owner`` maps each stream so far to its session."""
    if call.method == RunQuery.METHOD:
        return _job(job_of(call))
    request, answer = _decoded(proto.REQUESTS, call.method, call.request), _answer(call)
    if call.method == "CreateReadSession":
        name = "" if answer is None else str(answer.name)
        owner.update({str(stream.name): name for stream in (answer.streams if answer is not None else ())})
        return name
    if request is None:
        return ""
    stream = str(request.read_stream if call.method == "ReadRows" else request.name)
    name = owner.get(stream) or _job(job_in(stream)) or stream.rpartition("/streams/")[0]
    if call.method == "SplitReadStream" and answer is not None:
        owner.update(
            {str(child.name): name for child in (answer.primary_stream, answer.remainder_stream) if child.name}
        )
    return name


def _job(name: str) -> str:
    return f"the job {name}" if name else ""


def _label(job: str) -> str:
    """The label of the query with this job."""
    return f"job {job}" if job else "a query without a job"


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


def _step(index: int, call: Call, streams: set[str], children: dict[str, str], *, together: bool) -> Step:
    """The step that ``call`` carries out; ``streams`` and ``children`` are those that earlier answers named."""
    expect = Expect((call.status or "OK",))
    if call.method == RunQuery.METHOD:
        return RunQuery(label=_label(job_of(call)), results=results_of(call), expect=expect)
    request, answer = _decoded(proto.REQUESTS, call.method, call.request), _answer(call)
    if call.method == "CreateReadSession":
        streams.update(stream.name for stream in (answer.streams if answer is not None else ()))
        return CreateSession(expect=expect) if request is None else _create(request, expect)
    stream = "" if request is None else str(request.read_stream if call.method == "ReadRows" else request.name)
    if call.method == "ReadRows" and request is not None and (job := job_in(stream)):
        return ReadResult(query=_label(job), offset=str(request.offset), expect=expect)
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
        timestamps=_name(proto.TIMESTAMP_PRECISION, _precision(options)),
        sample_percentage=options.sample_percentage if options.HasField("sample_percentage") else None,
        snapshot="before-append" if session.HasField("table_modifiers") else "",
        parent=request.parent,
        table=session.table,
        trace_id=session.trace_id,
        omit_options=not session.HasField("read_options"),
        expect=expect,
    )


def _precision(options: Any) -> int:
    """The precision of timestamps that the options of either format name; 0 for none."""
    of_arrow: int = options.arrow_serialization_options.picos_timestamp_precision
    return of_arrow or int(options.avro_serialization_options.picos_timestamp_precision)


def _name(numbers: Any, number: int) -> str:
    """The name of an enum's number as a step spells it, or an unknown number itself."""
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
