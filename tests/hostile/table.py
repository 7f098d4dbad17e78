"""``docs/hostile.md``: every attack with its outcome and its cost."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.hostile.attack import Attack, attacks
from tests.hostile.measure import GONE_AFTER_KILL_SECONDS, GONE_SECONDS, GRACE_SECONDS, PEAK_BYTES, Measured

__all__ = ["FILE", "described", "render", "text"]

FILE: Final = Path(__file__).resolve().parents[2] / "docs" / "hostile.md"

_HEAD: Final = """\
# Attacks on the suite

Targets, readers, files and the machine may do anything. Each attack costs at most its own case. It never costs a
verdict, a report, a log or the machine. Each row below is an attack: a small fixture in `tests/hostile/`, run with
the command that a user would type.

```sh
tox -e hostile
```

runs all attacks and writes this table; `python -m tests.hostile 'rest.*' life.fork-bomb` runs some of them.

*Outcome* is the outcome of the attacked case, or the exit status of the command if there is no case. *Beyond* is the
time that the command took after the deadline of its attack; the limit is {grace:g} s. *Peak* is the most memory that
the suite's own process used, without the memory that the data of the case explains; the limit is {peak} MiB.
*Orphans* are processes that were still there {gone:g} s after the end ({killed:g} s if the suite was killed); the
limit is none. *Valid* means that no traceback and no control character was printed, and that log, JSON, JUnit and
HTML are well-formed.

Measured with Python {python} on {machine}, {cores} cores.
"""


def text(measured: Iterable[Measured], skipped: Sequence[str] = ()) -> str:
    """The document; ``skipped`` are attacks that could not run here."""
    rows = list(measured)
    good = sum(not one.faults for one in rows)
    parts = [
        _HEAD.format(
            grace=GRACE_SECONDS,
            peak=PEAK_BYTES >> 20,
            gone=GONE_SECONDS,
            killed=GONE_AFTER_KILL_SECONDS,
            python=platform.python_version(),
            machine=f"{platform.system()} {platform.machine()}",
            cores=os.cpu_count(),
        ),
        f"\n**{good} of {len(rows)} attacks** have the expected outcome, within every limit.\n",
    ]
    kinds = dict.fromkeys(one.attack.kind for one in rows)
    for kind in kinds:
        parts.append(f"\n## {kind}\n\n| attack | does | outcome | beyond | peak | orphans | valid | |")
        parts.append("|---|---|---|---:|---:|---:|---|---|")
        parts += [_row(one) for one in rows if one.attack.kind == kind]
    missed = [one for one in rows if one.faults]
    if missed:
        parts.append("\n## Attacks that missed a limit\n")
        parts += [f"* `{one.attack.id}`: {_cell('; '.join(one.faults))}" for one in missed]
    if skipped:
        names = ", ".join(f"`{name}`" for name in skipped)
        parts.append(f"\nNot run here, because Spark is not installed: {names}.")
    return "\n".join(parts) + "\n"


def render() -> dict[Path, str]:
    """The file with the present descriptions."""
    return {FILE: described(FILE.read_text(encoding="utf-8"), attacks())}


def described(document: str, attacks: Mapping[str, Attack]) -> str:
    """The document with the present descriptions of the attacks, and with the figures that it has."""
    rows = re.compile(r"^\| `(?P<id>[^`]+)` \| .*?(?<!\\) \|", re.MULTILINE)
    return rows.sub(lambda row: f"| `{row['id']}` | {_cell(attacks[row['id']].does)} |", document)


def _row(one: Measured) -> str:
    peak = max(0, one.peak - one.attack.own) >> 20
    valid = "no" if one.invalid else "yes"
    state = "**missed**" if one.faults else ""
    cells = (f"`{one.attack.id}`", _cell(one.attack.does), one.outcome, f"{one.beyond:.1f} s", f"{peak} MiB")
    return f"| {' | '.join(cells)} | {len(one.orphans)} | {valid} | {state} |"


def _cell(words: str) -> str:
    """Text as a cell of a table: on one line, printable, and not too long."""
    line = " ".join(words.split()).replace("|", "\\|")
    printable = "".join(character if character.isprintable() else "·" for character in line)
    return printable if len(printable) <= 300 else printable[:299] + "…"
