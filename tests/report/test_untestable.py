"""Cases that could not be judged are said by type: what was put in, and what came back."""

from __future__ import annotations

from conformance.records import Outcome, Verdict
from conformance.report.untestable import untestable_lines
from tests.engine.samples import passing
from tests.report.samples import result_of


def test_changed_values_are_one_line_for_each_type() -> None:
    """Whatever the columns are called and whatever mode they have."""
    said = "tabledata.list shows '1', which was not put in; '2' was"
    reasons = {
        "a": f"cannot seed: column 'x' (TIME): {said}",
        "b": f"cannot seed: column 'it\\'s' (REPEATED TIME): {said}",
        "c": "cannot seed: HTTP 501: no such type",
    }
    verdicts = [Verdict(name, "rows.none", Outcome.UNTESTABLE, reason=reason) for name, reason in reasons.items()]

    lines = list(untestable_lines(result_of(*verdicts)))

    assert lines == [
        "3 cases could not be judged (untestable):",
        f"  2, such as a: with TIME columns: {said}",
        "  c: cannot seed: HTTP 501: no such type",
    ]


def test_one_refusal_is_one_line_whatever_the_columns_are() -> None:
    """A server without a type refuses every table with it in the same words."""
    said = "cannot seed: POST /tables: HTTP 400 no RECORD"
    columns = {"a": "id INT64, place RECORD", "b": "Total REQUIRED FLOAT64, Total_2 DATE, record REQUIRED RECORD"}
    verdicts = [
        Verdict(name, "rows.none", Outcome.UNTESTABLE, reason=f"{said} (columns: {of})") for name, of in columns.items()
    ]

    lines = list(untestable_lines(result_of(*verdicts)))

    assert lines[1:] == [f"  2, such as a: {said} (columns: id INT64, place RECORD)"]


def test_nothing_is_said_where_everything_was_judged() -> None:
    """A run without untestable cases has no such line."""
    assert list(untestable_lines(result_of(passing("a", "rows.x")))) == []
