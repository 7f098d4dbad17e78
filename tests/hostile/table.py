"""``docs/hostile.md``: every attack, what became of it, and what it cost the suite."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from tests.hostile.measure import GONE_AFTER_KILL_SECONDS, GONE_SECONDS, GRACE_SECONDS, PEAK_BYTES, Measured

__all__ = ["FILE", "text"]

FILE: Final = Path(__file__).resolve().parents[2] / "docs" / "hostile.md"

_HEAD: Final = """\
# The hostile set

Whatever a target, a reader, a file or the machine does costs its case, and never a verdict, a report, a log or the
machine. Each row below is an attack on that sentence: a small fixture in `tests/hostile/`, met by the command that a
user would type.

```sh
tox -e hostile
```

carries out all of them and writes this table; `python -m tests.hostile 'rest.*' life.fork-bomb` carries out some.

*Outcome* is what the attacked case came to, or the command's exit status where there is no case. *Beyond* is how many
seconds the command took beyond the deadline of its attack; the bar is {grace:g}. *Peak* is what the suite's own process
held at most, beyond what a case's own data explains; the bar is {peak} MiB. *Orphans* are processes that were there
{gone:g} s after the end ({killed:g} s where the suite was killed); the bar is none. *Valid* says that no traceback and
no control character was printed, and that log, JSON, JUnit and HTML are well-formed.

Measured with Python {python} on {machine}, {cores} cores.
"""


def text(measured: Iterable[Measured], skipped: Sequence[str] = ()) -> str:
    """The document; ``skipped`` are attacks that could not be carried out here."""
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
        f"\n**{good} of {len(rows)} attacks** come to the right end within every bar.\n",
    ]
    kinds = dict.fromkeys(one.attack.kind for one in rows)
    for kind in kinds:
        parts.append(f"\n## {kind}\n\n| attack | does | outcome | beyond | peak | orphans | valid | |")
        parts.append("|---|---|---|---:|---:|---:|---|---|")
        parts += [_row(one) for one in rows if one.attack.kind == kind]
    missed = [one for one in rows if one.faults]
    if missed:
        parts.append("\n## What is missed\n")
        parts += [f"* `{one.attack.id}`: {_cell('; '.join(one.faults))}" for one in missed]
    if skipped:
        names = ", ".join(f"`{name}`" for name in skipped)
        parts.append(f"\nNot carried out here, for Spark is not installed: {names}.")
    return "\n".join(parts) + "\n"


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
