"""JUnit XML says per case what became of it, so that a job's page shows which cases are red."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from conformance.contract.clause import load_chapters
from conformance.contract.wholecase import WHOLE_CASE
from conformance.engine.events import RunEnded
from conformance.engine.result import Result, fold
from conformance.records import Finding, Outcome, Verdict
from conformance.report.junit import MOST_FINDINGS, junit_xml
from conformance.targets import ExpectedFailure
from tests.engine.samples import failing, judged, passing, served_nothing, started


def run_of(*verdicts: Verdict, expectations: tuple[ExpectedFailure, ...] = ()) -> Result:
    """A run of the cases of ``verdicts``, in order."""
    by_case: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_case.setdefault(verdict.case_id, []).append(verdict)
    clauses = dict.fromkeys(verdict.clause for verdict in verdicts)
    events = [judged(name, *group) for name, group in by_case.items()]
    return fold([started(*clauses, expectations=expectations), *events, RunEnded(2.0)])


def cases(result: Result) -> dict[str, ET.Element]:
    """The tests of the JUnit report by name."""
    return {element.attrib["name"]: element for element in ET.fromstring(junit_xml(result)).iter("testcase")}


def counts(result: Result) -> dict[str, str | None]:
    """The counts of the whole report, which are those of its only suite."""
    root = ET.fromstring(junit_xml(result))
    names = ("tests", "failures", "errors", "skipped")
    assert [root.get(name) for name in names] == [root[0].get(name) for name in names]
    return {name: root.get(name) for name in names}


def failure_of(result: Result, case: str) -> ET.Element:
    """The failure of a case."""
    failure = cases(result)[case].find("failure")
    assert failure is not None
    return failure


@pytest.mark.parametrize(
    ("outcome", "tag"),
    [
        (Outcome.PASS, None),
        (Outcome.FAIL, "failure"),
        (Outcome.CRASH, "failure"),
        (Outcome.HANG, "failure"),
        (Outcome.REFUSED, "failure"),
        (Outcome.UNEXPECTED_PASS, "failure"),
        (Outcome.ERROR, "error"),
        (Outcome.UNSUPPORTED, "skipped"),
        (Outcome.UNTESTABLE, "skipped"),
        (Outcome.DEPENDENCY_FAILED, "skipped"),
        (Outcome.EXPECTED_FAIL, "skipped"),
    ],
)
def test_every_outcome_has_its_element(outcome: Outcome, tag: str | None) -> None:
    """Nothing that was not judged reads green, nothing that fails the run reads skipped."""
    element = cases(run_of(Verdict("types.a", "framing.x", outcome, reason="so it was")))["types.a"]

    assert [child.tag for child in element] == ([] if tag is None else [tag])
    assert [child.get("type") for child in element] == ([] if tag is None else [outcome.value])


def test_a_test_stands_below_the_group_of_its_case() -> None:
    """The tree of a CI system has the folders that the cases have."""
    element = cases(run_of(passing("types.int64", "framing.x")))["types.int64"]

    assert element.get("classname") == "types"
    assert element.get("time") == "0.500"


def test_one_failing_clause_makes_a_case_red() -> None:
    """Passes of other clauses, and clauses that were not judged, do not hide it."""
    result = run_of(
        passing("a", "rows.once"), failing("a", "framing.x", "3 messages"), Verdict("a", "rows.y", Outcome.UNTESTABLE)
    )

    assert counts(result) == {"tests": "1", "failures": "1", "errors": "0", "skipped": "0"}
    assert failure_of(result, "a").get("message") == "framing.x: 3 messages"


def test_a_case_passes_although_it_shows_nothing_of_some_clauses() -> None:
    """Other cases show them."""
    result = run_of(passing("a", "rows.once"), Verdict("a", "rows.y", Outcome.UNTESTABLE, reason="no rows"))

    assert counts(result) == {"tests": "1", "failures": "0", "errors": "0", "skipped": "0"}


def test_a_case_that_shows_nothing_is_skipped() -> None:
    """Absence of evidence is not success."""
    result = fold([started("framing.x"), judged("a"), RunEnded(2.0)])

    skipped = cases(result)["a"].find("skipped")
    assert skipped is not None
    assert skipped.get("type") == "not-observed"


def test_the_failure_of_a_may_clause_is_skipped_unless_more_fails_on_the_case() -> None:
    """It fails no run; what does on the same case is named first."""
    load_chapters()
    optional = ("session.trace-id-is-echoed", "errors.message-says-something")
    alone, refused, unexpected = (failing(case, optional[0], "absent") for case in "abc")
    result = run_of(
        *(alone, refused, unexpected),
        Verdict("b", WHOLE_CASE, Outcome.REFUSED, reason="ended in UNKNOWN"),
        Verdict("c", optional[1], Outcome.UNEXPECTED_PASS, reason="it passes"),
    )

    assert counts(result) == {"tests": "3", "failures": "2", "errors": "0", "skipped": "1"}
    assert cases(result)["a"][0].get("type") == "optional"
    assert str(failure_of(result, "b").get("message")).startswith(f"{WHOLE_CASE}: ended in UNKNOWN")
    assert str(failure_of(result, "c").get("message")).startswith(optional[1])


def test_a_failure_says_what_was_required_and_how_to_see_it_again() -> None:
    """The text of a failure is enough to act on."""
    failure = failure_of(run_of(failing("a", "framing.x", "3 messages"), failing("a", "rows.x", "no row")), "a")

    assert failure.get("message") == "framing.x: 3 messages (and 1 more clause)"
    assert failure.text == (
        "framing.x (must): fail\nrequired: one message\nobserved: 3 messages\n\n"
        "rows.x (must): fail\nrequired: one message\nobserved: no row\n\n"
        "replay: conformance replay a --target fake.toml"
    )


def test_a_failure_without_findings_says_what_was_required() -> None:
    """A server that ends has no finding, and the reader of the file asks what it should have done."""
    failure = failure_of(run_of(Verdict("a", "framing.x", Outcome.CRASH, reason="it ended with -11")), "a")

    assert failure.get("message") == "framing.x: it ended with -11"
    assert (failure.text or "").split("\n")[:3] == [
        "framing.x (must): crash",
        "required: an answer, from a process that lives on",
        "observed: it ended with -11",
    ]


def test_a_test_holds_a_page_of_findings() -> None:
    """There may be thousands, and the report has them."""
    findings = tuple(Finding("framing.x", "one message", f"{number} messages") for number in range(MOST_FINDINGS + 3))
    failure = failure_of(run_of(Verdict("a", "framing.x", Outcome.FAIL, findings)), "a")

    assert (failure.text or "").count("required:") == MOST_FINDINGS
    assert "\n\nand 3 more findings\n\n" in (failure.text or "")


def test_counts_and_properties_stand_on_the_suite() -> None:
    """Seed and selection are read from properties, not from prose."""
    result = run_of(failing("a", "framing.x", "3 messages"), passing("b", "framing.x"))
    suite = ET.fromstring(junit_xml(result))[0]

    properties = {element.get("name"): element.get("value") for element in suite.findall("./properties/property")}
    assert counts(result) == {"tests": "2", "failures": "1", "errors": "0", "skipped": "0"}
    assert properties["seed"] == "7"
    assert properties["target"] == "fake 1.0 (fake.toml)"


def test_a_stale_entry_is_a_failure_of_its_own() -> None:
    """It fails the run, so it has to be red somewhere."""
    result = run_of(passing("a", "framing.x"), expectations=(ExpectedFailure("rows.*", "fail: *"),))

    assert failure_of(result, "entry 0").get("type") == "stale"
    assert counts(result) == {"tests": "2", "failures": "1", "errors": "0", "skipped": "0"}


def test_a_run_that_was_cut_short_is_an_error() -> None:
    """The cases that it reached may all be green."""
    result = fold([started("framing.x"), judged("a", passing("a", "framing.x"))])

    error = cases(result)["complete"].find("error")
    assert error is not None
    assert error.get("message") == "the run was cut short"


def test_what_xml_cannot_hold_is_escaped() -> None:
    """A target may put any character into its message; the report shows which, and stays well-formed."""
    failure = failure_of(run_of(failing("a", "framing.x", "status \x00\x1b[31m\ud800 <&>")), "a")

    assert failure.get("message") == r"framing.x: status \x00\x1b[31m\ud800 <&>"


def test_a_flight_server_that_served_nothing_is_a_failure() -> None:
    """Its refusals alone would be green."""
    result = served_nothing()

    assert failure_of(result, "served").get("type") == "nothing-served"
    assert counts(result) == {"tests": "3", "failures": "1", "errors": "0", "skipped": "1"}


def test_a_run_that_judged_nothing_is_a_failure() -> None:
    """Skipped tests alone would be green."""
    result = run_of(Verdict("a", "framing.x", Outcome.UNTESTABLE, reason="no rows"))

    assert failure_of(result, "judged").get("type") == "nothing-judged"
