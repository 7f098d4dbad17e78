"""Features in combination: whatever is asked of a session, each of its rows is in one stream, at one place.

Other chapters judge features one at a time, mostly against a read of the full stream. The clauses here judge
scenarios: drawn histories in which restrictions, offsets, partial, repeated and concurrent reads, splits of splits,
snapshots and compressions meet. The model (:mod:`conformance.protocols.storage_read.model`) predicts what each call
may deliver from the rows of the session and from what its earlier calls delivered. A row that differs only in a value
is strange here, and the chapters on values say how it differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from conformance.contain.text import many
from conformance.contract.clause import Violation, clause
from conformance.contract.comparing.matching import show_row
from conformance.contract.sources import (
    BEAM_SOURCE,
    GUIDE,
    JAVA_LIVE_TEST,
    LIVE_TESTS,
    MEASURED,
    ROWS_LOST,
    SERVICE_TESTS,
    STORAGE_PROTO,
    Sources,
)
from conformance.contract.view import once_per_view
from conformance.protocols.storage_read.contract.histories import TracedSession, histories
from conformance.protocols.storage_read.contract.view import ReadView, StorageView
from conformance.protocols.storage_read.model import Contradiction, DeviationKind
from conformance.records import Level

Words = Callable[[TracedSession, Contradiction], tuple[str, str]]
"""A function that says what a deviation contradicts: what is required, and what was observed."""


def _deviates(
    clause_id: str,
    kind: DeviationKind,
    says: str,
    words: Words,
    *,
    source: Sources,
    breaks: str,
    when: Callable[[TracedSession], bool] = lambda _: True,
    level: Level = Level.MUST,
) -> None:
    """Register the clause that no history has a deviation of this kind; ``when`` selects the histories that may."""

    def check(history: TracedSession) -> Iterator[Violation]:
        for deviation in history.found:
            if deviation.kind is kind:
                required, observed = words(history, deviation)
                yield Violation(required, observed, call=deviation.call)

    def over(view: StorageView) -> list[TracedSession]:
        return [history for history in histories(view) if when(history)]

    clause(clause_id, over=once_per_view(over), source=source, breaks=breaks, level=level, says=says)(check)


# --- which histories show it ------------------------------------------------------------------------


def _delivers(history: TracedSession) -> bool:
    """True if a read was served, or if there is nothing to read."""
    return not history.model.streams or any(not read.refused for read in history.model.reads)


def _reads_again(history: TracedSession, *, together: bool) -> bool:
    """True if a row of a stream was asked for by several reads, of which one is (not) at the same time as another."""
    reads = [read for read in history.model.reads if read.rows]
    streams = [read.stream for read in reads]
    return any(streams.count(read.stream) > 1 and read.together == together for read in reads)


def _is_read_out(history: TracedSession) -> bool:
    """True if each stream of the session was read to its end."""
    ended = {read.stream for read in history.model.reads if read.ended and not read.refused}
    divided = {split.parent for split in history.model.splits if split.primary in ended and split.remainder in ended}
    return ended.union(divided).issuperset(history.model.streams)


def _is_divided(history: TracedSession) -> bool:
    """True if a stream was split, and rows of a child were read."""
    children = {name for split in history.model.splits for name in (split.primary, split.remainder)}
    return any(read.rows and read.stream in children for read in history.model.reads)


def _goes_beyond(history: TracedSession) -> bool:
    """True if a read began beyond the rows that its stream was found to have."""
    ends = {
        read.stream: read.offset + len(read.rows)
        for read in history.model.reads
        if read.ended and not read.refused and (read.rows or not read.offset)
    }
    return any(read.offset > ends.get(read.stream, read.offset) for read in history.model.reads)


# --- what a deviation is, in words --------------------------------------------------------------------


def _row(history: TracedSession, deviation: Contradiction) -> str:
    """The row that the deviating call delivered at the deviation's place."""
    read = history.session.view.served[deviation.call]
    assert isinstance(read, ReadView)
    place = deviation.place - read.offset
    for batch in read.batches or ():
        if 0 <= place < batch.num_rows:
            return show_row(batch, place)
        place -= batch.num_rows
    return "a row of another call"


def _strange(history: TracedSession, deviation: Contradiction) -> tuple[str, str]:
    required = f"only the {many(len(history.model.rows), 'row')} that the session of call {history.call} sees"
    return required, f"{many(deviation.count, 'other row')}, such as {_row(history, deviation)}"


def _repeated(history: TracedSession, deviation: Contradiction) -> tuple[str, str]:
    observed = f"{many(deviation.count, 'row')} at another place too, such as {_row(history, deviation)}"
    return f"each row of the session of call {history.call} at one place of one stream", observed


def _missing(history: TracedSession, deviation: Contradiction) -> tuple[str, str]:
    rows = history.expected
    none = "" if history.model.streams else "no streams: "
    observed = f"{none}{many(deviation.count, 'row')} in no stream, such as {show_row(rows, deviation.place)}"
    return f"all {many(rows.num_rows, 'row')} of the session of call {history.call}", observed


