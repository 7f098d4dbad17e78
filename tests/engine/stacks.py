"""Stacks of mutants, repaired one after the other: how often the score falls, and a repair looks like a regression.

``python -m tests.engine.stacks --count 1000`` (or ``tox -e stacks``) draws that many stacks of two to six mutants from
a seed, judges the reference with each, repairs one mutant at a time in any order, and compares each result with the one
before. A clause that was held and is not any more was *hidden*: the defect that was repaired had hidden another one.
Then it repairs twelve stacks top-down, in the order of the first screen. ``--causes`` counts the causes instead.
"""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import functools
import itertools
import multiprocessing
import os
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from types import TracebackType
from typing import Final, TypeVar

import pyarrow as pa

from conformance.engine.casestep import CaseStep, Reader
from conformance.engine.causes import causes
from conformance.engine.corpus import load_corpus
from conformance.engine.owed import Owed, reference_target
from conformance.engine.proof import ProofFixture, is_heavy
from conformance.engine.result import NOT_JUDGED, Result, fold
from conformance.engine.run import CaseJob, run
from conformance.engine.selection import Selection, all_clauses, plan
from conformance.engine.standing import Standing
from conformance.generate import draw_case, draw_scenario, materialise
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.records import Case, Outcome
from conformance.reference.register import STACKED_WITH
from conformance.reference.serializer import REFERENCE, Serializer
from conformance.report.differences import ChangeKind, compare
from conformance.report.document import document
from conformance.targets.spec import TargetKind
from tests.engine.samples import started

T = TypeVar("T")
__all__ = ["STACKABLE", "Bench", "Repair", "drawn"]

DEPTHS: Final = (2, 6)
"""The least and the most mutants of a stack."""
CASES_OF_EACH: Final = 3
"""Cases made for each clause that a mutant of the stack breaks."""
OTHERS: Final = 12
"""Cases drawn from all light ones."""

STACKABLE: Final = tuple(
    name for name, one in MUTANTS.items() if not one.process and (one.service is not None or one.serializer is not None)
)
"""The mutants that a server in this process can have."""


@dataclasses.dataclass(frozen=True, slots=True)
class Repair:
    """One mutant of a stack was repaired: the clauses held before and after, and the regressions that ``diff`` saw."""

    repaired: str
    left: tuple[str, ...]
    before: frozenset[str]
    after: frozenset[str]
    regressions: tuple[str, ...]
    passes: tuple[int, int] = (0, 0)
    """The clauses that passed before and after, also those that passed only where they were judged."""

    @property
    def falls(self) -> bool:
        """True if fewer clauses are held than before."""
        return len(self.after) < len(self.before)

    @property
    def hidden(self) -> list[str]:
        """The clauses that were held and are not any more."""
        return sorted(self.before - self.after)


