"""The rows of a flight whose content is known: the result of a query, or a flight that the target file describes.

The rows come from the case alone. A target file with ``seeding = "sql"`` states that statements make tables; one with
``known`` names flights and their rows.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from conformance.contain.text import many
from conformance.contract.clause import FLIGHT, Role, Violation, clause
from conformance.contract.comparing.matching import RowMatch, match_rows, show_row
from conformance.contract.flight.sqlsubjects import SqlAnswer, answered
from conformance.contract.sources import FLIGHT_PAGE, FLIGHT_SQL_PROTO, Inferred
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
    if [name.casefold() for name in came] != [name.casefold() for name in wanted]:
        yield Violation(", ".join(wanted), ", ".join(came) or "no columns", call=one.call)
