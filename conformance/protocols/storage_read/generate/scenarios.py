"""Scenarios: cases whose steps are a drawn history of calls, so that features meet that written cases show one by one.

A scenario is a case like any other: it is saved, replayed, shrunk and judged as one. It follows from (seed, index)
alone. Its main session has one value of each of the :mod:`~conformance.generate.factors`. The rows that a session sees
are computed by the model (:mod:`conformance.protocols.storage_read.model`).
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from conformance.generate.choices import Choices, Seeded, interleaved, one_in
from conformance.generate.drawing import draw_recipe
from conformance.generate.factors import wanted_of
from conformance.generate.materialise import materialise, to_json_rows
from conformance.generate.nestedcolumns import nested_columns, shallow_profile
from conformance.generate.weight import bounded
from conformance.protocols.storage_read.generate.alike import perhaps_put_alike
from conformance.protocols.storage_read.generate.factors import FACTORS, offered
from conformance.protocols.storage_read.generate.predicates import draw_near, draw_selective, sql_of
from conformance.protocols.storage_read.generate.queries import CAPABILITY, draw_query, is_result
from conformance.protocols.storage_read.generate.requests import draw_selection
from conformance.protocols.storage_read.model.predicates import Predicate
from conformance.protocols.storage_read.model.tables import GrowingTable
from conformance.records import (
    AppendRows,
    Case,
    CreateSession,
    Expect,
    FaultKind,
    Happening,
    Meanwhile,
    PlannedFault,
    QueryStatement,
    ReadRows,
    RunQuery,
    SplitStream,
    Step,
    Table,
)

__all__ = [
    "CHAPTER",
    "HEAVIEST",
    "SCENARIO",
    "draw_scenario",
    "is_scenario",
    "parse_scenario_id",
    "scenario_id",
]

SCENARIO: Final = "scenario"
"""The first word of a scenario's id, and the name of the profile of scenarios."""

CHAPTER: Final = "combination"
"""The chapter of the clauses that scenarios exist to observe."""

_ID: Final = re.compile(SCENARIO + r"\.s(\d{1,19})\.i(\d{1,19})")


def scenario_id(seed: int, index: int) -> str:
    """Return the id of a scenario; it contains everything needed to draw it again."""
    return f"{SCENARIO}.s{seed}.i{index}"


def parse_scenario_id(name: str) -> tuple[int, int] | None:
    """Return the seed and the index in a scenario's id; None if the text is not such an id."""
    found = _ID.fullmatch(name)
    return (int(found[1]), int(found[2])) if found else None


def is_scenario(case: Case) -> bool:
    """True if a case exists to observe features in combination, drawn or saved."""
    return any(name.startswith(f"{CHAPTER}.") for name in case.clauses)


def draw_scenario(seed: int, index: int, *, not_offered: Collection[str] = ()) -> Case:
    """Return the ``index``-th scenario of a seed, independent of other scenarios that are drawn and of their order.

    It asks for nothing of the profiles in ``not_offered``: such steps are left out, and so are columns of its types.
    """
    wanted = offered(wanted_of(seed, index, FACTORS, SCENARIO), not_offered)
    others = {
        name: Seeded(seed, index, f"{SCENARIO}/{name}") for name in ("faults", "remake", "restart", "query", "alike")
    }
    crowded = index % _CROWDED == _CROWDED - 1
    scenario = _Scenario(Seeded(seed, index, SCENARIO), wanted, not_offered, crowded=crowded, **others)
    title = "A drawn history of calls gives each row of a session once, at its place"
    clauses = tuple(f"{CHAPTER}.{name}" for name in ("rows-are-the-sessions", "none-is-missing"))
    steps = tuple(scenario.steps())
    needs = (CAPABILITY,) if any(isinstance(step, RunQuery) for step in steps) else ()
    return Case(scenario_id(seed, index), title, scenario.table, steps, clauses, needs=needs)


# --- tables -------------------------------------------------------------------------------------------

_FEW: Final = (0, 1, 2, 3)
_MANY: Final = (9, 12, 17, 17, 31, 33, 40, 40, 64, 65, 70, 129)
"""Row counts with several responses and streams on a server that divides small tables, and around bitmap words."""
_MOST: Final = 3000
"""More rows than the pages of most servers."""
HEAVIEST: Final = 4 << 20
"""The limit for the weight of the first table in bytes, because a scenario reads it many times. A table that is made
again has at most as many rows more.
"""
_CROWD: Final = 130
"""More sessions than a small cache of a server holds."""
_CROWDED: Final = 40
"""One in so many scenarios makes that many sessions between two reads, which costs as much as ten other scenarios."""
_REMADE: Final = 5
"""One in so many scenarios ends with the table dropped and made again under its name."""
_QUERIED: Final = 8
"""One in so many scenarios ends with a query of its table, on a server that declares query results."""
_RESTARTED: Final = 16
"""One in so many scenarios ends with a restart of the server, which costs two starts where the suite may restart it."""


