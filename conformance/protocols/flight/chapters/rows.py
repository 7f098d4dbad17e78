"""The rows of a flight whose content is known: the result of a query, or a flight that the target file describes.

The rows come from the case alone. A target file with ``seeding = "sql"`` states that statements make tables; one with
``known`` names flights and their rows.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pyarrow as pa

from conformance.contain.text import many
from conformance.contract.clause import Role, Violation, clause
from conformance.contract.comparing.columnlists import names_differ, names_listed
from conformance.contract.comparing.matching import RowMatch, match_rows, show_row
from conformance.contract.sources import Inferred
from conformance.contract.view import View
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.sources import FLIGHT_PAGE, FLIGHT_PROTO, FLIGHT_SQL_PROTO
from conformance.protocols.flight.contract.sqlsubjects import SqlAnswer, answered
from conformance.protocols.flight.records import SqlQuery
from conformance.records import Level

_clause = functools.partial(
    clause,
    over=lambda view: [one for one in answered(view) if one.came is not None],
    source=(FLIGHT_PAGE, Inferred(FLIGHT_SQL_PROTO)),
    profiles=FLIGHT,
    role=Role.APPLICATION,
)


def _match(one: SqlAnswer) -> RowMatch:
    def match() -> RowMatch:
        assert one.came is not None, "the selector leaves out what cannot be read"
        return match_rows(one.expected, one.came)

    return one.view.once(("result", one.call, one.seen.response), match)


@_clause("flight-rows.nothing-is-lost", breaks="every client: rows are missing, without an error")
def nothing_is_lost(one: SqlAnswer) -> Iterator[Violation]:
    """Every row of a known flight comes from its endpoints, and so does every row that a query selects.

    The page: "The client must consume all endpoints to retrieve the complete data set." FlightSql.proto, on
    CommandStatementQuery: "GetFlightInfo: execute the query."
    """
    missing = _match(one).missing
    if missing:
        assert one.came is not None
        shown = show_row(one.expected, missing[0])
        observed = f"{many(one.came.num_rows, 'row')}; {many(len(missing), 'row')} missing, the first {shown}"
        yield Violation(many(one.expected.num_rows, "row"), observed, call=one.call)


@_clause("flight-rows.nothing-is-added", breaks="every client: it counts rows twice, or rows that there are not")
def nothing_is_added(one: SqlAnswer) -> Iterator[Violation]:
    """No other row comes, and none more often than it is there.

    The page, on downloading data: each endpoint "contains a subset of the response data".
    """
    match = _match(one)
    surplus = (*match.repeated, *match.foreign)
    if surplus:
        assert one.came is not None
        kinds = f"{many(len(match.repeated), 'row')} repeated, {len(match.foreign)} foreign"
        observed = f"{many(one.came.num_rows, 'row')}: {kinds}, the first {show_row(one.came, surplus[0])}"
        yield Violation(many(one.expected.num_rows, "row"), observed, call=one.call)


@_clause("flight-rows.values-are-kept", breaks="every client: it gets wrong values, without an error")
def values_are_kept(one: SqlAnswer) -> Iterator[Violation]:
    """The values of each row are those of the table; an integer may have another width, a text another layout.

    The page: the data of a flight are "Arrow record batches".
    """
    for expected, got in _match(one).changed[:1]:
        assert one.came is not None
        yield Violation(show_row(one.expected, expected), show_row(one.came, got), call=one.call)


@_clause(
    "flight-rows.columns-are-named",
    over=lambda view: [one for one in answered(view) if one.columns is not None],
    level=Level.SHOULD,
    breaks="clients that find a column by its name",
)
def columns_are_named(one: SqlAnswer) -> Iterator[Violation]:
    """The columns of a known flight, or of a query, have their names, in their order; upper and lower case may differ.

    Flight.proto, on the schema: "The schema of the dataset".
    """
    assert one.columns is not None
    wanted, came = one.columns
    if said := names_differ(*([name.casefold() for name in names] for names in one.columns)):
        yield Violation(f"the columns {names_listed(wanted)}", f"{said}: {names_listed(came)}", call=one.call)


def _in_order(view: View) -> list[SqlAnswer]:
    """Return the results of queries whose rows have an order, if the rows are those expected."""
    asked = [one for one in answered(view) if isinstance(one.seen.of.step, SqlQuery) and one.seen.of.step.ordered]
    whole = [one for one in asked if one.came is not None]
    return [one for one in whole if sorted(map(repr, _numbers(one.came))) == sorted(map(repr, _numbers(one.expected)))]


def _numbers(table: pa.Table | None) -> list[object]:
    """The values of the first column, which numbers the rows."""
    return [] if table is None else list(table.column(0).to_pylist())


def _with_rows(one: SqlAnswer) -> int:
    """The number of the endpoints that give rows."""
    return sum(1 for read in one.seen.whole or () if read.table is not None and read.table.num_rows)


@_clause(
    "flight-rows.order-is-kept",
    over=lambda view: [one for one in _in_order(view) if one.seen.info.ordered or _with_rows(one) == 1],
    source=(FLIGHT_PROTO, Inferred(FLIGHT_SQL_PROTO)),
    breaks="every client of a query with ORDER BY: the first rows are other ones",
)
def order_is_kept(one: SqlAnswer) -> Iterator[Violation]:
    """The rows of a query with ORDER BY come in that order: in its one endpoint, or in all of them front to back.

    Flight.proto, ``endpoint``: "A client can read ordered data by reading data from returned endpoints, in order, from
    front to back."
    """
    wanted, came = _numbers(one.expected), _numbers(one.came)
    at = next((at for at, pair in enumerate(zip(wanted, came, strict=True)) if pair[0] != pair[1]), None)
    if at is not None:
        yield Violation(f"row {at}: {wanted[at]!r}", repr(came[at]), call=one.call)


@_clause(
    "flight-rows.order-is-said",
    over=lambda view: [one for one in _in_order(view) if _with_rows(one) > 1],
    source=FLIGHT_PROTO,
    level=Level.SHOULD,
    breaks="every client that reads endpoints at the same time: it cannot know the order",
)
def order_is_said(one: SqlAnswer) -> Iterator[Violation]:
    """A query with ORDER BY whose rows come from several endpoints has an info with ``ordered``.

    Flight.proto, ``endpoint``: "If the returned data has an ordering, an application can use "FlightInfo.ordered =
    true" or should return the all data in a single endpoint."
    """
    if not one.seen.info.ordered:
        yield Violation(
            "ordered, or one endpoint", f"{_with_rows(one)} endpoints with rows, not ordered", call=one.call
        )
