"""Sessions, partial reads, resumed reads and splits in combination: the anomalies that the rows alone prove.

Tables need a row counter, whose values identify the rows. An anomaly is reported here if its witness combines calls
that no other chapter compares: the chapters on rows, snapshots, offsets and splits report those of one fully read
session, of a read and its resumption, and of a split with its children. A read in two parts, a child whose parent was
not read, and a session against another session are this chapter's.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from typing import Final

from conformance.contain.text import many
from conformance.contract.clause import AtCall, Violation, clause
from conformance.contract.closed import Feature
from conformance.contract.sources import (
    BEAM_SOURCE,
    GUIDE,
    JAVA_LIVE_TEST,
    LIVE_TESTS,
    MEASURED,
    NODE_LIVE_TEST,
    STORAGE_PROTO,
    Inferred,
    Sources,
)
from conformance.contract.view import once_per_view
from conformance.history import Anomaly, AnomalyKind, RowsRead
from conformance.history.words import show_call
from conformance.protocols.storage_read.contract.rowhistory import Observed, observed
from conformance.protocols.storage_read.contract.sessions import whole_sessions
from conformance.protocols.storage_read.contract.subjects import appended_rows
from conformance.protocols.storage_read.contract.view import StorageView
from conformance.records import CallEnd, Level

PARALLEL: Final = "Spark and Beam (from their source), whose workers read the streams of a session at different times"
RESUMING: Final = (
    "every client that resumes after a lost connection: https://github.com/goccy/bigquery-emulator/issues/507"
)

_ONE_SNAPSHOT: Final = frozenset({AnomalyKind.EARLY_ROW, AnomalyKind.TORN_SESSION})
_ABSENCE: Final = frozenset({AnomalyKind.LOST_ROW, AnomalyKind.RECEDING_SNAPSHOT, AnomalyKind.TORN_SESSION})


@dataclasses.dataclass(frozen=True, slots=True)
class Observation(AtCall):
    """The history of an exchange under one guarantee: ``anomaly`` breaks it, None if nothing does."""

    seen: Observed
    anomaly: Anomaly | None


@dataclasses.dataclass(frozen=True, slots=True)
class _Witnesses:
    """Calls that another chapter compares with one another or with the table, and the anomalies that it reports."""

    calls: frozenset[int]
    kinds: frozenset[AnomalyKind]


@once_per_view
def _groups(view: StorageView) -> list[_Witnesses]:
    """Return the groups of reads that other chapters compare."""
    everything = frozenset(AnomalyKind)
    whole: dict[str, int] = {}
    for read in view.reads:
        if read.whole and read.batches is not None:
            whole.setdefault(read.stream, read.index)
    found = [
        _Witnesses(frozenset({whole[read.stream], read.index}), everything)
        for read in view.reads
        if whole.get(read.stream, read.index) != read.index
    ]
    # An answer that goes on beyond reason is reported by the chapter on calls, whatever rows come again in it.
    found += [
        _Witnesses(frozenset({read.index}), everything) for read in view.reads if read.raw.end is CallEnd.OVER_BUDGET
    ]
    for split in view.splits:
        if split.answer is not None:
            names = (split.request.name, split.answer.primary_stream.name, split.answer.remainder_stream.name)
            if all(name in whole for name in names):
                found.append(_Witnesses(frozenset(whole[name] for name in names), everything))
    for session in whole_sessions(view):
        changing = session.feature in (Feature.APPEND, Feature.SNAPSHOT)
        found.append(
            _Witnesses(frozenset(read.index for read in session.reads), _ONE_SNAPSHOT if changing else everything)
        )
    return found


def _is_reported(view: StorageView, seen: Observed, anomaly: Anomaly) -> bool:
    """True if another chapter compares the reads of an anomaly's witness; that on sessions needs no read."""
    calls = seen.history.calls
    reads = {seen.places[index] for index in anomaly.witness if isinstance(calls[index], RowsRead)}
    if not reads:
        return True
    kinds = {anomaly.kind}
    first = view.table.num_rows - appended_rows(view)
    if anomaly.kind in _ABSENCE and any(seen.ids[row] >= first for row in anomaly.rows if row in seen.ids):
        kinds |= _ONE_SNAPSHOT  # the chapter on snapshots reports inserted rows that do not come
    return any(reads <= group.calls and not kinds.isdisjoint(group.kinds) for group in _groups(view))


