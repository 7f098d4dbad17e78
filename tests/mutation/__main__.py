"""``python -m tests.mutation``: draw the sample, run it, publish the score."""

import argparse
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.mutation.mutants import Mutant, modules
from tests.mutation.recording import Choice, Recording, record
from tests.mutation.running import Job, Worker, copied, outcome, run, workers
from tests.mutation.sampling import sample
from tests.mutation.scoring import Entry, Result, counted, document, entries, judged, page, score

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
REPORT = ROOT / "reports/mutation.json"
PAGE = ROOT / "docs/dev/mutation.md"
# The tables of the page follow this line; the text before it is written by hand.
MARK = "<!-- the rest is written by python -m tests.mutation -->\n"
# The limit on the recorded seconds of all tests that are run on one mutant.
SECONDS = 20.0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--mutants", type=int, default=1000, help="the size of the sample (1000)")
    parser.add_argument("--seed", type=int, default=12, help="the seed of the sample (12)")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes at once (one for each core)")
    parser.add_argument("--folder", type=Path, default=ROOT / ".conformance/mutation", help="where work is kept")
    parser.add_argument("--resume", action="store_true", help="go on with the recorded tests, sample and results")
    parser.add_argument(
        "--survivors", action="store_true", help="record the tests again, and run the survivors of the last run again"
    )
    parser.add_argument("--publish", action="store_true", help="only write the reports, from the last run's results")
    return parser.parse_args()


class Kept:
    """The files in the folder of a run; an interrupted run continues from them."""

    def __init__(self, folder: Path) -> None:
        self.record = folder / "record"
        self._about = folder / "about.json"
        self._results = folder / "results.jsonl"
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def started(self) -> bool:
        """Whether there is a sample."""
        return self._about.exists()

    def start(self, about: Mapping[str, Any], mutants: Iterable[Mutant]) -> None:
        """Keeps a new sample, and forgets the results of the last one."""
        self._results.unlink(missing_ok=True)
        self._about.write_text(json.dumps({**about, "mutants": [asdict(mutant) for mutant in mutants]}, indent=1))

    def sample(self) -> tuple[dict[str, Any], list[Mutant]]:
        """The facts about the run, and its mutants."""
        about = json.loads(self._about.read_text())
        return about, [Mutant.of(row) for row in about.pop("mutants")]

    def add(self, result: Result) -> None:
        """Appends a result at once: an interruption loses none."""
        with self._results.open("a") as lines:
            lines.write(json.dumps(asdict(result)) + "\n")

    def results(self) -> dict[str, Result]:
        """The last result of each mutant."""
        lines = self._results.read_text().splitlines() if self._results.exists() else []
        rows = map(json.loads, lines)
        results = [Result(**{**row, "mutant": Mutant.of(row["mutant"])}) for row in rows]
        return {result.mutant.key: result for result in results}


def _by_hand() -> list[tuple[Entry, Mutant]]:
    made = [(entry, entry.mutant((ROOT / entry.path).read_text())) for entry in entries(HERE / "by_hand.toml")]
    return [(entry, mutant) for entry, mutant in made if mutant is not None]


def _jobs(mutants: Iterable[Mutant], recording: Recording, without: AbstractSet[str]) -> list[Job]:
    jobs = []
    choices: dict[str, Choice] = {}
    for mutant in mutants:
        if mutant.path not in choices:
            choices[mutant.path] = Choice(recording, mutant.path, (ROOT / mutant.path).read_text())
        chosen = [recording.tests[name] for name in choices[mutant.path].tests(mutant, SECONDS)]
        fit = [test for test in chosen if without.isdisjoint({test.name, test.file})]
        jobs.append(Job(mutant, {test.name: test.seconds for test in fit}))
    return jobs


def _recorded(kept: Kept, options: argparse.Namespace) -> Recording:
    """The recorded tests: recorded now, or, with ``--resume``, by the interrupted run."""
    if not (options.resume and kept.record.exists()):
        shutil.rmtree(kept.record, ignore_errors=True)
        copy = options.folder / "recorded"
        shutil.rmtree(copy, ignore_errors=True)
        copied(ROOT, copy)
        status = record(copy, kept.record, ["-n", str(options.workers), "--dist", "loadscope"])
        print(f"tests recorded, status {status}", flush=True)
    return Recording(kept.record)


def _draw(kept: Kept, options: argparse.Namespace) -> None:
    sources = {path: (ROOT / path).read_text() for path in modules(ROOT)}
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    about = {
        "seed": options.seed,
        "requested": options.mutants,
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit.stdout.strip(),
        "python": platform.python_version(),
        "cosmic_ray": version("cosmic-ray"),
        "seconds_for_a_mutant": SECONDS,
    }
    kept.start(about, sample(sources, options.mutants, options.seed))


