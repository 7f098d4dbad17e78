"""Every report is valid whatever texts the log has, and shows them only as text."""

from __future__ import annotations

import io
import json
import re
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conformance.contain.text import safe
from conformance.engine.log import read_log
from conformance.engine.result import Result, fold
from conformance.records import to_json
from conformance.report.badge import badge_svg
from conformance.report.document import document, report_schema, write_json
from conformance.report.github import step_summary
from conformance.report.html import html
from conformance.report.junit import junit_xml
from conformance.report.matrixtable import load_matrix
from conformance.report.sarif import sarif
from conformance.report.site import html as site
from conformance.report.site import markdown
from conformance.report.terminal import print_report, terminal

NASTY = "\n::error::x\x1b]0;x\x07\u202e\ud800##vso[task.x]\x00<script>alert(1)</script>[red]:smile:{{7*7}}&amp;"
TEXTS = st.text(st.characters(exclude_categories=())) | st.builds(
    "".join,
    st.lists(
        st.sampled_from(["\n", "::", "##[", "\ud800", "<b>", "]]>", '"', "'", "[link=x]", "javascript:", "\\", " "])
    ),
)
"""Any text, and texts made of what reports are made of."""


def log(text: str) -> Iterator[dict[str, Any]]:
    """The events of a run in which every text that can be chosen is ``text``."""
    finding = {"clause": text, "required": text, "observed": text, "field": text, "call": 0, "start": 0, "end": 4}
    line = {"offset": 0, "hex": text, "field": text, "meaning": text, "marked": True}
    yield {
        "event": "run-started",
        **dict.fromkeys(("suite", "python", "pyarrow", "platform", "target", "target_file", "profile", "level"), text),
        **{key: [text] for key in ("select", "clause", "cases", "clauses")},
        "seed": 0,
        "generated": 0,
        "readers": True,
        "deadline_multiplier": 1.0,
        "all_cases": 2,
        "all_clauses": 2,
        "left_out": [{"kind": text, "id": text, "reason": text}],
        "expectations": [{"clause": text, "reason": text, "case": text, "note": text, "issue": text}],
    }
    yield {
        "event": "case-judged",
        **dict.fromkeys(("case_id", "title", "replay"), text),
        "verdicts": [
            {"case_id": text, "clause": text, "outcome": "fail", "findings": [finding]},
            {"case_id": text, "clause": f"a.{text}", "outcome": "untestable", "reason": text},
            {"case_id": text, "clause": "b.b", "outcome": "error", "reason": text},
        ],
        "evidence": [{"finding": finding, "of": text, "lines": [line]}],
    }
    yield {"event": "suite-broke", "case_id": text, "traceback": f"Traceback:\n{text}"}
    yield {"event": "counterexample-saved", "tries": 1, **dict.fromkeys(("case_id", "clause", "reason", "file"), text)}
    yield {"event": "run-ended", "seconds": 1.0, "remarks": [text]}


def result_of(text: str, folder: Path) -> Result:
    """The result of that run, read from its log."""
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in log(text)), encoding="utf-8")
    return fold(read_log(path))


class Tags(HTMLParser):
    """The tags of a page with the names of their attributes, and where its links lead."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[tuple[str, tuple[str, ...]]] = set()
        self.links: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep tag and attributes."""
        self.tags.add((tag, tuple(name for name, _ in attrs)))
        self.links |= {value or "" for name, value in attrs if name in ("href", "src", "action")}


with tempfile.TemporaryDirectory() as _folder:
    HARMLESS = result_of("harmless", Path(_folder))


def reports(result: Result, folder: Path) -> Iterator[str]:
    """Every report as text."""
    write_json(result, folder / "one.json")
    matrix = load_matrix([folder / "one.json"])
    printed = io.StringIO()
    print_report(terminal(file=printed, width=80), result)
    yield from (printed.getvalue(), markdown(matrix), html(document(result)), site(matrix), badge_svg(document(result)))
    yield from (junit_xml(result).decode(), (folder / "one.json").read_text(encoding="utf-8"))