@once_per_view
def _combined(view: StorageView) -> Observed | None:
    """Return the history of the exchange if it combines reads that no other chapter compares."""
    seen = observed(view) if view.exchange.driven else None
    if seen is None:
        return None
    reads = {place for place, call in zip(seen.places, seen.history.calls, strict=True) if isinstance(call, RowsRead)}
    return None if any(reads <= group.calls for group in _groups(view)) else seen


def _observations(kind: AnomalyKind) -> Callable[[StorageView], list[Observation]]:
    def select(view: StorageView) -> list[Observation]:
        seen = _combined(view)
        if seen is None:
            return []
        found = [one for one in seen.judgement.anomalies if one.kind is kind]
        new = [one for one in found if not _is_reported(view, seen, one)]
        if found:
            return [Observation(_last_call(seen, one), seen, one) for one in new]
        shown = any(one.kind is kind and one.checked for one in seen.judgement.holds)
        return [Observation(view.served[-1].index, seen, None)] if shown else []

    return select


def _last_call(seen: Observed, anomaly: Anomaly) -> int:
    return max(place for index in anomaly.witness if (place := seen.places[index]) is not None)


def _holds(observation: Observation) -> Iterator[Violation]:
    """Yield the anomaly as a violation, with its witness."""
    anomaly, seen = observation.anomaly, observation.seen
    if anomaly is not None:
        calls = "; ".join(_shown(seen, index) for index in anomaly.witness)
        rows = f"; {many(anomaly.count, 'row')} in all" if anomaly.count > 1 else ""
        yield Violation(anomaly.kind.holds, f"{anomaly.kind}: {anomaly.observed}{rows} [{calls}]")


def _shown(seen: Observed, index: int) -> str:
    place = seen.places[index]
    said = show_call(seen.history.calls[index])
    return said if place is None else f"call {place}: {said}"


def _guarantee(kind: AnomalyKind, source: Sources, level: Level, breaks: str, says: str) -> None:
    """Register the clause that a history shows no anomaly of a kind."""
    clause_id = f"history.no-{kind.replace(' ', '-')}"
    clause(clause_id, over=_observations(kind), source=source, level=level, breaks=breaks, says=inspect.cleandoc(says))(
        _holds
    )


# A table, one row per clause: anomaly, source, level, who breaks, explanation.
# fmt: off
_guarantee(AnomalyKind.TORN_SESSION, (GUIDE, JAVA_LIVE_TEST), Level.MUST, PARALLEL,
  """The rows of a session, however its streams are read, resumed and split, come from one state of the table.

  A session that was read before an insertion does not show its rows afterwards, and a session that shows a row shows
  the rows that were inserted before it.
  """)
_guarantee(AnomalyKind.RECEDING_SNAPSHOT, (Inferred(GUIDE), NODE_LIVE_TEST), Level.SHOULD,
  "every program that reads a table twice and compares",
  """A session that is created after another one has ended its creation shows at least the other's rows.

  Rows are only ever inserted, so the states of a table follow one another. The guide says that a session shows the
  table as of its creation; that the states of two sessions follow the order of their creation is concluded from it.
  """)
_guarantee(AnomalyKind.STREAM_FROM_ELSEWHERE, (STORAGE_PROTO, LIVE_TESTS), Level.MUST,
  "every client: data is invented, or counted twice",
  "A stream, resumed or split, has only rows that were inserted into its table, and a child only rows of its parent.")
_guarantee(AnomalyKind.EARLY_ROW, (GUIDE, JAVA_LIVE_TEST), Level.MUST, PARALLEL,
  """A session does not show rows whose insertion began after its creation, or after its snapshot time.

  That holds for resumed reads and for children of splits too.
  """)
_guarantee(AnomalyKind.LOST_ROW, (STORAGE_PROTO, NODE_LIVE_TEST), Level.MUST, RESUMING,
  """The parts of a session that was read in parts, resumed or split have every row that was there at its creation.""")
_guarantee(AnomalyKind.REPEATED_ROW, (STORAGE_PROTO, LIVE_TESTS), Level.MUST, RESUMING,
  """The parts of a session that was read in parts, resumed or split have no row twice.""")
_guarantee(AnomalyKind.REORDERED_RESUME, (MEASURED, BEAM_SOURCE), Level.MUST, RESUMING,
  """A stream that was read in part, resumed or split keeps its order: an offset always means the same row.""")
# fmt: on
