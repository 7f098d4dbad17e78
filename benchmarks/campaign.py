"""Measures a campaign: cases per second, the share of Spark, one core against two, short against long.

Run: ``python -m benchmarks.campaign [CASES]`` (100,000 by default, about ten minutes); ``--million`` runs one campaign
of a million cases instead, after one of 20,000, and prints the rate, the driver's memory and the findings. The
serializer is pyarrow's, judged under every clause and read by two decoders; cases are drawn in families, as in any
campaign. All figures come from one run on one machine, so that their ratios can be compared:

* the plain loop: the loop body of a campaign in this process, without Spark, without a sandbox process and without
  files, before and after the campaign with which it is compared;
* campaigns on ``local[1]`` and ``local[2]``, without the time that Spark takes to start.

:data:`BARS` contains the bars; the exit status is 0 if all are met. Driver memory is the maximum of the resident memory
of the driver's Python process and the JVM together.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import operator
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Self

import psutil
from rich.console import Console

from conformance.campaign.campaignjob import CampaignJob, family_of
from conformance.campaign.phases import SIDE_BY_SIDE, Stepper
from conformance.campaign.run import Campaign, CampaignProgress
from conformance.campaign.runfolders import RunFiles
from conformance.campaign.sparksession import spark_session
from conformance.cli._campaigns import print_results
from conformance.disk.files import data_file
from conformance.engine.selection import all_clauses
from conformance.targets import load_target, open_target

CASES: Final = 100_000
SHORT: Final = 20_000
"""Cases of the campaign with which the million is compared."""
MILLION: Final = 1_000_000
PLAIN: Final = 5_000
"""Cases of the plain loop: enough for a mean, few enough not to double the benchmark's time."""
WARM_UP: Final = 200
GIB: Final = 1 << 30