@settings(max_examples=20)
@given(TEXTS)
@example(NASTY)
def test_every_report_is_printable_utf8(text: str) -> None:
    """No report holds a control character, a direction mark, a surrogate or a command for a build."""
    with tempfile.TemporaryDirectory() as folder:
        for report in reports(result_of(text, Path(folder)), Path(folder)):
            assert report.encode()
            assert all(safe(line, 1 << 20) == line for line in report.split("\n"))


@settings(max_examples=20)
@given(TEXTS)
@example(NASTY)
def test_junit_is_well_formed(text: str) -> None:
    """The XML parses, and says what was observed."""
    with tempfile.TemporaryDirectory() as folder:
        root = ET.fromstring(junit_xml(result_of(text, Path(folder))))

    (red,) = [*root.iter("failure"), *root.iter("error")]
    assert safe(text) in (red.text or "").replace("observed: ", "").split("\n") or not text


@settings(max_examples=20)
@given(TEXTS)
@example(NASTY)
def test_html_takes_text_for_text(text: str) -> None:
    """A page has the tags and attributes of a harmless one, and no link that the text chose but into our own pages."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        harmless, page = Tags(html(document(HARMLESS))), Tags(html(document(result_of(text, folder))))
        write_json(result_of(text, folder), folder / "one.json")
        matrix = load_matrix([folder / "one.json"])
        linked, apart = Tags(site(matrix)), Tags(site(matrix, {"one": []}))

    assert page.tags <= harmless.tags
    others = {link for link in page.links | linked.links if not link.startswith(("#", "https://"))}
    assert all(re.fullmatch(r"\?q=[\w.~%/-]*", link, re.ASCII) for link in others)
    assert not {link for link in apart.links if not link.startswith(("#", "https://", "one.html#", "clauses.html#"))}


@settings(max_examples=20)
@given(TEXTS)
@example(NASTY)
@example("a|b\\|`<img src=x>` [l](http://x) **b** ![i](u) www.x.org")
def test_markdown_takes_text_for_text(text: str) -> None:
    """The matrix and the job summary have the markup of harmless ones: no tag, link, code or cell more."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pairs = []
        for result in (HARMLESS, result_of(text, folder)):
            write_json(result, folder / "one.json")
            pairs.append((markdown(load_matrix([folder / "one.json"])), step_summary(document(result))))

    for harmless, made in zip(*pairs, strict=True):
        for markup in ("<", "](", "![", "\n|", "http:"):
            assert made.count(markup) <= harmless.count(markup), markup


def test_sarif_takes_text_for_text() -> None:
    """A message has no link and no placeholder that the text chose."""
    with tempfile.TemporaryDirectory() as folder:
        made = sarif(document(result_of("see [here](http://x.invalid) {0}", Path(folder))))

    messages = [item["message"]["text"] for item in made["runs"][0]["results"]]
    assert messages
    assert all("\\[here\\](" in message and " {{0}}" in message for message in messages)


@settings(max_examples=20)
@given(TEXTS)
@example(NASTY)
def test_the_document_fits_its_schema(text: str) -> None:
    """The JSON report validates, and what it holds can be read by any program that reads UTF-8."""
    with tempfile.TemporaryDirectory() as folder:
        made = to_json(document(result_of(text, Path(folder))))

    jsonschema.validate(json.loads(json.dumps(made, ensure_ascii=False).encode()), report_schema())


@settings(max_examples=20)
@given(TEXTS)
@example(NASTY)
def test_no_line_of_the_terminal_is_foreign(text: str) -> None:
    """Text of several lines stays behind our own words, or indented below them; no line is a command for a build."""
    printed = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        print_report(terminal(file=printed, width=80), result_of(f"{text}\nforeign\n  foreign", Path(folder)))

    lines = printed.getvalue().split("\n")
    assert not [line for line in lines if line.startswith("foreign") or line.lstrip().startswith("::")]


def test_markup_and_emoji_codes_are_printed_as_they_are() -> None:
    """Rich is not asked to make anything of them."""
    printed = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        result = result_of("[red]a[/] [link=https://example.org]b[/link] :smile: :warning: \\", Path(folder))
        print_report(terminal(file=printed, width=400, force_terminal=True), result)

    assert "[red]a[/] [link=https://example.org]b[/link] :smile: :warning: \\" in printed.getvalue()
    assert "\x1b]8;" not in printed.getvalue()
