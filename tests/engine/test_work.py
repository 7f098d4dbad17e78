"""The work that the main job does is counted: a change that makes the suite do more of it fails here, on any machine.

Counted are calls of the suite's own functions, by package, subjects that clauses looked at, bytes that Python copied,
and processes. None of them depends on the machine, on the version of Python, or on that of pyarrow; seconds would.
``python -m tests.engine.test_work`` prints the counts of now. Whoever raises a ceiling says why.
"""

from __future__ import annotations

import collections
import gc
import inspect
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pyarrow as pa
import pytest

import conformance
from conformance.contract.clause import CLAUSES, PROFILES, load_chapters
from conformance.contract.judge import Judge
from conformance.contract.view import View
from conformance.contract.viewing import view_of
from conformance.engine.casestep import CaseStep, CaseWork
from conformance.engine.corpus import load_corpus
from conformance.engine.events import CaseJudged
from conformance.engine.provenance import Identity
from conformance.engine.selection import Selection, all_clauses, plan
from conformance.engine.session import Settings, open_session
from conformance.engine.started import surroundings
from conformance.generate import materialise
from conformance.protocols.storage_read.engine.substituted import _served
from conformance.records import BqType, Case, Column, Exchange, Mode, Recipe, Table
from conformance.reference.message import schema_message
from conformance.targets import load_target

load_chapters()
PACKAGE: Final = Path(conformance.__file__).parent
MARGIN: Final = 1.1
"""How much of a ceiling a count may be: a clause more is no regression."""

CEILINGS: Final[Mapping[str, int]] = {
    "_globs.py": 555,
    "contract": 9007,
    "engine": 2_840,  # what is counted by clause: 52 clauses more than with 2,568
    "formats": 40,
    "generate": 336,
    "protocol.py": 4,
    "protocols": 1_976,  # nine clauses on query results more
    "records": 156,
    "targets": 4,
    "wire": 2330,
    "subjects": 268,
}
"""Calls while cases of so many :data:`ROWS` are made and judged, and ``subjects`` that clauses looked at.

Python 3.11.7 with pyarrow 26.0.1, 3.12.1 with 14.0.2 and 3.13.0 with 18.1.0 gave the same counts.
"""
ROWS: Final = (2, 10, 100, 1000)


def columns(number: int) -> tuple[Column, ...]:
    """One column of many types, flat, repeated and nested; ``number`` makes names that were never seen before."""
    kinds = (BqType.INT64, BqType.STRING, BqType.BOOL, BqType.NUMERIC, BqType.TIMESTAMP, BqType.JSON, BqType.BYTES)
    flat = [Column(f"{kind.value.lower()}{number:04}", kind) for kind in kinds]
    lists = [Column(f"list{number:04}", BqType.INT64, Mode.REPEATED)]
    nested = [Column(f"record{number:04}", BqType.RECORD, fields=tuple(flat[:3]))]
    return (*flat, *lists, *nested)


class Prepared:
    """A target that gives prepared answers."""

    remarks = ()

    def __init__(self, answers: Mapping[str, Exchange]) -> None:
        self._answers = answers

    def drive(self, case: Case, table: pa.Table) -> Exchange:
        """The answer for this case."""
        assert table.num_rows
        return self._answers[case.id]


def judged(number: int) -> tuple[Callable[[], object], list[View]]:
    """The work on a case for each of :data:`ROWS`, each served in two responses, and the views that it will have."""
    made = [Case(f"work.{number}-{rows}", "", Table(columns(number), recipe=Recipe(rows))) for rows in ROWS]
    step = CaseStep(
        [one for one in CLAUSES.values() if PROFILES[0] in one.profiles],
        Prepared({one.id: answer(one) for one in made}),
    )
    views: list[View] = []

    def work() -> None:
        for case in made:
            done = step.take(CaseWork(case))
            assert done.view is not None
            assert step.verdicts(done)
            assert done.judged is not None
            assert not done.judged.others, done.judged.others[0]
            views.append(done.view)

    return work, views


def answer(case: Case) -> Exchange:
    """The answer of a correct server, in two responses."""
    (batch,) = materialise(case.table).combine_chunks().to_batches()
    half = batch.num_rows // 2
    return _served(case, schema_message(batch.schema).encode(), [batch.slice(0, half), batch.slice(half)])


