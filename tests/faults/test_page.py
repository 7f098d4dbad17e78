"""The page of results: it counts only faults that count."""

from __future__ import annotations

from typing import Any

import pytest

from tests.faults import page as written
from tests.faults.catalogue import FAULTS
from tests.faults.page import page

_DIED = {"died": True, "case": "a.case", "clauses": ["a.clause"]}
_SURVIVED = {"died": False, "case": "", "clauses": []}


def _run(results: dict[str, Any]) -> dict[str, Any]:
    return {"label": "run", "date": "2026-01-01", "commit": "abc", "command": "conformance run", "results": results}


def test_a_result_is_shown() -> None:
    """A fault that died is shown with case and clauses, another as survived or as not run."""
    shown = page([_run({"reads.shared-cursor": _DIED, "reads.resume-sorts-rows": _SURVIVED})])

    assert "1 of 2 (50 %)" in shown
    assert "| `reads.shared-cursor` | died: `a.case` by `a.clause` |" in shown
    assert "| `reads.resume-sorts-rows` | **survived** |" in shown
    assert shown.count("| not run |") == len(FAULTS) - 2


def test_a_fault_that_no_client_observes_is_not_counted() -> None:
    """It is in the table with the reason, and in no share."""
    shown = page([_run({"sessions.expiry-from-last-read": _SURVIVED})])

    assert "0 of 0" in shown
    assert "**survived** (not counted: a client cannot move the clock" in shown


def test_permitted_behaviour_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault that is none stays in the table, with the reason."""
    monkeypatch.setattr(written, "NOT_FAULTS", {"reads.shared-cursor": "the text permits it"})

    shown = page([_run({"reads.shared-cursor": _SURVIVED, "reads.resume-sorts-rows": _DIED})])

    assert "1 of 1 (100 %)" in shown
    assert "**survived** (not a fault: the text permits it)" in shown


def test_first_causes_are_counted_by_the_table() -> None:
    """Right, near and wrong, and a fault that nothing found, with the words of the cause."""
    first = {"title": "row 3 comes again", "contrast": ["in 2 of 4 cases"], "causes": 3}
    found = {
        "reads.avro-ignores-offset": {**first, "clause": "avro.offset-leaves-the-rest"},
        "reads.shared-cursor": {**first, "clause": "history.no-lost-row"},
        "reads.row-count-before-restriction": {**first, "clause": "values.nulls"},
        "sessions.only-newest-64": None,
    }
    results = {name: {"commit": "abc", "first": one} for name, one in found.items()}

    shown = page([], _run(results) | {"drawn": 6})

    assert "right in 1 of 3 faults and right or near in 2," in shown
    assert "Of the 6 faults that were drawn, 2 were not judged." in shown
    assert "Nothing failed with `sessions.only-newest-64`." in shown
    assert (
        "| `reads.shared-cursor` | near | `history.no-lost-row` | row 3 comes again; in 2 of 4 cases | 3 | `abc` |"
        in shown
    )
    assert "joined" not in shown


def test_first_causes_of_several_commits_are_said_to_be_joined() -> None:
    """The figure is of no commit alone."""
    first = {"clause": "avro.offset-leaves-the-rest", "title": "3 rows", "contrast": [], "causes": 1}
    results = {
        "reads.avro-ignores-offset": {"commit": "abc", "first": first},
        "reads.shared-cursor": {"commit": "def", "first": first},
    }

    shown = page([], _run(results) | {"drawn": 2})

    assert "The faults were judged at 2 commits" in shown
    assert "| `reads.avro-ignores-offset` | right | `avro.offset-leaves-the-rest` | 3 rows | 1 | `abc` |" in shown
    assert "| `reads.shared-cursor` | wrong | `avro.offset-leaves-the-rest` | 3 rows | 1 | `def` |" in shown
