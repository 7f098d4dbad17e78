"""``python -m publish.costs FILE``: record what the tests cost, from the output of ``pytest --costs FILE``.

It writes ``tests/costs.json``, a line for each module of tests, and the table of ``docs/dev/testing.md``, and prints
that table. FILE has to be of a full run of the quick set: a module that is not in it has no record afterwards.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from publish.tables import testing

__all__ = ["by_module", "main", "written"]

KEYS: Final = ("seconds", "processor", "items", "processes")


def by_module(lines: Iterable[str]) -> Mapping[str, Mapping[str, float]]:
    """The sums of each module; a line that is no test counts as seconds of its name and as no item."""
    sums: defaultdict[str, dict[str, float]] = defaultdict(lambda: dict.fromkeys(KEYS, 0))
    for line in lines:
        row = json.loads(line)
        module, of_a_test, _ = row["test"].partition("::")
        of_module = sums[module]
        of_module["seconds"] += row["seconds"]
        of_module["processor"] += row["own"] + row["children"]
        of_module["items"] += bool(of_a_test)
        of_module["processes"] += row["processes"]
    return {
        module: {key: round(value, 1) if key in ("seconds", "processor") else int(value) for key, value in row.items()}
        for module, row in sorted(sums.items())
    }


def written(record: Mapping[str, Mapping[str, float]]) -> str:
    """The record as JSON with a line for each module."""
    lines = ",\n".join(f"{json.dumps(module)}: {json.dumps(row)}" for module, row in record.items())
    return f"{{\n{lines}\n}}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m publish.costs", description=__doc__)
    parser.add_argument("file", type=Path, metavar="FILE", help="the lines of `pytest --costs FILE`")
    with parser.parse_args(arguments).file.open(encoding="utf-8") as lines:
        testing.RECORD.write_text(written(by_module(lines)), encoding="utf-8")
    testing.FILE.write_text(testing.text(), encoding="utf-8")
    print("".join(testing.costs()), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
