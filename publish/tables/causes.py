"""The causes in ``docs/disclosure/README.md``: why a client loses rows, repeats or changes them, ends or does not end.

``docs/disclosure/causes.toml`` is written by hand; the number of cells of each cause is counted in the matrix.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from conformance._globs import matches
from publish.tables import consequences
from publish.tables.blocks import filled

__all__ = ["CAUSES", "NAME", "causes_of", "harm", "text"]

NAME: Final = "disclosure/README.md"
FILE: Final = Path(__file__).resolve().parents[2] / "docs" / NAME
CAUSES: Final[list[dict[str, Any]]] = tomllib.loads(FILE.with_name("causes.toml").read_text(encoding="utf-8"))["cause"]

_HARM: Final = frozenset({"silent loss", "silent duplicates", "wrong values", "crash", "hang", "memory"})


def text() -> str:
    """The page with its table of causes."""
    return filled(FILE, {"causes": _causes})


def harm() -> Iterator[tuple[str, str, str]]:
    """Each harm in the matrix: the situation, the path, and the class."""
    for row in consequences.load()["situations"]:
        for path, cell in row["cells"].items():
            for found in sorted(_HARM.intersection(consequences.classes_of(cell))):
                yield row["id"], path, found


def causes_of(situation: str, path: str, found: str) -> list[str]:
    """The ids of the causes of a harm."""
    return [
        cause["id"]
        for cause in CAUSES
        if cause["class"] == found and matches(path, cause["paths"]) and matches(situation, cause["situations"])
    ]


def _causes() -> Iterator[str]:
    counts: dict[str, int] = {}
    for each in harm():
        for cause in causes_of(*each):
            counts[cause] = counts.get(cause, 0) + 1
    yield "| whose | class | cells | what happens | shown by | where |\n|---|---|---|---|---|---|\n"
    for cause in CAUSES:
        shown = "<br>".join(f"`{one['fault']}`: {one['client']}" for one in cause["shown"])
        cells = counts.get(cause["id"], 0)
        yield f"| {cause['of']} | {cause['class']} | {cells or '-'} | {cause['text']} | {shown} | {_where(cause)} |\n"


def _where(cause: Mapping[str, Any]) -> str:
    report, public = cause.get("report", ""), cause.get("public", "")
    return ", ".join([f"[{report}]({report})"] * bool(report) + [f"<{public}>"] * bool(public))
