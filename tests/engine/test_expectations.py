"""Expected failures excuse one class of failure, and every entry that excuses nothing is a surprise."""

from __future__ import annotations

import pytest

from conformance.engine.expectations import ProblemKind, Resolution, glob_match, resolve
from conformance.records import Outcome, Verdict
from conformance.targets import ExpectedFailure
from tests.engine.samples import failing, passing

FRAMING = "framing.batch.one-message"
SCHEMA = "framing.schema.one-message"
THREE = "fail: # messages (required: one message)"


def outcomes(resolution: Resolution) -> list[Outcome]:
    """The outcomes in order."""
    return [verdict.outcome for verdict in resolution.verdicts]


def test_a_failure_of_the_expected_class_is_excused() -> None:
    """The number of messages is data: three and four of them are one class."""
    verdicts = [failing("a", FRAMING, "3 messages"), failing("b", FRAMING, "4 messages")]

    resolution = resolve(verdicts, [ExpectedFailure(FRAMING, THREE)])

    assert outcomes(resolution) == [Outcome.EXPECTED_FAIL, Outcome.EXPECTED_FAIL]
    assert resolution.problems == ()


def test_a_clause_that_was_not_judged_in_one_case_is_excused_in_another() -> None:
    """A case that showed nothing comes first, and the failure after it is still excused."""
    unjudged = Verdict("a", FRAMING, Outcome.UNTESTABLE, reason="nothing shows it")

    resolution = resolve([unjudged, failing("b", FRAMING, "3 messages")], [ExpectedFailure(FRAMING, THREE)])

    assert outcomes(resolution) == [Outcome.UNTESTABLE, Outcome.EXPECTED_FAIL]


def test_another_failure_of_the_same_clause_is_not_excused() -> None:
    """The reason is pinned, so a new defect does not hide behind a known one."""
    verdicts = [failing("a", FRAMING, "3 messages"), failing("b", FRAMING, "no message")]

    resolution = resolve(verdicts, [ExpectedFailure(FRAMING, THREE)])

    assert outcomes(resolution) == [Outcome.EXPECTED_FAIL, Outcome.FAIL]
    assert resolution.verdicts[1].reason == (
        "another failure than the expected one: fail: no message (required: one message)"
    )


def test_a_verdict_with_one_unexcused_finding_still_fails() -> None:
    """Each reason class of a verdict needs an entry of its own."""
    resolution = resolve([failing("a", FRAMING, "3 messages", "no message")], [ExpectedFailure(FRAMING, THREE)])

    assert outcomes(resolution) == [Outcome.FAIL]


def test_a_crash_is_not_the_failure_that_was_expected() -> None:
    """The outcome is part of the class."""
    crash = failing("a", FRAMING, "3 messages", outcome=Outcome.CRASH)

    resolution = resolve([crash], [ExpectedFailure(FRAMING, THREE)])

    assert outcomes(resolution) == [Outcome.CRASH]


def test_an_error_of_the_suite_is_nobodys_expected_failure() -> None:
    """Even an entry for everything does not excuse ``error``."""
    resolution = resolve([Verdict("a", "case", Outcome.ERROR, reason="boom")], [ExpectedFailure("*", "*")])

    assert outcomes(resolution) == [Outcome.ERROR]


def test_an_expected_failure_that_passes_everywhere_is_an_unexpected_pass() -> None:
    """The fix of the target shows, and the entry has to go."""
    resolution = resolve([passing("a", FRAMING), passing("b", FRAMING)], [ExpectedFailure(FRAMING, THREE)])

    assert outcomes(resolution) == [Outcome.UNEXPECTED_PASS, Outcome.UNEXPECTED_PASS]
    assert resolution.verdicts[0].reason == f"listed as an expected failure ({THREE}), and it passes; remove the entry"


def test_passing_on_other_cases_is_no_surprise() -> None:
    """An entry for all cases says that the clause fails somewhere, not everywhere."""
    resolution = resolve(
        [failing("a", FRAMING, "3 messages"), passing("b", FRAMING)], [ExpectedFailure(FRAMING, THREE)]
    )

    assert outcomes(resolution) == [Outcome.EXPECTED_FAIL, Outcome.PASS]
    assert resolution.problems == ()


def test_an_entry_for_one_case_is_surprised_by_that_case() -> None:
    """Naming the case pins it: there the clause has to fail."""
    verdicts = [failing("a", FRAMING, "3 messages"), passing("b", FRAMING)]
    entries = [ExpectedFailure(FRAMING, THREE, case="a"), ExpectedFailure(FRAMING, THREE, case="b")]

    resolution = resolve(verdicts, entries)

    assert outcomes(resolution) == [Outcome.EXPECTED_FAIL, Outcome.UNEXPECTED_PASS]


def test_an_entry_that_covers_nothing_judged_is_stale_and_fails_the_run() -> None:
    """Untestable does not count as judged."""
    untestable = Verdict("a", FRAMING, Outcome.UNTESTABLE, reason="cannot seed")

    (problem,) = resolve([untestable], [ExpectedFailure(FRAMING, THREE)]).problems

    assert (problem.kind, problem.fails_run) == (ProblemKind.STALE, True)
    assert problem.text == (
        f"the expected failure of '{FRAMING}' covers nothing that was judged in this run;"
        " remove it or correct its globs"
    )


