"""``python -m publish.tables``: write the tables; with ``--check``, exit with status 1 if one is out of date."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from publish.tables import (
    causes,
    clauses,
    combinations,
    consequences,
    defects,
    flightconsequences,
    gaps,
    losses,
    probes,
    readme,
    surface,
    testing,
    untrusted,
)

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
TABLES: Final = (
    causes,
    clauses,
    combinations,
    consequences,
    defects,
    flightconsequences,
    gaps,
    losses,
    probes,
    readme,
    surface,
    testing,
    untrusted,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m publish.tables", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with status 1 if a table differs")
    check = parser.parse_args(arguments).check
    stale = []
    for table in TABLES:
        file, text = DOCS / table.NAME, table.text()
        if file.exists() and file.read_text(encoding="utf-8") == text:
            continue
        stale.append(table.NAME)
        if not check:
            file.write_text(text, encoding="utf-8")
    for name in stale:
        shown = (DOCS / name).resolve().relative_to(DOCS.parent)
        sys.stdout.write(f"{shown} {'is out of date: python -m publish.tables writes it' if check else 'written'}\n")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
