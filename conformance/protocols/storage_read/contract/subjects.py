"""The subjects of the clauses on calls: sessions, reads, refusals.

One group of clauses only judges a request, chosen by the distinctive feature of the request (:class:`Feature`). So
if a server refuses every ``row_restriction``, the clauses on restrictions report it, and not every clause on rows. A
selector returns an empty list if an exchange contains no such subject.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

from conformance.contract.clause import Violation
from conformance.contract.closed import Feature
from conformance.contract.offers import may_be_absent
from conformance.contract.subjects import after_abandoned, answered
from conformance.contract.view import once_per_view
from conformance.protocols.storage_read.contract.view import ReadView, SessionView, SplitView, StorageCall, StorageView
from conformance.records import AppendRows, ChangeColumns, Happening, Meanwhile, Step

__all__ = [
    "OPEN_OPTIONS",
    "appended_rows",
    "before_step",
    "changes_columns",
    "created",
    "derived",
    "feature",
    "full_reads",
    "is_child",
    "is_on",
    "isolates",
    "outlived",
    "read_feature",
    "refused",
    "refused_as",
    "served",
    "to_refuse",
    "valid_reads",
    "valid_sessions",
    "was_split",
]

OPEN_OPTIONS = frozenset(
    {Feature.PROJECTION, Feature.FOREIGN_PARENT, Feature.NO_OPTIONS, Feature.PREFERRED_STREAMS,
     Feature.SEVERAL_STREAMS, Feature.PLAIN}
)  # fmt: skip
"""Features of a plain read: the options of the session do not change how rows arrive."""

LARGE_BYTES = 8 << 20
"""The Arrow size in bytes from which a table is large: every default limit on message size in use is below it."""


def feature(session: SessionView) -> Feature:
    """Return the distinctive feature of a CreateReadSession request in its case."""
    return session.view.once(
        ("feature", session.index), lambda: next(name for name, applies in _applies(session) if applies)
    )


def _applies(session: SessionView) -> Iterator[tuple[Feature, bool]]:
    step, view = session.step, session.view
    yield Feature.OFFERED_OR_NOT, may_be_absent(step)
    yield Feature.QUERY_RESULT, is_on(session, *Happening.queries())
    yield Feature.PARTITIONED, is_on(session, Happening.PARTITIONED, Happening.INGESTION_TIME)
    yield Feature.SAMPLE, step.sample_percentage is not None
    yield Feature.SNAPSHOT, bool(step.snapshot)
    yield Feature.COLUMNS, changes_columns(view)
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


_CIRCUMSTANCES = frozenset(
    {
        Feature.QUERY_RESULT,
        Feature.PARTITIONED,
        Feature.COLUMNS,
        Feature.APPEND,
        Feature.LARGE,
        Feature.ABANDONED,
        Feature.PLAIN,
    }
)
"""Features of what surrounds a request. The request itself does not ask for them."""

_INCLUDES = {
    Feature.FILTERED_PROJECTION: frozenset({Feature.RESTRICTION, Feature.PROJECTION}),
    Feature.PREFERRED_STREAMS: frozenset({Feature.SEVERAL_STREAMS}),
}
"""Features that include others."""


def isolates(session: SessionView, name: Feature | None = None) -> bool:
    """True if a refusal of this request shows that the target lacks its distinctive feature (or ``name``): the request
    asks for no other feature.
    """
    blamed = name or feature(session)
    asked = {one for one, applies in _applies(session) if applies} - _CIRCUMSTANCES
    return not asked - {blamed} - _INCLUDES.get(blamed, frozenset())


def read_feature(read: ReadView) -> Feature | None:
    """Return the distinctive feature of a ReadRows request: of its session or of the calls before it; None without a
    session.
    """
    if read.session is None:
        return None
    found = feature(read.session)
    return Feature.ABANDONED if found in OPEN_OPTIONS and after_abandoned(read) else found


@once_per_view
def appended_rows(view: StorageView) -> int:
    """Return the number of rows that the AppendRows steps of the case insert; seeding inserts the others."""
    return sum(step.count for step in view.case.steps if isinstance(step, AppendRows))


@once_per_view
def changes_columns(view: StorageView) -> bool:
    """Return whether the case changes the columns of its table."""
    return any(isinstance(step, ChangeColumns) for step in view.case.steps)


@dataclasses.dataclass(frozen=True, slots=True)
class Before:
    """What the steps before one have done: the numbers of AppendRows and ChangeColumns, the rows that the table has
    (from ``first`` to ``end``, as indices into the case's), and the latest step that made another table of it.
    """

    appends: int
    changes: int
    first: int
    end: int
    derived: int | None


@once_per_view
def _before_each_step(view: StorageView) -> Sequence[Before]:
    """Return for each step what those before it have done, and at the end what all have done."""
    now = Before(0, 0, 0, view.table.num_rows - appended_rows(view), None)
    found = [now]
    skipped = frozenset(view.exchange.skipped_steps)
    for index, step in enumerate(view.case.steps):
        if index in skipped:
            pass
        elif isinstance(step, AppendRows):
            first = now.end if step.again else now.first
            now = Before(now.appends + 1, now.changes, first, now.end + step.count, now.derived)
        elif isinstance(step, ChangeColumns):
            first = now.end if step.again else now.first
            now = dataclasses.replace(now, changes=now.changes + 1, first=first)
        elif _makes_table(step):
            now = dataclasses.replace(now, derived=index)
        found.append(now)
    return found


def before_step(view: StorageView, step: int) -> Before:
    """Return what the steps before one have done; behind the last step, what all have."""
    return _before_each_step(view)[min(step, len(view.case.steps))]


def outlived(session: SessionView, call: StorageCall) -> bool:
    """True if the session may have ended before the call: its table was dropped, its server was restarted, or it
    expired. Whether it is served after the first two is not recorded.
    """
    return any(map(_ends_sessions, session.view.case.steps[session.raw.step : call.raw.step]))


def _ends_sessions(step: Step) -> bool:
    if isinstance(step, AppendRows | ChangeColumns):
        return step.again
    return isinstance(step, Meanwhile) and step.what in (Happening.RESTART, Happening.EXPIRY)


def derived(view: StorageView, before: int) -> int | None:
    """Return the latest step before a step that made another table: sessions are on that. None without one."""
    return before_step(view, before).derived


def is_on(call: StorageCall, *kinds: Happening) -> bool:
    """Whether a session, or a read of a job, is on a table of such a kind, made of the case's."""
    made = derived(call.view, call.raw.step)
    step = None if made is None else call.view.case.steps[made]
    return isinstance(step, Meanwhile) and step.what in kinds


def _makes_table(step: Step) -> bool:
    return isinstance(step, Meanwhile) and step.what.makes_table


def is_child(read: ReadView) -> bool:
    """True if the read is of a split's child."""
    return "." in read.step.stream


def was_split(read: ReadView) -> bool:
    """True if the stream was split into children before this read."""
    splits = (split for split in read.view.splits if split.index < read.index and split.answer is not None)
    return any(split.request.name == read.stream and split.answer.primary_stream.name for split in splits)


def _must_be_ok(call: StorageCall) -> bool:
    return answered(call) and call.expected_codes == ("OK",)


@once_per_view
def valid_sessions(view: StorageView) -> list[SessionView]:
    """Return every answered CreateReadSession call that has to end in OK.

    A refusal of a request that combines several features shows of none that the target lacks it; such a call fails
    the case as a whole.
    """
    return [session for session in view.sessions if _must_be_ok(session) and (session.ok or isolates(session))]


@once_per_view
def valid_reads(view: StorageView) -> list[ReadView]:
    """Return every answered ReadRows call that has to end in OK, on streams of a session that was created.

    Of the sessions that combine several features only the served reads, as of the sessions themselves. A session that
    had to be refused owes no rows: a server may notice only while it reads.
    """
    return [
        read
        for read in view.reads
        if _must_be_ok(read)
        and read.session is not None
        and read.session.ok
        and "OK" in read.session.expected_codes
        and (read.ok or feature(read.session) in OPEN_OPTIONS or isolates(read.session))
    ]


@once_per_view
def created(view: StorageView) -> list[SessionView]:
    """Return every session that the target created and described, and that it did not have to refuse."""
    return [s for s in view.sessions if s.session is not None and "OK" in s.expected_codes]


@once_per_view
def full_reads(view: StorageView) -> list[ReadView]:
    """Return every read of a session's own stream from its first row to OK, if all its rows could be decoded."""
    return [
        read
        for read in view.reads
        if read.whole and read.session is not None and not is_child(read) and read.batches is not None
    ]


def refused_as(*reasons: str) -> Callable[[StorageView], list[StorageCall]]:
    """Return a selector of the answered calls that have to be refused for one of ``reasons``, whatever their status
    was.
    """

    def select(view: StorageView) -> list[StorageCall]:
        return [call for call in to_refuse(view) if _reason(call) in reasons]

    return select


@once_per_view
def to_refuse(view: StorageView) -> list[StorageCall]:
    """Return every answered call whose step gives a reason for which it has to be refused."""
    return [call for call in view.calls if answered(call) and _reason(call) and "OK" not in call.expected_codes]


def _reason(call: StorageCall) -> str:
    assert isinstance(call, SessionView | ReadView | SplitView)
    return call.step.expect.reason


def served(call: StorageCall, what: str) -> Iterator[Violation]:
    """Yield a violation if a valid call did not end in OK."""
    if call.raw.status != "OK":
        yield Violation(f"status OK for {what}", f"{call.raw.status}: {call.raw.details}")


def refused(call: StorageCall, what: str) -> Iterator[Violation]:
    """Yield a violation if a call ended in OK although ``what`` has to be refused."""
    if call.raw.status == "OK":
        yield Violation(f"a status other than OK for {what}", "OK")