def test_an_entry_for_cases_that_were_not_chosen_is_not_stale() -> None:
    """A run of a few cases says nothing about the entries of the others."""
    entries = [ExpectedFailure(FRAMING, THREE, case="nested-*")]

    resolution = resolve([passing("a", FRAMING)], entries, skipped_cases=["nested-deep"])

    assert resolution.problems == ()


def test_an_entry_that_covers_healthy_clauses_is_reported_as_over_broad() -> None:
    """It would hide their next failure; the cure is named."""
    verdicts = [failing("a", FRAMING, "3 messages"), passing("a", SCHEMA)]

    (problem,) = resolve(verdicts, [ExpectedFailure("framing.*", THREE)]).problems

    assert (problem.kind, problem.fails_run) == (ProblemKind.OVER_BROAD, False)
    assert problem.text == (
        f"the expected failure of 'framing.*' covers {SCHEMA}, which did not fail so; name {FRAMING} instead"
    )


def test_two_entries_for_one_failure_are_reported() -> None:
    """One of them can go, and nobody would notice which."""
    entries = [ExpectedFailure(FRAMING, THREE), ExpectedFailure(FRAMING, "fail: *", case="a")]

    (problem,) = resolve([failing("a", FRAMING, "3 messages")], entries).problems

    assert (problem.kind, problem.index) == (ProblemKind.OVERLAPPING, 1)
    assert problem.text == f"the expected failure of '{FRAMING}' on 'a' excuses {FRAMING} on a, and so does entry 0"


@pytest.mark.parametrize(
    ("text", "glob", "matches"),
    [
        ("fail: timestamp[us]", "fail: timestamp[us]", True),
        ("fail: timestamp[us]", "fail: *", True),
        ("fail: timestamp[us]", "fail: timestamp?us?", False),
        ("fail: a\nb", "fail*b", True),
    ],
)
def test_only_the_asterisk_is_special_in_globs(text: str, glob: str, *, matches: bool) -> None:
    """Reason classes hold brackets and question marks that mean themselves."""
    assert glob_match(text, glob) is matches


ENTRY = ExpectedFailure(FRAMING, THREE)


@pytest.mark.parametrize("skipped", [{"skipped_cases": ["b"]}, {"skipped_clauses": [FRAMING]}])
def test_an_entry_that_the_run_did_not_look_at_is_counted(skipped: dict[str, list[str]]) -> None:
    """Nothing that it covers was judged, but something was left out: it is not stale."""
    resolution = resolve([passing("a", SCHEMA)], [ENTRY], **skipped)  # type: ignore[arg-type]  # either argument

    assert (resolution.unseen, resolution.undecided, resolution.problems) == (1, 0, ())


def test_a_pass_is_no_surprise_while_another_case_could_show_the_failure() -> None:
    """It is counted as undecided."""
    resolution = resolve([passing("a", FRAMING)], [ENTRY], skipped_cases=["b"])

    assert outcomes(resolution) == [Outcome.PASS]
    assert (resolution.unseen, resolution.undecided, resolution.problems) == (0, 1, ())


def test_a_pass_is_unexpected_once_every_case_that_could_show_the_failure_ran() -> None:
    """Cases that were left out and cannot show it do not matter."""
    resolution = resolve([passing("a", FRAMING)], [ENTRY], skipped_cases=["b"], decided=[0])

    assert outcomes(resolution) == [Outcome.UNEXPECTED_PASS]
    assert (resolution.unseen, resolution.undecided) == (0, 0)


def test_a_decided_entry_whose_cases_could_not_be_judged_is_not_stale() -> None:
    """The cases ran and showed nothing, for example because the target lacks a capability."""
    untestable = Verdict("a", FRAMING, Outcome.UNTESTABLE, reason="cannot seed")

    resolution = resolve([untestable], [ENTRY], skipped_cases=["b"], decided=[0])

    assert (resolution.unseen, resolution.problems) == (1, ())


@pytest.mark.parametrize(
    ("verdict", "outcome"),
    [
        (passing("a", FRAMING), Outcome.PASS),
        (failing("a", FRAMING, "3 messages"), Outcome.EXPECTED_FAIL),
        (failing("a", FRAMING, "no message"), Outcome.FAIL),
    ],
)
def test_of_a_failure_that_occurs_sometimes_neither_side_is_a_surprise(verdict: Verdict, outcome: Outcome) -> None:
    """Another failure of the clause still is."""
    resolution = resolve([verdict], [ExpectedFailure(FRAMING, THREE, sometimes=True)])

    assert outcomes(resolution) == [outcome]
    assert resolution.problems == ()


def test_an_entry_for_a_failure_that_occurs_sometimes_can_be_stale() -> None:
    """Nothing that it covers was judged in a run of all cases."""
    (problem,) = resolve([passing("a", SCHEMA)], [ExpectedFailure(FRAMING, THREE, sometimes=True)]).problems

    assert problem.kind is ProblemKind.STALE


@pytest.mark.parametrize(("form", "stale"), [("arrow", False), ("avro", True), ("both", True)])
def test_an_entry_for_another_form_is_for_another_run(form: str, *, stale: bool) -> None:
    """A target file serves runs in every form, and a run in one decides nothing about the others."""
    entry = ExpectedFailure(FRAMING, THREE, case="*@avro")

    resolution = resolve([passing("a", FRAMING)], [entry], form=form)

    assert outcomes(resolution) == [Outcome.PASS]
    assert [problem.kind for problem in resolution.problems] == [ProblemKind.STALE] * stale
    assert resolution.unseen == (not stale)
