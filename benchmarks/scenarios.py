"""How many steps of scenarios a second the suite puts to the reference and judges, on all cores together.

``python -m benchmarks.scenarios [--scenarios N]`` prints the rate of one process, by the clock and in processor time,
and the rate that the processor time permits on two cores. The bar is 300 steps a second on two cores.
"""

from __future__ import annotations

import argparse
import time
from typing import Final

from conformance.contract.clause import PROFILES
from conformance.engine.casestep import CaseStep, CaseWork
from conformance.engine.owed import reference_target
from conformance.engine.selection import all_clauses
from conformance.generate import draw_scenario

CORES: Final = 2
WARM_UP: Final = 10


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenarios", type=int, default=300)
    count = parser.parse_args().scenarios
    clauses = [clause for clause in all_clauses().values() if PROFILES[0] in clause.profiles]
    with reference_target() as target:
        step = CaseStep(clauses, target)
        for index in range(WARM_UP):
            step.take(CaseWork(draw_scenario(1, index)))
        steps = 0
        wall, processor = time.perf_counter(), time.process_time()
        for index in range(count):
            work = step.take(CaseWork(draw_scenario(0, index)))
            steps += len(work.case.steps)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"{count} scenarios, {steps} steps: draw, seed, drive, judge under {len(clauses)} clauses")
    print(f"one process, wall clock: {steps / wall:.0f} steps/s")
    print(f"one core, processor time: {steps / processor:.0f} steps/s")
    print(f"{CORES} cores, processor time: {CORES * steps / processor:.0f} steps/s")


if __name__ == "__main__":
    main()
