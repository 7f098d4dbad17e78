"""What a campaign costs: cases per second, the share of Spark, one core against two, short against long.

Run: ``python -m benchmarks.campaign [CASES]`` (20,000 by default). The serializer is pyarrow's, judged under every
clause and read by two decoders. All figures come from one run on one machine, so that their ratios mean something:

* the plain loop: the loop body of a campaign in this process, without Spark, without a lab, without files;
* campaigns on ``local[1]`` and ``local[2]``, with the start of Spark told apart, and a quarter of the cases beside.

The bars stand in :data:`BARS`; the exit status says whether all hold. Driver memory is the most that the driver's
Python process and the JVM held together.
"""

from __future__ import annotations

import dataclasses
import operator
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

import psutil

from conformance.campaign.job import FAMILIES, Job
from conformance.campaign.layout import Layout
from conformance.campaign.run import Campaign
from conformance.campaign.session import spark_session
from conformance.campaign.step import Stepper, settle
from conformance.engine.files import data_file
from conformance.engine.selection import all_clauses
from conformance.targets import load_target, open_target

CASES: Final = 20_000
PLAIN: Final = 3_000
"""Cases of the plain loop: enough for a mean, few enough not to double the benchmark's time."""
WARM_UP: Final = 200
GIB: Final = 1 << 30

BARS: Final[dict[str, tuple[Callable[[float, float], bool], float, str]]] = {
    "rate": (operator.ge, 1000, "cases a second on two cores"),
    "long": (operator.le, 1.15, "cost of a case at {cases} over that at a quarter of them"),
    "cores": (operator.ge, 1.7, "two cores over one"),
    "spark": (operator.le, 1.25, "a campaign on one core over the plain loop"),
    "memory": (operator.lt, 2.0, "GiB of the driver"),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Timed:
    """A campaign: seconds for its cases after Spark had started, and the most memory that its driver held."""

    cases: int
    seconds: float
    memory: int

    @property
    def each(self) -> float:
        """Seconds for one case."""
        return self.seconds / self.cases


def job(cases: int) -> Job:
    """Every clause, two decoders, pyarrow's serializer."""
    spec = load_target(data_file("targets", "pyarrow.toml"))
    return Job(spec, cases=cases, seed=2026, profile="arrow", clauses=tuple(all_clauses()), family=FAMILIES["arrow"])


def plain_loop(cases: int) -> float:
    """Seconds for one case in this process."""
    told = job(cases + WARM_UP)
    with open_target(told.spec, alone=True) as target:
        stepper = Stepper(told, target, weights=None, mark=lambda _what: None)
        for index in range(cases, cases + WARM_UP):
            stepper.step(index, ended={})
        settle()
        began = time.perf_counter()
        for index in range(cases):
            stepper.step(index, ended={})
        return (time.perf_counter() - began) / cases


def campaign(cases: int, cores: int) -> Timed:
    """A campaign over so many cases on so many cores of this machine."""
    told = job(cases)
    with tempfile.TemporaryDirectory() as directory:
        layout = Layout.of(Path(directory), told)
        with spark_session(layout.run, master=f"local[{cores}]") as session, _Memory() as memory:
            # The workers import what they need once; a campaign of a million cases does not notice.
            warm = job(cores * WARM_UP)
            Campaign(session, Layout.of(Path(directory), warm), warm, size=WARM_UP).run(lambda _progress: None)
            began = time.perf_counter()
            Campaign(session, layout, told).run(lambda _progress: None)
            seconds = time.perf_counter() - began
        return Timed(cases, seconds, memory.most)


class _Memory:
    """Watches the memory of this process and of the JVM below it."""

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


def main(cases: int) -> int:
    """Measure, print, compare with the bars."""
    plain = plain_loop(min(PLAIN, cases))
    one = campaign(cases // 2, 1)
    short, long = campaign(cases // 4, 2), campaign(cases, 2)
    print(f"plain loop      {plain * 1e3:6.2f} ms a case, {1 / plain:6.0f} cases a second, one process")
    for name, timed in (("local[1]", one), ("local[2]", short), ("local[2]", long)):
        print(f"{name:15} {timed.each * 1e3:6.2f} ms a case, {1 / timed.each:6.0f} cases a second, {timed.cases} cases")
    measured = {
        "rate": 1 / long.each,
        "long": long.each / short.each,
        "cores": one.each / long.each,
        "spark": one.each / plain,
        "memory": long.memory / GIB,
    }
    held = {name: BARS[name][0](value, BARS[name][1]) for name, value in measured.items()}
    for name, value in measured.items():
        _, bar, text = BARS[name]
        print(f"{'ok  ' if held[name] else 'FAIL'} {value:8.2f}, bar {bar:g}: {text.format(cases=cases)}")
    return 0 if all(held.values()) else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else CASES))