class Bench(AbstractContextManager["Bench"]):
    """Judges the reference with stacks of mutants, on the light cases of the corpus."""

    def __init__(self) -> None:
        cases = list(load_corpus().values())
        self._clauses: Final = plan(cases, all_clauses(), Selection()).clauses
        light = ProofFixture.of(cases, self._clauses).light
        self._cases: Final = tuple(one.case for one in light if not one.case.needs)
        self._owed: Final = Owed(self._clauses, TargetKind.SERVER)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._owed.close()

    def result(self, stack: Sequence[str], cases: Sequence[Case], readers: Reader | None = None) -> Result:
        """The result of the reference with the mutants of ``stack`` on ``cases``, read by ``readers`` if given."""
        with reference_target(mutant=STACKED_WITH.join(stack) or None) as target:
            jobs = [CaseJob(case, case.id) for case in cases]
            start = started(*(one.id for one in self._clauses), cases=[case.id for case in cases])
            return fold(run(start, jobs, CaseStep(self._clauses, target, readers), owed=self._owed))

    def cases_for(self, stack: Sequence[str], chosen: random.Random) -> list[Case]:
        """Some cases made for the clauses that the mutants break, and some others, in the order of the corpus."""
        taken = {case.id for case in chosen.sample(self._cases, OTHERS)}
        for clause in sorted({clause for name in stack for clause in MUTANTS[name].kills}):
            made = [case for case in self._cases if any(fnmatch.fnmatchcase(clause, glob) for glob in case.clauses)]
            taken |= {case.id for case in chosen.sample(made, min(CASES_OF_EACH, len(made)))}
        return [case for case in self._cases if case.id in taken]

    def repairs(self, stack: Sequence[str], chosen: random.Random) -> Iterator[Repair]:
        """Repair the mutants of ``stack`` one after the other, in the drawn order."""
        cases, left = self.cases_for(stack, chosen), list(stack)
        before = self.result(left, cases)
        owed = _held(self.result((), cases))  # the whole corpus owes every clause, these cases do not
        while left:
            repaired = left.pop(chosen.randrange(len(left)))
            after = self.result(left, cases)
            changes = compare(document(before), document(after)).of(ChangeKind.REGRESSION)
            yield Repair(
                repaired,
                tuple(left),
                _held(before) & owed,
                _held(after) & owed,
                tuple(one.clause for one in changes),
                (_passes(before), _passes(after)),
            )
            before = after

    def wrongly_blocked(self, stack: Sequence[str], chosen: random.Random) -> list[tuple[str, str]]:
        """The clauses that a cause of the stack is said to block, and that no case judges after the mutants behind that
        cause are repaired, each with the cause; a clause that another cause then blocks is not counted.
        """
        cases = self.cases_for(stack, chosen)
        wrong: list[tuple[str, str]] = []
        for cause in causes(self.result(stack, cases)):
            shown = [clause for part in (*cause.own, *cause.echoes) for clause in part.clauses]
            mended = [name for name in stack if any(_breaks(name, clause) for clause in shown)]
            if not cause.blocks or not mended:
                continue
            after = self.result([name for name in stack if name not in mended], cases)
            judged = {one.clause for one in after.verdicts if one.outcome not in NOT_JUDGED}
            others = {clause for one in causes(after) for clause in one.blocks}
            wrong += [(clause, cause.key) for clause in cause.blocks if clause not in judged | others]
        return wrong

    def unsaid(self, name: str) -> set[str]:
        """The clauses that a mutant alone keeps from being judged, and that no cause is said to block."""
        cases = self.cases_for([name], random.Random(f"unsaid/{name}"))
        result = self.result([name], cases)
        hidden = _judged(self.result([], cases)) - _judged(result)
        return hidden - {clause for cause in causes(result) for clause in cause.blocks}

    def spread(self, seed: int, number: int) -> float:
        """The causes of a drawn stack for each of its mutants that fails something alone, with drawn cases and
        scenarios; 1.0 if each defect is one cause.
        """
        chosen = random.Random(f"wide/{seed}/{number}")
        stack = drawn(chosen)
        cases = [
            *self.cases_for(stack, chosen),
            *(draw_case(number, index, profile="server") for index in range(4)),
            *(draw_scenario(number, index) for index in range(6)),
        ]
        showing = sum(self._shows(name, cases) for name in stack)
        return len(causes(self.result(stack, cases))) / max(showing, 1)

    def _shows(self, name: str, cases: Sequence[Case]) -> bool:
        """True if a mutant fails one of the cases alone; those made for it come first, because one is enough."""

        def made_for(case: Case) -> bool:
            return any(_breaks(name, clause) for clause in case.clauses)

        with reference_target(mutant=name) as target:
            for case in sorted(cases, key=made_for, reverse=True):
                start = started(*(one.id for one in self._clauses), cases=[case.id])
                if fold(run(start, [CaseJob(case, case.id)], CaseStep(self._clauses, target))).failed:
                    return True
        return False

    def top_down(self, stack: Sequence[str], chosen: random.Random) -> int:
        """The runs that fail while the cause that stands first is repaired each time, until nothing fails.

        Raises:
            AssertionError: the first cause is none of the mutants that are left.
        """
        cases, left = self.cases_for(stack, chosen), list(stack)
        for number in itertools.count():
            found = causes(self.result(left, cases))
            if not found:
                return number
            shown = [clause for part in (*found[0].own, *found[0].echoes) for clause in part.clauses]
            meant = [name for clause in shown for name in left if _breaks(name, clause)]
            assert meant, f"{found[0].key} is none of {', '.join(left)}"
            left.remove(meant[0])
        raise AssertionError("unreachable")


def _breaks(name: str, clause: str) -> bool:
    return any(fnmatch.fnmatchcase(clause, glob) for glob in (*MUTANTS[name].kills, *MUTANTS[name].also))


def _held(result: Result) -> frozenset[str]:
    return frozenset(clause for clause, item in result.standings.items() if item.standing is Standing.HELD)


def _judged(result: Result) -> set[str]:
    return {one.clause for one in result.verdicts if one.outcome not in {*NOT_JUDGED, Outcome.REFUSED}}


def _passes(result: Result) -> int:
    return sum(item.standing in (Standing.HELD, Standing.HELD_WHERE_JUDGED) for item in result.standings.values())


def drawn(chosen: random.Random, *, least: int = DEPTHS[0]) -> list[str]:
    """A stack of at least so many mutants, of which any two are independent."""
    while True:
        stack = chosen.sample(STACKABLE, chosen.randint(least, DEPTHS[1]))
        if all(_independent(*pair) for pair in itertools.combinations(stack, 2)):
            return stack


@functools.cache
def _independent(one: str, other: str) -> bool:
    """True if neither of two mutants undoes or replaces the other.

    Two classes that override one method, and two changes of bytes of which the second finds nothing to change, are no
    two defects of one server.
    """
    services = [MUTANTS[name].service for name in (one, other)]
    if all(service is not None for service in services):
        return _overridden(services[0]).isdisjoint(_overridden(services[1]))
    serializers = [MUTANTS[name].serializer for name in (one, other) if MUTANTS[name].service is None]
    first, second = (serializers * 2)[:2]
    if first is None or second is None or first is second:
        return True
    return all(_both_act(first, second, table) for table in _tables())


