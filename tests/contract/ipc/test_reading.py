"""The clauses on readers: three tiers, and rows compared with the truth."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest

from conformance.contract.clause import CLAUSES, Role, load_chapters
from conformance.contract.closed import Question, Tier, Validity
from conformance.contract.ipc.expectation import Expectation
from conformance.contract.ipc.reading import judge_reading
from conformance.records import Level, Outcome
from conformance.wire import PlainTable

ROWS = PlainTable(("x",), ([1, None, 3],), 3)
OTHER = PlainTable(("x",), ([1, None, 4],), 3)
VALID = Expectation(Validity.VALID, ROWS, Tier.CORE, ("reader.accepts.core",), "legal")
BAD = Expectation(Validity.INVALID, None, Tier.STRUCTURE, ("reader.refuses.offsets",), "an offset leads elsewhere")
CONTENT = Expectation(Validity.INVALID, ROWS, Tier.CONTENT, (), "a buffer is not aligned")
OPEN = Expectation(Validity.PERMITTED, None, Tier.OPTIONAL, (), "texts conflict")


@dataclasses.dataclass(frozen=True)
class Reply:
    """An answer in the form of the readers package."""

    outcome: str
    table: PlainTable | None = None
    reader: str = "some-reader"
    error_text: str = ""
    panicked: bool = False
    statistics: Mapping[str, int] = dataclasses.field(default_factory=dict)
    ways: tuple[str, ...] | None = None


def outcomes(expectation: Expectation, reply: Reply) -> Mapping[str, str]:
    """Clause to outcome."""
    return {one.clause.removeprefix("reader."): one.outcome.value for one in judge_reading(expectation, reply)}


@pytest.mark.parametrize(
    ("expectation", "reply", "expected"),
    [
        (VALID, Reply("rows", ROWS), {"survives-legal-input": "pass", "rows-true": "pass", "accepts.core": "pass"}),
        (VALID, Reply("rows", OTHER), {"survives-legal-input": "pass", "rows-true": "fail", "accepts.core": "pass"}),
        (
            VALID,
            Reply("refused"),
            {"survives-legal-input": "pass", "lacks-by-an-error": "pass", "accepts.core": "fail"},
        ),
        (
            VALID,
            Reply("unsupported"),
            {"survives-legal-input": "pass", "lacks-by-an-error": "pass", "accepts.core": "unsupported"},
        ),
        (
            VALID,
            Reply("unsupported", panicked=True),
            {"survives-legal-input": "pass", "lacks-by-an-error": "fail", "accepts.core": "unsupported"},
        ),
        (VALID, Reply("unavailable"), {"accepts.core": "untestable"}),
        (VALID, Reply("died"), {"survives-legal-input": "fail", "accepts.core": "dependency-failed"}),
        (BAD, Reply("refused"), {"survives": "pass", "well-defined-error": "pass", "refuses.offsets": "pass"}),
        (BAD, Reply("unsupported"), {"survives": "pass", "well-defined-error": "pass", "refuses.offsets": "pass"}),
        (
            BAD,
            Reply("unsupported", panicked=True),
            {"survives": "pass", "well-defined-error": "fail", "refuses.offsets": "pass"},
        ),
        (BAD, Reply("rows", ROWS), {"survives": "pass", "accepted-rows-are-true": "pass", "refuses.offsets": "fail"}),
        (BAD, Reply("hung"), {"survives": "fail", "refuses.offsets": "dependency-failed"}),
        (BAD, Reply("exhausted"), {"survives": "fail", "refuses.offsets": "dependency-failed"}),
        (CONTENT, Reply("refused"), {"survives": "pass", "well-defined-error": "pass"}),
        (CONTENT, Reply("rows", ROWS), {"survives": "pass", "accepted-rows-are-true": "pass"}),
        (CONTENT, Reply("rows", OTHER), {"survives": "pass", "accepted-rows-are-true": "fail"}),
        (OPEN, Reply("rows", OTHER), {"survives": "pass", "accepted-rows-are-true": "pass"}),
        (OPEN, Reply("refused"), {"survives": "pass", "well-defined-error": "pass"}),
        (OPEN, Reply("refused", panicked=True), {"survives": "pass", "well-defined-error": "fail"}),
    ],
    ids=lambda value: value.outcome if isinstance(value, Reply) else getattr(value, "tier", ""),
)
def test_tiers_stay_apart(expectation: Expectation, reply: Reply, expected: Mapping[str, str]) -> None:
    """Each answer is judged by the clauses that its input and its end show, and by no other."""
    assert outcomes(expectation, reply) == expected


def test_clauses_on_legal_input_are_about_conformance() -> None:
    """Every clause on readers answers one question, and no input is judged by clauses of both."""
    load_chapters()
    asked = {one.id: one.question for one in CLAUSES.values() if one.role is Role.READER}
    legal = {one.clause for one in judge_reading(VALID, Reply("rows", ROWS))}
    malformed = {one.clause for made in (BAD, CONTENT, OPEN) for one in judge_reading(made, Reply("rows", ROWS))}

    assert None not in asked.values()
    assert {asked[name] for name in legal} == {Question.CONFORMANCE}
    assert {asked[name] for name in malformed} == {Question.ROBUSTNESS}


def test_levels_of_robustness_follow_the_page_on_security() -> None:
    """It recommends and requires nothing; only the versioning page requires that newer data is detected."""
    load_chapters()
    required = {one.id for one in CLAUSES.values() if one.question is Question.ROBUSTNESS and one.level is Level.MUST}

    assert required == {"reader.refuses.unknown"}


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        ({}, None),
        ({"messages": 3, "record_batches": 1}, "pass"),
        ({"messages": 3, "record_batches": 2}, "fail"),
        ({"something_else": 9}, "pass"),
    ],
)
def test_counts_are_held_to_what_was_there(reported: Mapping[str, int], expected: str | None) -> None:
    """A reader that counts is asked for true counts of what both know; one that does not is not asked."""
    counted = dataclasses.replace(VALID, statistics={"messages": (3, 4), "record_batches": (1,)})

    assert outcomes(counted, Reply("rows", ROWS, statistics=reported)).get("statistics") == expected
    assert "statistics" not in outcomes(VALID, Reply("rows", ROWS, statistics=reported))


@pytest.mark.parametrize(("ways", "expected"), [(None, None), ((), "pass"), (("column 0: 1, and 2",), "fail")])
def test_two_ways_out_are_compared_where_there_are_two(ways: tuple[str, ...] | None, expected: str | None) -> None:
    """A library without an interface of its own is not judged; malformed input says nothing about the two ways."""
    assert outcomes(VALID, Reply("rows", ROWS, ways=ways)).get("ways-out-agree") == expected
    assert "ways-out-agree" not in outcomes(CONTENT, Reply("rows", ROWS, ways=ways))


def test_a_finding_names_reader_and_difference() -> None:
    """The requirement, the answer and the reader."""
    verdicts = judge_reading(VALID, Reply("rows", OTHER), case_id="some-input")

    (finding,) = next(one for one in verdicts if one.outcome is Outcome.FAIL).findings
    assert {one.case_id for one in verdicts} == {"some-input"}
    assert (finding.clause, finding.field) == ("reader.rows-true", "some-reader")
    assert finding.observed == 'column 0 "x", row 2: expected 3, got 4'


def test_rows_of_invalid_input_say_what_was_wrong_with_it() -> None:
    """A reader that accepts invalid input gets the reason."""
    verdicts = judge_reading(BAD, Reply("rows", ROWS))

    (finding,) = next(one for one in verdicts if one.outcome is Outcome.FAIL).findings
    assert finding.observed == "rows, although an offset leads elsewhere"


def test_an_end_says_how() -> None:
    """The finding has the name of the signal, or what else is known."""
    verdicts = judge_reading(BAD, Reply("died", error_text="SIGSEGV\nin  read"))

    (finding,) = verdicts[0].findings
    assert finding.observed == "died: SIGSEGV in read"


def test_a_table_too_large_to_bring_back_is_not_compared() -> None:
    """Rows came, and nobody saw them: that is no difference."""
    assert outcomes(VALID, Reply("rows"))["rows-true"] == "pass"
