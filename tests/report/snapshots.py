"""The full text of every report: of one run, of two runs side by side, of a drift and of a proof."""

from __future__ import annotations

import dataclasses
import io
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from conformance.contract.clause import load_chapters
from conformance.engine.events import CaseJudged, Evidence, Line, RunEnded, SuiteBroke
from conformance.engine.result import Result, fold
from conformance.engine.selection import LeftOut
from conformance.records import Finding, Outcome, Verdict
from conformance.report import driftpages, prooftext
from conformance.report.differences import compare
from conformance.report.document import document, write_json
from conformance.report.html import html
from conformance.report.junit import junit_xml
from conformance.report.matrixtable import load_matrix
from conformance.report.site import markdown, write_site
from conformance.report.terminal import print_report, terminal
from conformance.targets import ExpectedFailure
from tests.engine.samples import failing, judged, passing, started
from tests.report.test_driftpages import DRIFT
from tests.report.test_prooftext import BROKEN, HOLDS

PRINTED = Path(__file__).parent / "printed.txt"

_FINDING = Finding("framing.x", "one message", "3 messages", call=1, response=0, field="rows", start=4, end=8)
_EVIDENCE = Evidence(
    _FINDING,
    "record batch message of call 1, 24 bytes",
    (Line(0, "ff ff ff ff", "continuation", "a message follows"), Line(4, "10 00 00 00", "length", "16", marked=True)),
)
_CLAUSES = (
    *("framing.x", "framing.y", "framing.z", "rows.once", "rows.twice", "rows.silent", "types.x", "types.y"),
    *("body.padding-zero", "body.node-count"),
)


def _run(target: str = "fake 1.0", *, repaired: bool = False) -> Result:
    """A run in which everything occurs that a report has words for."""
    entries = [ExpectedFailure(clause, "fail: *") for clause in ("framing.y", "rows.once", "gone")]
    first = Verdict("a", "framing.x", Outcome.FAIL, () if repaired else (_FINDING,))
    cases = [
        CaseJudged(
            "a",
            "Case a",
            "a",
            (passing("a", "framing.x"),) if repaired else (first,),
            () if repaired else (_EVIDENCE,),
            seconds=1.25,
        ),
        judged("b", failing("b", "framing.x", "2 messages", "no\nmessage"), passing("b", "body.padding-zero")),
        judged("c", failing("c", "framing.y", "3 messages"), passing("c", "rows.once"), passing("c", "framing.z")),
        judged("d", Verdict("d", "framing.z", Outcome.CRASH, reason="the server died of signal 11\nin the middle")),
        judged("e", failing("e", "body.padding-zero", "ff"), Verdict("e", "types.x", Outcome.UNTESTABLE, reason="no")),
        judged("f", Verdict("f", "rows.twice", Outcome.HANG, reason="no answer in 5 s"), passing("f", "types.y")),
        judged("g", Verdict("g", "case", Outcome.ERROR, reason="KeyError: 1")),
        judged("h", Verdict("h", "types.x", Outcome.UNSUPPORTED, reason="the target does not declare nested")),
    ]
    broke = SuiteBroke("g", "Traceback …\nKeyError: 1\n")
    left_out = tuple(LeftOut("case", name, "no --select pattern matches it") for name in "xy")
    start = started(*_CLAUSES, cases=[case.case_id for case in cases], expectations=entries)
    start = dataclasses.replace(
        start, target=target, left_out=(*left_out, LeftOut("clause", "x.y", "its level is may"))
    )
    return fold([start, *cases, broke, RunEnded(63.5, ("it claims too much", "and too little"))])


def render() -> dict[Path, str]:
    """The one file."""
    return {PRINTED: printed()}


def printed() -> str:
    """All reports, one after another, each under its name."""
    load_chapters()
    return "".join(f"=== {name}\n{text}\n" for name, text in _reports())


def _reports() -> Iterator[tuple[str, str]]:
    for result in (_run(), _run(repaired=True)):
        screen = io.StringIO()
        options = {"force_terminal": True, "color_system": "standard", "legacy_windows": False, "no_color": False}
        print_report(terminal(file=screen, width=100, **options), result)
        # The id of a link is drawn anew by rich.
        yield "terminal", re.sub(r"(?<=\x1b]8;)id=[^;]*", "id=0", screen.getvalue()).replace("\x1b", "\\e")
        yield "JUnit", junit_xml(result).decode()
    yield "HTML", html(document(_run()))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reports = [folder / "one.json", folder / "two.json"]
        for path, result in zip(reports, (_run(), _run("real 2.0", repaired=True)), strict=True):
            write_json(result, path)
        yield "JSON", reports[0].read_text()
        matrix = load_matrix(reports)
        yield "matrix, Markdown", markdown(matrix)
        write_site(matrix, folder)
        yield from (
            (f"site, {path.name}", path.read_text()) for path in sorted(folder.iterdir()) if path not in reports
        )
        driftpages.write_html(DRIFT, folder / "drift.html")
        yield "drift, HTML", (folder / "drift.html").read_text()
    yield "difference", "\n".join(_difference())
    yield "drift, text", driftpages.as_text(DRIFT, every=True)
    yield "drift, JSON", json.dumps(driftpages.as_json(DRIFT), indent=1)
    for made in (HOLDS, BROKEN):
        yield "proof, text", prooftext.as_text(made, matrix=True)
        yield "proof, JSON", json.dumps(prooftext.as_json(made), indent=1)


def _difference() -> Iterator[str]:
    changes = compare(document(_run()), document(_run(repaired=True)))
    for field in dataclasses.fields(changes):
        value = getattr(changes, field.name)
        for item in value if isinstance(value, tuple | list) else [value]:
            yield f"{field.name}: {item}"
