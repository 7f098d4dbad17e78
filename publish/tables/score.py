"""``python -m publish.tables.score PROOF.json``: make ``docs/score.json`` from the output of ``prove --json``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

__all__ = ["condensed", "main"]

FILE: Final = Path(__file__).resolve().parents[2] / "docs" / "score.json"


def condensed(proof: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of a full proof that the README quotes."""
    mutants = proof["mutants"].values()
    return {
        "holds": proof["holds"],
        "mutants": len(mutants),
        "killed": sum(not each["survived"] for each in mutants),
        "over_broad": sum(bool(each["surplus"]) for each in mutants),
        "unproven": len(proof["unproven"]),
        "changes": proof["changes"],
        "survivors": len(proof["survivors"]),
        "variations": proof["variations"],
        "alarms": len(proof["alarms"]),
        "liars": {name: len(clauses) for name, clauses in proof["liars"].items()},
    }


def main(file: str) -> None:
    """Write the score of the proof in ``file``."""
    proof = json.loads(Path(file).read_text(encoding="utf-8"))
    FILE.write_text(json.dumps(condensed(proof), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
