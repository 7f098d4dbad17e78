"""Putting a case's table into a server and proving that it is in there, before anything is asked of the Storage API.

What goes wrong here is never a read failure: a refusal, a changed value or a missing row is :class:`CannotSeed`, and
the case is *untestable* for that reason.

What is verified: the row count, and the values of the first rows that ``tabledata.list`` returns, in any order,
as far as REST has exact texts for them (:mod:`.values`). What is not: further rows of a big table.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Final

from conformance.records import Column
from conformance.targets.errors import CannotSeed
from conformance.targets.messages import Names
from conformance.targets.rest import RestClient, RestError
from conformance.targets.spec import Seed, SeedPath
from conformance.targets.sql import insert_statement
from conformance.targets.values import Instants, Unreadable, case_value, listed_value, rest_schema, rest_value

__all__ = ["SeededTable", "Seeder"]

MAX_VERIFIED_ROWS: Final = 1000
"""Rows whose values are compared: enough to see a value that is changed on the way in, cheap for big tables."""

REQUEST_BYTES: Final = 8 << 20
"""Size at which a request of rows is sent: insertAll takes at most 10 MB (BigQuery quotas, "streaming inserts")."""

QUERY_MILLISECONDS: Final = 60_000
"""How long jobs.query is asked to wait for a statement; our own deadline on the request is what binds."""

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

    def seed(self, case_id: str, columns: Sequence[Column], rows: Sequence[Row], *, withheld: int) -> SeededTable:
        """Make a fresh table for ``case_id`` and fill it with all rows but the last ``withheld``.

        The paths of the target file are tried in order, each with a table of its own.
        Raises :class:`CannotSeed` where the target refuses, or gives back something else than was put in.
        """
        self._make_dataset()
        refusals: list[str] = []
        for path in self._how.paths:
            names = Names(self._project, self._dataset, self._fresh(case_id))
            table = SeededTable(self, names, tuple(columns), tuple(rows), path)
            table.create()
            try:
                table.append(len(rows) - withheld)
                table.verify()
            except CannotSeed as error:
                if not error.answered:
                    raise
                refusals.append(str(error))
            else:
                return table
        raise CannotSeed("; and by another path: ".join(refusals))

    def insert(self, names: Names, columns: Sequence[Column], rows: Sequence[Row], path: SeedPath) -> None:
        """Insert ``rows`` (in the JSON form of a case) in requests of limited size."""
        for chunk in _chunks(rows, self._how.rows_per_request):
            if path is SeedPath.SQL:
                self._query(insert_statement(names, columns, chunk))
            else:
                self._insert_all(names, columns, chunk)

    def _insert_all(self, names: Names, columns: Sequence[Column], rows: Sequence[Row]) -> None:
        sent = [{column.name: rest_value(column, row.get(column.name)) for column in columns} for row in rows]
        answer = self.post(f"{self.path(names)}/insertAll", {"rows": [{"json": row} for row in sent]})
        if errors := answer.get("insertErrors"):
            raise CannotSeed(f"insertAll refused rows: {json.dumps(errors, ensure_ascii=False)[:500]}")

    def _query(self, statement: str) -> None:
        body = {"query": statement, "useLegacySql": False, "timeoutMs": str(QUERY_MILLISECONDS)}
        answer = self.post(f"/bigquery/v2/projects/{self._project}/queries", body)
        if errors := answer.get("errors"):
            raise CannotSeed(f"INSERT was refused: {json.dumps(errors, ensure_ascii=False)[:500]}")
        if answer.get("jobComplete") is False:
            raise CannotSeed("INSERT did not complete while jobs.query waited for it")

    def post(self, path: str, body: Row) -> Row:
        """POST, where every failure means that the case cannot be seeded."""
        try:
            return self._client.post(path, body)
        except RestError as error:
            raise CannotSeed(str(error), answered=error.status is not None) from None

    def get(self, path: str, params: dict[str, str]) -> Row:
        """GET, likewise."""
        try:
            return self._client.get(path, params=params)
        except RestError as error:
            raise CannotSeed(str(error), answered=error.status is not None) from None

    def drop(self, names: Names, *, deadline: float) -> None:
        """Delete a table; what a target makes of that is no matter of a case."""
        try:
            self._client.delete(self.path(names), deadline=deadline)
        except RestError:
            return

    def tables(self) -> str:
        """The path of the dataset's tables."""
        return f"/bigquery/v2/projects/{self._project}/datasets/{self._dataset}/tables"

    def path(self, names: Names) -> str:
        """The path of one table."""
        return f"{self.tables()}/{names.table}"

    def _make_dataset(self) -> None:
        if self._has_dataset:
            return
        reference = {"projectId": self._project, "datasetId": self._dataset}
        try:
            self._client.post(f"/bigquery/v2/projects/{self._project}/datasets", {"datasetReference": reference})
        except RestError as error:
            if error.status != 409:  # it exists already
                raise CannotSeed(f"dataset {self._dataset!r}: {error}", answered=error.status is not None) from None
        self._has_dataset = True

    def _fresh(self, case_id: str) -> str:
        """A table name of its own for each drive of a case, the same in each run against a fresh server."""
        digest = hashlib.sha256(case_id.encode()).hexdigest()[:8]
        slug = re.sub(r"[^a-zA-Z0-9]+", "_", case_id)[:40].strip("_")
        name = "_".join(filter(None, ("t", slug, digest, self._token)))
        self._taken[name] += 1
        return f"{name}_{self._taken[name]}"


