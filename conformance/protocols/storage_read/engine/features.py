"""The features of a request: the options of its session, its offset, what came before it.

A cause is attributed to a feature by comparing refused requests with served ones
(:mod:`conformance.engine.refusals`).
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from conformance.contract.closed import Paths
from conformance.contract.subjects import after_abandoned
from conformance.contract.view import CallView, once_per_view
from conformance.engine.plugin import RequestShape
from conformance.protocols.storage_read.contract.subjects import LARGE_BYTES, appended_rows, changes_columns, is_child
from conformance.protocols.storage_read.contract.view import ReadView, SessionView, SplitView, StorageView
from conformance.records import CreateSession

__all__ = ["features_of"]

_OPTIONS: Final[Sequence[tuple[str, Callable[[CreateSession], object]]]] = (
    ("snapshot_time", lambda step: step.snapshot),
    ("row_restriction", lambda step: step.row_restriction),
    ("selected_fields", lambda step: step.selected_fields),
    ("buffer_compression", lambda step: step.buffer_compression),
    ("response_compression", lambda step: step.response_compression),
    ("picos_timestamp_precision", lambda step: step.timestamps),
    ("sample_percentage", lambda step: step.sample_percentage is not None),
    ("max_stream_count", lambda step: step.max_stream_count),
    ("max_stream_count above 1", lambda step: step.max_stream_count > 1),
    ("preferred_min_stream_count", lambda step: step.preferred_min_stream_count),
    ("trace_id", lambda step: step.trace_id),
    ("the parent of another project", lambda step: step.parent),
    ("no read_options", lambda step: step.omit_options),
)
"""The options of a session that a server may lack, from the general to the special."""


def features_of(call: CallView) -> RequestShape:
    """What a request asks for; a read asks for the options of its session too."""
    session = call.session if isinstance(call, ReadView) else None
    asks = call if isinstance(call, SessionView) else session
    return RequestShape(
        tuple(_asked(call)),
        session.index if session is not None else None,
        asks.step.row_restriction if asks is not None else "",
    )


def _asked(call: CallView) -> Iterator[str]:
    """The features of a request; a read has those of its session too."""
    if isinstance(call, SessionView):
        yield from _of_session(call)
    elif isinstance(call, ReadView):
        if call.session is not None:
            yield from _of_session(call.session)
        if call.offset:
            yield "an offset"
        if is_child(call):
            yield "the child of a split stream"
        if _is_later(call):
            yield "a stream after the first"
        if after_abandoned(call):
            yield "an abandoned read before it"
    elif isinstance(call, SplitView):
        yield "a split"


def _is_later(read: ReadView) -> bool:
    """True if rows of the session come before those of the stream: it is not the first, nor the first part of it."""
    parts, name, before = _parts(read.view), read.stream, read.index
    while splits := parts.get(name, ()):
        place = bisect.bisect_left(splits, (before,)) - 1
        if place < 0:
            break
        before, is_remainder, parent = splits[place]
        if is_remainder:
            return True
        name = parent
    return read.session is not None and name in _after_the_first(read.session)


@once_per_view
def _parts(view: StorageView) -> Mapping[str, list[tuple[int, bool, str]]]:
    """The parts of split streams by their names: the call that split, if it is the remainder, and the whole."""
    found: dict[str, list[tuple[int, bool, str]]] = {}
    for split in view.splits:
        if split.answer is not None:
            whole = split.request.name
            found.setdefault(split.answer.primary_stream.name, []).append((split.index, False, whole))
            found.setdefault(split.answer.remainder_stream.name, []).append((split.index, True, whole))
    return found


def _after_the_first(session: SessionView) -> AbstractSet[str]:
    """The names of the streams of a session behind its first."""

    def names() -> AbstractSet[str]:
        return (
            frozenset(one.name for one in session.session.streams[1:]) if session.session is not None else frozenset()
        )

    return session.view.once(("streams after the first", session.index), names)


def _of_session(call: SessionView) -> Iterator[str]:
    # A chapter that is imported before the register is loaded would change the order of the clauses.
    from conformance.protocols.storage_read.chapters.projection import paths_of  # noqa: PLC0415
    from conformance.protocols.storage_read.chapters.restriction import forms_of, selects_nothing  # noqa: PLC0415

    step = call.step
    yield from (name for name, asks in _OPTIONS if asks(step))
    if step.data_format != "ARROW":
        yield f"data_format {step.data_format}"
    if step.row_restriction and "OK" in call.expected_codes:
        yield from (f"row_restriction with {form}" for form in forms_of(call))
        if selects_nothing(call):
            yield "row_restriction that selects nothing"
    if step.selected_fields and "OK" in call.expected_codes:
        paths = paths_of(call)
        if paths in (Paths.NESTED, Paths.MERGED, Paths.INSIDE):
            yield "selected_fields with nested paths"
        yield f"selected_fields of the kind {paths}"
    if step.buffer_compression:
        yield f"buffer_compression {step.buffer_compression}"
    if step.row_restriction and step.selected_fields:
        yield "row_restriction together with selected_fields"
    yield from _of_table(call)


def _of_table(call: SessionView) -> Iterator[str]:
    if changes_columns(call.view):
        yield "a table whose columns change"
    if appended_rows(call.view):
        yield "rows appended while it is read"
    if call.view.table.nbytes >= LARGE_BYTES:
        yield "a table of 8 MiB or more"
