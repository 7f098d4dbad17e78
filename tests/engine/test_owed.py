"""The clauses that a failing case left unjudged: those that the reference shows on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.engine.corpus import load_corpus
from conformance.engine.owed import Owed
from conformance.engine.selection import Selection, all_clauses, plan
from conformance.records import Case, Outcome, Verdict
from conformance.targets.spec import TargetKind
from tests.engine.samples import failing, passing

CORPUS = load_corpus()
CASE = next(case for case in CORPUS.values() if case.id == "types.int64")
CLAUSES = plan(list(CORPUS.values()), all_clauses(), Selection()).clauses


@pytest.fixture(scope="module", params=[TargetKind.SERVER, TargetKind.SERIALIZER])
def owed(request: pytest.FixtureRequest) -> Iterator[Owed]:
    """For a server and for a serializer."""
    made = Owed(CLAUSES, request.param, readers=True)
    yield made
    made.close()


def _verdict(outcome: Outcome, clause: str = "values.int64", case: Case = CASE) -> Verdict:
    return Verdict(case.id, clause, outcome, reason="for a reason")


def test_a_case_without_a_failure_owes_nothing(owed: Owed) -> None:
    """The reference is not asked; a clause that the answer does not show is the target's freedom."""
    verdicts = [passing(CASE.id, "framing.schema-prefix"), _verdict(Outcome.UNTESTABLE)]

    assert owed.missing(CASE, None, verdicts) == ()


def test_a_failing_case_owes_what_the_reference_shows(owed: Owed) -> None:
    """Everything but what was judged, readings included."""
    missing = owed.missing(CASE, None, [failing(CASE.id, "framing.schema-prefix", "none")])

    assert {"values.int64", "body.node-count", "readers.agree"} <= set(missing)
    assert "framing.schema-prefix" not in missing


@pytest.mark.parametrize("outcome", [Outcome.UNTESTABLE, Outcome.DEPENDENCY_FAILED, Outcome.ERROR])
def test_a_case_that_was_not_judged_owes_everything(owed: Owed, outcome: Outcome) -> None:
    """The clause that the case names is owed as well as those that it does not name."""
    assert {"values.int64", "body.node-count"} <= set(owed.missing(CASE, None, [_verdict(outcome)]))


def test_a_case_that_the_target_does_not_offer_owes_nothing(owed: Owed) -> None:
    """A target that does not declare a capability is not asked for it."""
    assert owed.missing(CASE, None, [_verdict(Outcome.UNSUPPORTED)]) == ()


def test_a_case_that_was_stopped_owes_what_the_reference_shows(owed: Owed) -> None:
    """Nothing failed, and the calls that were not made would have shown more."""
    missing = owed.missing(CASE, None, [passing(CASE.id, "framing.schema-prefix")], stopped=True)

    assert "values.int64" in missing
    assert "framing.schema-prefix" not in missing