@functools.cache
def _tables() -> list[pa.RecordBatch]:
    """Tables on which two mutants of bytes are tried together: each eighth small one of the corpus."""
    tables = [materialise(case.table) for case in load_corpus().values() if not is_heavy(case)]
    return [table.combine_chunks().to_batches()[0] for table in tables if table.num_rows][::8]


def _overridden(service: type[ReadService] | None) -> set[str]:
    classes = () if service is None else service.__mro__[: service.__mro__.index(ReadService)]
    return {name for one in classes for name, value in vars(one).items() if callable(value)}


def _both_act(first: Serializer, second: Serializer, table: pa.RecordBatch) -> bool:
    try:
        right, *alone, together = (_bytes(one, table) for one in (REFERENCE, first, second, first.then(second)))
    except Exception:  # noqa: BLE001  # one of them cannot change what the other has made
        return False
    acting = [one for one in alone if one != right]
    return len(acting) < len(alone) or together not in acting


def _bytes(serializer: Serializer, table: pa.RecordBatch) -> tuple[bytes, bytes]:
    return serializer.serialize_schema(table.schema), serializer.serialize_batch(table)


def _of_numbers(task: tuple[int, Sequence[int]]) -> list[tuple[int, Repair]]:
    seed, numbers = task
    found = []
    with Bench() as bench:
        for number in numbers:
            chosen = random.Random(f"{seed}/{number}")
            found += [(number, repair) for repair in bench.repairs(drawn(chosen), chosen)]
    return found


def _parallel(of: Callable[[tuple[int, Sequence[int]]], T], seed: int, count: int, size: int = 5) -> Iterator[T]:
    """The results of a function on so many numbers, a few at a time on each core."""
    tasks = [(seed, range(first, min(first + size, count))) for first in range(0, count, size)]
    with closing(multiprocessing.get_context("spawn").Pool(os.cpu_count())) as pool:
        for done, found in enumerate(pool.imap(of, tasks), 1):
            yield found
            print(f"{min(done * size, count)} of {count}", file=sys.stderr, flush=True)


def main() -> None:
    """Draw stacks, print what fell, and end with status 1 if the score fell or a repair was called a regression."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="stacks to draw")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--causes", action="store_true", help="only count the causes of each stack")
    options = parser.parse_args()
    if options.causes:
        _print_spread(options.seed, options.count)
        return
    repairs: list[tuple[int, Repair]] = []
    for found in _parallel(_of_numbers, options.seed, options.count):
        repairs += found
        for number, repair in found:
            if repair.falls or repair.regressions or repair.hidden:
                print(number, _words(repair), flush=True)
    falls = sum(repair.falls for _, repair in repairs)
    regressions = sum(bool(repair.regressions) for _, repair in repairs)
    hidden = sum(bool(repair.hidden) for _, repair in repairs)
    fewer = sum(repair.passes[1] < repair.passes[0] for _, repair in repairs)
    print(
        f"{options.count} stacks, {len(repairs)} repairs: the number of held clauses fell {falls} times, that of passes"
        f" {fewer}, diff called {regressions} a regression, {hidden} brought a hidden defect to light"
    )
    too_many = _top_down(options.seed)
    sys.exit(bool(falls or regressions or too_many))


def _top_down(seed: int) -> int:
    """Repair twelve stacks of three to six mutants top-down; the number of those that took more runs than mutants."""
    too_many = 0
    with Bench() as bench:
        for number in range(12):
            chosen = random.Random(f"top-down/{seed}/{number}")
            stack = drawn(chosen, least=3)
            runs = bench.top_down(stack, chosen)
            too_many += runs > len(stack)
            print(f"top-down: {len(stack)} mutants, {runs} failing runs", flush=True)
    return too_many


def _spreads(task: tuple[int, Sequence[int]]) -> list[tuple[int, float]]:
    seed, numbers = task
    with Bench() as bench:
        return [(number, bench.spread(seed, number)) for number in numbers]


def _print_spread(seed: int, count: int) -> None:
    """Print how many causes the stacks have for each of their defects, and which stacks have the most."""
    found = sorted(itertools.chain.from_iterable(_parallel(_spreads, seed, count)), key=lambda one: one[1])
    values = [value for _, value in found]
    shown = {"median": values[count // 2], "90th percentile": values[count * 9 // 10], "most": values[-1]}
    print("causes for each defect:", ", ".join(f"{name} {value:.2f}" for name, value in shown.items()))
    print("the most have:", ", ".join(f"stack {number} {value:.2f}" for number, value in found[-5:]))


def _words(repair: Repair) -> str:
    fell = f"held {len(repair.before)} -> {len(repair.after)}"
    said = f"; regressions: {', '.join(repair.regressions)}" if repair.regressions else ""
    return f"{fell} after {repair.repaired} was repaired, left {repair.left}; hidden: {repair.hidden}{said}"


if __name__ == "__main__":
    main()
