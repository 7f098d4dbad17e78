"""The subjects of the clauses on Flight SQL: updates, results with rows that are known, and answers about metadata.

What a server refuses, it need not have: a step is judged only if the ones that it rests on ended as they should.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import TypeVar

import pyarrow as pa

from conformance.contract.raised import remembered_property
from conformance.contract.view import View
from conformance.protocols.flight.contract.streamview import FlightStreamView
from conformance.protocols.flight.contract.subjects import about
from conformance.protocols.flight.contract.view import FlightCall, FlightView, InfoSeen
from conformance.protocols.flight.records import (
    FlightMethod,
    FlightSqlStep,
    GetFlightInfo,
    IfExists,
    IfNotExist,
    SqlIngest,
    SqlMetadata,
    SqlQuery,
    SqlUpdate,
)
from conformance.protocols.flight.wire.data import join_flight
from conformance.records import Step, Turn
from conformance.wire import DecodingError

__all__ = [
    "Described",
    "SqlAnswer",
    "Updated",
    "answered",
    "described",
    "executable",
    "of_step",
    "undisturbed",
    "updated",
]

S = TypeVar("S")


def undisturbed(view: FlightView, index: int) -> bool:
    """True if everything before the call ``index`` that changes something was served, or refused as its step asks for.

    Queries change nothing.
    """
    skipped, disturbed = view.once(undisturbed, lambda: _first_disturbances(view))
    return skipped >= view.flight_calls[index].raw.step and disturbed >= index


def _first_disturbances(view: FlightView) -> tuple[float, float]:
    """The first step that changes something and was skipped, and the first such call that did not end as its step asks
    for; infinite if there is none.
    """
    skipped = (index for index in view.exchange.skipped_steps if _changes(view.case.steps[index]))
    calls = (call for call in view.flight_calls if _changes(call.step))
    odd = (call.index for call in calls if call.ok is bool(call.step.expect.reason))
    return min(skipped, default=math.inf), min(odd, default=math.inf)


def _changes(step: Step) -> bool:
    return isinstance(step, FlightSqlStep) and not isinstance(step, SqlQuery | SqlMetadata)


def executable(seen: InfoSeen) -> bool:
    """False for the info of a statement that may be refused when its ticket is redeemed: it is wrong, it is an update,
    or what it rests on was refused.
    """
    step = seen.of.step
    if isinstance(step, SqlUpdate):
        return False
    return not isinstance(step, FlightSqlStep) or (not step.expect.reason and undisturbed(seen.of.view, seen.call))


def of_step(*kinds: type) -> Callable[[View], list[FlightCall]]:
    """Return a selector of the calls of these kinds of step that the target answered, where nothing disturbed them."""

    def select(view: FlightView) -> list[FlightCall]:
        calls = [call for call in view.flight_calls if call.answered and isinstance(call.step, kinds)]
        return [call for call in calls if undisturbed(view, call.index)]

    return about(select)  # type: ignore[return-value]  # a list is what it returns


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Updated:
    """An update that was served; ``count`` is the number of records that it has to change, None if that is open."""

    call: int
    response: None
    of: FlightCall
    count: int | None


@about
def updated(view: FlightView) -> list[Updated]:
    """Return every update and ingestion that ended in OK."""
    calls = [call for call in of_step(SqlUpdate, SqlIngest)(view) if call.raw.method == FlightMethod.DO_PUT]
    return [Updated(call.index, None, call, _changed_by(call)) for call in calls if call.ok]


def _changed_by(call: FlightCall) -> int | None:
    """The number of records that an update or an ingestion has to change; None if that is open."""
    step, table = call.step, call.view.table
    if isinstance(step, SqlUpdate) and not step.prepared:
        return step.count
    if table.num_columns or not isinstance(step, SqlIngest):
        return int(table.num_rows)
    # Nobody knows the table: that is no matter if the ingestion has made it.
    makes = step.if_not_exist is IfNotExist.CREATE and step.if_exists is not IfExists.APPEND
    return _rows_sent(call) if makes else None


def _rows_sent(call: FlightCall) -> int | None:
    """The number of rows in the stream of a client that sent everything; None if it cannot be read."""
    ended = not call.raw.order or Turn.HALF_CLOSE in call.raw.order
    stream = FlightStreamView(join_flight(call.raw.requests)).stream if ended else None
    if stream is None or stream.violations:
        return None
    try:
        return int(stream.to_arrow().num_rows)
    except DecodingError:
        return None


class SqlAnswer:
    """A result whose rows are known, with the reads of every endpoint of its info."""

    response: None = None

    def __init__(self, seen: InfoSeen) -> None:
        self.call = seen.call
        self.seen = seen
        self.view = seen.of.view

    @property
    def expected(self) -> pa.Table:
        """The rows of the case that the result has to have."""
        return self.view.table.take(pa.array(self.seen.of.step.expect.rows or (), pa.int64()))

    @remembered_property
    def came(self) -> pa.Table | None:
        """The rows of all endpoints; None if they cannot be read, or not be compared with those expected."""
        whole = self.seen.whole
        if not whole:
            return None
        tables = [read.table for read in whole if read.table is not None]
        if any(one.schema != tables[0].schema for one in tables):
            return None
        return _aligned(pa.concat_tables(tables), self.view.table.schema)

    @property
    def columns(self) -> tuple[list[str], list[str]] | None:
        """The names of the columns, wanted and received; None if nothing was read."""
        whole = self.seen.whole
        if not whole or whole[0].table is None:
            return None
        return self.view.table.schema.names, whole[0].table.schema.names


@about
def answered(view: FlightView) -> list[SqlAnswer]:
    """Return every info of a query, or of a known flight, whose rows the case states."""
    known = [
        seen
        for seen in view.infos
        if isinstance(seen.of.step, SqlQuery | GetFlightInfo) and seen.of.step.expect.rows is not None
    ]
    return [SqlAnswer(seen) for seen in known if undisturbed(view, seen.call)]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Described:
    """An info of a metadata command, with the reads of its endpoints."""

    seen: InfoSeen
    call: int
    response: int
    step: SqlMetadata

    @property
    def command(self) -> str:
        """The command as the table of schemas names it."""
        return f"{self.step.command} with include_schema" if self.step.include_schema else self.step.command

    @property
    def tables(self) -> list[pa.Table]:
        """The rows of its endpoints, as far as they were read."""
        reads = (read for read in self.seen.reads if read is not None and read.ok)
        return [read.table for read in reads if read.table is not None]

    @property
    def rows(self) -> list[dict[str, object]]:
        """Every row by the names of its columns."""
        return [row for table in self.tables for row in _plain(table).to_pylist()]


@about
def described(view: FlightView) -> list[Described]:
    """Return every info of a metadata command."""
    return [
        Described(seen, seen.call, seen.response, seen.of.step)
        for seen in view.infos
        if isinstance(seen.of.step, SqlMetadata)
    ]


def _plain(table: pa.Table) -> pa.Table:
    """The table without columns of unions, which have rows of their own clause."""
    return table.select([field.name for field in table.schema if not pa.types.is_union(field.type)])


def _aligned(came: pa.Table, wanted: pa.Schema) -> pa.Table | None:
    """The columns of a result with the names and types of those wanted, by position.

    A dialect has types of its own: an integer may come in another width, a text in another layout. None if names or
    kinds of types differ, or if a value does not fit.
    """
    if [name.casefold() for name in came.schema.names] != [name.casefold() for name in wanted.names]:
        return None
    try:
        columns = [_cast(column, field.type) for column, field in zip(came.columns, wanted, strict=True)]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    return pa.table(columns, schema=pa.schema([pa.field(field.name, field.type) for field in wanted]))


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column if column.type == kind else column.cast(kind, safe=True)