def _test(kept: Kept, options: argparse.Namespace) -> None:
    recording = _recorded(kept, options)
    done = kept.results()
    _, drawn = kept.sample()
    every = [*(mutant for _, mutant in _by_hand()), *drawn]
    again = {key for key, result in done.items() if options.survivors and result.outcome == "survived"}
    left = [mutant for mutant in every if mutant.key not in done or mutant.key in again]
    # An interrupted run has tried some of each package.
    random.Random(options.seed).shuffle(left)
    unfit: set[str] = set()
    with workers(ROOT, options.folder, options.workers) as made:
        _sound(recording, made)
        while left:
            _try(kept, _jobs(left, recording, unfit), made)
            unfit |= _failing(kept, recording, made)
            left = [result.mutant for result in kept.results().values() if result.killer in unfit]
            print(f"{len(left)} mutants to run again without the tests that fail here: {sorted(unfit)}", flush=True)


def _sound(recording: Recording, made: Sequence[Worker]) -> None:
    """A test that passes has to pass in each worker as well, or every mutant would seem to be noticed."""
    cheapest = min(recording.tests.values(), key=lambda test: (test.seconds, test.name))
    for worker in made:
        answer = worker.asked(Job(None, {cheapest.name: cheapest.seconds}))
        if outcome(answer) != "survived":
            raise RuntimeError(f"{cheapest.name} fails in a worker without any mutant: {answer}")


def _try(kept: Kept, jobs: Sequence[Job], made: Sequence[Worker]) -> None:
    began, told = time.monotonic(), 0

    def tell(job: Job, answer: Mapping[str, Any]) -> None:
        nonlocal told
        assert job.mutant is not None
        result = Result(job.mutant, outcome(answer), answer["failed"], len(job.tests), answer["seconds"])
        kept.add(result)
        told += 1
        print(f"{told}/{len(jobs)} {time.monotonic() - began:.0f} s {result.outcome} {result.mutant.key}", flush=True)

    for job in jobs:
        if not job.tests:
            # No test reaches it, so it has survived already.
            tell(job, {"status": 0, "hung": False, "failed": None, "seconds": 0.0})
    run([job for job in jobs if job.tests], made, tell)


def _failing(kept: Kept, recording: Recording, made: Sequence[Worker]) -> set[str]:
    """The tests that killed a mutant and fail on the code as it is, too: they have killed nothing."""
    files: dict[str, dict[str, float]] = defaultdict(dict)
    killers = {result.killer for result in kept.results().values()}
    for killer in killers:
        # Of a file that could not be imported, the cheapest test is run.
        named = [test for test in recording.tests.values() if killer in {test.name, test.file}]
        for test in sorted(named, key=lambda test: test.seconds)[:1]:
            files[test.file][test.name] = test.seconds
    failing: set[str] = set()
    alone: list[Job] = []

    def tell_of_file(job: Job, answer: Mapping[str, Any]) -> None:
        if outcome(answer) != "survived":
            alone.extend(Job(None, {name: seconds}) for name, seconds in job.tests.items())

    def tell(job: Job, answer: Mapping[str, Any]) -> None:
        if outcome(answer) != "survived":
            failing.update(job.tests)

    run([Job(None, tests) for tests in files.values()], made, tell_of_file)
    run(alone, made, tell)
    return failing | {recording.tests[name].file for name in failing}.intersection(killers)


def _publish(kept: Kept) -> None:
    about, drawn = kept.sample()
    done = kept.results()
    equivalents = entries(HERE / "equivalent.toml")
    results = judged((done[mutant.key] for mutant in drawn if mutant.key in done), equivalents)
    named = [
        Result(mutant, done[mutant.key].outcome, done[mutant.key].killer, done[mutant.key].tests, 0.0, entry.reason)
        for entry, mutant in _by_hand()
        if mutant.key in done
    ]
    REPORT.write_text(json.dumps(document(results, named, about), indent=1, ensure_ascii=False) + "\n")
    head = PAGE.read_text().partition(MARK)[0] if PAGE.exists() else ""
    PAGE.write_text(head + MARK + "\n" + page(results, named, about))
    print(f"{score(counted(results)):.1f} % of {len(results)} mutants noticed; {REPORT.name} and {PAGE.name} written")


def main() -> int:
    """One run; its exit status is 0, whatever the score."""
    options = _options()
    kept = Kept(options.folder)
    if not options.publish:
        if not kept.started or not (options.resume or options.survivors):
            _draw(kept, options)
        _test(kept, options)
    _publish(kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
