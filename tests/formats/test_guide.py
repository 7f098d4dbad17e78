"""The guide on data formats names what is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_guide_names_files_that_are_there() -> None:
    """A part of a format that moves takes its row in the table along."""
    text = (ROOT / "docs/dev/formats.md").read_text(encoding="utf-8")

    named = set(re.findall(r"`((?:conformance|cases)/[\w/.-]+)`", text))

    assert len(named) >= 10
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
