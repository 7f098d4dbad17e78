"""Mutants of query results become situations by a rule: the first query in which a client sees them."""

from __future__ import annotations

import pytest

from conformance.contract.clientjudging import Situation
from conformance.engine.corpus import load_corpus
from conformance.protocols.storage_read.clients.queries import PLAIN, QueryDeviation, healthy, query_mutated, serving
from conformance.protocols.storage_read.reference.mutants import MUTANTS

IGNORED = "query-results.format-ignored"


def found(*names: str) -> dict[str, QueryDeviation]:
    """The situations of these mutants."""
    return {one.name: one for one in query_mutated((MUTANTS[name] for name in names), load_corpus())}


def test_a_mutant_is_put_to_the_query_of_its_clause() -> None:
    """With the rows that a client has to give, although the mutant sends none in Arrow."""
    one = found(IGNORED)[IGNORED]

    assert (one.clause, one.asked.case.id) == ("query-results.arrow-or-an-error", "query-results.asked-of-all")
    assert (one.asked.id, one.asked.kind) == (f"mutant.{IGNORED}", Situation.MUTATED)
    assert one.asked.expected.num_rows == 11


def test_every_mutant_of_a_clause_takes_part() -> None:
    """A client may repair one of them alone."""
    both = found("query-results.job-without-location", "query-results.optional-job-always")

    assert [one.clause for one in both.values()] == ["query-results.job-is-named"] * 2


def test_an_order_is_compared_where_the_query_names_one() -> None:
    """Rows of other queries may come in any order."""
    lost, renamed = "query-results.order-lost", "query-results.columns-renamed"
    both = found(lost, renamed)

    assert (both[lost].asked.ordered, both[renamed].asked.ordered) == (True, False)


def test_a_statement_without_a_result_has_no_columns() -> None:
    """A client gives a table without any."""
    (one,) = found("query-results.batch-for-a-statement").values()

    assert one.asked.expected.shape == (0, 0)


@pytest.mark.parametrize(
    "mutant",
    [
        "query-results.page-not-compressed",
        "query-results.maximum-ignored",
        "query-results.location-ignored",
        "query-results.arrow-for-all",
        "session.plain-refused",
    ],
)
def test_a_defect_that_no_such_client_sees_takes_no_part(mutant: str) -> None:
    """It shows with a codec, a size of the page, another location or format, or in a session."""
    assert found(mutant) == {}


def test_the_same_mutant_is_the_same_situation_again() -> None:
    """The digest has no names of jobs and pages, which a server may make anew."""
    first, again = (found("query-results.no-batch")["query-results.no-batch"] for _ in range(2))

    assert first.asked.digest == again.asked.digest


@pytest.mark.parametrize("mutant", ["", IGNORED])
def test_a_situation_is_served_by_the_mutant(mutant: str) -> None:
    """It has the table of the case, and answers the client's query with its defect."""
    asked = found(mutant)[mutant].asked if mutant else healthy(load_corpus())

    with serving(asked) as served:
        answer = served.server.service.run_query(served.project, {"query": served.query, "queryResultsFormat": "ARROW"})

    assert answer["totalRows"] == "11"
    assert ("arrowSchema" in answer, "rows" in answer) == (not mutant, bool(mutant))


def test_the_healthy_situation_is_that_of_the_reference() -> None:
    """A program that has just started reads it once."""
    one = healthy(load_corpus())

    assert (one.id, one.kind, one.deviation, one.expected.num_rows) == (PLAIN, Situation.HEALTHY, "", 11)