def _moved(history: TracedSession, deviation: Contradiction) -> tuple[str, str]:
    required = f"at row {deviation.place} of the stream the row that came in call {deviation.before}"
    return required, f"another row: {_row(history, deviation)}"


def _end(_history: TracedSession, deviation: Contradiction) -> tuple[str, str]:
    required = f"a stream with {many(deviation.expected, 'row')}, as call {deviation.before} found"
    return required, f"its end at row {deviation.observed}"


def _divided(_history: TracedSession, deviation: Contradiction) -> tuple[str, str]:
    split = f"children of the split of call {deviation.before}"
    if deviation.expected or deviation.observed:
        required = f"{split} with the {many(deviation.expected, 'row')} of their parent"
        return required, many(deviation.observed, "row")
    if deviation.place < 0:
        return f"{split} with rows of their parent alone", f"{many(deviation.count, 'row')} that it does not have"
    return f"{split} with the rows of their parent, in its order", f"another row at row {deviation.place} of the parent"


def _refused(history: TracedSession, deviation: Contradiction) -> tuple[str, str]:
    call = history.session.view.served[deviation.call]
    if isinstance(call, ReadView):
        what = f"offset {call.offset} of a stream of at least {many(deviation.expected, 'row')}"
    else:
        what = "a split of a stream of the session"
    return f"status OK for {what}", f"{call.raw.status}: {call.raw.details}"


def _beyond(_history: TracedSession, deviation: Contradiction) -> tuple[str, str]:
    what = f"offset {deviation.observed} of a stream of {many(deviation.expected, 'row')}"
    return f"a status other than OK for {what}", "OK"


RESUMES: Final = "every client that resumes, splits or shares the streams of a session"

# A table, one row per clause: id, the deviation of the model, explanation, words, source, affected software.
# fmt: off
_deviates("combination.rows-are-the-sessions", DeviationKind.STRANGE,
  """Every read of a session delivers only rows that its snapshot has and its restriction selects.

  This binds reads in part, from an offset, of the children of a split, at the same time as others and after appends.
  """, _strange, source=(STORAGE_PROTO, GUIDE, JAVA_LIVE_TEST), breaks=RESUMES, when=_delivers)
_deviates("combination.none-is-repeated", DeviationKind.REPEATED,
  "A row of a session is at one place of one of its streams, however the streams are read and divided.",
  _repeated, source=(STORAGE_PROTO, LIVE_TESTS), breaks=RESUMES, when=_delivers)
_deviates("combination.none-is-missing", DeviationKind.MISSING,
  """The streams of a session together have every row of it, however they are read.

  Reads in part, from offsets and of children count together. Nothing is missing from streams that were not read out.
  """, _missing, source=(STORAGE_PROTO, LIVE_TESTS, ROWS_LOST), breaks=RESUMES, when=_is_read_out)
_deviates("combination.rows-keep-their-place", DeviationKind.MOVED,
  """A row keeps its place in its stream: an offset means the same row in every read.

  What happens between two reads makes no difference: abandoned reads, appends, splits, other sessions and connections.
  """, _moved, source=(MEASURED, JAVA_LIVE_TEST), breaks=RESUMES,
  when=lambda history: _reads_again(history, together=False))
_deviates("combination.readers-together-agree", DeviationKind.MOVED_TOGETHER,
  "A stream that several readers read at the same time, each from its offset, gives each of them its rows.",
  _moved, source=MEASURED, breaks="Spark with speculative execution (from its source)", level=Level.SHOULD,
  when=lambda history: _reads_again(history, together=True))
_deviates("combination.streams-keep-their-end", DeviationKind.END,
  "Every read of a stream that ends in OK ends after the same row, wherever it began.",
  _end, source=(SERVICE_TESTS, MEASURED), breaks=RESUMES, when=_delivers)
_deviates("combination.children-are-the-parent", DeviationKind.DIVIDED,
  "The rows of the two children of a split are those of the parent, in its order, in a split of a child too.",
  _divided, source=STORAGE_PROTO, breaks="Beam loses or repeats rows (from its source)", when=_is_divided)
_deviates("combination.permitted-request-is-served", DeviationKind.REFUSED,
  """A read from an offset that earlier calls have reached is served until the session expires, and so is a split.

  Streams of sessions with a restriction, a snapshot or a compression are no exception, nor are children of splits.
  """, _refused, source=(STORAGE_PROTO, JAVA_LIVE_TEST), breaks=RESUMES)
_deviates("combination.beyond-the-end-is-refused", DeviationKind.BEYOND,
  """A read from beyond the rows of a stream is refused, whatever rows its table or its parent has.

  In a session with a restriction, the rows of a stream are those that it selects.
  """, _beyond, source=(MEASURED, BEAM_SOURCE), breaks="Beam, which learns from the refusal that a split had no effect"
  " (from its source)", when=_goes_beyond)
# fmt: on
