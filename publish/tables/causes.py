"""The causes in ``docs/disclosure/README.md``: why a client loses rows, repeats or changes them, ends or does not end.

Each matrix has a file of causes in ``docs/disclosure``, which is written by hand; the number of cells of each cause is
counted in the matrix.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from conformance._globs import matches
from publish.tables import consequences, flightconsequences
from publish.tables.blocks import filled

__all__ = ["FILE", "MATRICES", "NAME", "Matrix", "text"]

NAME: Final = "disclosure/README.md"
FILE: Final = Path(__file__).resolve().parents[2] / "docs" / NAME

_HARM: Final = frozenset({"silent loss", "silent duplicates", "wrong values", "crash", "hang", "memory"})


@dataclasses.dataclass(frozen=True)
class Matrix:
    """A consequence matrix and its causes.

    ``file`` names the causes in ``docs/disclosure``, ``report`` is the matrix, and ``programs`` the folder below
    ``docs/examples`` with the faulty server and the clients that show them.
    """

    file: str
    report: Path
    programs: str

    @functools.cached_property
    def causes(self) -> Sequence[Mapping[str, Any]]:
        """The causes in their order."""
        found: list[dict[str, Any]] = tomllib.loads(FILE.with_name(self.file).read_text(encoding="utf-8"))["cause"]
        return found

    def harm(self) -> Iterator[tuple[str, str, str]]:
        """Each harm in the matrix: the situation, the path, and the class."""
        for row in json.loads(self.report.read_text(encoding="utf-8"))["situations"]:
            for path, cell in row["cells"].items():
                for found in sorted(_HARM.intersection(consequences.classes_of(cell))):
                    yield row["id"], path, found

    def causes_of(self, situation: str, path: str, found: str) -> list[str]:
        """The ids of the causes of a harm."""
        return [
            cause["id"]
            for cause in self.causes
            if cause["class"] == found and matches(path, cause["paths"]) and matches(situation, cause["situations"])
        ]

    def table(self) -> Iterator[str]:
        """The lines of the table."""
        counts: dict[str, int] = {}
        for each in self.harm():
            for cause in self.causes_of(*each):
                counts[cause] = counts.get(cause, 0) + 1
        yield "| whose | class | cells | what happens | shown by | where |\n|---|---|---|---|---|---|\n"
        for one in self.causes:
            shown = "<br>".join(f"`{each['fault']}`: {each['client']}" for each in one["shown"])
            cells = counts.get(one["id"], 0)
            yield f"| {one['of']} | {one['class']} | {cells or '-'} | {one['text']} | {shown} | {_where(one)} |\n"


MATRICES: Final = {
    "causes": Matrix("causes.toml", consequences.REPORT, "faulty"),
    "flight_causes": Matrix("flight-causes.toml", flightconsequences.REPORT, "faulty/flight"),
}
"""Each matrix by the name of its table."""


def text() -> str:
    """The page with its tables of causes."""
    return filled(FILE, {name: matrix.table for name, matrix in MATRICES.items()})


def _where(cause: Mapping[str, Any]) -> str:
    report, public = cause.get("report", ""), cause.get("public", "")
    return ", ".join([f"[{report}]({report})"] * bool(report) + [f"<{public}>"] * bool(public))
