"""``python -m tests.hostile [GLOB…]``: attack the suite, print a line for each, write ``docs/dev/hostile.md``."""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.hostile import table
from tests.hostile.attack import attacks
from tests.hostile.measure import Measured, heed_interrupts, measure


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status: 1 where an attack missed a bar, 2 where no attack is named so."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument(
        "globs", metavar="GLOB", nargs="*", help="attacks whose id matches; all, and the table, without"
    )
    parser.add_argument("--keep", metavar="DIR", type=Path, help="run below DIR, and leave everything there")
    parser.add_argument(
        "--jobs", metavar="N", type=int, default=1, help="attacks at a time; more than one disturbs what is measured"
    )
    parser.add_argument("--write", action="store_true", help="put the rows of these attacks into the table")
    asked = parser.parse_args(arguments)
    chosen = attacks(asked.globs)
    if not chosen:
        sys.stderr.write(f"expected globs that match attacks, got {' '.join(asked.globs)}\n")
        return 2
    heed_interrupts()
    spark = importlib.util.find_spec("pyspark") is not None and shutil.which("java") is not None
    done: list[Measured] = []
    tried = [attack for attack in chosen.values() if not attack.slow or spark]
    with ThreadPoolExecutor(asked.jobs) as threads:
        for (one,) in threads.map(lambda attack: measure([attack], keep=asked.keep), tried):
            done.append(one)
            sys.stdout.write(_line(one))
            sys.stdout.flush()
    good = sum(not one.faults for one in done)
    sys.stdout.write(f"{good} of {len(done)} attacks have the expected outcome, within every limit\n")
    if not asked.globs:
        skipped = [name for name, attack in chosen.items() if attack.slow and not spark]
        table.FILE.write_text(table.text(done, skipped), encoding="utf-8")
    elif asked.write:
        table.FILE.write_text(table.renewed(table.FILE.read_text(encoding="utf-8"), done), encoding="utf-8")
    return int(good < len(done))


def _line(one: Measured) -> str:
    state = "FAIL" if one.faults else "ok"
    figures = f"{one.seconds:5.1f} s +{one.beyond:<4.1f} {one.peak >> 20:>5} MiB {one.family_peak >> 20:>5} MiB"
    faults = "".join(f"       {fault}\n" for fault in one.faults)
    return f"{state:<4} {one.attack.id:<40} {one.outcome:<24} {figures}\n{faults}"


if __name__ == "__main__":
    sys.exit(main())
