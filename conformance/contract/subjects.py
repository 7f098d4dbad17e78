"""What the clauses on calls are asked about: sessions, reads, refusals.

A request is asked about by one group of clauses only, by what is distinctive in it (:class:`Feature`): so that a server
which refuses every ``row_restriction`` is told so by the clauses on restrictions, and not by every clause on rows.
A selector returns an empty list where an exchange shows nothing of its kind.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TypeVar

from conformance.contract.clause import Violation
from conformance.contract.closed import Feature
from conformance.contract.raised import attempt, raise_or_give
from conformance.contract.view import CallView, ReadView, SessionView, SplitView, View
from conformance.records import AppendRows, CallEnd

__all__ = [
    "OPEN_OPTIONS",
    "after_abandoned",
    "answered",
    "appended_rows",
    "created",
    "feature",
    "full_reads",
    "is_child",
    "once_per_view",
    "read_feature",
    "refused",
    "refused_as",
    "served",
    "to_refuse",
    "valid_reads",
    "valid_sessions",
    "was_split",
]

T = TypeVar("T")


def once_per_view(select: Callable[[View], T]) -> Callable[[View], T]:
    """Make a selector work its subjects out once for each view; what it raises is raised again to each who asks."""

    @functools.wraps(select)
    def remembered(view: View) -> T:
        return raise_or_give(view.once(select, lambda: attempt(lambda: select(view))))

    return remembered


OPEN_OPTIONS = frozenset(
    {Feature.PROJECTION, Feature.FOREIGN_PARENT, Feature.NO_OPTIONS, Feature.PREFERRED_STREAMS,
     Feature.SEVERAL_STREAMS, Feature.PLAIN}
)  # fmt: skip
"""Features under which a read is a plain one: how the session was asked for does not change how rows arrive."""

LARGE_BYTES = 8 << 20
"""A table of so many Arrow bytes is large: every default limit on a message's size in use lies below it."""


def feature(session: SessionView) -> Feature:
    """What is distinctive in a CreateReadSession request and in the case around it."""
    return session.view.once(
        ("feature", session.index), lambda: next(name for name, applies in _applies(session) if applies)
    )


def _applies(session: SessionView) -> Iterator[tuple[Feature, bool]]:
    step, view = session.step, session.view
    yield Feature.SNAPSHOT, bool(step.snapshot)
    yield Feature.APPEND, bool(appended_rows(view))
    yield Feature.FILTERED_PROJECTION, bool(step.row_restriction and step.selected_fields)
    yield Feature.RESTRICTION, bool(step.row_restriction)
    yield Feature.RESPONSE_CODEC, bool(step.response_compression)
    yield Feature.BODY_CODEC, bool(step.buffer_compression)
    yield Feature.LARGE, view.table.nbytes >= LARGE_BYTES
    yield Feature.ABANDONED, after_abandoned(session)
    yield Feature.PROJECTION, bool(step.selected_fields)
    yield Feature.FOREIGN_PARENT, bool(step.parent)
    yield Feature.NO_OPTIONS, step.omit_options
    yield Feature.PREFERRED_STREAMS, step.preferred_min_stream_count > 0
    yield Feature.SEVERAL_STREAMS, step.max_stream_count > 1
    yield Feature.PLAIN, True


def read_feature(read: ReadView) -> Feature | None:
    """What is distinctive in a ReadRows request: in its session, or in what came before; None without a session."""
    if read.session is None:
        return None
    found = feature(read.session)
    return Feature.ABANDONED if found in OPEN_OPTIONS and after_abandoned(read) else found


def appended_rows(view: View) -> int:
    """Rows that the AppendRows steps of the case bring; the seed holds the others."""
    return sum(step.count for step in view.case.steps if isinstance(step, AppendRows))


def after_abandoned(call: CallView) -> bool:
    """Whether a read was abandoned before this call."""
    return any(index < call.index for index in _cancelled(call.view))


@once_per_view
def _cancelled(view: View) -> list[int]:
    return [call.index for call in view.calls if call.raw.end is CallEnd.CANCELLED]


def is_child(read: ReadView) -> bool:
    """Whether the read is of a split's child."""
    return "." in read.step.stream


def was_split(read: ReadView) -> bool:
    """Whether the stream was divided into children before this read."""
    splits = (split for split in read.view.splits if split.index < read.index and split.answer is not None)
    return any(split.request.name == read.stream and split.answer.primary_stream.name for split in splits)


def answered(call: CallView) -> bool:
    """Whether the target ended the call itself, with any status."""
    return call.raw.end is CallEnd.COMPLETE


def _must_be_ok(call: CallView) -> bool:
    return answered(call) and call.expected_codes == ("OK",)


@once_per_view
def valid_sessions(view: View) -> list[SessionView]:
    """Every answered CreateReadSession call that has to end in OK."""
    return [session for session in view.sessions if _must_be_ok(session)]


@once_per_view
def valid_reads(view: View) -> list[ReadView]:
    """Every answered ReadRows call that has to end in OK, on streams of a session that was made."""
    return [read for read in view.reads if _must_be_ok(read) and read.session is not None and read.session.ok]


@once_per_view
def created(view: View) -> list[SessionView]:
    """Every session that the target made and described, and that it had not to refuse."""
    return [s for s in view.sessions if s.session is not None and "OK" in s.expected_codes]


@once_per_view
def full_reads(view: View) -> list[ReadView]:
    """Every read of a session's own stream from its first row to OK, all of whose rows could be decoded."""
    return [
        read
        for read in view.reads
        if read.whole and read.session is not None and not is_child(read) and read.batches is not None
    ]


def refused_as(*reasons: str) -> Callable[[View], list[CallView]]:
    """The selector of answered calls that have to be refused for one of ``reasons``, whatever they ended in."""

    def select(view: View) -> list[CallView]:
        return [call for call in to_refuse(view) if _reason(call) in reasons]

    return select


@once_per_view
def to_refuse(view: View) -> list[CallView]:
    """Every answered call whose step gives a reason for which it has to be refused."""
    return [call for call in view.calls if answered(call) and _reason(call) and "OK" not in call.expected_codes]


def _reason(call: CallView) -> str:
    assert isinstance(call, SessionView | ReadView | SplitView)
    return call.step.expect.reason


def served(call: CallView, what: str) -> Iterator[Violation]:
    """The violation of a valid call that did not end in OK."""
    if call.raw.status != "OK":
        yield Violation(f"status OK for {what}", f"{call.raw.status}: {call.raw.details}")


def refused(call: CallView, what: str) -> Iterator[Violation]:
    """The violation of a call that ended in OK although ``what`` has to be refused."""
    if call.raw.status == "OK":
        yield Violation(f"a status other than OK for {what}", "OK")
