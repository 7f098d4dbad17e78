"""The history of an exchange: when each call was made, and the ids of the rows that came, decoded by the suite itself.

Only tables with a row counter have one: their rows have unique ids. A read whose rows cannot be decoded, or do not
have their ids, is a call without an answer, and nothing is derived from it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import pyarrow as pa

from conformance.contract.view import once_per_view
from conformance.history import Append, Create, End, History, HistoryCall, HistoryJudgement, RowsRead, Split, check
from conformance.protocols.storage_read.contract.subjects import appended_rows, derived
from conformance.protocols.storage_read.contract.view import ReadView, SessionView, SplitView, StorageCall, StorageView
from conformance.records import ROW_ID, AppendRows, CallEnd, ChangeColumns, ReadRows, is_row_id

__all__ = ["Observed", "observed"]


class Observed:
    """The history of an exchange, and its judgement.

    ``places`` has the index of each call in the exchange, None for an insertion, which is no call of it. ``ids`` has
    the index of each row in the table.
    """

    def __init__(self, view: StorageView, ids: Sequence[int]) -> None:
        made = list(_Calls(view, ids))
        self.history = History(tuple(call for _, call in made))
        self.places = tuple(place for place, _ in made)
        self.ids = {row: index for index, row in enumerate(ids)}
        self.judgement: HistoryJudgement = check(self.history)


@once_per_view
def observed(view: StorageView) -> Observed | None:
    """Return the history of an exchange; None if its rows have no ids, or no session was asked for."""
    if not view.served_sessions or not any(map(is_row_id, view.case.table.columns)):
        return None
    if view.exchange.driven and derived(view, len(view.case.steps)) is not None:
        return None  # the sessions are on another table, into which nothing is inserted
    ids = view.table.column(ROW_ID).to_pylist()
    return Observed(view, ids) if len(set(ids)) == len(ids) else None


class _Calls:
    """Iterates over the calls of a view with their places in the exchange.

    Streams get the names that the steps use, each with the number of its call if the name was used before.
    """

    def __init__(self, view: StorageView, ids: Sequence[int]) -> None:
        self._view = view
        self._ids = ids
        self._clock = itertools.count()
        self._streams: dict[object, str] = {}
        self._taken: set[str] = set()
        steps = view.case.steps if view.exchange.driven else ()
        self._appends = [index for index, step in enumerate(steps) if isinstance(step, AppendRows | ChangeColumns)]
        self._after_seed = 0
        self._tables = 0
        self._seeded = view.table.num_rows - (appended_rows(view) if view.exchange.driven else 0)

    def __iter__(self) -> Iterator[tuple[int | None, HistoryCall]]:
        driven, rows = self._view.exchange.driven, self._seeded
        yield None, Append(*self._next(), tuple(self._ids[:rows]))
        waiting = list(self._appends)
        together: tuple[int, tuple[int, int]] | None = None
        everything = self._next()
        self._after_seed = everything[0]  # snapshots before an insertion are later than the first rows
        for call in self._view.served:
            while driven and waiting and waiting[0] < call.raw.step:
                step = self._view.case.steps[waiting.pop(0)]
                assert isinstance(step, AppendRows | ChangeColumns)
                self._tables += step.again
                if isinstance(step, ChangeColumns):
                    continue
                when = self._next()
                yield None, Append(*when, tuple(self._ids[rows : rows + step.count]), self._table())
                rows += step.count
            if not driven:
                when = everything  # a client's calls may overlap, and nothing is inserted meanwhile
            elif together is not None and together[0] == call.raw.step:
                when = together[1]
            else:
                when = self._next()
                parallel = isinstance(step := self._view.case.steps[call.raw.step], ReadRows) and step.together
                together = (call.raw.step, when) if parallel else None
            made = self._made(call, when)
            if made is not None:
                yield call.index, made

    def _table(self) -> str:
        """Return the name of the table as it is now: a table that was made again is another one."""
        return f"table#{self._tables}" if self._tables else "table"

    def _next(self) -> tuple[int, int]:
        return next(self._clock), next(self._clock)

    def _name(self, key: object, wanted: str, index: int) -> str:
        """Return a new name for a stream or session; later calls find a stream by its ``key``."""
        name = wanted if wanted not in self._taken else f"{wanted}#{index}"
        self._taken.add(name)
        self._streams[key] = name
        return name

    def _made(self, call: StorageCall, when: tuple[int, int]) -> HistoryCall | None:
        if isinstance(call, SessionView):
            return self._create(call, when)
        if isinstance(call, SplitView):
            return self._split(call, when)
        return self._read(call, when) if isinstance(call, ReadView) else None

    def _create(self, call: SessionView, when: tuple[int, int]) -> Create:
        label, session = call.step.label if self._view.exchange.driven else f"call {call.index}", call.session
        named = self._name(call, label, call.index)
        asked = call.request.read_session
        options, exchange = asked.read_options, self._view.exchange
        ended = _end(call)
        table = f"projects/{exchange.project}/datasets/{exchange.dataset}/tables/{exchange.table}"
        names = [stream.name for stream in session.streams] if session is not None else []
        if session is None or (exchange.project and asked.table != table):
            ended, names = (End.UNKNOWN if ended is End.OK else ended), []
        streams: dict[str, str] = {}
        for number, name in enumerate(names):
            key = f"{label}/{number}" if exchange.driven else name
            if name in streams:  # listed twice: one stream, under two labels of the driver
                self._streams[key] = streams[name]
            else:
                streams[name] = self._name(key, f"{named}/{number}", call.index)
        after: float | None = None
        before: float | None = None
        timed = asked.table_modifiers.HasField("snapshot_time")
        if timed and exchange.driven and call.step.snapshot == "before-append":
            after = before = self._after_seed
        open_time = timed and after is None
        partial = bool(options.row_restriction.strip() or options.HasField("sample_percentage") or open_time)
        if open_time:
            after, before = 0, when[1]  # some instant of the past
        return Create(
            *when,
            named,
            tuple(streams.values()),
            self._table(),
            after=after,
            before=before,
            partial=partial,
            ended=ended,
        )

    def _split(self, call: SplitView, when: tuple[int, int]) -> Split | None:
        driven = self._view.exchange.driven
        own = call.step.stream if driven else ""
        key = (own if own in self._streams else f"{call.step.session}/{own}") if driven else call.request.name
        if key not in self._streams or (driven and call.step.name):
            return None
        parent, answer = self._streams[key], call.answer
        named = answer is not None and answer.primary_stream.name and answer.remainder_stream.name
        if not named:
            return Split(*when, parent, ended=_end(call) if answer is not None or not call.ok else End.UNKNOWN)
        label = call.step.label if driven else f"call {call.index}"
        primary, remainder = (
            self._name(
                f"{label}.{side}" if driven else getattr(answer, f"{side}_stream").name, f"{label}.{side}", call.index
            )
            for side in ("primary", "remainder")
        )
        return Split(*when, parent, primary, remainder)

    def _read(self, call: ReadView, when: tuple[int, int]) -> RowsRead | None:
        driven = self._view.exchange.driven
        stream = self._streams.get(call.raw.label if driven else call.stream)
        if stream is None or call.offset < 0 or (driven and call.step.name):
            return None
        rows, ended = _row_ids(call), _end(call)
        if rows is None:
            return RowsRead(*when, stream, (), call.offset, End.UNKNOWN)
        if ended is End.REFUSED and rows:
            ended = End.CUT
        return RowsRead(*when, stream, rows, call.offset, ended)


def _end(call: StorageCall) -> End:
    if call.raw.end is CallEnd.COMPLETE:
        return End.OK if call.ok else End.REFUSED
    return End.CUT if call.raw.end is CallEnd.CANCELLED else End.UNKNOWN


def _row_ids(read: ReadView) -> tuple[int, ...] | None:
    """Return the ids of the rows of a read, in order; None if a response cannot be decoded or has no ids."""
    found: list[int] = []
    for batch in read.batches if read.batches is not None else (None,):
        index = -1 if batch is None else batch.schema.get_field_index(ROW_ID)
        if batch is None or index < 0:
            return None
        column = batch.column(index)
        if not pa.types.is_int64(column.type) or column.null_count:
            return None
        found += column.to_pylist()
    return tuple(found)
