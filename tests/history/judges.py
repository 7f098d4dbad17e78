"""Model and model-free checker on the same histories: where both can see a contradiction, both have to.

:func:`play` takes the steps of a drawn scenario to a drawn server of plain rows, correct or with one fault.
:func:`driven` takes a scenario to the reference or a mutant of it, over gRPC. Either gives the sessions of one history
to the model (:mod:`conformance.protocols.storage_read.model`) and all calls to the checker
(:mod:`conformance.history`).

``python -m tests.history.judges --played N --driven N`` compares them and prints how often each said what.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from conformance.contract.view import View
from conformance.contract.viewing import view_of
from conformance.engine.owed import reference_target
from conformance.generate import draw_scenario, materialise
from conformance.history import AnomalyKind, Append, Create, End, History, HistoryCall, RowsRead, Split, check
from conformance.protocols.storage_read.contract.expected import visible_rows
from conformance.protocols.storage_read.contract.histories import histories
from conformance.protocols.storage_read.contract.rowhistory import observed
from conformance.protocols.storage_read.contract.view import ReadView
from conformance.protocols.storage_read.model import (
    Contradiction,
    DeviationKind,
    SessionHistory,
    StreamRead,
    deviations,
)
from conformance.protocols.storage_read.model import ModelSplit as SplitMade
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.records import ROW_ID, AppendRows, Case, CreateSession, ReadRows, SplitStream
from tests.history.drawing import FAULTS, Server

__all__ = ["MUTANTS_OF_HISTORIES", "Session", "disagreements", "driven", "play"]

MUTANTS_OF_HISTORIES: Final = tuple(name for name in MUTANTS if name.startswith(("combination.", "history.")))
"""The mutants of the reference that scenarios are driven against, beside the reference itself."""

_SERVERS: Final[tuple[type[Server], ...]] = (Server, *FAULTS)
_PLAYS: Final = 5
"""The drawn servers that answer each scenario, in turn: each gives another history."""
_ANSWERS: Final = frozenset({DeviationKind.REFUSED, DeviationKind.BEYOND})
"""What the status of a call shows, which the checker of histories does not judge."""


@dataclasses.dataclass(frozen=True, slots=True)
class Session:
    """A session as both judges saw it.

    ``found`` are the deviations of the model, ``anomalies`` those of the checker. ``snapshot`` has the ids of the rows
    that the table had, ``partial`` says that the session selects some of them, and ``read`` has the ids that each call
    returned.
    """

    name: str
    found: tuple[Contradiction, ...]
    anomalies: frozenset[AnomalyKind]
    snapshot: Collection[int]
    partial: bool
    read: Mapping[int, Collection[int]]

    def visible(self) -> bool:
        """True if the checker has to see one of the deviations: ids alone show it."""
        return any(self._shows(deviation) for deviation in self.found)

    def _shows(self, deviation: Contradiction) -> bool:
        if deviation.kind is DeviationKind.STRANGE:  # a row that the restriction drops is nothing that ids show
            return any(row not in self.snapshot for row in self.read[deviation.call])
        if deviation.kind is DeviationKind.MISSING:
            return not self.partial
        return deviation.kind not in _ANSWERS


def disagreements(sessions: Sequence[Session]) -> list[str]:
    """Return what one judge says of a session and the other, who has to see it, does not."""
    found = []
    anywhere = any(session.found for session in sessions)
    for session in sessions:
        kinds = sorted(deviation.kind for deviation in session.found)
        if session.visible() and not session.anomalies:
            found.append(f"{session.name}: the model says {kinds}, and the checker nothing")
        # A session recedes behind another one, and either may be the one whose rows are wrong.
        judged = anywhere if session.anomalies == {AnomalyKind.RECEDING_SNAPSHOT} else bool(session.found)
        if session.anomalies and not judged:
            found.append(f"{session.name}: the checker says {sorted(session.anomalies)}, and the model nothing")
    return found


# --- drawn servers --------------------------------------------------------------------------------------


def play(seed: int, case: Case, server: type[Server]) -> list[Session]:
    """Return the sessions of a scenario that a drawn server of plain rows has answered."""
    played = _Played(seed, case, server)
    judgement = check(History(tuple(played.calls)))
    kinds: dict[str, set[AnomalyKind]] = {}
    for anomaly in judgement.anomalies:
        kinds.setdefault(anomaly.session, set()).add(anomaly.kind)
    return [
        Session(
            f"seed {seed}, {server.__name__}, {label}",
            deviations(one.history()),
            frozenset(kinds.get(label, ())),
            one.snapshot,
            one.partial,
            {read.call: [row for row in read.rows if isinstance(row, int)] for read in one.reads},
        )
        for label, one in played.sessions.items()
    ]


@dataclasses.dataclass(slots=True)
class _Open:
    """A session while it is played; ``streams`` has the rows of its streams and children by label."""

    call: int
    rows: list[int]
    snapshot: frozenset[int]
    partial: bool
    streams: dict[str, list[int]]
    roots: tuple[str, ...]
    reads: list[StreamRead] = dataclasses.field(default_factory=list)
    splits: list[SplitMade] = dataclasses.field(default_factory=list)
    delivered: dict[str, int] = dataclasses.field(default_factory=dict)
    ends: dict[str, int] = dataclasses.field(default_factory=dict)

    def history(self) -> SessionHistory:
        """Return the session in the terms of the model."""
        return SessionHistory(self.call, self.rows, self.roots, tuple(self.reads), tuple(self.splits))


class _Played:
    """The steps of ``case`` at a server; each call lasts two units of time, and those of one moment last the same."""

    def __init__(self, seed: int, case: Case, server: type[Server]) -> None:
        self.random = random.Random(seed)
        self.server = server(self.random)
        self.calls: list[HistoryCall] = []
        self.sessions: dict[str, _Open] = {}
        self.now = 0
        self.visible: dict[int, float] = {}
        self.inserted = 0
        self.tables = 0
        later = sum(step.count for step in case.steps if isinstance(step, AppendRows))
        assert case.table.recipe is not None
        self._rows = case.table.recipe.rows
        self._append(self._rows - later)
        self.after_seed, _ = self._moment()
        for step in case.steps:
            match step:
                case AppendRows():
                    if step.again:
                        self.visible, self.tables = {}, self.tables + 1
                    self._append(step.count)
                case CreateSession():
                    self._create(step)
                case ReadRows() if step.session in self.sessions:
                    self._read(step)
                case SplitStream() if step.session in self.sessions:
                    self._split(step)

    def _moment(self) -> tuple[int, int]:
        self.now += 3
        return self.now - 3, self.now - 1

    def _append(self, count: int) -> None:
        begin, end = self._moment()
        rows = tuple(range(self.inserted, self.inserted + count))
        self.inserted += count
        self.visible.update(dict.fromkeys(rows, begin + 1))
        self.calls.append(Append(begin, end, rows, f"table {self.tables}"))

    def _create(self, step: CreateSession) -> None:
        begin, end = self._moment()
        early = self.after_seed if step.snapshot == "before-append" else None
        instant = self.server.instant(*((begin, end) if early is None else (early, early)))
        snapshot = [row for row, since in self.visible.items() if since <= (end if early is None else early)]
        expected = snapshot if step.expect.rows is None else list(step.expect.rows)
        unselected = set(snapshot) - set(expected)
        seen = {row: since for row, since in self.visible.items() if row not in unselected}
        streams = self.server.streams(self.server.rows(seen, instant))
        names = tuple(f"{step.label}/{number}" for number in range(len(streams)))
        partial = step.expect.rows is not None
        self.sessions[step.label] = _Open(
            len(self.calls), expected, frozenset(snapshot), partial, dict(zip(names, streams, strict=True)), names
        )
        table = f"table {self.tables}"
        self.calls.append(Create(begin, end, step.label, names, table, after=early, before=early, partial=partial))

    def _read(self, step: ReadRows) -> None:
        session = self.sessions[step.session]
        if step.stream == "*":
            names: Iterable[str] = session.roots
        else:
            names = [f"{step.session}/{step.stream}" if step.stream.isdigit() else step.stream]
        moment = self._moment()
        for name in names:
            if name in session.streams and (offset := self._place(session, name, step.offset)) is not None:
                for _ in range(step.times):
                    self._served(session, name, offset, step, moment if step.together else self._moment())

    @staticmethod
    def _place(session: _Open, name: str, offset: str) -> int | None:
        """The offset that a step means, from what came before; None if nothing came that it refers to."""
        if offset.isdigit():
            return int(offset)
        if offset == "resume":
            return session.delivered.get(name)
        end = session.ends.get(name)
        if end is None:
            return None
        if offset in ("inside", "boundary", "last"):
            return {"inside": end // 2, "boundary": (end + 1) // 2, "last": end - 1}[offset] if end > 1 else None
        return end + {"end": 0, "end+1": 1, "end+100": 100}[offset]

    def _served(self, session: _Open, name: str, offset: int, step: ReadRows, moment: tuple[int, int]) -> None:
        stream, call = session.streams[name], len(self.calls)
        if offset > len(stream):
            session.reads.append(StreamRead(call, name, offset, refused=True))
            self.calls.append(RowsRead(*moment, name, (), offset, End.REFUSED))
            return
        other = [row for row in session.rows if row not in stream]
        rows = self.server.served(stream, offset, other)
        ended = True
        if step.take is not None and len(rows) > 1:
            rows, ended = rows[: self.random.randint(1, len(rows) - 1)], False
        session.delivered[name] = offset + len(rows)
        if ended and not offset:
            session.ends[name] = len(rows)
        together = step.together and step.times > 1
        session.reads.append(StreamRead(call, name, offset, tuple(rows), ended=ended, together=together))
        self.calls.append(RowsRead(*moment, name, tuple(rows), offset, End.OK if ended else End.CUT))

    def _split(self, step: SplitStream) -> None:
        session = self.sessions[step.session]
        name = f"{step.session}/{step.stream}" if step.stream.isdigit() else step.stream
        if name not in session.streams:
            return
        stream, moment, call = session.streams[name], self._moment(), len(self.calls)
        cut = round(len(stream) * step.fraction)
        if not 0 < cut < len(stream):
            session.splits.append(SplitMade(call, name))
            self.calls.append(Split(*moment, name))
            return
        other = [row for row in session.rows if row not in stream]
        names = (f"{step.label}.primary", f"{step.label}.remainder")
        session.streams.update(zip(names, self.server.children(stream, cut, other), strict=True))
        session.splits.append(SplitMade(call, name, *names))
        self.calls.append(Split(*moment, name, *names))


# --- the reference --------------------------------------------------------------------------------------


def driven(case: Case, view: View) -> Iterator[Session]:
    """Yield the sessions of a scenario, from the exchange with a server, whose rows have ids."""
    seen = observed(view)
    if seen is None:
        return
    labels = {
        place: call.session
        for place, call in zip(seen.places, seen.history.calls, strict=True)
        if place is not None and isinstance(call, Create)
    }
    kinds: dict[str, set[AnomalyKind]] = {}
    for anomaly in seen.judgement.anomalies:
        kinds.setdefault(anomaly.session, set()).add(anomaly.kind)
    read = {
        place: call.rows
        for place, call in zip(seen.places, seen.history.calls, strict=True)
        if place is not None and isinstance(call, RowsRead)
    }
    ids = view.table.column(ROW_ID).to_pylist()
    for one in histories(view):
        step, label = one.session.step, labels.get(one.call)
        reads = [call for call in view.reads if call.session is one.session]
        if label is None or not all(_shows_ids(call, seen.history, seen.places) for call in reads):
            continue
        visible = visible_rows(view, one.session)
        yield Session(
            f"{case.id}, {label}",
            one.found,
            frozenset(kinds.get(label, ())),
            frozenset(ids[visible.start : visible.stop]),
            bool(step.row_restriction),
            {call.index: read.get(call.index, ()) for call in reads},
        )


def _shows_ids(read: ReadView, history: History, places: Sequence[int | None]) -> bool:
    """True if the checker knows the rows of a read: it decodes only those with ids."""
    if read.index not in places:
        return False
    call = history.calls[places.index(read.index)]
    return isinstance(call, RowsRead) and call.ended is not End.UNKNOWN


# --- the campaign ---------------------------------------------------------------------------------------


def _said(session: Session) -> str:
    model = "model broken" if session.found else "model holds"
    return f"{model}, checker {'broken' if session.anomalies else 'holds'}"


def _campaign_played(count: int, said: Counter[str], wrong: list[str]) -> None:
    case = draw_scenario(0, 0)
    for seed in range(count):
        if seed % _PLAYS == 0:
            case = draw_scenario(0, seed // _PLAYS)
        sessions = play(seed, case, _SERVERS[seed % len(_SERVERS)])
        said.update(_said(session) for session in sessions if session.read)
        wrong += disagreements(sessions)


def _campaign_driven(count: int, said: Counter[str], wrong: list[str]) -> None:
    names = (None, *MUTANTS_OF_HISTORIES)
    share = -(-count // len(names))
    for number, name in enumerate(names):
        with reference_target(mutant=name) as target:
            for index in range(share):
                case = draw_scenario(1000 + number, index)
                table = materialise(case.table)
                sessions = list(driven(case, view_of(case, target.drive(case, table), table)))
                said.update(_said(session) for session in sessions if session.read)
                wrong += [f"{name or 'reference'}: {text}" for text in disagreements(sessions)]


def main() -> int:
    """Compare and print; the exit status is 1 if the judges disagree."""
    parser = argparse.ArgumentParser(prog="python -m tests.history.judges", description=__doc__)
    parser.add_argument("--played", type=int, default=1000, help="histories of drawn servers of plain rows")
    parser.add_argument("--driven", type=int, default=0, help="histories of the reference and its mutants")
    options = parser.parse_args()
    wrong: list[str] = []
    for name, count, campaign in (
        ("played", options.played, _campaign_played),
        ("driven", options.driven, _campaign_driven),
    ):
        said: Counter[str] = Counter()
        began, before = time.process_time(), len(wrong)
        campaign(count, said, wrong)
        print(f"{name}: {count} histories, {said.total()} sessions that were read", end=", ")
        print(f"{len(wrong) - before} disagreements, {time.process_time() - began:.0f} s of processor time", flush=True)
        for text, often in sorted(said.items()):
            print(f"  {text}: {often}")
    for text in wrong[:20]:
        print(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