@dataclasses.dataclass(slots=True)
class SeededTable:
    """A case's table in the target; ``inserted`` of its ``rows`` are in."""

    seeder: Seeder
    names: Names
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    path: SeedPath
    inserted: int = 0

    def create(self) -> None:
        """Create the table by its schema."""
        reference = {"projectId": self.names.project, "datasetId": self.names.dataset, "tableId": self.names.table}
        schema = {"fields": [rest_schema(column) for column in self.columns]}
        try:
            self.seeder.post(self.seeder.tables(), {"tableReference": reference, "schema": schema})
        except CannotSeed as error:
            raise self._with_columns(error) from None

    def append(self, count: int) -> None:
        """Insert the next ``count`` rows."""
        rows = self.rows[self.inserted : self.inserted + count]
        if rows:
            try:
                self.seeder.insert(self.names, self.columns, rows, self.path)
            except CannotSeed as error:
                raise self._with_columns(error) from None
        self.inserted += len(rows)

    def _with_columns(self, error: CannotSeed) -> CannotSeed:
        return CannotSeed(f"{error} (columns: {_types(self.columns)})", answered=error.answered)

    def verify(self) -> None:
        """Raise :class:`CannotSeed` unless REST shows the rows that were put in."""
        page = _page(self.rows)
        parameters = {"maxResults": str(page), "formatOptions.useInt64Timestamp": "true"}
        answer = self.seeder.get(f"{self.seeder.path(self.names)}/data", parameters)
        total = answer.get("totalRows")
        if str(total) != str(self.inserted):
            raise CannotSeed(f"{self.inserted} rows were inserted but tabledata.list counts {total!r}")
        listed = [row.get("f") for row in answer.get("rows") or ()]
        for cells in listed:
            if not isinstance(cells, list) or len(cells) != len(self.columns):
                raise CannotSeed(f"tabledata.list returned a row of another shape than the {len(self.columns)} columns")
        if len(listed) < min(page, self.inserted) and not answer.get("pageToken"):
            raise CannotSeed(f"{self.inserted} rows were inserted but tabledata.list ends after {len(listed)}")
        self._compare([cells for cells in listed if cells is not None])

    def _compare(self, listed: list[list[Any]]) -> None:
        """Each listed row has to be one of those put in, each of them used once."""
        rows = self.rows[: self.inserted]
        complaint: CannotSeed | None = None
        for instants in Instants:
            wanted = [[case_value(column, row.get(column.name), instants) for row in rows] for column in self.columns]
            came = [
                _readable(column, [cells[at] for cells in listed], instants) for at, column in enumerate(self.columns)
            ]
            blurred: list[list[Hashable]] = [
                want if values is not None else [value is None for value in want]
                for want, values in zip(wanted, came, strict=True)
            ]
            seen: list[list[Hashable]] = [
                values if values is not None else [_value(cells[at]) is None for cells in listed]
                for at, values in enumerate(came)
            ]
            if not Counter(zip(*seen, strict=True)) - Counter(zip(*blurred, strict=True)):
                return
            complaint = complaint or self._complaint(blurred, seen)
        assert complaint is not None
        raise complaint

    def _complaint(self, wanted: list[list[Hashable]], seen: list[list[Hashable]]) -> CannotSeed:
        """Name the first column whose values differ; rows whose cells were mixed up are named as such."""
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


def _readable(column: Column, cells: Sequence[Any], instants: Instants) -> list[Hashable] | None:
    """The column's listed values, None where one of them has a text that we cannot read exactly."""
    try:
        return [listed_value(column, cell, instants) for cell in cells]
    except Unreadable:
        return None


def _chunks(rows: Sequence[Row], limit: int) -> Iterator[Sequence[Row]]:
    """``rows`` in runs of at most ``limit`` and about :data:`REQUEST_BYTES`, at least one row each."""
    start, size = 0, 0
    for at, row in enumerate(rows):
        weight = len(json.dumps(row))
        if at > start and (at - start >= limit or size + weight > REQUEST_BYTES):
            yield rows[start:at]
            start, size = at, 0
        size += weight
    yield rows[start:]


def _page(rows: Sequence[Row]) -> int:
    """How many rows to list: as many as their size allows, judged by the first ones."""
    sample = list(itertools.islice(rows, 10))
    weight = max(1, sum(len(json.dumps(row)) for row in sample) // max(1, len(sample)))
    return max(1, min(MAX_VERIFIED_ROWS, REQUEST_BYTES // weight))


def _type(column: Column) -> str:
    return column.type.value if column.mode.value == "NULLABLE" else f"{column.mode.value} {column.type.value}"


def _types(columns: Sequence[Column]) -> str:
    named = ", ".join(f"{column.name} {_type(column)}" for column in columns[:8])
    return named + (f" and {len(columns) - 8} more" if len(columns) > 8 else "")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:119] + "…"
