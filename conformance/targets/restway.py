"""Seeding over REST: ``tables.insert`` makes a table, and insertAll or an INSERT statement fills it."""

from __future__ import annotations

import abc
import contextlib
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from conformance.contain.text import safe
from conformance.records import Column
from conformance.targets.dataset import OwnDataset
from conformance.targets.names import Names
from conformance.targets.patience import LIMITED, Patience
from conformance.targets.recent import Recent
from conformance.targets.rest import RestClient, RestError
from conformance.targets.seeds import Row, SeededTable, check_time, naming_columns
from conformance.targets.sql import insert_statement
from conformance.targets.targeterrors import CannotSeed, NoAnswer, TableExists
from conformance.targets.values import rest_schema, rest_value, without_absent_arrays

__all__ = ["LARGE", "LARGEST", "REQUEST_BYTES", "InsertAll", "RestTables", "Sql", "insert_all_body"]

REQUEST_BYTES: Final = 8 << 20
"""The size of a request with rows: insertAll accepts at most 10 MB (BigQuery quotas, "streaming inserts")."""

LARGE: Final = 2_000
LARGEST: Final = 50_000
"""Numbers of rows between which a table's requests are kept for the next case that has it."""

QUERY_MILLISECONDS: Final = 60_000
"""The wait that jobs.query is asked for; the request's own deadline is shorter."""

CONFLICT: Final = 409
TOO_MANY: Final = 429


