"""The picture of a report at the top of the README: one report, with one finding open.

The picture is a screenshot of the page of a published report by a headless Chromium. It shows the head of the report
and the finding on ``CLAUSE``, without its lists of cases; everything else on the page is hidden.

    python -m publish.picture [REPORT.json CLAUSE PICTURE.png]
"""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Final

from conformance.engine.selection import all_clauses
from conformance.records import Level
from conformance.report.html import html
from conformance.report.reading import read_report

ROOT: Final = Path(__file__).resolve().parents[1]
PICTURED: Final = (
    str(ROOT / "reports" / "bqemulator-1.4.0.json"),
    "framing.schema-without-end-of-stream",
    str(ROOT / "docs" / "report.png"),
)
"""The report, the clause and the file of the picture that the README shows."""

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")
SIZE: Final = (1080, 744)
"""Width and height in pixels: the finding at the reading size of the README, and no more."""
DEADLINE: Final = 60
"""Seconds for the browser, which needs about two."""
COLOURS: Final = "12"
"""The colours that are kept, each as it is and not mixed from dots: the source distribution stays below its bound."""

_END: Final = 12
"""Bytes of the last chunk of a PNG image."""

_HIDDEN: Final = """
<style>
main { padding-bottom: 0; }
main > .wide, main > table, .controls, main > h2, main > p:not(.verdict), footer, .head, section:not(.failed),
.cause h3 + p, .tiles,
summary .text, .bars dt:nth-of-type(n+2), .bars dd:nth-of-type(n+2),
.body .facts dt:nth-of-type(4), .body .facts dd:nth-of-type(4),
.body .facts dt:nth-of-type(6), .body .facts dd:nth-of-type(6),
.facts dt:nth-of-type(n+8), .facts dd:nth-of-type(n+8), details:not([open]) { display: none; }
</style>
</head>"""


def opened(page: str, clause: str) -> str:
    """The page of a report with the finding on ``clause`` open and other parts hidden.

    Raises ``ValueError`` where the report has no such finding.
    """
    before, found, after = page.partition(f'<dt id="clause--{clause}">')
    if not found:
        message = f"expected a report with a finding on {clause}, which this one does not have"
        raise ValueError(message)
    start, details, summary = before.rpartition("<details")
    return f"{start.replace('</head>', _HIDDEN, 1)}{details} open{summary}{found}{after}"


def numbers(report: Path) -> str:
    """What the picture of a report has in its head: the MUST clauses that pass, fail and were not judged."""
    all_clauses()
    return read_report(report).counted()[None, Level.MUST].in_words


def noted(image: bytes, note: str) -> bytes:
    """A PNG image with a comment before its end, by which a test knows the numbers that the picture shows."""
    body = b"iTXtComment\0\0\0\0\0" + note.encode()
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    return image[:-_END] + chunk + image[-_END:]


def main(report: str, clause: str, picture: str) -> None:
    """Write the picture; raises ``SystemExit`` where there is no browser."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"expected a browser to take the picture with: one of {', '.join(BROWSERS)}")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        all_clauses()
        page.write_text(opened(html(read_report(Path(report))), clause), encoding="utf-8")
        options = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/user")
        size = f"--window-size={SIZE[0]},{SIZE[1]}"
        command = [browser, *options, size, f"--screenshot={Path(picture).resolve()}", page.as_uri()]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL, timeout=DEADLINE)  # noqa: S603  # our own page
    if (smaller := shutil.which("pngquant")) is not None:  # a third of the bytes, which every clone and package has
        made = [smaller, "--force", "--nofs", "--skip-if-larger", "--output", picture, COLOURS, "--", picture]
        subprocess.run(made, check=True, timeout=DEADLINE)  # noqa: S603  # our own picture
    Path(picture).write_bytes(noted(Path(picture).read_bytes(), numbers(Path(report))))


if __name__ == "__main__":
    main(*(sys.argv[1:] or PICTURED))
