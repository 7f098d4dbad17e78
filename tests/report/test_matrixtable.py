"""The matrix says of each implementation what its report says, and leads from each cell to the evidence."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from conformance.contract.clause import load_chapters
from conformance.engine.events import CaseJudged, Evidence, Line
from conformance.engine.provenance import Identity, Provenance
from conformance.engine.standing import Standing
from conformance.records import Finding, Outcome, Verdict
from conformance.report.document import write_json
from conformance.report.html import write_html
from conformance.report.matrixtable import Implementation, Matrix, MatrixError, build, load_matrix, state_of
from conformance.report.site import html, markdown, write_site
from tests.engine.samples import failing, passing
from tests.report.pages import ParsedPage, faults
from tests.report.samples import result_of, save_report

FINDING = Finding("framing.x", "one message", "<script>alert(1)</script>", call=1, response=0, start=4, end=8)
EVIDENCE = Evidence(FINDING, "record batch message of call 1", (Line(4, "10 00 00 00", "length", "16", marked=True),))
BAD = CaseJudged("a", "Case a", "a", (Verdict("a", "framing.x", Outcome.FAIL, (FINDING,)),), (EVIDENCE,))


@pytest.fixture
def reports(tmp_path: Path) -> list[Path]:
    """Two reports: one implementation that is clean, one that is not."""
    unseeded = Verdict("b", "types.x", Outcome.UNTESTABLE, reason="cannot seed")
    return [
        save_report(tmp_path / "good.json", passing("a", "framing.x"), passing("a", "rows.x"), target="good 1"),
        save_report(tmp_path / "bad.json", passing("b", "rows.x"), unseeded, target="bad 2", events=[BAD]),
    ]


@pytest.fixture
def matrix(reports: list[Path]) -> Matrix:
    """Both side by side."""
    return load_matrix(reports)


def test_each_cell_is_the_outcome_of_its_report(matrix: Matrix) -> None:
    """Rows are clauses, columns implementations, in the order given."""
    cells = {row.clause: [entry.state.words for entry in row.entries] for row in matrix.rows}

    assert cells == {
        "framing.x": ["pass", "fail"],
        "rows.x": ["pass", "pass"],
        "types.x": ["no case of the run had anything to judge", "not judged"],
    }


def test_chapters_are_counted_per_implementation(matrix: Matrix) -> None:
    """Held of owed, as in the reports themselves."""
    totals = {
        chapter.name: [(cell.held, cell.total, cell.not_judged) for cell in chapter.totals()]
        for chapter in matrix.chapters
    }

    assert totals == {
        "framing": [(1, 1, 0), (0, 1, 0)],
        "rows": [(1, 1, 0), (1, 1, 0)],
        "types": [(0, 1, 1), (0, 1, 1)],
    }


def test_clauses_come_by_level_and_then_in_the_order_of_the_contract(tmp_path: Path) -> None:
    """The order of the contract is by subject, not by the alphabet; a clause that it does not have comes last."""
    load_chapters()
    names = ["body.padding-zero", "body.a-later-version-has", "body.buffer-count", "body.node-count"]

    report = save_report(tmp_path / "one.json", *(passing("a", name) for name in names))

    assert [row.clause for row in load_matrix([report]).rows if row.clause in names] == [
        "body.node-count",
        "body.buffer-count",
        "body.a-later-version-has",
        "body.padding-zero",
    ]


def test_every_link_of_the_page_leads_somewhere(matrix: Matrix) -> None:
    """In one file a click on a cell opens its evidence in that file; ids are there once."""
    page = ParsedPage(html(matrix))

    assert list(faults(page)) == []
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert "#bad--framing.x" in page.links


def test_the_evidence_has_bytes_clause_and_replay(matrix: Matrix) -> None:
    """Everything that the report knows of the deviation."""
    text = html(matrix)
    panel = text[text.index('id="bad--framing.x"') :].partition("</section>")[0]

    assert "conformance replay a --target fake.toml" in panel
    assert "10 00 00 00" in panel
    assert panel.count('<tr class="marked">') == 1


def test_what_a_target_says_is_text_and_never_markup(matrix: Matrix) -> None:
    """A hostile message must not run in the reader's browser."""
    assert html(matrix).count("<script") == 1
    assert "&lt;script&gt;" in html(matrix)


