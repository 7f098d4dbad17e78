"""Carries out the steps of a case as calls, one after another or concurrently, exactly as the case describes them.

This module decides which calls a step needs and which names later steps refer to; it does not judge answers. It decodes
an answer only as far as the next step requires: stream names, children of a split, row counts (:mod:`.places`).
A conversation ends early if a call hung, crashed the target or exceeded its budget: each later call would cost a
deadline and show the same defect again.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, Final

from google.protobuf.message import DecodeError

from conformance.contract import proto
from conformance.protocols.storage_read.targets.messages import create_request, read_request, split_request
from conformance.protocols.storage_read.targets.offsets import Extent, extent_of
from conformance.protocols.storage_read.targets.pauses import Pause
from conformance.protocols.storage_read.targets.queries import (
    Query,
    as_call,
    describing_path,
    job_name,
    listing_path,
    place_in,
    query_body,
    query_in,
    result_request,
    table_in,
    tables_of,
    token_in,
    unanswered,
)
from conformance.records import (
    AppendRows,
    Call,
    CallEnd,
    Case,
    ChangeColumns,
    Column,
    CreateSession,
    FaultKind,
    Happening,
    Meanwhile,
    PlannedFault,
    ReadResult,
    ReadRows,
    RunQuery,
    SplitStream,
    Step,
)
from conformance.records.changes import columns_before_each
from conformance.targets.allowance import Allowance, UsedUpError, unreached
from conformance.targets.faulting import BreakableLine, Faults, Met
from conformance.targets.names import Names
from conformance.targets.patience import Patience
from conformance.targets.recordedcall import BROKEN, CallBudget, Caller
from conformance.targets.targeterrors import NoAnswer

__all__ = ["Conversation", "ConversationPlan"]

MAX_STREAMS: Final = 1000
"""The number of streams of one session that are read: the service's own limit (proto, ``max_stream_count``)."""

MAX_TOGETHER: Final = 64
"""The number of concurrent calls; a step with more calls makes the others afterwards."""

LONGEST_PAUSE: Final = 3600.0
"""Seconds that a call pauses at most, in a case that may take for ever."""

LONGEST_SESSION: Final = 366 * 24 * 3600
"""The seconds after which a session has to end if the server's clock is to pass its end: more is no such instant."""


@dataclasses.dataclass(frozen=True, slots=True)
class ConversationPlan:
    """The parameters of a conversation that come from its case's table and limits.

    ``seeded`` is the row count before any AppendRows step, ``now`` and ``before_append`` are wall-clock microseconds,
    ``until`` is the case's deadline on the monotonic clock. ``append`` inserts the next rows, and ``remake`` makes the
    table again with them; it returns False if the server does not drop the table. ``change`` gives the table other
    columns; it returns False if the server does not change them. ``renew`` makes the table again with other columns and
    no rows; it returns False as ``remake`` does.
    ``restart`` starts the server again and returns a caller of it. ``pass_time`` sets its clock so many seconds ahead.
    Both tell by None and False that the target offers no such thing. ``derive`` makes another table of the table, and
    returns its names; None if the server makes none of that kind. ``ask`` asks jobs.query, with a body and the names of
    the tables that it makes, or a path, and returns the status and the body of the answer. ``patience`` makes calls
    again that the server wants to be made later.
    """

    names: Names
    seeded: int
    now: int
    before_append: int
    budget: CallBudget
    until: float
    case_bytes: int
    append: Callable[[int], None]
    remake: Callable[[int], bool]
    change: Callable[[Sequence[Column]], bool]
    renew: Callable[[Sequence[Column]], bool]
    restart: Callable[[], Caller | None]
    pass_time: Callable[[int], bool]
    derive: Callable[[Happening], Names | None]
    ask: Callable[[tuple[bytes | str, Sequence[Names]]], tuple[int, bytes]]
    patience: Patience


@dataclasses.dataclass(frozen=True, slots=True)
class _Session:
    """A created session: its streams, its row count (None if a restriction decides that), and the second of its end
    since the Unix epoch (0 if it names none).
    """

    name: str
    streams: tuple[str, ...]
    rows: int | None
    expires: int


@dataclasses.dataclass(frozen=True, slots=True)
class _Wanted:
    """A ReadRows call to make for a step."""

    call: Call
    routing: str
    stream: str
    offset: int
    step: ReadRows


Broken = Callable[[PlannedFault], AbstractContextManager[tuple[Caller, BreakableLine]]]
"""A function that gives a caller over a connection of its own, for a call that meets a fault, and that connection."""


