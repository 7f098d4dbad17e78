"""``docs/dev/hostile.md``: every attack with its outcome and its cost."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.hostile.attack import Attack, attacks
from tests.hostile.measure import GONE_AFTER_KILL_SECONDS, GONE_SECONDS, GRACE_SECONDS, PEAK_BYTES, Measured

__all__ = ["FILE", "described", "render", "renewed", "row_of", "text"]

FILE: Final = Path(__file__).resolve().parents[2] / "docs" / "dev" / "hostile.md"

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


_COLUMNS: Final = (
    "| attack | does | outcome | beyond | peak | orphans | valid | |",
    "|---|---|---|---:|---:|---:|---|---|",
)
_ALONE: Final = "alone"


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
        parts += [f"\n## {kind}\n", *_COLUMNS]
        parts += [row_of(one) for one in rows if one.attack.kind == kind]
    missed = [one for one in rows if one.faults]
    if missed:
        parts.append("\n## Attacks that missed a limit\n")
        parts += [f"* `{one.attack.id}`: {_cell('; '.join(one.faults))}" for one in missed]
    if skipped:
        names = ", ".join(f"`{name}`" for name in skipped)
        parts.append(f"\nNot run here, because Spark is not installed: {names}.")
    return "\n".join(parts) + "\n"


def renewed(document: str, measured: Iterable[Measured]) -> str:
    """The document with the rows of attacks that were measured again, or for the first time, without the others."""
    lines = document.splitlines()
    for one in measured:
        row, heading = row_of(one, alone=True), f"## {one.attack.kind}"
        place = next((place for place, line in enumerate(lines) if line.startswith(f"| `{one.attack.id}` |")), None)
        if place is not None:
            lines[place] = row
            continue
        if heading not in lines:
            lines += ["", heading, "", *_COLUMNS]
        last = max(place for place, line in enumerate(_section(lines, heading)) if line.startswith("|"))
        lines.insert(lines.index(heading) + last + 1, row)
    rows = [line for line in lines if line.startswith("| `")]
    alone = sum(line.endswith(f" {_ALONE} |") for line in rows)
    good = sum("**missed**" not in line for line in rows)
    told = f"**{good} of {len(rows)} attacks** have the expected outcome, within every limit."
    place = next(place for place, line in enumerate(lines) if re.match(r"\*\*\d+ of \d+ attacks\*\*", line))
    lines[place : lines.index("", place)] = [
        f"{told} Measured *{_ALONE}*, when they",
        f"were added or changed: {alone}; all others in one run.",
    ]
    return "\n".join(lines) + "\n"


def _section(lines: Sequence[str], heading: str) -> list[str]:
    """The lines from a heading to the next one."""
    begin = lines.index(heading)
    end = next((place for place in range(begin + 1, len(lines)) if lines[place].startswith("## ")), len(lines))
    return list(lines[begin:end])


def render() -> dict[Path, str]:
    """The file with the present descriptions."""
    return {FILE: described(FILE.read_text(encoding="utf-8"), attacks())}


def described(document: str, attacks: Mapping[str, Attack]) -> str:
    """The document with the present descriptions of the attacks, and with the figures that it has."""
    rows = re.compile(r"^\| `(?P<id>[^`]+)` \| .*?(?<!\\) \|", re.MULTILINE)
    return rows.sub(lambda row: f"| `{row['id']}` | {_cell(attacks[row['id']].does)} |", document)


def row_of(one: Measured, *, alone: bool = False) -> str:
    """The row of an attack; ``alone`` says that it was not measured together with all others."""
    peak = max(0, one.peak - one.attack.own) >> 20
    valid = "no" if one.invalid else "yes"
    state = "**missed**" if one.faults else _ALONE if alone else ""
    cells = (f"`{one.attack.id}`", _cell(one.attack.does), one.outcome, f"{one.beyond:.1f} s", f"{peak} MiB")
    return f"| {' | '.join(cells)} | {len(one.orphans)} | {valid} | {state} |"


def _cell(words: str) -> str:
    """Text as a cell of a table: on one line, printable, and not too long."""
    line = " ".join(words.split()).replace("|", "\\|")
    printable = "".join(character if character.isprintable() else "·" for character in line)
    return printable if len(printable) <= 300 else printable[:299] + "…"
