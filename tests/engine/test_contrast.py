"""The sentences on what sets findings apart: each is said only if it is true of all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest

from conformance.engine.causes import causes
from conformance.engine.events import CaseJudged, CaseShape, Request, RunEnded
from conformance.engine.result import fold
from conformance.records import Finding, Outcome, Verdict
from tests.engine.samples import judged, passing, started

CLAUSE = "rows.x"


def said(*findings: Finding, others: Sequence[CaseJudged] = ()) -> tuple[str, ...]:
    """The contrast of a case with these findings, in a run with other cases."""
    case = judged("a", Verdict("a", CLAUSE, Outcome.FAIL, findings))
    (cause,) = causes(fold([started(CLAUSE), shaped(case, "no rows", "REPEATED columns"), *others, RunEnded(1.0)]))
    return cause.contrast


def shaped(case: CaseJudged, *has: str) -> CaseJudged:
    """The case with a table that has these properties."""
    return dataclasses.replace(case, shape=CaseShape(1, 1, 1, has))


def finding(observed: str = "ff", required: str = "zeros", response: int | None = None) -> Finding:
    """A finding at a response."""
    return Finding(CLAUSE, required, observed, call=1, response=response)


RIGHT = shaped(judged("b", passing("b", CLAUSE)), "REPEATED columns")


class TestPlaces:
    """Where findings begin."""

    @pytest.mark.parametrize(
        ("responses", "sentence"),
        [
            ((1, 2), ("right in the first response, wrong in a later one",)),
            ((3, 4), ("right in the first 3 responses, wrong from the next one on",)),
            ((0, 1), ()),
        ],
    )
    def test_the_first_wrong_response_is_named(self, responses: tuple[int, ...], sentence: tuple[str, ...]) -> None:
        """Unless it is the first of all."""
        assert said(*(finding(response=one) for one in responses)) == sentence

    def test_the_first_wrong_row_is_named_if_it_is_the_same_everywhere(self) -> None:
        """Two findings in other rows have no row in common."""
        row = "expected 'a', found 'b' in row 4"

        assert said(finding(row)) == ("right before row 4, wrong from row 4 on",)
        assert said(finding(row), finding("expected 'a', found 'b' in row 5")) == ()


class TestCases:
    """What only the failing cases have."""

    def test_a_property_of_the_failing_cases_alone_is_named(self) -> None:
        """REPEATED columns are in the passing case too."""
        assert said(finding(), others=[RIGHT]) == (
            "in 1 of the 2 cases that could show it: this one alone has no rows",
        )

    def test_without_such_a_property_the_cases_are_counted(self) -> None:
        """Nothing is made up."""
        other = shaped(judged("c", passing("c", CLAUSE)), "no rows")

        assert said(finding(), others=[RIGHT, other]) == ("in 1 of the 3 cases that could show it",)

    def test_a_finding_in_every_case_says_so(self) -> None:
        """The feature is wrong altogether."""
        other = judged("b", Verdict("b", CLAUSE, Outcome.FAIL, (finding(),)))

        assert said(finding(), others=[other]) == ("in every one of the 2 cases that could show it",)


class TestNumbers:
    """How observed numbers relate to required ones."""

    def test_a_number_in_the_other_byte_order_is_recognised(self) -> None:
        """184 in 32 bits, read from the wrong end."""
        assert said(finding("3087007744 bytes", "184 bytes")) == ("byte-swapped it would be 184",)

    def test_the_byte_order_is_not_blamed_for_one_number_among_others(self) -> None:
        """It has to be true of all findings."""
        assert said(finding("3087007744 bytes", "184 bytes"), finding("7 bytes", "184 bytes")) == ()

    def test_a_constant_difference_is_named(self) -> None:
        """Off by one everywhere."""
        assert said(finding("4 rows", "5 rows"), finding("9 rows", "10 rows")) == ("always 1 too few",)


class TestRequests:
    """What the failing requests ask for."""

    @staticmethod
    def contrast_of(*others: tuple[str, ...]) -> tuple[str, ...]:
        """The contrast of a request with a restriction and an offset, in a case with requests that are right."""
        requests = [
            Request(number, "ReadRows", asked)
            for number, asked in enumerate([(), ("row_restriction", "an offset"), *others])
        ]
        case = judged("a", Verdict("a", CLAUSE, Outcome.FAIL, (finding(),)))
        case = dataclasses.replace(case, requests=tuple(requests))
        (cause,) = causes(fold([started(CLAUSE), case, RunEnded(1.0)]))
        return cause.contrast

    def test_features_that_met_are_named(self) -> None:
        """If each of them alone is right."""
        assert self.contrast_of(("row_restriction",), ("an offset",)) == (
            "the failing requests alone ask for row_restriction together with an offset; neither alone fails",
        )

    def test_one_feature_is_named_if_no_other_request_asks_for_it(self) -> None:
        """Then the other feature of the failing request has no part in it."""
        assert self.contrast_of(("row_restriction",)) == ("the failing requests alone ask for an offset",)

    def test_nothing_is_said_where_a_right_request_asks_for_both(self) -> None:
        """The features do not set the requests apart."""
        assert self.contrast_of(("row_restriction", "an offset")) == ()


def test_a_case_that_was_stopped_is_not_right() -> None:
    """The calls that were not made might show the finding as well."""
    stopped = dataclasses.replace(RIGHT, stopped="the time was used up")

    assert said(finding(), others=[RIGHT]) == ("in 1 of the 2 cases that could show it: this one alone has no rows",)
    assert said(finding(), others=[stopped]) == ()
