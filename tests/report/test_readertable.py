"""A table says what each reader gave in each group of cases."""

from __future__ import annotations

import json

from conformance.engine.answers import Answer
from conformance.records import from_json, to_json
from conformance.report.document import Report
from conformance.report.html import html
from conformance.report.readertable import reader_lines
from tests.engine.samples import passing
from tests.report.gates import case, report_on

ROWS, OTHER = (Answer.ROWS, ""), (Answer.OTHER_ROWS, "a loses rows: expected 5 rows, got 0 rows")
REPORT = report_on(
    case("types.one", passing("types.one", "rows.x"), a=ROWS, b=(Answer.NO_ANSWER, "not built in x")),
    case("types.two", passing("types.two", "rows.x"), a=OTHER, b=(Answer.NO_ANSWER, "not built in x")),
    case("shapes.one", passing("shapes.one", "rows.x"), a=(Answer.CANNOT, "RANGE: no"), b=(Answer.CANNOT, "JSON: no")),
)


def test_a_reader_is_one_line() -> None:
    """Counts by answer, with the groups of all that are not rows; a reader that is not here gives its reason."""
    assert list(reader_lines(REPORT.readers))[1:] == [
        "  a  1 rows; 1 other rows (types); 1 cannot (shapes) [1.0]",
        "  b  not here: not built in x [2.0]",
    ]


def test_a_cell_counts_a_group() -> None:
    """The page has a row for each reader, with its answers by group."""
    (a, _) = REPORT.readers

    assert (a.cell("types"), a.cell("shapes"), a.cell("rows")) == ("1 rows, 1 other rows", "1 cannot", "")
    assert "<span><b>types</b> 1 rows, 1 other rows</span>" in html(REPORT)


def test_the_table_is_in_the_json_report() -> None:
    """What is written is read again."""
    assert from_json(Report, json.loads(json.dumps(to_json(REPORT)))).readers == REPORT.readers


def test_a_run_without_readings_has_no_table() -> None:
    """Nothing is said of readers that nobody asked."""
    report = report_on(case("types.one", passing("types.one", "rows.x")))

    assert (report.readers, list(reader_lines(report.readers))) == ((), [])