def calls(work: Callable[[], object]) -> collections.Counter[str]:
    """How often ``work`` calls functions of each package of the suite.

    Comprehensions, lambdas and generators are left out: versions of Python differ in whether they are calls.
    """
    counted: collections.Counter[str] = collections.Counter()
    packages: dict[str, str] = {}

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event != "call" or code.co_name[0] == "<" or code.co_flags & inspect.CO_GENERATOR:
            return
        name = packages.get(code.co_filename)
        if name is None:
            path = Path(code.co_filename)
            name = path.relative_to(PACKAGE).parts[0] if path.is_relative_to(PACKAGE) else ""
            packages[code.co_filename] = name
        counted[name] += 1

    before = sys.getprofile()
    gc.collect()
    gc.disable()
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(before)
        gc.enable()
    del counted[""]
    return counted


def counts() -> dict[str, int]:
    """The counts of now, once everything is remembered that is remembered for good.

    The least of two: tests before this one may have filled a memo, which is emptied when it is full.
    """
    judged(0)[0]()
    found = []
    for number in (1, 2):
        work, views = judged(number)
        counted = calls(work)
        found.append(dict(sorted(counted.items())) | {"subjects": sum(view.work for view in views)})
    first, second = found
    return {name: min(count, second.get(name, 0)) for name, count in first.items()}


@pytest.fixture(scope="module")
def now() -> dict[str, int]:
    """The counts of now."""
    return counts()


def test_judging_does_no_more_than_it_did(now: dict[str, int]) -> None:
    """In no package."""
    more = {
        name: (CEILINGS.get(name, 0), count) for name, count in now.items() if count > MARGIN * CEILINGS.get(name, 0)
    }

    assert more == {}, "counts rose, as (ceiling, now); `python -m tests.engine.test_work` prints all of them"


def test_the_ceilings_are_those_of_now(now: dict[str, int]) -> None:
    """A count that has fallen gets a new ceiling, or the next rise would not be seen."""
    slack = {
        name: (ceiling, now.get(name, 0)) for name, ceiling in CEILINGS.items() if now.get(name, 0) < ceiling / MARGIN
    }

    assert slack == {}, "counts fell, as (ceiling, now); `python -m tests.engine.test_work` prints all of them"


def test_one_call_more_for_each_value_is_seen() -> None:
    """It is more than the margin lets through."""
    values = sum(ROWS) * len(columns(0))

    assert values > (MARGIN - 1) * max(CEILINGS.values())


def test_the_bytes_of_a_batch_are_copied_once() -> None:
    """While it is parsed and judged, Python's own memory holds less than twice the answer: protobuf copies it."""
    text = "QUJD" * (1 << 20)
    case = Case("work.large", "", Table((Column("a", BqType.BYTES),), rows=({"a": text}, {"a": text})))
    exchange, table = answer(case), materialise(case.table)
    judge = Judge([one for one in CLAUSES.values() if PROFILES[0] in one.profiles])
    tracemalloc.start()
    try:
        judged = judge(view_of(case, exchange, table))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert judged.others == ()
    assert exchange.received > 6 << 20
    assert peak < 2 * exchange.received


def test_no_process_is_started_for_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run starts its target and its readers once, however many cases they get."""
    surroundings(target=Identity("warm", "", "server", ()))  # asks git for the commit, once in a process

    assert processes(monkeypatch, "types.int64") == processes(monkeypatch, "types.*") > 0


def processes(monkeypatch: pytest.MonkeyPatch, select: str) -> int:
    """How many processes a run of these cases starts."""
    started = []

    class Counted(subprocess.Popen[Any]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            started.append(arguments)
            super().__init__(*arguments, **options)

    selection = Selection((select,))
    chosen = plan(list(load_corpus().values()), all_clauses(), selection)
    monkeypatch.setattr(subprocess, "Popen", Counted)
    with open_session(load_target("pyarrow"), chosen, selection, Settings(readers=True)) as session:
        cases = sum(isinstance(event, CaseJudged) for event in session.events())
    monkeypatch.undo()
    assert cases == len(chosen.cases)
    return len(started)


if __name__ == "__main__":
    print(counts())