BARS: Final[dict[str, tuple[Callable[[float, float], bool], float, str]]] = {
    "rate": (operator.ge, 1000, "cases a second on two cores"),
    "long": (operator.le, 1.15, f"cost of a case at {{cases}} over that at {SHORT}"),
    "cores": (operator.ge, 1.7, "two cores over one"),
    "spark": (operator.le, 1.25, "a campaign on one core over the plain loop"),
    "memory": (operator.lt, 2.0, "GiB of the driver"),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Timed:
    """A campaign: the seconds for its cases after Spark had started, and the largest memory of its driver in bytes."""

    cases: int
    seconds: float
    memory: int

    @property
    def each(self) -> float:
        """Seconds per case."""
        return self.seconds / self.cases


def job(cases: int) -> CampaignJob:
    """A job with every clause, two decoders and pyarrow's serializer."""
    spec = load_target(data_file("targets", "pyarrow.toml"))
    return CampaignJob(
        spec, cases=cases, seed=2026, profile="arrow", clauses=tuple(all_clauses()), family=family_of("arrow")
    )


def plain_loop(cases: int) -> float:
    """Seconds per case in this process."""
    reported = job(cases + WARM_UP)
    with open_target(reported.spec, alone=True) as target:
        stepper = Stepper(reported, target, weights=None, mark=lambda _index, _what: None)

        def work(first: int, last: int) -> None:
            for start in range(first, last, SIDE_BY_SIDE):
                for _ in stepper.steps(range(start, min(start + SIDE_BY_SIDE, last)), ended={}):
                    pass

        work(cases, cases + WARM_UP)
        began = time.perf_counter()
        work(0, cases)
        return (time.perf_counter() - began) / cases


def campaign(cases: int, cores: int) -> Timed:
    """Run a campaign of ``cases`` on ``cores`` of this machine."""
    reported = job(cases)
    with tempfile.TemporaryDirectory() as directory:
        layout = RunFiles.of(Path(directory), reported)
        with spark_session(layout.run, master=f"local[{cores}]") as session, _Memory() as memory:
            # A first campaign lets the workers do their imports, which are not measured.
            warm = job(cores * WARM_UP)
            Campaign(session, RunFiles.of(Path(directory), warm), warm, size=WARM_UP).run(lambda _progress: None)
            began = time.perf_counter()
            Campaign(session, layout, reported).run(lambda _progress: None)
            seconds = time.perf_counter() - began
        return Timed(cases, seconds, memory.most)


class _Memory:
    """Records the largest memory of this process together with the JVM below it."""

    def __enter__(self) -> Self:
        self.most = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_ended: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        own = psutil.Process()
        while not self._over.wait(1.0):
            jvm = [child for child in own.children() if "java" in child.name()]
            self.most = max(self.most, sum(process.memory_info().rss for process in (own, *jvm)))


def measure(cases: int) -> int:
    """Measure, print, and compare with the bars; returns the exit status."""
    before = plain_loop(min(PLAIN, cases))
    one = campaign(cases, 1)
    after = plain_loop(min(PLAIN, cases))
    two = campaign(cases, 2)
    for name, each in (("plain loop", before), ("plain loop", after), ("local[1]", one.each), ("local[2]", two.each)):
        print(f"{name:10} {each * 1e3:6.2f} ms a case, {1 / each:6.0f} cases a second")
    measured = {
        "rate": 1 / two.each,
        "cores": one.each / two.each,
        "spark": 2 * one.each / (before + after),
        "memory": two.memory / GIB,
    }
    return 0 if held(measured, cases) else 1


def held(measured: Mapping[str, float], cases: int) -> bool:
    """Print each measured value with its bar; True if all bars are met."""
    fine = True
    for name, value in measured.items():
        within, bar, text = BARS[name]
        fine &= within(value, bar)
        print(f"{'ok  ' if within(value, bar) else 'FAIL'} {value:8.2f}, bar {bar:g}: {text.format(cases=cases)}")
    return fine


def million(cases: int, out: Path) -> int:
    """Run one full campaign on two cores, from its plan to its results; the same arguments continue an interrupted one.

    Prints a line per minute, then the rate, the driver's memory and the findings. Returns the exit status.
    """
    reported = job(cases)
    layout = RunFiles.of(out.absolute(), reported)
    short = campaign(SHORT, 2)
    print(f"{SHORT} cases: {short.each * 1e3:.2f} ms each", flush=True)
    began = time.perf_counter()
    next_line, before = 0.0, -1

    def tell(progress: CampaignProgress) -> None:
        nonlocal next_line, before
        before = progress.cases if before < 0 else before
        if (seconds := time.perf_counter() - began) >= next_line:
            next_line = seconds + 60
            print(f"{seconds:6.0f} s: {progress.cases} of {progress.total}, {progress.failing} failing", flush=True)

    with spark_session(layout.run, master="local[2]") as session, _Memory() as memory:
        start = time.perf_counter() - began
        run = Campaign(session, layout, reported)
        run.run(tell)
        worked = time.perf_counter() - began - start
        results = run.finish(lambda _said: None)
    whole = time.perf_counter() - began
    done = results.cases - before
    print_results(Console(soft_wrap=True, width=200), results)
    print(
        f"{done} cases in {worked:.0f} s beside {start:.0f} s for Spark and {whole - worked - start:.0f} s for results"
    )
    each = worked / max(done, 1)
    fine = held({"rate": 1 / each, "long": each / short.each, "memory": memory.most / GIB}, cases)
    return 0 if fine and not results.unexpected and results.cases == cases else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaign", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("cases", nargs="?", type=int, default=CASES, help="cases of the longest campaign")
    parser.add_argument("--million", action="store_true", help="run only one campaign of a million cases")
    parser.add_argument("--out", type=Path, help="keep the million in this directory, and continue an interrupted one")
    reported = parser.parse_args(arguments)
    if not reported.million:
        return measure(reported.cases)
    with contextlib.ExitStack() as stack:
        out = reported.out or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        return million(reported.cases if reported.cases != CASES else MILLION, out)


if __name__ == "__main__":
    sys.exit(main())
