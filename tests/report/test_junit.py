"""JUnit XML says per clause what became of it, with properties that make a table."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from conformance.engine.events import RunEnded
from conformance.engine.result import Result, fold
from conformance.records import Outcome, Verdict
from conformance.report.junit import junit_xml
from conformance.targets import ExpectedFailure
from tests.engine.samples import failing, judged, passing, started


def run_of(*verdicts: Verdict, expectations: tuple[ExpectedFailure, ...] = ()) -> Result:
    """A run of one case, with a clause that nothing shows."""
    clauses = [*dict.fromkeys(verdict.clause for verdict in verdicts), "rows.silent"]
    return fold([started(*clauses, expectations=expectations), judged("a", *verdicts), RunEnded(2.0)])


def cases(result: Result) -> dict[str, ET.Element]:
    """The test cases of the JUnit report by name."""
    return {element.attrib["name"]: element for element in ET.fromstring(junit_xml(result)).iter("testcase")}


def counts(result: Result) -> dict[str, str | None]:
    """The counts of the whole report, which are those of its only suite."""
    root = ET.fromstring(junit_xml(result))
    names = ("tests", "failures", "errors", "skipped")
    assert [root.get(name) for name in names] == [root[0].get(name) for name in names]
    return {name: root.get(name) for name in names}


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
    element = cases(run_of(Verdict("a", "framing.x", outcome, reason="so it was")))["framing.x"]

    results = [child for child in element if child.tag != "properties"]
    assert [child.tag for child in results] == ([] if tag is None else [tag])
    assert [child.get("type") for child in results] == ([] if tag is None else [outcome.value])


def test_a_clause_that_nothing_showed_is_skipped() -> None:
    """Absence of evidence is not success."""
    skipped = cases(run_of(passing("a", "framing.x")))["rows.silent"].find("skipped")

    assert skipped is not None
    assert skipped.get("type") == "not-observed"


def test_a_failure_says_what_was_required_and_how_to_see_it_again() -> None:
    """The text of a failure is enough to act on."""
    failure = cases(run_of(failing("a", "framing.x", "3 messages")))["framing.x"].find("failure")

    assert failure is not None
    assert failure.get("message") == "3 messages"
    assert failure.text == (
        "required: one message\nobserved: 3 messages\ncases: a\nreplay: conformance replay a --target fake.toml"
    )


def test_counts_and_properties_stand_on_the_suite() -> None:
    """Seed and selection are read from properties, not from prose."""
    result = run_of(failing("a", "framing.x", "3 messages"), passing("a", "rows.once"))
    suite = ET.fromstring(junit_xml(result))[0]

    properties = {element.get("name"): element.get("value") for element in suite.findall("./properties/property")}
    assert counts(result) == {"tests": "3", "failures": "1", "errors": "0", "skipped": "1"}
    assert properties["seed"] == "7"
    assert properties["target"] == "fake 1.0 (fake.toml)"


def test_outcomes_are_counted_by_their_elements() -> None:
    """Two failures, an error of the suite, and three clauses that were not judged."""
    outcomes = [Outcome.FAIL, Outcome.HANG, Outcome.ERROR, Outcome.UNTESTABLE, Outcome.UNSUPPORTED, Outcome.PASS]
    verdicts = [Verdict("a", f"rows.x{number}", outcome, reason="so") for number, outcome in enumerate(outcomes)]

    assert counts(run_of(*verdicts)) == {"tests": "7", "failures": "2", "errors": "1", "skipped": "3"}


@pytest.mark.parametrize(
    ("number", "line"),
    [(1, "cases: c0"), (5, "cases: c0, c1, c2, c3, c4"), (7, "cases: c0, c1, c2, c3, c4 and 2 more")],
)
def test_a_failure_names_up_to_five_cases(number: int, line: str) -> None:
    """One may be enough to see it again; there may be thousands."""
    ids = [f"c{index}" for index in range(number)]
    events = [judged(name, failing(name, "framing.x", "3 messages")) for name in ids]
    failure = cases(fold([started("framing.x"), *events, RunEnded(2.0)]))["framing.x"].find("failure")

    assert failure is not None
    assert line in (failure.text or "").split("\n")


def test_a_clause_carries_its_level() -> None:
    """Continuous integration can count MUST apart from SHOULD."""
    element = cases(run_of(passing("a", "framing.x")))["framing.x"]

    properties = {item.get("name"): item.get("value") for item in element.findall("./properties/property")}
    assert properties == {"clause": "framing.x", "level": "must"}


def test_a_stale_entry_is_a_failure_of_its_own() -> None:
    """It fails the run, so it has to be red somewhere."""
    result = run_of(passing("a", "framing.x"), expectations=(ExpectedFailure("rows.*", "fail: *"),))

    failure = cases(result)["entry 0"].find("failure")
    assert failure is not None
    assert failure.get("type") == "stale"
    assert counts(result) == {"tests": "3", "failures": "1", "errors": "0", "skipped": "1"}


def test_what_xml_cannot_hold_is_escaped() -> None:
    """A target may put any character into its message; the report shows which, and stays well-formed."""
    failure = cases(run_of(failing("a", "framing.x", "status \x00\x1b[31m\ud800 <&>")))["framing.x"].find("failure")

    assert failure is not None
    assert failure.get("message") == r"status \x00\x1b[31m\ud800 <&>"
