"""The files that are made from the suite itself: one row for each part, in the order in which parts are made.

A part is made by a function ``render`` without side effects, which gives the path and the content of every file. The
command :mod:`publish.refresh` writes or compares them, and one test compares each part.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pyarrow as pa

__all__ = ["PARTS", "PYARROW", "ROOT", "Files", "Part"]

ROOT: Final = Path(__file__).resolve().parents[1]
PYARROW: Final = "26.0.1"
"""The version whose words and bytes some snapshots hold; others write and compress otherwise."""

Files = Mapping[Path, bytes | str]
"""What is to be in each file; text is UTF-8."""


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """Files that are made together.

    A file that matches one of the globs ``owns`` (below ``root``) and is not made any more is removed. The files are
    made from those of the parts ``after`` too. Parts ``of_pyarrow`` are left as they are under another pyarrow.
    """

    name: str
    render: Callable[[], Files]
    owns: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    of_pyarrow: bool = False
    root: Path = ROOT

    @property
    def left_out(self) -> str:
        """Why the part cannot be made here; empty if it can."""
        wrong = self.of_pyarrow and pa.__version__ != PYARROW
        return f"its files hold words and bytes of pyarrow {PYARROW}, and this is {pa.__version__}" if wrong else ""


def _by(module: str, *arguments: str) -> Callable[[], Files]:
    """The function ``render`` of a module, which is imported when the part is made: one part does not need all code."""

    def render() -> Files:
        files: Files = importlib.import_module(module).render(*arguments)
        return files

    return render


PARTS: Final = (
    Part("reports", _by("publish.reports")),
    Part("schemas", _by("publish.schemas")),
    Part("cases", _by("publish.caseindex")),
    Part("pairs", _by("publish.golden", "pairs"), owns=("golden/bq-arrow/*",)),
    Part("vectors", _by("publish.golden", "vectors"), owns=("golden/ipc/vectors/*",)),
    Part("frozen", _by("publish.golden", "frozen")),
    Part("shown", _by("publish.shown"), after=("reports",)),
    Part("tables", _by("publish.tables.pages"), after=("reports", "vectors")),
    Part("picture", _by("publish.picture")),
    Part("faults", _by("tests.faults.page")),
    Part("attacks", _by("tests.hostile.table")),
    Part("wire", _by("tests.wire.snapshots"), of_pyarrow=True),
    Part("report", _by("tests.report.snapshots")),
    Part("findings", _by("tests.contract.snapshots", "calls", "tables", "messages", "register"), of_pyarrow=True),
    Part("flight", _by("tests.contract.snapshots", "flight"), of_pyarrow=True),
    Part("servers", _by("tests.engine.servers")),
)
"""``servers`` are the clauses that each faulty server passes, ``flight`` the findings on mutants of Flight."""
