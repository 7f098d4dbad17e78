"""Puts a case's table into a server and verifies it there, before any request to the Storage API.

A failure here is never a read failure: a refusal, a changed value or a missing row raises :class:`CannotSeed`, and the
case is *untestable* for that reason.

This module decides which names tables get. On a server that the suite started, the names are the same in each run. A
server that outlives a run may hold tables of that name; then every name of this run gets a random part, because a
server without deletion must be usable, too. So what an earlier run left behind changes no verdict.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import re
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from conformance.records import Column, Happening
from conformance.targets.changing import change_columns
from conformance.targets.jobs import FIRST_PAUSE, LONGEST_PAUSE, query_table
from conformance.targets.kinds import make_kind
from conformance.targets.listing import verify, verify_order
from conformance.targets.loadjob import AVRO, PARQUET, LoadJob
from conformance.targets.names import Names
from conformance.targets.preloaded import PreloadedWay
from conformance.targets.restway import InsertAll, RestTables, Sql
from conformance.targets.seeds import Row, SeededTable, Way
from conformance.targets.spec import OVER_REST, Deadlines, SeedPath, TargetSpec
from conformance.targets.targeterrors import CannotSeed, RowsMissing, TableExists

if TYPE_CHECKING:
    from conformance.targets.questions import AskedProgram

__all__ = ["MadeTable", "Remembering", "Seeder", "open_seeder", "run_token"]


@dataclasses.dataclass(frozen=True, slots=True)
class MadeTable:
    """A table that a seeder made, and for what."""

    columns: tuple[Column, ...]
    rows: Sequence[Row]
    withheld: int
    table: SeededTable
    by: Seeder


Remembering: TypeAlias = Callable[[str, Callable[[], MadeTable], Callable[[MadeTable], bool]], MadeTable]
"""Gets the id of a case, what makes its table, and what tells whether a table that was made earlier is the same. It
returns an earlier one, with the server as it was then, or a new one.
"""


def open_seeder(
    spec: TargetSpec,
    tables: RestTables | None,
    *,
    deadlines: Deadlines,
    start: Callable[[], AskedProgram],
    token: str = "",
    remembering: Remembering | None = None,
) -> Seeder | None:
    """The seeder with the ways that the target file names, in its order; ``start`` starts the program that seeds.

    Without REST, its ways are left out; without any way there is no seeder.

    Raises:
        TargetError: the file names a way that it does not describe.
        TargetUnavailable: the program does not start.
    """
    seed = spec.seed
    ways: list[Way] = []
    for path in seed.paths:
        if tables is None and path in OVER_REST:
            continue
        match path:
            case SeedPath.PROGRAM:
                from conformance.targets.programway import ProgramWay  # noqa: PLC0415  # it imports jsonschema

                ways.append(ProgramWay(start, deadline=deadlines.seed))
            case SeedPath.PRELOADED:
                assert seed.preloaded is not None
                ways.append(PreloadedWay(spec.here / seed.preloaded.tables, seed.preloaded.table))
            case SeedPath.LOAD | SeedPath.LOAD_AVRO if tables is not None:
                ways.append(LoadJob(tables, AVRO if path is SeedPath.LOAD_AVRO else PARQUET))
            case SeedPath.REST | SeedPath.SQL if tables is not None:
                kind = InsertAll if path is SeedPath.REST else Sql
                ways.append(kind(tables, rows_per_request=seed.rows_per_request))
    if not ways:
        return None
    settle = 0.0 if spec.service is None else spec.service.settle
    names = {"project": spec.project, "dataset": seed.dataset, "token": token}
    return Seeder(ways, **names, listed=tables, settle=settle, remembering=remembering)


def run_token() -> str:
    """The part of table names that no other run has; random, because a clock may be set back and several shards may
    start at one instant.
    """
    return secrets.token_hex(8)


class Seeder:
    """Makes tables in one dataset by the first of ``ways`` that carries them, and removes them afterwards.

    ``listed`` verifies the rows over REST; without it, the word of the way is taken. ``token`` is the part of the names
    that belongs to this run, if the server outlives the run. Rows may take ``settle`` seconds to be listed; nothing is
    read before they are. ``remembering`` may bring back a table that was made in the same way.
    """

    def __init__(
        self,
        ways: Sequence[Way],
        *,
        project: str,
        dataset: str,
        listed: RestTables | None,
        token: str = "",
        settle: float = 0.0,
        remembering: Remembering | None = None,
    ) -> None:
        self._ways = tuple(ways)
        self._project = project
        self._dataset = dataset
        self._listed = listed
        self._token = token
        self._settle = settle
        self._remembering = remembering
        self._taken: Counter[str] = Counter()

    def seed(
        self,
        case_id: str,
        columns: Sequence[Column],
        rows: Sequence[Row],
        *,
        withheld: int,
        until: float = math.inf,
    ) -> SeededTable:
        """Make a fresh table for ``case_id`` and fill it with all rows except the last ``withheld``.

        The ways are tried in order, each with a table of its own, all of them before ``until`` on the monotonic clock.
        Raises :class:`CannotSeed` if the target refuses, or returns other rows than those that were inserted.
        """
        columns = tuple(columns)
        if self._remembering is None:
            return self._seeded(case_id, columns, rows, withheld, until)

        def make() -> MadeTable:
            return MadeTable(columns, rows, withheld, self._seeded(case_id, columns, rows, withheld, until), self)

        made = self._remembering(
            case_id, make, lambda one: (one.columns, one.rows, one.withheld) == (columns, rows, withheld)
        )
        table = dataclasses.replace(made.table, results=[])  # a copy, since appends change the table
        self.adopt(table, made.by)
        return table

    def _seeded(
        self, case_id: str, columns: tuple[Column, ...], rows: Sequence[Row], withheld: int, until: float
    ) -> SeededTable:
        refusals: list[str] = []
        for way in self._ways:
            try:
                table = SeededTable(case_id, self._fresh(case_id), columns, rows, way)
                return self._by(table, len(rows) - withheld, until)
            except CannotSeed as error:
                if not error.answered:
                    raise
                refusals.append(str(error))
        raise CannotSeed("; and by another path: ".join(refusals))

    def release(self, table: SeededTable) -> None:
        """Remove a case's table if the server outlives the run."""
        if self._token:
            table.way.drop(table.names)
            if self._listed is not None:
                for names in table.results:
                    self._listed.drop(names)

    def close(self, *, grace: float) -> None:
        """End what the ways started."""
        for way in self._ways:
            way.close(grace=grace)

    def _by(self, table: SeededTable, count: int, until: float) -> SeededTable:
        """``table``, made and verified; under a name that no other run has, if its own was taken."""
        try:
            table.make(count, until=until)
            if self._listed is not None:
                self._verified(self._listed, table, until)
        except CannotSeed as error:
            if error.answered:
                self.release(table)
            if self._token or not isinstance(error, TableExists):
                raise
            self._token = run_token()
            again = SeededTable(table.case, self._fresh(table.case), table.columns, table.rows, table.way)
            return self._by(again, count, until)
        return table

    def append(self, table: SeededTable, count: int, *, until: float = math.inf) -> None:
        """Insert the next ``count`` rows of a table; where rows may take a while, wait until they are listed."""
        table.append(count, until=until)
        if self._settle and self._listed is not None:
            self._verified(self._listed, table, until)

    def remake(self, table: SeededTable, count: int, *, until: float = math.inf) -> bool:
        """Drop a table and make it again under its name, with its next ``count`` rows alone.

        Returns False if the server still has the table, or rows of it, after it was asked to drop it. Raises
        :class:`CannotSeed` if the new table cannot be made, or shows other rows than those that were inserted.
        """
        table.way.drop(table.names)
        try:
            table.remake(count, until=until)
            if self._listed is not None:
                self._verified(self._listed, table, until)
        except TableExists:
            return False
        return True

    def renew(self, table: SeededTable, columns: Sequence[Column], *, until: float = math.inf) -> bool:
        """Drop a table and make it again under its name, with these columns and without rows.

        Returns False and raises :class:`CannotSeed` as :meth:`remake` does, and False too if its tables are not the
        suite's.
        """
        if not table.way.own:
            return False
        table.columns = tuple(columns)
        return self.remake(table, 0, until=until)

    def change(
        self,
        table: SeededTable,
        columns: Sequence[Column],
        *,
        altered: Sequence[tuple[Column, Column]] = (),
        rows: Sequence[Row] = (),
        until: float = math.inf,
    ) -> bool:
        """Give a table these columns; False if the server does not, or does not say afterwards that it has them.

        ``altered`` are those with another name or type, as they were and as they become, and ``rows`` then all rows of
        the case with the new names and values.

        Raises :class:`CannotSeed` if the server does not answer, or lists other rows than before.
        """
        if self._listed is None or not table.way.own:
            return False
        if not change_columns(self._listed, table.names, table.columns, columns, until, altered=altered):
            return False
        table.columns = tuple(columns)
        if altered:
            table.rows = rows[len(rows) - len(table.rows) :]
        self._verified(self._listed, table, until)
        return True

    def derive(self, table: SeededTable, what: Happening, *, until: float = math.inf) -> Names | None:
        """Make another table of a table, the result of a query or one of a certain kind, and return its names; None if
        the server has no such kind. A table that is removed keeps its names; None if it is none of the suite's.

        Raises :class:`CannotSeed` if there is no REST to ask, the query fails, or REST does not list the rows of the
        table as those of the other: a fault of the query is none of the read.
        """
        if what is Happening.REMOVED:
            table.way.drop(table.names)
            return table.names if table.way.own else None
        if self._listed is None:
            raise CannotSeed("no query can be run: the target has no REST")
        if what not in Happening.queries():
            names = make_kind(self._listed, table, what, until) if table.way.own else None
            if names is not None and what is not Happening.VIEW:
                self._verified(self._listed, dataclasses.replace(table, names=names), until)
            return names
        into, ordered = what is Happening.QUERY_INTO, what is Happening.QUERY_ORDERED
        names = query_table(self._listed, table.names, into=into, ordered=ordered, until=until)
        if into:
            table.results.append(names)
        self._verified(self._listed, dataclasses.replace(table, names=names), until)
        if ordered:
            verify_order(self._listed, dataclasses.replace(table, names=names), until)
        return names

    def ask(
        self, table: SeededTable, asked: tuple[bytes | str, Sequence[Names]], *, until: float = math.inf
    ) -> tuple[int, bytes]:
        """The status and the body of the answer of jobs.query to a body, which makes the tables of these names.

        In place of a body, a path is asked for what is there.

        Raises :class:`CannotSeed` if there is no REST to ask, and :class:`NoAnswer` if there is no answer.
        """
        if self._listed is None:
            raise CannotSeed("no query can be run: the target has no REST")
        body, made = asked
        table.results.extend(made)
        if isinstance(body, str):
            return self._listed.answered(body, None, until=until)
        return self._listed.answered(f"/bigquery/v2/projects/{table.names.project}/queries", body, until=until)

    def adopt(self, table: SeededTable, other: Seeder) -> None:
        """Go on with a table that ``other`` made, on a server that was started again."""
        table.way = self._ways[other._ways.index(table.way)]

    def _verified(self, listed: RestTables, table: SeededTable, until: float) -> None:
        """Verify the rows, again and again while some are missing and may still come."""
        settled = min(until, time.monotonic() + self._settle)
        pause = FIRST_PAUSE
        while True:
            try:
                verify(listed, table, until)
            except RowsMissing:
                if time.monotonic() + pause > settled:
                    raise
                threading.Event().wait(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                return

    def _fresh(self, case_id: str) -> Names:
        """A new table name for each drive of a case."""
        digest = hashlib.sha256(case_id.encode()).hexdigest()[:8]
        slug = re.sub(r"[^a-zA-Z0-9]+", "_", case_id)[:40].strip("_")
        name = "_".join(filter(None, ("t", slug, digest, self._token)))
        self._taken[name] += 1
        return Names(self._project, self._dataset, f"{name}_{self._taken[name]}")