class Conversation:
    """Carries out one case's steps through ``caller``; ``calls``, ``skipped`` and ``stopped`` are then the result.

    ``other`` gives a caller in another process, for the reads that are handed to one; it is asked for only then, and so
    is ``broken``.
    """

    def __init__(
        self, case: Case, caller: Caller, plan: ConversationPlan, *, other: Callable[[], Caller], broken: Broken
    ) -> None:
        self.calls: list[Call] = []
        self.skipped: list[int] = []
        self.stopped = ""
        self._at = 0
        self._case = case
        self._caller = caller
        self._other = other
        self._broken_by = broken
        self._plan = plan
        self._visible = plan.seeded
        self._names = plan.names
        self._allowance = Allowance(plan.budget, until=plan.until, case_bytes=plan.case_bytes)
        self._sessions: dict[str, _Session] = {}
        self._children: dict[str, str] = {}
        self._extents: dict[str, Extent] = {}
        self._reached: dict[str, int] = {}
        self._queries: dict[str, Query | None] = {}
        self._tokens: dict[str, str] = {}
        self._result: Names | None = None

    @property
    def broken(self) -> bool:
        """True if a call left the target in a state that must not affect the next case."""
        return bool(self.calls) and any(call.end in BROKEN for call in self.calls)

    def run(self) -> None:
        """Carry out every step, until the end, the limits of the case, or a call that shows the target broken."""
        index = 0
        while index < len(self._case.steps):
            step = self._case.steps[index]
            try:
                goes_on = self._carry_out(index, step)
            except UsedUpError as error:
                self.skipped += unreached(self._case, self.calls, self.skipped, self._at)
                self.stopped = "" if self.broken else str(error)
                return
            if not goes_on or self.broken:
                return
            index += 1 + (step.during if isinstance(step, ReadRows | ReadResult) else 0)

    def _carry_out(self, index: int, step: Step) -> bool:
        """Make the calls of a step; False if the target does not offer what the rest of the case takes."""
        self._at = index
        match step:
            case CreateSession():
                self._create(index, step)
            case ReadRows(during=during) | ReadResult(during=during) if during:
                return self._read_held_open(index, step)
            case ReadRows():
                if not self._is_alongside(index):
                    self._read(list(self._group(index, step)))
            case SplitStream():
                self._split(index, step)
            case RunQuery():
                self._query(index, step)
            case ReadResult():
                self._read_result(index, step)
            case AppendRows() | ChangeColumns() | Meanwhile():
                if not self._changes(index, step):
                    self.skipped += range(index, len(self._case.steps))
                    return False
        return True

    def _changes(self, index: int, step: AppendRows | ChangeColumns | Meanwhile) -> bool:
        """Change the table or the server; False if the target offers no way."""
        if isinstance(step, Meanwhile):
            return self._happens(step.what)
        if isinstance(step, ChangeColumns):
            columns = columns_before_each(self._case.table.columns, self._case.steps)[index + 1]
            if not step.again:
                return self._plan.change(columns)
            self._visible = 0
            return self._plan.renew(columns)
        if step.again:
            self._visible = step.count
            return self._plan.remake(step.count)
        self._plan.append(step.count)
        if self._names is self._plan.names:  # the result of a query does not grow
            self._visible += step.count
        return True

    def _happens(self, what: Happening) -> bool:
        """Let it happen to the server; False if the target offers no way."""
        match what:
            case Happening.RESTART:
                caller = self._plan.restart()
                self._caller = caller or self._caller
                return caller is not None
            case Happening.EXPIRY:
                last = max((session.expires for session in self._sessions.values()), default=0)
                ahead = last + 1 - self._plan.now // 1_000_000
                return 0 < ahead <= LONGEST_SESSION and self._plan.pass_time(ahead)
            case Happening.HALFWAY:
                return False  # a session cannot be renewed, so that its half is of no interest
            case _:
                made = self._result if what is Happening.RESULT else self._plan.derive(what)
                self._names = made or self._names
                return made is not None

    def _create(self, index: int, step: CreateSession) -> None:
        plan = self._plan
        request, routing = create_request(step, self._names, now=plan.now, before_append=plan.before_append)
        call = self._unary(Call(index, step.label, "CreateReadSession", request), routing)
        session = _answer(call)
        self._sessions.pop(step.label, None)
        if session is not None:
            every_row = not step.row_restriction and not step.snapshot and step.sample_percentage is None
            free = every_row and len(session.streams) == 1
            streams = tuple(stream.name for stream in session.streams)
            rows = self._visible if free else None
            self._sessions[step.label] = _Session(session.name, streams, rows, session.expire_time.seconds)

    def _split(self, index: int, step: SplitStream) -> None:
        streams = list(self._streams(step.session, step.stream, step.name))
        if not streams:
            self.skipped.append(index)
            return
        request, routing = split_request(streams[0][1], step.fraction)
        answer = _answer(self._unary(Call(index, step.label, "SplitReadStream", request), routing))
        for place in ("primary", "remainder"):
            child = getattr(answer, f"{place}_stream").name if answer is not None else ""
            self._children.pop(f"{step.label}.{place}", None)
            if child:
                self._children[f"{step.label}.{place}"] = child

    def _query(self, index: int, step: RunQuery) -> None:
        names = self._plan.names
        if step.location == step.ANSWERED:
            place = next((one.location for one in reversed(self._queries.values()) if one and one.location), "")
            if not place:
                self.skipped.append(index)
                return
            step = dataclasses.replace(step, location=place)
        call = Call(index, step.label, step.METHOD, query_body(step, names))
        made = self._ask(call, call.request, tables_of(step, names))
        self._queries[step.label] = query_in(made, step, names)
        self._tokens[step.label] = token_in(made)

    def _ask(self, call: Call, asked: bytes | str, tables: Sequence[Names]) -> Call:
        """The call over REST with its answer."""
        try:
            made = as_call(call, *self._plan.ask((asked, tables)))
        except NoAnswer as error:
            made = unanswered(call, str(error))
        self._keep(made)
        return made

    def _read_result(self, index: int, step: ReadResult) -> None:
        query, wanted = self._queries.get(step.query), self._wanted_result(index, step)
        if not wanted or (step.further and not self._tokens.get(step.query)):
            self.skipped.append(index)
        elif query is not None and step.listed:
            token = self._tokens[step.query] if step.further else ""
            path = listing_path(query, wanted[0].offset, step.most, token)
            self._tokens[step.query] = token_in(
                self._ask(Call(index, step.query, step.LISTING, path.encode()), path, ())
            )
        elif query is not None and step.described:
            path = describing_path(query)
            made = self._ask(Call(index, step.query, step.DESCRIBING, path.encode()), path, ())
            self._result = table_in(made)
        else:
            for read, _ in self._made(wanted * step.times, together=True):
                self._keep(read)

    def _wanted_result(self, index: int, step: ReadResult) -> list[_Wanted]:
        """The call for the stream of a query's job; none if there is no such job or place."""
        query = self._queries.get(step.query)
        if step.written:
            job, options, offset = self._names.job, RunQuery(), int(step.offset) if step.offset.isdecimal() else 0
        elif query is not None and query.job and (place := place_in(query, step.offset)) is not None:
            job, offset = job_name(query, step), place
            options = RunQuery() if step.plain else query.options
        else:
            return []
        named = {key: one for key in ("buffer_compression", "timestamps") if (one := getattr(step, key))}
        request, routing = result_request(job, dataclasses.replace(options, **named), offset, step.stream)
        call = Call(index, step.query, "ReadRows", request)
        # On a connection that takes little in advance, the server has rows to send when the read is held or cancelled.
        faults = (PlannedFault(FaultKind.DELAY, responses=1),) * bool(step.during)
        if step.take is not None:
            faults = (PlannedFault(FaultKind.STATUS, responses=step.take),)
        return [_Wanted(call, routing, job, offset, ReadRows(faults=faults))] if job else []

    def _is_alongside(self, index: int) -> bool:
        """True if the calls of a ReadRows step are made at the same time as those of the step before."""
        step = self._case.steps[index]
        return index > 0 and isinstance(step, ReadRows) and step.alongside and self._reads(index - 1)

    def _reads(self, index: int) -> bool:
        return isinstance(self._case.steps[index], ReadRows)

    def _group(self, index: int, step: ReadRows) -> Iterator[tuple[int, ReadRows]]:
        """The step, and the steps after it whose calls are made at the same time."""
        yield index, step
        for later in range(index + 1, len(self._case.steps)):
            beside = self._case.steps[later]
            if not isinstance(beside, ReadRows) or not beside.alongside:
                return
            yield later, beside

    def _read(self, group: list[tuple[int, ReadRows]]) -> None:
        wanted: list[_Wanted] = []
        beyond: list[Call] = []
        for index, step in group:
            streams = list(self._streams(step.session, step.stream, step.name))
            found = list(self._wanted(index, step, streams[:MAX_STREAMS]))
            if not found and (streams or not self._is_empty(step)):
                self.skipped.append(index)
            wanted += found
            beyond += self._beyond(index, streams)
        together = len(group) > 1 or group[0][1].together
        for call, one in self._made(wanted, together=together):
            self._keep(call)
            self._note(call, one)
            if call.end in BROKEN and not together:
                return
        for call in beyond:
            self._keep(call)

    def _read_held_open(self, index: int, step: ReadRows | ReadResult) -> bool:
        """Make the call of a step, and carry out the steps of its pause while it pauses; False as for each step.

        Its place among the calls is that of its beginning.
        """
        within, place = range(index + 1, index + 1 + step.during), len(self.calls)
        if isinstance(step, ReadRows):
            streams = list(self._streams(step.session, step.stream, step.name))[:1]
            wanted = list(self._wanted(index, step, streams))
        else:
            wanted = self._wanted_result(index, step)
        if not wanted:
            self.skipped.append(index)
            return self._all_of(within)
        pause, seconds = Pause([True, False]), self._pause_seconds()
        with ThreadPoolExecutor(1) as pool:
            held = pool.submit(self._paused, wanted[0], pause, seconds)
            try:
                with pause.call(1, seconds):
                    goes_on = self._all_of(within)
            finally:
                made, late = held.result()
                for number, (call, one) in enumerate(made):
                    self.calls.insert(place + number, call)
                    self._allowance.count(call)
                    self._note(call, one)
        if late is not None:
            self._at = within.stop
            raise late
        return goes_on

    def _paused(
        self, one: _Wanted, pause: Pause, seconds: float
    ) -> tuple[list[tuple[Call, _Wanted]], UsedUpError | None]:
        """The calls of a read that pauses, and why they are not all."""
        made: list[tuple[Call, _Wanted]] = []
        with pause.call(0, seconds) as wait:
            try:
                for call in self._stream(one, wait):
                    made.append(call)  # noqa: PERF402  # what was made before the limits were used up counts
            except UsedUpError as error:
                return made, error
        return made, None

    def _pause_seconds(self) -> float:
        """How long a call may pause: as long as the case, and as one call at least."""
        return min(max(self._plan.budget.seconds, self._plan.until - time.monotonic()), LONGEST_PAUSE)

    def _all_of(self, steps: range) -> bool:
        """Carry out these steps; False if one of them ends the case."""
        return all(self._carry_out(index, self._case.steps[index]) and not self.broken for index in steps)

    def _wanted(self, index: int, step: ReadRows, streams: list[tuple[str, str]]) -> Iterator[_Wanted]:
        for label, stream in streams:
            offset = self._offset(step.offset, stream)
            if offset is not None:
                request, routing = read_request(stream, offset)
                call = Call(index, label, "ReadRows", request)
                yield from [_Wanted(call, routing, stream, offset, step)] * step.times

    def _note(self, call: Call, one: _Wanted) -> None:
        """Remember how far a read came, for offsets of later steps."""
        self._reached.pop(one.stream, None)
        ended = call.end is CallEnd.COMPLETE and call.status == "OK"
        if not ended and call.end is not CallEnd.CANCELLED:
            return
        whole = ended and one.offset == 0 and one.step.take is None and self._is_start(one.step.offset)
        extent = extent_of(call.responses, rows=self._rows_of(one.stream) if whole else None)
        if whole:
            self._extents[one.stream] = extent
        if extent.total is not None:
            self._reached[one.stream] = one.offset + extent.total

    def _beyond(self, index: int, streams: list[tuple[str, str]]) -> Iterator[Call]:
        """A call that was not made, for the streams beyond the limit."""
        if len(streams) > MAX_STREAMS:
            said = f"the session names {len(streams)} streams; the service permits {MAX_STREAMS}, which were read"
            label, stream = streams[MAX_STREAMS]
            call = Call(index, label, "ReadRows", read_request(stream, 0)[0], status="", details=said)
            yield dataclasses.replace(call, end=CallEnd.OVER_BUDGET)

    def _made(self, wanted: list[_Wanted], *, together: bool) -> Iterator[tuple[Call, _Wanted]]:
        """The finished calls in the order of ``wanted``; made concurrently if ``together``.

        Raises:
            UsedUpError: not all could be made; all that were made have been yielded.
        """
        if not together or len(wanted) < 2:
            for one in wanted:
                yield from self._stream(one, lambda: None)
            return
        crew = min(len(wanted), MAX_TOGETHER)
        # The barrier makes the calls start at the same moment, not one thread after the other.
        start = threading.Barrier(crew)
        late: list[UsedUpError] = []
        pause = Pause([any(fault.kind is FaultKind.DELAY for fault in one.step.faults) for one in wanted])

        def make(number: int) -> list[tuple[Call, _Wanted]]:
            if number < crew:
                start.wait()
            made: list[tuple[Call, _Wanted]] = []
            with pause.call(number, self._pause_seconds()) as wait:
                try:
                    for one in self._stream(wanted[number], wait):
                        made.append(one)  # noqa: PERF402  # what was made before the limits were used up counts
                except UsedUpError as error:
                    late.append(error)
            return made

        with ThreadPoolExecutor(crew) as pool:
            for made in pool.map(make, range(len(wanted))):
                yield from made
        if late:
            raise late[0]

    def _streams(self, session: str, stream: str, name: str) -> Iterator[tuple[str, str]]:
        """The (label, stream name) pairs of a step; none if the session or stream does not exist."""
        known = self._sessions.get(session)
        if name:
            own = {"session": known.name, "stream": next(iter(known.streams), "")} if known else {}
            yield name, self._plan.names.fill(name, **own)
        elif stream in self._children:
            yield stream, self._children[stream]
        elif known is not None:
            for number, full in enumerate(known.streams):
                if stream in ("*", str(number)):
                    yield f"{session}/{number}", full

    def _is_empty(self, step: ReadRows) -> bool:
        """True if the step reads all streams of a session without streams: a complete read that makes no call."""
        session = self._sessions.get(step.session)
        return step.stream == "*" and session is not None and not session.streams

    def _offset(self, offset: str, stream: str) -> int | None:
        if offset.lstrip("-").isdecimal():
            return int(offset)
        if offset == "resume":
            return self._reached.get(stream)
        extent = self._extents.get(stream)
        return extent.place(offset) if extent is not None else None

    @staticmethod
    def _is_start(offset: str) -> bool:
        return offset.isdecimal() and int(offset) == 0

    def _rows_of(self, stream: str) -> int | None:
        """The row count that the case gives ``stream``; None if a restriction or further streams decide it."""
        owners = (session.rows for session in self._sessions.values() if stream in session.streams)
        return next(owners, None)

    def _unary(self, call: Call, routing: str) -> Call:
        made = self._patiently(lambda budget: self._caller.unary(call, routing=routing, budget=budget))
        self._keep(made)
        return made

    def _stream(self, one: _Wanted, wait: Callable[[], None]) -> Iterator[tuple[Call, _Wanted]]:
        """Make the call; after each fault of the step's plan, read on from the row after the last one that came."""
        faults = Faults(one.step.faults)
        while True:
            fault = faults.next("ReadRows", one.stream)
            call = self._read_once(one, fault, wait)
            yield call, one
            came = extent_of(call.responses, rows=None).total
            if fault is None or call.end is not CallEnd.CANCELLED or came is None or self._is_result(call):
                return
            offset = one.offset + came
            request, routing = read_request(one.stream, offset)
            one = dataclasses.replace(
                one, call=dataclasses.replace(one.call, request=request), routing=routing, offset=offset
            )

    def _is_result(self, call: Call) -> bool:
        """True if a call reads the result of a query: a step of its own reads on."""
        return isinstance(self._case.steps[call.step], ReadResult)

    def _patiently(self, make: Callable[[CallBudget], Call]) -> Call:
        """The call as ``make`` makes it within a budget, perhaps several times.

        Raises:
            UsedUpError: the limits of the case are used up.
        """
        return self._plan.patience.make(lambda: make(self._allowance.left()), self._plan.until)

    def _read_once(self, one: _Wanted, fault: PlannedFault | None, wait: Callable[[], None]) -> Call:
        take = one.step.take
        if fault is None:
            caller = self._other() if one.step.handed else self._caller
            return self._patiently(
                lambda budget: caller.stream(one.call, routing=one.routing, budget=budget, take=take)
            )

        def interrupted(budget: CallBudget) -> Call:
            with self._broken_by(fault) as (caller, line):
                met = Met(fault, line=line, wait=wait)
                return caller.stream(one.call, routing=one.routing, budget=budget, take=take, met=met)

        return self._patiently(interrupted)

    def _keep(self, call: Call) -> None:
        self.calls.append(call)
        self._allowance.count(call)


def _answer(call: Call) -> Any:
    """The decoded answer of a unary call; None if the call failed or the answer is not such a message."""
    if call.status != "OK" or not call.responses:
        return None
    try:
        return proto.RESPONSES[call.method].FromString(call.responses[0])
    except DecodeError:
        return None