def test_run_times_and_numbers_are_published(matrix: Matrix) -> None:
    """One of each per implementation."""
    text = html(matrix)

    assert text.count(" in 2 s, suite") == 2
    assert re.findall(r"<span>(\d+ pass · [^<]+)", text) == [
        "1 pass · 1 fail · 1 not judged",
        "2 pass · 0 fail · 1 not judged",
    ]


def test_drawn_cases_and_histories_count_as_the_report_counts_them(matrix: Matrix) -> None:
    """The page that the board links says the same number."""
    item = matrix.implementations[0]
    run = dataclasses.replace(item.report.run, generated=3, scenarios=4)
    drawn = dataclasses.replace(item, report=dataclasses.replace(item.report, run=run))

    assert f"on {len(run.cases) + 7} cases in 2 s" in html(build([drawn]))


@pytest.fixture
def site(matrix: Matrix, reports: list[Path]) -> Path:
    """The folder of the reports, with the pages."""
    write_site(matrix, reports[0].parent)
    return reports[0].parent


def test_a_folder_gets_a_page_and_a_badge_for_each_report(site: Path) -> None:
    """The overview links the pages and the JSON by relative names."""
    links = ParsedPage((site / "index.html").read_text()).links

    assert {"good.html", "good.svg", "good.json", "bad.html", "bad.svg", "bad.json"} <= set(links)
    assert all((site / link).exists() for link in links if link.startswith(("good.", "bad.")) and "#" not in link)


def test_in_a_folder_a_cell_leads_to_the_evidence_in_the_page_of_its_report(site: Path) -> None:
    """The overview does not repeat the content of the pages."""
    index = (site / "index.html").read_text()
    apart = [link.split("#") for link in ParsedPage(index).links if "#" in link.lstrip("#")]

    assert ["bad.html", "clause--framing.x"] in apart
    assert ["clauses.html", "clause--framing.x"] in apart
    assert all(fragment in ParsedPage((site / name).read_text()).ids for name, fragment in apart)
    assert "10 00 00 00" not in index
    assert "10 00 00 00" in (site / "bad.html").read_text()


def test_the_page_of_a_report_is_the_one_that_its_run_wrote(tmp_path: Path) -> None:
    """The JSON report says everything that the page shows."""
    result = result_of(passing("b", "rows.x"), events=[BAD])
    write_json(result, tmp_path / "mine.json")
    write_html(result, tmp_path / "of-the-run.html")

    write_site(load_matrix([tmp_path / "mine.json"]), tmp_path)

    assert (tmp_path / "mine.html").read_bytes() == (tmp_path / "of-the-run.html").read_bytes()


def test_a_file_gets_the_page_alone(matrix: Matrix, tmp_path: Path) -> None:
    """It links nothing outside itself."""
    write_site(matrix, tmp_path / "out" / "m.html")

    assert [path.name for path in (tmp_path / "out").iterdir()] == ["m.html"]


def test_the_markdown_lists_what_does_not_hold_everywhere(matrix: Matrix) -> None:
    """A clause that passes everywhere is counted with its chapter."""
    text = markdown(matrix)

    assert "| good 1 | 2/3 | – | – | 0 | 0 | 1 | 2 s |" in text  # noqa: RUF001  # as in the source
    assert "| `framing.x` | MUST | ✓ | ✗ |" in text
    assert "`rows.x`" not in text


def test_two_reports_of_one_name_are_refused(reports: list[Path], tmp_path: Path) -> None:
    """Their badges and evidence would overwrite each other."""
    again = save_report(tmp_path / "other" / "good.json", failing("a", "rows.x", "2 rows"))

    with pytest.raises(MatrixError, match="two have the name good"):
        load_matrix([*reports, again])


