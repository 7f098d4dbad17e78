"""The pictures of the README say what the report says; this needs no browser."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

from conformance.report.document import Report
from conformance.report.reading import read_report
from publish import picture
from publish.generated import ROOT


def without_browser(report: Report) -> dict[Path, bytes]:
    """In place of pictures that are taken."""
    raise AssertionError(report.run.target)


def test_pictures_that_say_what_the_report_says_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their bytes depend on the browser and its fonts."""
    monkeypatch.setattr("publish.picture._taken", without_browser)

    assert {path: path.read_bytes() for path in (*picture.PICTURES, picture.SAYS)} == picture.render()


def test_pictures_of_other_numbers_are_taken_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report that was made anew has other seconds at least."""
    other = dataclasses.replace(read_report(picture.REPORT), summary="FAILED: 47 causes")
    monkeypatch.setattr("publish.picture.read_report", lambda _: other)
    monkeypatch.setattr("publish.picture._taken", lambda _: [(path, b"new") for path in picture.PICTURES])

    made = picture.render()

    assert [made[path] for path in picture.PICTURES] == [b"new", b"new"]
    assert json.loads(made[picture.SAYS])["summary"] == "FAILED: 47 causes"


def test_a_report_without_the_finding_has_no_picture() -> None:
    """The page would show nothing."""
    with pytest.raises(ValueError, match=r"expected a report with a finding on framing\.schema-without"):
        picture.said(read_report(ROOT / "reports" / "reference.json"))


def test_the_readme_shows_both_pictures() -> None:
    """The dark one where the reader's screen is dark."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert all(f'"docs/{path.name}"' in readme for path in picture.PICTURES)
    assert re.search(r'<img src="docs/report\.png" alt="[^"]{40,}">', readme)
    assert all(path.read_bytes().startswith(b"\x89PNG\r\n") for path in picture.PICTURES)
    assert max(path.stat().st_size for path in picture.PICTURES) < 50_000