class RestTables:
    """The datasets and tables of one project behind ``client``; every failure raises :class:`CannotSeed`.

    ``own`` is the dataset of this run, if it has one. ``patience`` decides whether a request that a quota refused is
    sent again. ``scanned`` is told the bytes that the server says it read for a statement.
    """

    def __init__(
        self,
        client: RestClient,
        *,
        own: OwnDataset | None = None,
        patience: Patience | None = None,
        scanned: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._client = client
        self._own = own
        self.patience = patience or Patience(None)
        self.scanned = scanned
        self._datasets: set[tuple[str, str]] = set()

    def create(self, names: Names, columns: Sequence[Column], until: float, kind: Row | None = None) -> None:
        """Make an empty table, and its dataset if need be; raises :class:`TableExists` if there is such a table.

        ``kind`` are fields of the table resource that say of which kind it is.
        """
        self._make_dataset(names, until)
        reference = {"projectId": names.project, "datasetId": names.dataset, "tableId": names.table}
        body: dict[str, Any] = {"tableReference": reference, **(kind or {})}
        if "view" not in body:  # a view has the columns of its query
            body["schema"] = {"fields": [rest_schema(column) for column in columns]}
        try:
            self._ask(lambda: self._client.post(_tables(names), body, until=until), until)
        except RestError as error:
            raise _cannot(error, TableExists if error.status == CONFLICT else CannotSeed) from None

    def post(self, path: str, body: Row | bytes, *, content_type: str = "application/json", until: float) -> Row:
        """POST, and return the answer."""
        try:
            return self._ask(lambda: self._client.post(path, body, content_type=content_type, until=until), until)
        except RestError as error:
            raise _cannot(error) from None

    def patch(self, path: str, body: Row, *, until: float) -> Row:
        """PATCH, and return the answer."""
        try:
            return self._ask(lambda: self._client.patch(path, body, until=until), until)
        except RestError as error:
            raise _cannot(error) from None

    def answered(self, path: str, body: bytes | None, *, until: float) -> tuple[int, bytes]:
        """POST a body, or GET; return the status and the body of the answer, or raise :class:`NoAnswer`."""
        try:
            return self._client.answered(path, body, until=until)
        except RestError as error:
            raise NoAnswer(str(error), answered=False) from None

    def get(self, path: str, params: dict[str, str], *, until: float, shown: int) -> Row:
        """GET an answer that shows ``shown`` bytes of rows."""
        try:
            return self._ask(lambda: self._client.get(path, params=params, until=until, shown=shown), until)
        except RestError as error:
            raise _cannot(error) from None

    def drop(self, names: Names) -> None:
        """Delete a table; a failure is ignored, because it does not belong to the case."""
        before = self._client.refused
        with contextlib.suppress(RestError):
            self._client.delete(self.path(names))
        self._client.refused = before  # why the case was not seeded, if it was not

    def close(self) -> None:
        """Delete the dataset of this run, if it has one; raises :class:`LeftBehind`."""
        if self._own is not None:
            self._own.delete()

    def limited(self, said: str) -> None:
        """Note that a quota, and not the table, was the reason why a job failed."""
        self._client.refused = said

    def scan_of(self, size: object) -> None:
        """Note the bytes that a statement read, if the server's answer says so."""
        if isinstance(size, str) and len(size) < 20 and size.isdecimal():
            self.scanned(int(size))

    def path(self, names: Names) -> str:
        """The path of one table."""
        return f"{_tables(names)}/{names.table}"

    def _make_dataset(self, names: Names, until: float) -> None:
        made = (names.project, names.dataset)
        if made in self._datasets:
            return
        body: dict[str, Any] = {"datasetReference": {"projectId": names.project, "datasetId": names.dataset}}
        if self._own is not None:
            body |= self._own.body
            self._own.begin()
        try:
            self._ask(
                lambda: self._client.post(f"/bigquery/v2/projects/{names.project}/datasets", body, until=until), until
            )
        except RestError as error:
            if (refusal := self._no_dataset(names, error)) is not None:
                raise refusal from None
        self._datasets.add(made)

    def _no_dataset(self, names: Names, error: RestError) -> CannotSeed | None:
        """Why there is no dataset to use after ``error``; None if there is one."""
        if self._own is not None:
            try:
                return self._own.refused(error)
            except RestError as unknown:
                return _cannot(unknown)
        if error.status == CONFLICT:  # it exists already
            return None
        return CannotSeed(f"dataset {names.dataset!r}: {error}", answered=error.status is not None)

    def _ask(self, send: Callable[[], Row], until: float) -> Row:
        """What a request returns, sent again while a quota refuses it."""
        check_time(until)
        return self.patience.ask(send, limited=_limited, until=until)


class _OverRest(abc.ABC):
    """Makes tables by ``tables.insert``; a subclass fills them."""

    own = True

    def __init__(self, tables: RestTables, *, rows_per_request: int) -> None:
        self._tables = tables
        self._rows_per_request = rows_per_request
        self._written: Recent[tuple[Sequence[Row], list[tuple[Sequence[Row], bytes]]]] = Recent()

    def make(self, table: SeededTable, first: Sequence[Row], until: float) -> None:
        """Make the table, then insert its first rows."""
        with naming_columns(table.columns):
            self._tables.create(table.names, table.columns, until)
        if first:
            self.append(table, first, until)

    def append(self, table: SeededTable, more: Sequence[Row], until: float) -> None:
        """Insert rows in requests of limited size."""

        def requests() -> Iterator[tuple[Sequence[Row], bytes]]:
            return _requests(table.columns, more, self._rows_per_request)

        whole = more is table.rows and LARGE <= len(more) <= LARGEST
        # The rows are kept with what was written of them: no others can come to their identity.
        _, written = self._written.get(id(more), lambda: (more, list(requests()))) if whole else ((), requests())
        with naming_columns(table.columns):
            for chunk, body in written:
                table.widest = max(table.widest, len(body) // len(chunk))
                self._insert(table, chunk, body, until)
                table.sent += len(body)

    def drop(self, names: Names) -> None:
        """Remove a table."""
        self._tables.drop(names)

    def close(self, *, grace: float) -> None:  # noqa: B027  # nothing is started, by either way
        """Do nothing: the client belongs to the server."""

    @abc.abstractmethod
    def _insert(self, table: SeededTable, chunk: Sequence[Row], body: bytes, until: float) -> None:
        """Insert one chunk of rows, whose insertAll is ``body``."""


class InsertAll(_OverRest):
    """``tabledata.insertAll``, which every known emulator serves."""

    def _insert(self, table: SeededTable, chunk: Sequence[Row], body: bytes, until: float) -> None:  # noqa: ARG002  # one signature
        answer = self._tables.post(f"{self._tables.path(table.names)}/insertAll", body, until=until)
        if errors := answer.get("insertErrors"):
            raise CannotSeed(f"insertAll refused rows: {_listed(errors)}")


class Sql(_OverRest):
    """``jobs.query`` with ``INSERT … VALUES`` and typed literals."""

    def _insert(self, table: SeededTable, chunk: Sequence[Row], body: bytes, until: float) -> None:  # noqa: ARG002  # as above
        statement = insert_statement(table.names, table.columns, chunk)
        query = {"query": statement, "useLegacySql": False, "timeoutMs": str(QUERY_MILLISECONDS)}
        answer = self._tables.post(f"/bigquery/v2/projects/{table.names.project}/queries", query, until=until)
        if errors := answer.get("errors"):
            raise CannotSeed(f"INSERT was refused: {_listed(errors)}")
        self._tables.scan_of(answer.get("totalBytesProcessed"))
        if answer.get("jobComplete") is False:
            raise CannotSeed("INSERT did not complete while jobs.query waited for it")


def insert_all_body(columns: Sequence[Column], rows: Sequence[Row]) -> bytes:
    """The body of an insertAll request; an array that a row leaves out is left out of it too."""
    names = [column.name for column in columns]
    values = [[rest_value(column, row.get(column.name)) for row in rows] for column in columns]
    cells = zip(*values, strict=True) if values else itertools.repeat((), len(rows))
    sent = [{"json": dict(zip(names, row, strict=True))} for row in cells]
    for row, entry in zip(rows, sent, strict=True):
        if len(row) < len(names):
            entry["json"] = without_absent_arrays(columns, row, entry["json"])
    return json.dumps({"rows": sent}, ensure_ascii=False).encode()


def _requests(columns: Sequence[Column], rows: Sequence[Row], limit: int) -> Iterator[tuple[Sequence[Row], bytes]]:
    """``rows`` in runs of at most ``limit`` rows and :data:`REQUEST_BYTES`, at least one row each, and their insertAll.

    The size of the first row determines the length of the runs; a run that is still too large is halved.
    """
    step = max(1, min(limit, REQUEST_BYTES // len(insert_all_body(columns, rows[:1]))))
    for start in range(0, len(rows), step):
        runs = [rows[start : start + step]]
        while runs:
            run = runs.pop()
            body = insert_all_body(columns, run)
            if len(body) <= REQUEST_BYTES or len(run) == 1:
                yield run, body
            else:
                runs += [run[len(run) // 2 :], run[: len(run) // 2]]


def _tables(names: Names) -> str:
    return f"/bigquery/v2/projects/{names.project}/datasets/{names.dataset}/tables"


def _limited(error: Exception) -> bool:
    """Whether a quota or rate limit refused a request: the server did nothing, and may do it later."""
    return isinstance(error, RestError) and (error.status == TOO_MANY or error.reason in LIMITED)


def _cannot(error: RestError, kind: type[CannotSeed] = CannotSeed) -> CannotSeed:
    return kind(str(error), answered=error.status is not None)


def _listed(errors: Any) -> str:
    return safe(json.dumps(errors, ensure_ascii=False), 500)