@pytest.mark.parametrize("name", ["index", "clauses"])
def test_a_report_with_the_name_of_a_page_of_all_is_refused(tmp_path: Path, name: str) -> None:
    """Its page would be overwritten."""
    path = save_report(tmp_path / f"{name}.json", passing("a", "rows.x"))

    with pytest.raises(MatrixError, match=f"expected no report with the name {name}"):
        load_matrix([path])


def test_the_failure_of_a_may_clause_is_shown_as_optional(tmp_path: Path) -> None:
    """It has a sign of its own, and is not among the clauses that fail."""
    load_chapters()
    may = "session.trace-id-is-echoed"
    path = save_report(tmp_path / "one.json", failing("a", may, "no trace_id"))
    matrix = load_matrix([path])

    (row,) = (row for row in matrix.rows if row.clause == may)
    (chapter,) = (chapter for chapter in matrix.chapters if chapter.name == "session")
    assert [(entry.state.key, entry.state.sign) for entry in row.entries] == [("optional", "○")]
    assert "fails" not in row.shows
    assert [cell.failed for cell in chapter.totals()] == [0]
    assert '<td class="optional">' in html(matrix)


def test_every_standing_has_a_state() -> None:
    """Failures look like failures, and nothing but a clause that is held looks held."""
    looks = {standing: state_of(standing, None).key for standing in Standing}

    assert {standing for standing, key in looks.items() if key == "holds"} == {Standing.HELD}
    assert {standing for standing, key in looks.items() if key == "fails"} == {Standing.FAILED}
    assert state_of(Standing.NOT_JUDGED, Outcome.ERROR).key == "broke"
    assert state_of(None, None).key == "absent"


@pytest.mark.parametrize(
    ("target", "version", "title"),
    [
        ("bqemulator-1.4.0", "1.4.0", ("bqemulator", "1.4.0")),
        ("polars 2.1.0", "2.1.0", ("polars", "2.1.0")),
        ("mine", "", ("mine", "")),
        ("1.0", "1.0", ("1.0", "")),
        ("mine", "1.0", ("mine", "1.0")),
    ],
)
def test_a_head_has_name_and_version_in_two_lines(
    matrix: Matrix, target: str, version: str, title: tuple[str, str]
) -> None:
    """Whether or not the name of the target ends with the version."""
    assert of_version(matrix.implementations[0], target, version).title == title


def of_version(item: Implementation, target: str, version: str) -> Implementation:
    """The same report on another target."""
    run = dataclasses.replace(item.report.run, target=target, provenance=Provenance(target=Identity(version=version)))
    return Implementation(item.slug, dataclasses.replace(item.report, run=run))


def test_implementations_are_in_the_order_of_their_names(matrix: Matrix) -> None:
    """Version 9 is before version 10, and a result makes no rank; the columns keep their order."""
    good, bad = matrix.implementations
    rows = ((good, "polars", "1"), (bad, "arrow", "10"), (good, "Arrow", "9"))
    named = [of_version(one, f"{name} {version}", version) for one, name, version in rows]

    assert [item.report.run.target for item in build(named).sorted] == ["Arrow 9", "arrow 10", "polars 1"]
    assert [item.report.run.target for item in build(named).implementations] == ["polars 1", "arrow 10", "Arrow 9"]


def test_a_filter_finds_what_fails_and_what_differs(matrix: Matrix) -> None:
    """What passes everywhere is found by none, and the page says it of each row."""
    good, bad = matrix.implementations
    versions = build([of_version(good, "x-1", "1"), of_version(bad, "x-2", "2")])

    assert {row.clause: row.shows for row in matrix.rows} == {
        "framing.x": ("fails", "differs"),
        "rows.x": (),
        "types.x": (),
    }
    assert 'data-shows="fails differs"' in html(matrix)
    assert {row.clause: row.shows for row in versions.rows}["framing.x"] == ("fails", "differs", "versions")


def test_a_chapter_shows_how_many_clauses_fail(matrix: Matrix) -> None:
    """A number leads to the chapter; where none fails there is a sign."""
    (table,) = re.findall(r'<table class="heat">.*?</table>', html(matrix), re.DOTALL)

    assert '<td class="heat3"><a href="#framing">1</a></td>' in table
    assert '<td class="heat0">✓</td>' in table
