"""Makes the published reports on emulators: prepares and judges each known target, and compares the results.

Each target is judged in a process of its own, as by a user. Deviations of a target are the content of the reports and
not a failure of this program. It fails if a run did not finish, or if the suite itself broke.

    python -m publish.emulators [TARGET ...] [--reports DIR]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

TARGETS: Final = ("reference", "pyarrow", "bqemulator-1.0.0", "bqemulator-1.0.1", "bqemulator-1.4.0")
PERFECT: Final = frozenset({"reference"})
"""Targets that must not deviate."""
DEADLINE: Final = 900
"""Seconds for one command: preparing an environment and judging a target take a minute or two."""


def conformance(*arguments: str) -> int:
    """The exit status of one command; its reports go to files, and its output is discarded."""
    command = [sys.executable, "-m", "conformance", *arguments]
    print("+ conformance", *arguments, flush=True)
    return subprocess.run(command, check=False, stdout=subprocess.DEVNULL, timeout=DEADLINE).returncode  # noqa: S603  # the suite's own command


def judge(name: str, reports: Path) -> list[str]:
    """Write the reports on ``name``; returns the problems of the run, a sentence each."""
    target = f"targets/{name}.toml"
    if status := conformance("prepare", "--target", target):
        return [f"{name}: its environment cannot be made here (status {status})"]
    report = reports / f"{name}.json"
    report.unlink(missing_ok=True)
    started = time.monotonic()
    status = conformance("run", "--target", target, "--json", str(report), "--html", str(report.with_suffix(".html")))
    print(f"{name}: status {status} after {time.monotonic() - started:.1f} s", flush=True)
    if not report.exists():
        return [f"{name}: the run ended with status {status} and without a report"]
    return [f"{name}: {text}" for text in complaints(json.loads(report.read_text("utf-8")), perfect=name in PERFECT)]


def complaints(report: dict[str, object], *, perfect: bool) -> list[str]:
    """The reasons why a report cannot be published, a sentence each."""
    found = [] if report["complete"] else ["the run was cut short"]
    found += ["the suite itself broke on a case"] if report.get("broke") else []
    found += ["the suite's own server deviates"] if perfect and report["failed"] else []
    return found


def main() -> None:
    """Judge every given target, then make the matrix of all existing reports."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", default=TARGETS, help="names of files in targets/; all unless given")
    parser.add_argument("--reports", type=Path, default=Path("reports"), help="the directory of the reports")
    options = parser.parse_args()
    wrong = [text for name in options.targets for text in judge(name, options.reports)]
    shown = [str(path) for name in TARGETS if (path := options.reports / f"{name}.json").exists()]
    outputs = ("--html", str(options.reports), "--markdown", str(options.reports / "README.md"))
    if conformance("matrix", *shown, *outputs):
        wrong.append("the matrix could not be made")
    for text in wrong:
        print(text, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
