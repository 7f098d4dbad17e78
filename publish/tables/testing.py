"""The tables of ``docs/dev/testing.md``: the environments of tox, and the cost of the quick set by directory."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from publish.environments import ENVIRONMENTS, Part
from publish.tables.blocks import filled

__all__ = ["FILE", "NAME", "RECORD", "costs", "environments", "text"]

NAME: Final = "dev/testing.md"
ROOT: Final = Path(__file__).resolve().parents[2]
FILE: Final = ROOT / "docs" / NAME
RECORD: Final = ROOT / "tests" / "costs.json"
_RUN: Final = {Part.ALWAYS: "always", Part.RELEASE: "if touched", Part.REPORTS: "no"}


def text() -> str:
    """The page with its tables."""
    return filled(FILE, {"environments": environments, "costs": costs})


def environments() -> Iterator[str]:
    """A row for each environment."""
    yield "| command | holds | run it | `.ci/run` | processor minutes |\n|---|---|---|---|---|\n"
    for one in ENVIRONMENTS:
        minutes = "not measured" if one.processor is None else f"{one.processor / 60:.1f}"
        yield f"| `tox {' '.join(one.arguments)}` | {one.holds} | {one.when} | {_RUN[one.part]} | {minutes} |\n"


def costs() -> Iterator[str]:
    """A row for each directory of tests, the most expensive first, and their sum."""
    sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0, 0])
    for module, row in json.loads(RECORD.read_text(encoding="utf-8")).items():
        parts = module.split("/")
        for name in ("/".join(parts[:2]) if len(parts) > 2 else parts[0], "all"):
            for place, key in enumerate(("processor", "items", "processes")):
                sums[name][place] += row[key]
    yield "| directory | processor seconds | items | processes started |\n|---|---|---|---|\n"
    for name, (processor, items, processes) in sorted(sums.items(), key=lambda item: (item[0] == "all", -item[1][0])):
        yield f"| {name} | {processor:.0f} | {items:.0f} | {processes:.0f} |\n"
