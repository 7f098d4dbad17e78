"""The published reports without indentation, which is a twentieth of their size in the source distribution."""

from __future__ import annotations

from typing import Final

from publish.generated import ROOT, Files

__all__ = ["render"]

REPORTS: Final = ROOT / "reports"


def render() -> Files:
    """Each JSON file below ``reports/`` with the lines that it has; a text in JSON has no line break of its own."""
    return {path: _flat(path.read_text(encoding="utf-8")) for path in REPORTS.rglob("*.json")}


def _flat(text: str) -> str:
    return "\n".join(line.lstrip(" ") for line in text.split("\n"))
