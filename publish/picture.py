"""The picture of a report at the top of the README: one report, with one finding open, in light and dark.

The pictures are screenshots of the page of a published report by a headless Chromium: its head, and the finding on
``CLAUSE`` with its bytes; everything else on the page is hidden. ``picture.json`` has what they say. They are the part
``picture`` of :mod:`publish.refresh`, which takes them anew where the report says something else.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from conformance.engine.selection import all_clauses
from conformance.records import Level
from conformance.report.document import Report
from conformance.report.html import html
from conformance.report.reading import read_report
from publish.generated import ROOT, Files

__all__ = ["PICTURES", "SAYS", "render", "said"]

REPORT: Final = ROOT / "reports" / "bqemulator-1.4.0.json"
CLAUSE: Final = "framing.schema-without-end-of-stream"
PICTURES: Final[Mapping[Path, bool]] = {
    ROOT / "docs" / "report.png": False,
    ROOT / "docs" / "report-dark.png": True,
}
"""The files of the pictures, and whether each is dark."""
SAYS: Final = Path(__file__).with_name("picture.json")
"""What the pictures say, and the digest of each."""
WIDTH: Final = 960
"""In pixels: a finding at the reading size of the README."""
MARGIN: Final = 20
"""Pixels below the last element, which is whole."""
DEADLINE: Final = 120
"""Seconds for each command that makes a picture smaller; they need about two."""
SMALLER: Final = (
    ("pngquant", "--force", "--nofs", "--speed=1", "--skip-if-larger", "--output", "{0}", "10", "--", "{0}"),
    ("zopflipng", "-y", "{0}", "{0}"),
)
"""The commands, where they are installed: 10 colours, each as it is and not mixed from dots."""

_SHOW: Final = """((clause) => {
  const card = document.getElementById(`clause--${clause}`).closest("details");
  const cause = card.closest(".cause"), section = cause.closest("section");
  card.open = true;
  const kept = new Set([document.querySelector("h1"), document.querySelector(".verdict"), section]);
  for (const one of document.querySelector("main").children)
    if (!kept.has(one) && !one.matches(".bars")) one.hidden = true;
  for (const one of section.children) if (one !== cause && one.tagName !== "H2") one.hidden = true;
  for (const one of cause.children) if (one !== card && !one.matches("h3, h3 + p")) one.hidden = true;
  document.querySelectorAll(".bars > :nth-child(n+3)").forEach((one) => { one.hidden = true; });
  for (const name of card.querySelectorAll("dl.facts dt"))
    if (!["required", "observed", "source", "breaks"].includes(name.textContent))
      name.hidden = name.nextElementSibling.hidden = true;
  document.querySelector("main").style.padding = "1.2rem 1.25rem";
  return Math.ceil(card.getBoundingClientRect().bottom + scrollY);
})"""


def render() -> Files:
    """The pictures and what they say: those that are there, if they say what the report does; else new ones.

    Exits where pictures are to be taken and no browser is there.
    """
    all_clauses()  # which say what is required
    report = read_report(REPORT)
    there = {path: path.read_bytes() for path in (*PICTURES, SAYS) if path.exists()}
    if len(there) == len(PICTURES) + 1 and there[SAYS].decode() == _written(said(report), there):
        return there
    taken = dict(_taken(report))
    return {**taken, SAYS: _written(said(report), taken)}


def said(report: Report) -> dict[str, Any]:
    """What the pictures say of a report; raises ``ValueError`` where it has no finding with bytes on the clause."""
    for item in (item for cause in report.causes for item in report.parts(cause.own)):
        if item.clauses[0] == CLAUSE and item.evidence is not None:
            return {
                "report": report.run.target,
                "summary": report.summary,
                "must": report.counted()[None, Level.MUST].in_words,
                "causes": len(report.causes),
                "clause": CLAUSE,
                "required": item.required,
                "observed": item.text,
                "cases": len(item.cases),
                "bytes": [f"{line.offset:#06x} {line.hex}" for line in item.evidence.lines if line.marked],
                "replay": item.replay,
            }
    message = f"expected a report with a finding on {CLAUSE}, which that on {report.run.target} does not have"
    raise ValueError(message)


def _written(says: Mapping[str, Any], pictures: Mapping[Path, bytes]) -> str:
    digests = {path.name: hashlib.sha256(pictures[path]).hexdigest() for path in PICTURES}
    return json.dumps({**says, "sha256": digests}, indent=1, ensure_ascii=False) + "\n"


def _taken(report: Report) -> Iterator[tuple[Path, bytes]]:
    """Each picture, taken now."""
    from tests.report.browser import CHROMIUM, Browser  # noqa: PLC0415  # only where a picture is taken

    if CHROMIUM is None:
        sys.exit(f"the pictures in docs/ do not say what {REPORT.name} says: expected Chromium, to take them anew")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, Browser(Path(folder) / "user") as browser:
        page, file = Path(folder) / "report.html", Path(folder) / "picture.png"
        page.write_text(html(report), encoding="utf-8")
        for path, dark in PICTURES.items():
            browser.open(page, width=WIDTH, dark=dark)
            height = browser.evaluate(f"{_SHOW}({json.dumps(CLAUSE)})") + MARGIN
            clip = {"x": 0, "y": 0, "width": WIDTH, "height": height, "scale": 1}
            shot = browser.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
            file.write_bytes(base64.b64decode(shot["data"]))
            for program, *arguments in SMALLER:
                if (found := shutil.which(program)) is not None:
                    command = [found, *(argument.format(file) for argument in arguments)]
                    # A third of the bytes, which every clone and package has; the picture is our own.
                    subprocess.run(command, check=True, timeout=DEADLINE, stdout=subprocess.DEVNULL)  # noqa: S603
            yield path, file.read_bytes()