# --- steps --------------------------------------------------------------------------------------------

ANY_END: Final = Expect(codes=("OK", "OUT_OF_RANGE", "FAILED_PRECONDITION", "INVALID_ARGUMENT"))
"""An offset that may be beyond the end of its stream, which only the answers show."""
OUTLIVED: Final = Expect(codes=(*ANY_END.codes, "NOT_FOUND"))
"""A read of a session whose table was dropped: whether it is served is not recorded, nor how it is refused."""
BEYOND: Final = Expect(codes=ANY_END.codes[1:], reason="offset-past-end")

Unit = tuple[Step, ...]
"""Steps that follow each other directly."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Ending:
    """The table is dropped and made again with so many rows, perhaps on a restarted server; a session on it follows."""

    label: str
    choices: Choices
    rows: int
    restarts: bool


class _Scenario:
    """The table and the steps of a scenario."""

    def __init__(
        self,
        choices: Choices,
        wanted: Mapping[str, str],
        not_offered: Collection[str],
        *,
        faults: Choices,
        remake: Choices,
        restart: Choices,
        query: Choices,
        alike: Choices,
        crowded: bool,
    ) -> None:
        self._choices = choices
        self._query = query
        self._alike = alike
        self._faults = faults
        self._crowded = crowded
        self._wanted = wanted
        self._not_offered = not_offered
        columns = nested_columns(choices, wanted["nesting"], not_offered)
        plain = wanted["offset"] == "start" and wanted["split"] == "none" and wanted["restriction"] != "some"
        counts = _FEW + _MANY[:4] if plain else (_MOST,) if one_in(choices, 60) else _MANY
        recipe = dataclasses.replace(draw_recipe(choices, shallow_profile(), columns), rows=choices.pick(counts))
        recipe = bounded(columns, recipe, HEAVIEST)
        self._appends = self._split_off(recipe.rows)
        self._before = recipe.rows
        self._endings = self._drawn_endings(recipe.rows, remake, restart)
        more = sum(ending.rows for ending in self._endings)
        self.table = Table(columns, recipe=dataclasses.replace(recipe, rows=recipe.rows + more))
        self._restriction: Predicate | None = None
        """The restriction of the session before."""
        self._sessions: dict[str, tuple[CreateSession, Predicate | None]] = {}

    def _split_off(self, rows: int) -> list[int]:
        """Return how many rows each append inserts; none unless the scenario has appends."""
        choices = self._choices
        if self._wanted["snapshot"] == "none" and ("snapshots" in self._not_offered or not one_in(choices, 6)):
            return []
        counts = [
            choices.integer(0 if one_in(choices, 8) else 1, max(1, rows // 3)) for _ in range(choices.integer(1, 2))
        ]
        return counts if sum(counts) <= rows else [min(1, rows)]

    def _drawn_endings(self, rows: int, remake: Choices, restart: Choices) -> list[_Ending]:
        """Return the times that the table is made again, often with as many rows as before: first by a server that goes
        on, then by one that was restarted, for not every server is.
        """
        if "snapshots" in self._not_offered or rows >= _MOST:
            return []
        left = rows - sum(self._appends[self._wanted["snapshot"] != "append" :])
        drawn = (("r", remake, _REMADE, False), ("q", restart, _RESTARTED, True))
        return [
            _Ending(label, choices, choices.integer(0, rows) if one_in(choices, 3) else left, restarts)
            for label, choices, rate, restarts in drawn
            if one_in(choices, rate)
        ]

    @functools.cached_property
    def model(self) -> GrowingTable:
        """The table as far as the steps have made it."""
        rows = to_json_rows(materialise(self.table), self.table.columns)
        return GrowingTable.before_appends(rows, sum(self._appends) + sum(ending.rows for ending in self._endings))

    def steps(self) -> list[Step]:
        """Return the steps: the sessions, then what is done with them, in a drawn order."""
        choices, wanted = self._choices, self._wanted
        steps: list[Step] = []
        late = list(self._appends)
        if late and (wanted["snapshot"] != "append" or (len(late) > 1 and one_in(choices, 2))):
            steps.append(self._append(late.pop(0)))
        while late and wanted["snapshot"] == "none":
            steps.append(self._append(late.pop(0)))
        labels = ["s"]
        steps.append(self._session("s", wanted))
        if wanted["concurrency"] == "sessions" or one_in(choices, 3):
            labels.append("t")
        units = self._reads()
        units += [[(AppendRows(count),)] for count in late]
        if self._crowded:
            crowd = tuple(CreateSession(label=f"u{number}", max_stream_count=1) for number in range(_CROWD))
            units.append([crowd, *self._again("s"), (ReadRows(),)])
        if "t" in labels:
            drawn = {name: choices.pick(FACTORS[name]) for name in ("restriction", "streams", "compression")}
            other = offered({**wanted, **drawn, "snapshot": "none"}, self._not_offered)
            steps.append(self._session("t", other))
            units.append([(ReadRows(session="t"),), *self._again("t")])
        steps += interleaved(choices, units)
        perhaps_put_alike(self._alike, steps, "s", self.table.columns, self._not_offered)
        for number, ending in enumerate(self._endings):
            self.model.append(0 if number else sum(late))
            steps += self._after_drop(ending)
        return steps + self._queried()

    def _queried(self) -> list[Step]:
        """Return a query of the table with all its rows, or none."""
        columns = self.table.columns
        if CAPABILITY in self._not_offered or self._endings or not all(map(is_result, columns)):
            return []
        rows = self._before
        drawn = one_in(self._query, _QUERIED) and rows < _MOST
        return draw_query(self._query, "q", QueryStatement.SELECT, rows=rows) if drawn else []

    def _after_drop(self, ending: _Ending) -> list[Step]:
        """Return the steps that make the table again, a session on it with the options of an earlier one, and reads of
        it and of the sessions on the dropped table; half of these by another process if the server was restarted.
        """
        choices = ending.choices
        self.model.make_again(ending.rows)
        session, predicate = choices.pick(tuple(self._sessions.values()))
        expect = Expect() if predicate is None else Expect(rows=self.model.seen(predicate))
        units: list[Sequence[Unit]] = [
            [(ReadRows(session=label, offset=offset, handed=handed, expect=OUTLIVED),)]
            for label in self._sessions
            for offset, handed in (("0", ending.restarts), (choices.pick(("1", "3", "8")), False))
        ]
        units.append(
            [
                (ReadRows(session=ending.label),),
                (ReadRows(session=ending.label, offset=choices.pick(("0", "1", "5")), expect=ANY_END),),
            ]
        )
        repeated = dataclasses.replace(session, label=ending.label, snapshot="", expect=expect)
        self._sessions[ending.label] = (repeated, predicate)
        before = [Meanwhile(Happening.RESTART)] if ending.restarts else []
        return [*before, AppendRows(ending.rows, again=True), repeated, *interleaved(choices, units)]

    def _append(self, count: int) -> AppendRows:
        self.model.append(count)
        return AppendRows(count)

    def _session(self, label: str, wanted: Mapping[str, str]) -> CreateSession:
        """Return the call that makes a session; the model knows the rows that it sees."""
        choices, columns = self._choices, self.table.columns
        early = wanted["snapshot"] == "time"
        compression = wanted["compression"]
        restriction, expect = "", Expect()
        predicate: Predicate | None = None
        if wanted["restriction"] != "none":
            some = wanted["restriction"] == "some"
            if self._restriction is not None and one_in(choices, 2):
                predicate = draw_near(choices, self._restriction)
            else:
                seen = [self.model.rows[index] for index in self.model.seen(before_appends=early)]
                rows = self.model.rows[: self._before]
                predicate = draw_selective(choices, columns, rows, seen=seen, some=some)
            self._restriction = predicate
            if predicate is not None:
                restriction = sql_of(predicate)
                expect = Expect(rows=self.model.seen(predicate, before_appends=early))
        session = CreateSession(
            label=label,
            selected_fields=self._selection(),
            row_restriction=restriction,
            max_stream_count={"one": 1, "several": choices.pick((2, 3, 5))}.get(wanted["streams"], 0),
            buffer_compression=compression if compression in ("LZ4_FRAME", "ZSTD") else "",
            response_compression="LZ4" if compression == "response" else "",
            snapshot="before-append" if early else "",
            expect=expect,
        )
        self._sessions[label] = (session, predicate)
        return session

    def _selection(self) -> tuple[str, ...]:
        if "projection" in self._not_offered or not one_in(self._choices, 3):
            return ()
        return draw_selection(self._choices, self.table.columns)

    def _reads(self) -> list[Sequence[Unit]]:
        """Return what is done with the main session: lists of units, each list in its order."""
        wanted = self._wanted
        units: list[Sequence[Unit]] = [[(ReadRows(),)]]
        units.append(self._from(wanted["offset"], "*" if one_in(self._choices, 2) else "0"))
        if wanted["split"] != "none":
            units.append(self._splits())
        match wanted["concurrency"]:
            case "stream":
                units.append(self._read_so(times=self._choices.integer(2, 4), together=True))
            case "sessions":
                *before, last = self._read_so()
                units.append([*before, (*last, ReadRows(session="t", alongside=True))])
            case "handed":
                units.append(self._read_so(handed=True))
        return units + ([self._again("s")] if one_in(self._choices, 2) else [])

    def _read_so(self, **changes: Any) -> list[Unit]:
        """Return a read of the main session from where the scenario's offsets are, with the reads that it needs before
        it; it can be made whatever rows the session has.
        """
        *before, (last,) = self._from(self._wanted["offset"], self._choices.pick(("*", "0")))
        number = "2" if last.offset in ("inside", "boundary", "last") else last.offset
        return [*before, (dataclasses.replace(last, offset=number, **changes),)]

    def _from(self, offset: str, stream: str) -> list[tuple[ReadRows, ...]]:
        """Return the reads of a stream from such an offset, with those that it needs before it."""
        choices = self._choices
        match offset:
            case "number":
                number = choices.pick(("inside", "boundary", "last", "1", "2", "3", "5", "8", "16", "21"))
                return [(ReadRows(stream=stream, offset=number, expect=ANY_END),)]
            case "resume" if one_in(self._faults, 2):
                return [(ReadRows(stream=stream, faults=self._plan()),)]
            case "resume":
                return [(ReadRows(stream=stream, take=1),), (ReadRows(stream=stream, offset="resume"),)]
            case "end" if one_in(choices, 3):
                return [(ReadRows(stream=stream),), (ReadRows(stream=stream, offset="end+1", expect=BEYOND),)]
            case "end":
                return [(ReadRows(stream=stream),), (ReadRows(stream=stream, offset="end"),)]
        return [(ReadRows(stream=stream),)]

    def _plan(self) -> tuple[PlannedFault, ...]:
        """Return a plan that breaks a read off once or twice: its connection breaks, or the call ends."""
        faults = self._faults
        found = []
        for call in range(2 if one_in(faults, 3) else 1):
            if one_in(faults, 3):
                found.append(PlannedFault(FaultKind.RESET, call=call, bytes=faults.pick((1, 300, 1000, 5000))))
            else:
                kind = FaultKind.STATUS if one_in(faults, 3) else FaultKind.RESET
                found.append(PlannedFault(kind, call=call, responses=faults.pick((1, 1, 2, 3))))
        return tuple(found)

    def _splits(self) -> Sequence[Unit]:
        """Return a split, perhaps of one of its children too, and reads of children."""
        choices, offset = self._choices, self._wanted["offset"]
        parent = choices.pick(("0", "0", "1"))
        if self._wanted["streams"] == "one":
            parent = "0"
        units: list[Unit] = [(self._split("x", parent),)]
        children = ["x.primary", "x.remainder"]
        if self._wanted["split"] == "twice":
            parent = choices.pick(children)
            units.append((self._split("y", parent),))
            children += ["y.primary", "y.remainder"]
        for child in children:
            if not one_in(choices, 4):
                nested = child.startswith("y.")  # few scenarios have one, so that each is read in the scenario's way
                units += self._from(offset if nested or one_in(choices, 2) else "start", child)
        return units

    def _split(self, label: str, stream: str) -> SplitStream:
        return SplitStream(label=label, stream=stream, fraction=self._choices.pick((0.5, 0.1, 0.25, 0.9)))

    def _again(self, session: str) -> list[Unit]:
        """Return a few more reads of a session: in part, again, from another offset."""
        choices = self._choices
        reads = (
            ReadRows(session=session, take=1),
            ReadRows(session=session, offset="resume"),
            ReadRows(session=session, offset=choices.pick(("1", "3", "6")), expect=ANY_END),
            ReadRows(session=session),
        )
        return [(choices.pick(reads),) for _ in range(choices.integer(0, 2))]
