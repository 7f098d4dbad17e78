"""``python -m tests.faults``: judge faults, write ``reports/faults.json`` and the table of ``docs/dev/faults.md``."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import fnmatch
import json
import random
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from conformance.protocols.storage_read.reference.service import ReadService
from tests.faults.blame import BLAME
from tests.faults.catalogue import FAULTS
from tests.faults.judging import costs, first_cause, judge
from tests.faults.page import REPORT, render
from tests.fixtures import ROOT

_REFERENCE: Final = "reference"
BLAMED: Final = 33
"""The seed by which the faults are drawn of which the first cause is looked at."""


def _options() -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults",
        description=__doc__,
        allow_abbrev=False,
        epilog="Every other option is passed to `conformance run`: --cases, --scenarios, --seed and so on.",
    )
    parser.add_argument("--label", default="default run", help="the column of the table that this run writes")
    parser.add_argument("--folder", type=Path, default=ROOT / ".conformance/faults", help="where work is kept")
    parser.add_argument("--resume", action="store_true", help="keep what the folder has of an interrupted run")
    parser.add_argument("--only", metavar="GLOB", action="append", help="only faults whose name matches; repeatable")
    parser.add_argument("--blame", type=int, metavar="N", help="look at the first cause of N faults, judged in full")
    return parser.parse_known_args()


def _run(options: argparse.Namespace, arguments: list[str]) -> dict[str, Any]:
    """Judge the reference, which has to pass, and then each fault; a result is kept in the folder at once."""
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "results.json"
    work: dict[str, Any] = {"arguments": arguments, "results": {}}
    if options.resume and kept.exists():
        work = json.loads(kept.read_text())
        if work["arguments"] != arguments:
            raise SystemExit(f"expected the arguments of the interrupted run, {work['arguments']}, got {arguments}")
    results: dict[str, Any] = work["results"]
    cost: dict[str, float] = {}
    faults: dict[str, type[ReadService]] = {
        name: fault.service
        for name, fault in FAULTS.items()
        if any(fnmatch.fnmatch(name, glob) for glob in options.only or ["*"])
    }
    for name, service in [(_REFERENCE, ReadService), *faults.items()]:
        if name not in results:
            with contextlib.chdir(folder):
                result = judge(name, service, ["--no-readers", *arguments], folder=folder, cost=cost)
            if result.broke or (name == _REFERENCE and result.died):
                raise SystemExit(f"expected a run that judges, got for {name}: {result}")
            results[name] = dataclasses.asdict(result)
            kept.write_text(json.dumps(work, indent=1))
            print(f"{len(results) - 1}/{len(faults)} {name}: {result}", flush=True)
        if name == _REFERENCE:
            log = folder / f"{_REFERENCE}.jsonl"
            cost = costs(log, map(json.loads, log.read_text().splitlines()))
    return results


def _blamed(options: argparse.Namespace, arguments: list[str]) -> dict[str, Any]:
    """The first cause of each of so many faults, drawn from those of the table; a result is kept in the folder."""
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "blame.json"
    results: dict[str, Any] = json.loads(kept.read_text()) if options.resume and kept.exists() else {}
    drawn = random.Random(BLAMED).sample(sorted(BLAME), min(options.blame, len(BLAME)))
    for name in drawn:
        if name not in results and any(fnmatch.fnmatch(name, glob) for glob in options.only or ["*"]):
            with contextlib.chdir(folder):
                first = first_cause(name, FAULTS[name].service, ["--no-readers", *arguments], folder=folder)
            results[name] = None if first is None else dataclasses.asdict(first)
            kept.write_text(json.dumps(results, indent=1))
            print(f"{len(results)}/{len(drawn)} {name}: {first}", flush=True)
    return results


def _about(options: argparse.Namespace, arguments: list[str]) -> dict[str, Any]:
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    command = ["conformance run --no-readers", *arguments]
    return {
        "label": options.label,
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit.stdout.strip(),
        "command": " ".join(command),
    }


def main() -> int:
    """One run; the exit status is 0 whatever it finds."""
    options, arguments = _options()
    report = json.loads(REPORT.read_text()) if REPORT.exists() else {"runs": []}
    if options.blame:
        about = _about(options, arguments)
        found = {name: {"commit": about["commit"], "first": one} for name, one in _blamed(options, arguments).items()}
        # What only some of the faults are judged for stands beside what earlier commits made of the others.
        kept = report["blame"]["results"] if options.only and "blame" in report else {}
        drawn = min(options.blame, len(BLAME))
        report["blame"] = {**about, "drawn": drawn, "results": {**kept, **found}}
    else:
        run = {**_about(options, arguments), "results": _run(options, arguments)}
        report["runs"] = [*(other for other in report["runs"] if other["label"] != options.label), run]
    REPORT.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    for path, text in render().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
