"""What the site shows: the reports by board, and the implementations with their reports."""

from __future__ import annotations

import dataclasses
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from conformance.engine.selection import all_clauses
from conformance.report.matrixtable import Entry, Implementation, Matrix, load_matrix
from publish.emulators import FLIGHT, SERIALIZERS, SERVERS, WRITES
from publish.generated import ROOT

__all__ = ["BOARDS", "Board", "Product", "Published", "Result"]


@dataclasses.dataclass(frozen=True, slots=True)
class Board:
    """A page that compares implementations of one kind.

    ``slug`` is its folder in the site, ``folder`` that of its reports, and ``names`` are their files, in the order of
    the columns; without names all files of the folder are shown.
    """

    slug: str
    title: str
    folder: str = ""
    names: tuple[str, ...] = ()

    def files(self, reports: Path) -> list[Path]:
        """The JSON reports that exist."""
        folder = reports / self.folder
        named = [folder / f"{name}.json" for name in self.names] or sorted(folder.glob("*.json"))
        return [path for path in named if path.exists()]


BOARDS: Final = (
    Board("servers", "Storage Read servers", names=("reference", *SERVERS)),
    Board("storage-write", "Storage Write servers", "storage-write", WRITES),
    Board("flight", "Arrow Flight servers", "flight", FLIGHT),
    Board("readers", "Readers of Arrow IPC", "readers"),
    Board("writers", "Writers of Arrow IPC", "writers"),
    Board("serializers", "Serializers of Arrow messages", names=SERIALIZERS),
)
"""Every board of reports. Serializers are the control group of the servers: libraries without a server around them."""


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    """A report on one version of a product, in one role."""

    board: Board
    item: Implementation

    @property
    def page(self) -> str:
        """The page of the report."""
        return f"{self.board.slug}/{self.item.slug}.html"

    @property
    def product(self) -> str:
        """The name that the product has on every board: that of the report, without the role and the version."""
        version = self.item.title[1]
        name = self.item.slug.removeprefix("flight-").removeprefix("write-").removesuffix("-validated")
        return name.removesuffix(f"-{version}") if version else name


@dataclasses.dataclass(frozen=True, slots=True)
class Product:
    """A product, with its reports in every role and version."""

    name: str
    results: tuple[Result, ...]

    @property
    def page(self) -> str:
        """Its page."""
        return f"implementations/{self.name}.html"


class Published:
    """The published files below ``root``."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        all_clauses()

    @property
    def reports(self) -> Path:
        """The folder of the JSON files."""
        return self.root / "reports"

    @cached_property
    def matrices(self) -> Mapping[Board, Matrix]:
        """The reports of each board that has any."""
        files = {board: board.files(self.reports) for board in BOARDS}
        return {board: load_matrix(found) for board, found in files.items() if found}

    @cached_property
    def results(self) -> Sequence[Result]:
        """Every report, board by board."""
        return [Result(board, item) for board, matrix in self.matrices.items() for item in matrix.implementations]

    @cached_property
    def products(self) -> Mapping[str, Product]:
        """The products by name."""
        found: dict[str, list[Result]] = {}
        for result in self.results:
            found.setdefault(result.product, []).append(result)
        return {name: Product(name, tuple(results)) for name, results in found.items()}

    @cached_property
    def entries(self) -> Mapping[str, Sequence[tuple[Board, Entry]]]:
        """The cells of every board, by clause."""
        found: dict[str, list[tuple[Board, Entry]]] = {}
        for board, matrix in self.matrices.items():
            for row in matrix.rows:
                found.setdefault(row.clause, []).extend((board, entry) for entry in row.entries)
        return found

    def loaded(self, name: str) -> Mapping[str, Any]:
        """A JSON file of the folder of reports."""
        read: Mapping[str, Any] = json.loads((self.reports / name).read_text(encoding="utf-8"))
        return read

    def target(self, result: Result) -> tuple[str, Mapping[str, Any]]:
        """The text and the content of the target file that a report names; empty for an implementation without one."""
        named = result.item.report.run.target_file
        path = self.root / named
        if not named.endswith(".toml") or not path.is_relative_to(self.root / "targets") or not path.exists():
            return "", {}
        text = path.read_text(encoding="utf-8")
        return text, tomllib.loads(text)

    def runs_of(self, *slugs: str) -> str:
        """The days and the suites of the runs of these boards, or of all, in a sentence."""
        reports = [result.item.report for result in self.results if not slugs or result.board.slug in slugs]
        if not reports:
            return ""
        days = sorted(run[:10] for run in (one.run.provenance.began for one in reports) if run)
        suites = sorted({one.run.suite for one in reports}, key=lambda suite: [*map(int, re.findall(r"\d+", suite))])
        when = f"of {days[0]}" + (f" to {days[-1]}" if days[-1] != days[0] else "") if days else "of unknown days"
        if len(suites) == 1:
            return f"Runs {when}, suite {suites[0]}."
        return (
            f"Runs {when}, suites {', '.join(suites[:-1])} and {suites[-1]}: each report names its own. Suites judge"
            " different numbers of clauses and cases, so that totals are not to be compared across them."
        )
