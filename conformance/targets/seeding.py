"""Puts a case's table into a server and verifies it there, before any request to the Storage API.

A failure here is never a read failure: a refusal, a changed value or a missing row raises :class:`CannotSeed`, and the
case is *untestable* for that reason.

The verification covers the row count, and the values of the first rows that ``tabledata.list`` returns, in any order,
as far as REST has exact texts for them (:mod:`.values`). It does not cover the further rows of a large table.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Final

from conformance.contain.text import safe
from conformance.records import Column, Mode
from conformance.targets.errors import CannotSeed
from conformance.targets.messages import Names
from conformance.targets.recent import Recent
from conformance.targets.rest import RestClient, RestError
from conformance.targets.spec import Seed, SeedPath
from conformance.targets.sql import insert_statement
from conformance.targets.values import (
    Instants,
    Unreadable,
    case_value,
    listed_cell,
    listed_value,
    rest_schema,
    rest_value,
)

__all__ = ["SeededTable", "Seeder"]

MAX_VERIFIED_ROWS: Final = 1000
"""The number of rows whose values are compared: enough to see a changed value, cheap for large tables."""

REQUEST_BYTES: Final = 8 << 20
"""The size of a request with rows: insertAll accepts at most 10 MB (BigQuery quotas, "streaming inserts")."""

LARGE: Final = 2_000
LARGEST: Final = 50_000
"""Numbers of rows between which a table's requests are kept for the next case that has it."""

QUERY_MILLISECONDS: Final = 60_000
"""The wait that jobs.query is asked for; the request's own deadline is shorter."""

Row = dict[str, Any]


class Seeder:
    """Makes tables in one dataset of one project through ``client``."""

    def __init__(self, client: RestClient, *, project: str, how: Seed, token: str = "") -> None:
        self._client = client
        self._project = project
        self._dataset = how.dataset
        self._how = how
        self._token = token
        self._has_dataset = False
        self._taken: Counter[str] = Counter()
        self._written: Recent[tuple[Sequence[Row], list[tuple[Sequence[Row], bytes]]]] = Recent()

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

        The paths of the target file are tried in order, each with a table of its own, all of them before ``until`` on
        the monotonic clock.
        Raises :class:`CannotSeed` if the target refuses, or returns other rows than those that were inserted.
        """
        self._make_dataset(until)
        refusals: list[str] = []
        for path in self._how.paths:
            names = Names(self._project, self._dataset, self._fresh(case_id))
            table = SeededTable(self, names, tuple(columns), tuple(rows), path)
            table.create(until)
            try:
                table.append(len(rows) - withheld, until=until)
                table.verify(until)
            except CannotSeed as error:
                if not error.answered:
                    raise
                refusals.append(str(error))
            else:
                return table
        raise CannotSeed("; and by another path: ".join(refusals))

    def insert(self, table: SeededTable, rows: Sequence[Row], *, until: float) -> int:
        """Insert ``rows`` (in the JSON form of a case) in requests of limited size; returns their size in bytes."""
        sent = self._client.sent

        def requests() -> Iterator[tuple[Sequence[Row], bytes]]:
            return _requests(table.columns, rows, self._how.rows_per_request)

        whole = rows is table.rows and LARGE <= len(rows) <= LARGEST
        # The rows are kept with what was written of them: no others can come to their identity.
        _, written = self._written.get(id(rows), lambda: (rows, list(requests()))) if whole else ((), requests())
        for chunk, body in written:
            table.widest = max(table.widest, len(body) // len(chunk))
            if table.path is SeedPath.SQL:
                self._query(insert_statement(table.names, table.columns, chunk), until)
            else:
                self._insert_all(table.names, body, until)
        return self._client.sent - sent

    def _insert_all(self, names: Names, body: bytes, until: float) -> None:
        answer = self.post(f"{self.path(names)}/insertAll", body, until=until)
        if errors := answer.get("insertErrors"):
            raise CannotSeed(f"insertAll refused rows: {_listed(errors)}")

    def _query(self, statement: str, until: float) -> None:
        body = {"query": statement, "useLegacySql": False, "timeoutMs": str(QUERY_MILLISECONDS)}
        answer = self.post(f"/bigquery/v2/projects/{self._project}/queries", body, until=until)
        if errors := answer.get("errors"):
            raise CannotSeed(f"INSERT was refused: {_listed(errors)}")
        if answer.get("jobComplete") is False:
            raise CannotSeed("INSERT did not complete while jobs.query waited for it")

    def post(self, path: str, body: Row | bytes, *, until: float) -> Row:
        """POST; every failure means that the case cannot be seeded and raises :class:`CannotSeed`."""
        _check_time(until)
        try:
            return self._client.post(path, body, until=until)
        except RestError as error:
            raise CannotSeed(str(error), answered=error.status is not None) from None

    def get(self, path: str, params: dict[str, str], *, until: float, shown: int) -> Row:
        """GET an answer that shows ``shown`` bytes of rows; raises :class:`CannotSeed` like :meth:`post`."""
        _check_time(until)
        try:
            return self._client.get(path, params=params, until=until, shown=shown)
        except RestError as error:
            raise CannotSeed(str(error), answered=error.status is not None) from None

    def drop(self, names: Names) -> None:
        """Delete a table; a failure is ignored, because it does not belong to the case."""
        try:
            self._client.delete(self.path(names))
        except RestError:
            return

    def tables(self) -> str:
        """The path of the dataset's tables."""
        return f"/bigquery/v2/projects/{self._project}/datasets/{self._dataset}/tables"

    def path(self, names: Names) -> str:
        """The path of one table."""
        return f"{self.tables()}/{names.table}"

    def _make_dataset(self, until: float) -> None:
        if self._has_dataset:
            return
        _check_time(until)
        body = {"datasetReference": {"projectId": self._project, "datasetId": self._dataset}}
        try:
            self._client.post(f"/bigquery/v2/projects/{self._project}/datasets", body, until=until)
        except RestError as error:
            if error.status != 409:  # it exists already
                raise CannotSeed(f"dataset {self._dataset!r}: {error}", answered=error.status is not None) from None
        self._has_dataset = True

    def _fresh(self, case_id: str) -> str:
        """A new table name for each drive of a case, the same in each run against a fresh server."""
        digest = hashlib.sha256(case_id.encode()).hexdigest()[:8]
        slug = re.sub(r"[^a-zA-Z0-9]+", "_", case_id)[:40].strip("_")
        name = "_".join(filter(None, ("t", slug, digest, self._token)))
        self._taken[name] += 1
        return f"{name}_{self._taken[name]}"


