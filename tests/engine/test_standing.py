"""What a run says of a clause: a pass counts only where it shows something."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections import Counter

import pytest

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.engine.events import CaseJudged
from conformance.engine.outcomes import WHOLE_CASE
from conformance.engine.standing import (
    BLOCKED,
    HIDES,
    SHOWN_WITH,
    ClauseStanding,
    Standing,
    shown_with,
    standing_of,
    standings,
)
from conformance.records import Outcome, Verdict
from tests.engine.samples import failing, judged, passing

REFUSAL, TWIN, ROWS = "restriction.too-long-is-refused", "restriction.comparison", "rows.none-is-missing"


def _of(*cases: CaseJudged, clauses: tuple[str, ...] = ()) -> dict[str, ClauseStanding]:
    return dict(standings(clauses, cases, [verdict for case in cases for verdict in case.verdicts]))


def _verdict(clause: str, outcome: Outcome, case: str = "a") -> Verdict:
    return Verdict(case, clause, outcome, reason="for a reason")


@pytest.mark.parametrize(
    ("outcomes", "missed", "standing"),
    [
        ((Outcome.PASS,), 0, Standing.HELD),
        ((Outcome.UNEXPECTED_PASS,), 0, Standing.HELD),
        ((Outcome.PASS,), 3, Standing.HELD_WHERE_JUDGED),
        ((Outcome.PASS, Outcome.FAIL), 0, Standing.FAILED),
        ((Outcome.PASS, Outcome.CRASH), 0, Standing.FAILED),
        ((Outcome.PASS, Outcome.EXPECTED_FAIL), 1, Standing.EXPECTED),
        ((Outcome.EXPECTED_FAIL, Outcome.HANG), 0, Standing.FAILED),
        ((Outcome.UNTESTABLE,), 1, Standing.NOT_JUDGED),
        ((Outcome.ERROR,), 1, Standing.NOT_JUDGED),
        ((Outcome.UNSUPPORTED,), 0, Standing.NOT_OFFERED),
        ((Outcome.UNSUPPORTED,), 2, Standing.NOT_JUDGED),
        ((), 0, Standing.NOT_JUDGED),
    ],
)
def test_the_outcomes_of_a_clause_give_its_standing(
    outcomes: tuple[Outcome, ...], missed: int, standing: Standing
) -> None:
    """The worst decides; a pass is not enough if other cases owed the clause."""
    assert standing_of(Counter(outcomes), missed).standing is standing


def test_a_case_that_failed_owes_what_the_reference_shows() -> None:
    """The clause passed on one case, and two more would have shown it."""
    blocked = [CaseJudged(name, "", "", (failing(name, ROWS, "no rows"),), blocked=("framing.x",)) for name in "bc"]

    found = _of(judged("a", passing("a", "framing.x")), *blocked)

    assert found["framing.x"] == ClauseStanding(Standing.HELD_WHERE_JUDGED, 1, 1, 3, BLOCKED)
    assert found["framing.x"].words == "pass where judged (1 of 3)"


def test_a_case_that_could_not_be_put_is_owed() -> None:
    """The server could not be seeded: nobody knows what it would have answered."""
    found = _of(
        judged("a", passing("a", "framing.x")),
        judged("b", _verdict("framing.x", Outcome.UNTESTABLE, "b")),
    )

    assert found["framing.x"].standing is Standing.HELD_WHERE_JUDGED


def test_what_an_answer_may_leave_out_is_not_owed() -> None:
    """On a case that was judged, a clause without a subject is the server's freedom."""
    found = _of(
        judged("a", passing("a", "framing.x")),
        judged("b", passing("b", "rows.x"), _verdict("framing.x", Outcome.UNTESTABLE, "b")),
    )

    assert found["framing.x"].standing is Standing.HELD


@pytest.mark.parametrize(("served", "standing"), [(1, Standing.NOT_JUDGED), (2, Standing.HELD)])
def test_a_refusal_counts_where_the_legal_request_is_served(served: int, standing: Standing) -> None:
    """A server that refuses everything refuses bad requests, too. A quarter of the legal ones has to be served."""
    legal = [
        judged(name, passing(name, TWIN) if place < served else failing(name, TWIN, "UNIMPLEMENTED"))
        for place, name in enumerate("abcdfghi")
    ]

    found = _of(*legal, judged("e", passing("e", REFUSAL)))

    assert found[REFUSAL].standing is standing
    assert found[REFUSAL].reason == (
        f"{TWIN} passed on 1 of 8 cases, and without it a pass shows nothing" if served == 1 else ""
    )


def test_a_refusal_counts_in_a_run_without_the_legal_request() -> None:
    """In a run that was narrowed to refusals, nothing speaks against them."""
    assert _of(judged("e", passing("e", REFUSAL)))[REFUSAL].standing is Standing.HELD


def test_a_clause_depends_on_what_its_twin_depends_on() -> None:
    """A plain request that is served shows nothing where no rows come, and so a refusal next to it shows nothing."""
    found = _of(
        judged("a", passing("a", "session.plain-request-is-served"), failing("a", ROWS, "no rows")),
        judged("b", passing("b", "errors.bad-parent-is-refused")),
    )

    assert found["errors.bad-parent-is-refused"].standing is Standing.NOT_JUDGED


def test_values_of_missing_rows_do_not_count() -> None:
    """The rows that came are right; those that did not come may be wrong."""
    found = _of(judged("a", failing("a", ROWS, "9 of 10 rows"), passing("a", "values.int64")))

    assert found["values.int64"].words == "pass where judged (0 of 1)"


def test_a_case_as_a_whole_counts_only_if_it_failed() -> None:
    """A verdict on the case itself is no clause that somebody could hold."""
    assert WHOLE_CASE not in _of(judged("a", _verdict(WHOLE_CASE, Outcome.UNTESTABLE)))
    assert _of(judged("a", _verdict(WHOLE_CASE, Outcome.CRASH)))[WHOLE_CASE].standing is Standing.FAILED


@pytest.mark.parametrize("glob", [*(glob for glob, _ in SHOWN_WITH), *(glob for glob, _ in HIDES)])
def test_every_row_of_a_table_is_about_clauses(glob: str) -> None:
    """A clause that is gone, or misspelt, is noticed."""
    load_chapters()

    assert any(fnmatch.fnmatchcase(clause, glob) for clause in CLAUSES)


def test_no_clause_depends_on_itself() -> None:
    """Every chain of twins ends, at a clause that exists."""
    load_chapters()
    for clause in CLAUSES:
        seen = [clause]
        while twin := shown_with(seen[-1]):
            assert twin in CLAUSES
            assert twin not in seen
            seen.append(twin)


def test_a_case_that_was_stopped_owes_what_it_did_not_show() -> None:
    """A clause that passes on other cases is held where it was judged, and the reason is that of the driver."""
    stopped = dataclasses.replace(judged("a", passing("a", REFUSAL)), blocked=(ROWS,), stopped="the time was used up")

    found = _of(stopped, judged("b", passing("b", ROWS)), clauses=(REFUSAL, ROWS))

    assert found[REFUSAL].standing is Standing.HELD
    assert found[ROWS] == ClauseStanding(Standing.HELD_WHERE_JUDGED, 1, 1, 2, "untestable: the time was used up")
