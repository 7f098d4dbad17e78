"""Write ``cases/cases.index.json``: the cases of every case file as JSON, so that commands need not parse the files.

    python -m publish.caseindex [--check]

With ``--check``, nothing is written, and the status is 1 if the file differs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from conformance.generate.casefile import case_files, parse_file
from conformance.generate.caseindex import INDEX_FILE, render

ROOT: Final = Path(__file__).resolve().parents[1]
INDEX: Final = ROOT / "cases" / INDEX_FILE


def text() -> str:
    """The contents of the file, as they should be."""
    return render({path: parse_file(path) for path in case_files(ROOT / "cases")})


if __name__ == "__main__":
    made = text()
    if "--check" not in sys.argv[1:]:
        INDEX.write_text(made, encoding="utf-8")
    elif not INDEX.exists() or INDEX.read_text(encoding="utf-8") != made:
        sys.exit(f"{INDEX} is out of date: python -m publish.caseindex writes it")