@dataclasses.dataclass(slots=True)
class SeededTable:
    """A case's table in the target; the first ``inserted`` of its ``rows`` are in it, and took ``sent`` bytes.

    ``widest`` is the average size of a row, in bytes of JSON, in the request with the largest rows.
    """

    seeder: Seeder
    names: Names
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    path: SeedPath
    inserted: int = 0
    sent: int = 0
    widest: int = 1

    def create(self, until: float) -> None:
        """Create the table with its schema; raises :class:`CannotSeed`."""
        reference = {"projectId": self.names.project, "datasetId": self.names.dataset, "tableId": self.names.table}
        schema = {"fields": [rest_schema(column) for column in self.columns]}
        try:
            self.seeder.post(self.seeder.tables(), {"tableReference": reference, "schema": schema}, until=until)
        except CannotSeed as error:
            raise self._with_columns(error) from None

    def append(self, count: int, *, until: float = math.inf) -> None:
        """Insert the next ``count`` rows, before ``until`` on the monotonic clock; raises :class:`CannotSeed`."""
        rows = self.rows[self.inserted : self.inserted + count]  # all of them are the tuple itself
        if rows:
            try:
                self.sent += self.seeder.insert(self, rows, until=until)
            except CannotSeed as error:
                raise self._with_columns(error) from None
        self.inserted += len(rows)

    def _with_columns(self, error: CannotSeed) -> CannotSeed:
        return CannotSeed(f"{error} (columns: {_types(self.columns)})", answered=error.answered)

    def verify(self, until: float = math.inf) -> None:
        """Raise :class:`CannotSeed` unless REST shows the inserted rows."""
        page = max(1, min(MAX_VERIFIED_ROWS, REQUEST_BYTES // self.widest))
        parameters = {"maxResults": str(page), "formatOptions.useInt64Timestamp": "true"}
        answer = self.seeder.get(f"{self.seeder.path(self.names)}/data", parameters, until=until, shown=self.sent)
        total = answer.get("totalRows")
        if str(total) != str(self.inserted):
            raise CannotSeed(f"{self.inserted} rows were inserted but tabledata.list counts {_short(total)}")
        rows = answer.get("rows") or []
        if not isinstance(rows, list):
            raise CannotSeed(f"expected tabledata.list to return an array of rows but got {_short(rows)}")
        if len(rows) > self.inserted:
            raise CannotSeed(f"{self.inserted} rows were inserted but tabledata.list returned {len(rows)}")
        if len(rows) < min(page, self.inserted) and not answer.get("pageToken"):
            raise CannotSeed(f"{self.inserted} rows were inserted but tabledata.list ends after {len(rows)}")
        self._compare([self._cells(row) for row in rows[:page]], until)

    def _cells(self, row: Any) -> list[Any]:
        cells = row.get("f") if isinstance(row, dict) else None
        if not isinstance(cells, list) or len(cells) != len(self.columns):
            raise CannotSeed(f"tabledata.list returned a row of another shape than the {len(self.columns)} columns")
        return cells

    def _compare(self, listed: list[list[Any]], until: float) -> None:
        """Raise :class:`CannotSeed` unless each listed row is one of the inserted rows, each used once."""
        rows = self.rows[: self.inserted]
        if self._in_order(rows[: len(listed)], listed, until):
            return
        complaint: CannotSeed | None = None
        for instants in Instants:
            wanted: list[list[Hashable]] = []
            seen: list[list[Hashable]] = []
            for at, column in enumerate(self.columns):
                values, cells = [row.get(column.name) for row in rows], [listed_row[at] for listed_row in listed]
                want = _readable(case_value, column, values, instants, until)
                came = _readable(listed_value, column, cells, instants, until)
                if want is None or came is None:
                    one = column.mode is not Mode.REPEATED  # an array that is NULL reads as an empty one
                    want, came = [one and it is None for it in values], [_value(cell) is None for cell in cells]
                wanted.append(want)
                seen.append(came)
            if not Counter(zip(*seen, strict=True)) - Counter(zip(*wanted, strict=True)):
                return
            complaint = complaint or self._complaint(wanted, seen)
        assert complaint is not None
        raise complaint

    def _in_order(self, rows: Sequence[Row], listed: list[list[Any]], until: float) -> bool:
        """True if the listed rows are ``rows`` in this order, as most servers list them; False decides nothing."""
        for at, column in enumerate(self.columns):
            _check_time(until)
            values, cells = [row.get(column.name) for row in rows], [listed_row[at] for listed_row in listed]
            if [listed_cell(column, value) for value in values] == cells:
                continue
            want = _readable(case_value, column, values, Instants.MICROS, until)
            if want is None or want != _readable(listed_value, column, cells, Instants.MICROS, until):
                return False
        return True

    def _complaint(self, wanted: list[list[Hashable]], seen: list[list[Hashable]]) -> CannotSeed:
        """The error for the first column whose values differ, or for rows whose cells are mixed up."""
        for column, want, came in zip(self.columns, wanted, seen, strict=True):
            strange = Counter(came) - Counter(want)
            if strange:
                missing = Counter(want) - Counter(came)
                got, put = next(iter(strange)), next(iter(missing), None)
                return CannotSeed(
                    f"column {column.name!r} ({_type(column)}): tabledata.list shows {_short(got)}, "
                    f"which was not put in; {_short(put)} was"
                )
        return CannotSeed("tabledata.list shows the cells of different rows in one row")


def _value(cell: Any) -> Any:
    return cell.get("v") if isinstance(cell, dict) else cell


def _readable(
    read: Callable[[Column, Any, Instants], Hashable],
    column: Column,
    values: Sequence[Any],
    instants: Instants,
    until: float,
) -> list[Hashable] | None:
    """The column's values, converted by ``read`` for comparison; None if one of them has no exact value."""
    comparable: list[Hashable] = []
    try:
        for value in values:
            _check_time(until)
            comparable.append(read(column, value, instants))
    except Unreadable:
        return None
    return comparable


def _check_time(until: float) -> None:
    if time.monotonic() > until:
        raise CannotSeed("the time for seeding the case was over before its table was in and verified", answered=False)


def _requests(columns: Sequence[Column], rows: Sequence[Row], limit: int) -> Iterator[tuple[Sequence[Row], bytes]]:
    """``rows`` in runs of at most ``limit`` rows and :data:`REQUEST_BYTES`, at least one row each, and their insertAll.

    The size of the first row determines the length of the runs; a run that is still too large is halved.
    """
    step = max(1, min(limit, REQUEST_BYTES // len(_insert_all_body(columns, rows[:1]))))
    for start in range(0, len(rows), step):
        runs = [rows[start : start + step]]
        while runs:
            run = runs.pop()
            body = _insert_all_body(columns, run)
            if len(body) <= REQUEST_BYTES or len(run) == 1:
                yield run, body
            else:
                runs += [run[len(run) // 2 :], run[: len(run) // 2]]


def _insert_all_body(columns: Sequence[Column], rows: Sequence[Row]) -> bytes:
    names = [column.name for column in columns]
    values = [[rest_value(column, row.get(column.name)) for row in rows] for column in columns]
    cells = zip(*values, strict=True) if values else itertools.repeat((), len(rows))
    sent = [{"json": dict(zip(names, row, strict=True))} for row in cells]
    return json.dumps({"rows": sent}, ensure_ascii=False).encode()


def _type(column: Column) -> str:
    return column.type.value if column.mode.value == "NULLABLE" else f"{column.mode.value} {column.type.value}"


def _types(columns: Sequence[Column]) -> str:
    named = ", ".join(f"{column.name} {_type(column)}" for column in columns[:8])
    return named + (f" and {len(columns) - 8} more" if len(columns) > 8 else "")


def _short(value: object) -> str:
    return safe(repr(value), 120)


def _listed(errors: object) -> str:
    return safe(json.dumps(errors, ensure_ascii=False), 500)
