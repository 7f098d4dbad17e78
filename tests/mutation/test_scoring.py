"""The score counts what tests noticed, and nothing that looks like it."""

from __future__ import annotations

import pytest

from tests.mutation.mutants import Mutant
from tests.mutation.running import outcome
from tests.mutation.scoring import Entry, Result, counted, document, judged, page, score

ABOUT = {"seed": 1, "requested": 4, "date": "2000-01-01", "commit": "abc", "python": "3.11", "cosmic_ray": "8"}


def result(ended: str, line: int = 1, tests: int = 3) -> Result:
    """A mutant of one line that ended so."""
    mutant = Mutant("conformance/wire/x.py", line, "AddNot", (f"if a{line}:",), (f"if not a{line}:",))
    return Result(mutant, ended, "tests/x.py::test" if ended == "killed" else None, tests, 1.0)


RESULTS = [result("killed", 1), result("timeout", 2), result("survived", 3), result("survived", 4, tests=0)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"status": 0, "hung": False}, "survived"),
        ({"status": 1, "hung": False}, "killed"),
        ({"status": 1, "hung": True}, "timeout"),
        ({"status": None, "hung": True}, "timeout"),
        ({"status": None, "hung": False}, "killed"),
        ({"status": 5, "hung": False}, "survived"),
        ({"status": None, "hung": False, "gone": True}, "gone"),
    ],
)
def test_an_answer_is_one_outcome(answer: dict[str, object], expected: str) -> None:
    """Tests that pass, and tests that do not exist, notice nothing; a process that dies has been noticed."""
    assert outcome(answer) == expected


def test_what_no_test_reaches_has_survived() -> None:
    """It counts against the score as any survivor does."""
    assert score(counted(RESULTS)) == 50.0
    assert counted(RESULTS)["without a test"] == 1


def test_code_that_is_gone_counts_for_nothing() -> None:
    """Neither for the score nor against it."""
    assert score(counted([*RESULTS, result("gone", 5)])) == 50.0


def test_an_equivalent_mutant_has_survived_and_has_its_reason() -> None:
    """The score does not rise by declaring a survivor equivalent."""
    entry = Entry("conformance/wire/x.py", "if a3:", "if not a3:", "it is the same")

    results = judged(RESULTS, [entry])

    assert [one.reason for one in results] == [None, None, "it is the same", None]
    assert score(counted(results)) == 50.0


def test_a_killed_mutant_is_not_equivalent() -> None:
    """An entry that a test contradicts is wrong."""
    entry = Entry("conformance/wire/x.py", "if a1:", "if not a1:", "it is the same")

    with pytest.raises(ValueError, match=r"listed as equivalent, and killed by tests/x\.py::test"):
        judged(RESULTS, [entry])


def test_the_report_holds_every_mutant() -> None:
    """A reader who doubts the score can make each mutant again."""
    made = document(RESULTS, [], ABOUT)

    assert made["score"] == 50.0
    assert [row["outcome"] for row in made["mutants"]] == ["killed", "timeout", "survived", "survived"]
    assert made["packages"]["wire"]["mutants"] == 4


def test_the_page_lists_survivors_and_equivalents_apart() -> None:
    """A survivor with a reason is no open work."""
    text = page(judged(RESULTS, [Entry("conformance/wire/x.py", "if a3:", "if not a3:", "it is the same")]), [], ABOUT)

    survivors, _, equivalent = text.partition("## Equivalent mutants")
    assert "| `wire/x.py`, 4 | `if a4:` | `if not a4:` |" in survivors
    assert "if not a3:" not in survivors
    assert "| `wire/x.py`, 3 | `if a3:` | `if not a3:` | it is the same |" in equivalent
    assert "| wire | 50.0 % | 4 | 1 | 1 | 2 | 1 |" in text
