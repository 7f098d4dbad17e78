"""Makes the published reports on Arrow IPC: builds the adapters, judges all readers and writers, compares the results.

Deviations of an implementation are the content of the reports and not a failure of this program. It fails if a run did
not finish, or if the suite itself broke. An implementation whose adapter cannot be built here is left out, and the last
lines name it. All results except times depend on the seed only.

    python -m publish.ipc [--reports DIR] [--mangled N] [--seed S] [--select GLOB] [--no-build]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from conformance.readers.ipc.implementations import IPC_READERS, IPC_WRITERS
from publish.emulators import complaints, write_badges

ROLES: Final = {"read": ("readers", IPC_READERS), "write": ("writers", IPC_WRITERS)}
"""The folder of reports and the implementations, by command."""
DEADLINE: Final = 3600
"""Seconds for one command: all readers, with hangs, take some minutes."""


def run(*arguments: str, module: str = "conformance") -> int:
    """Run one command with its output visible; returns its exit status."""
    print("+", module, *arguments, flush=True)
    return subprocess.run([sys.executable, "-m", module, *arguments], check=False, timeout=DEADLINE).returncode  # noqa: S603  # the suite's own command


def judge(command: str, reports: Path, options: Sequence[str]) -> list[str]:
    """Write the reports and the matrix of one command's implementations; returns the problems, a sentence each."""
    folder_name, known = ROLES[command]
    folder = reports / folder_name
    folder.mkdir(parents=True, exist_ok=True)
    for name in known:
        for ending in ("json", "svg"):
            (folder / f"{name}.{ending}").unlink(missing_ok=True)
    began = time.monotonic()
    status = run(command, "--level", "should", "--reports", str(folder), *options)
    print(f"{command}: status {status} after {time.monotonic() - began:.0f} s", flush=True)
    shown = [path for name in known if (path := folder / f"{name}.json").exists()]
    if status > 1 or not shown:
        return [f"{command} ended with status {status} and {len(shown)} reports"]
    wrong = [
        f"{path.stem}: {text}"
        for path in shown
        for text in complaints(json.loads(path.read_text(encoding="utf-8")), perfect=False)
    ]
    write_badges(shown)
    if run("matrix", *map(str, shown), "--markdown", str(folder / "README.md")):
        wrong.append(f"the matrix of {folder_name} could not be made")
    absent = [name for name in known if folder / f"{name}.json" not in shown]
    if absent:
        print(f"{folder_name} that are not here, and have no report: {', '.join(absent)}", flush=True)
    return wrong


def main() -> None:
    """Build the adapters, judge readers and writers, and make a matrix of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=Path, default=Path("reports"), help="where the reports go")
    parser.add_argument("--mangled", type=int, default=2000, help="inputs with one change, in addition to the vectors")
    parser.add_argument("--seed", type=int, default=0, help="decides the changes")
    parser.add_argument("--select", default="*", help="only vectors or samples whose id matches")
    parser.add_argument("--no-build", action="store_true", help="use the adapters that are already built")
    options = parser.parse_args()
    if not options.no_build:
        run(module="adapters")
    drawn = ("--mangled", str(options.mangled), "--seed", str(options.seed), "--combinations")
    wrong = judge("read", options.reports, ("--select", options.select, *drawn))
    wrong += judge("write", options.reports, ("--select", options.select))
    for text in wrong:
        print(text, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
