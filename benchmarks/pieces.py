"""What each piece of speed buys a campaign: its step for a case, with and without the piece, in turns.

Run: ``python -m benchmarks.pieces`` for every piece of :data:`PIECES`, or with the names of some;
``python -m benchmarks.pieces --against DIR`` compares this checkout with another one instead.

Two processes with one stepper each work on the same drawn cases, a chunk at a time, each first in every other turn. What
counts is the processor time of a chunk: the machine may be busy with other work. Printed is the median of the ratios,
with its quartiles: 1.10 is a step that takes 10 % more processor time without the piece, or in the other checkout.
A piece that buys less than 5 % is not worth its lines.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final, Self

HERE: Final = Path(__file__).resolve()
CASES: Final = 4_000
CHUNK: Final = 200
"""Cases between two turns: long enough for the clock, short enough that other work slows both sides alike."""
WARM_UP: Final = 400
TOGETHER: Final = 16
"""Cases that a lab asks its stepper for at once: those of a family."""


def _no_memory(name: str) -> None:
    """Have functions of one object compute their result each time: ``name``, or all of them."""
    from conformance.contract import remembered

    once = remembered.remembering

    def remembering(most: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        remember = once(most)
        return lambda function: function if not name or function.__name__ in name.split(",") else remember(function)

    remembered.remembering = remembering  # type: ignore[assignment]


def _no_brief() -> None:
    from conformance.campaign import step
    from conformance.contract.judge import Brief, judge_view
    from conformance.records import Outcome

    def judge(view: Any, clauses: Any) -> Any:
        verdicts = judge_view(view, clauses)
        passed = tuple([one.clause for one in verdicts if one.outcome is Outcome.PASS])
        return Brief((passed,), tuple([one for one in verdicts if one.outcome is not Outcome.PASS]))

    step.judge_briefly = judge


def _no_setters() -> None:
    from conformance.contract import judge
    from conformance.records import Outcome, Verdict

    judge._passes = lambda case_id, ids: [Verdict(case_id, one, Outcome.PASS) for one in ids]


def _no_brief_no_setters() -> None:
    _no_brief()
    _no_setters()


def _no_cache(name: str) -> Callable[[], None]:
    def remove() -> None:
        from conformance.contract import judge

        setattr(judge, name, getattr(judge, name).__wrapped__)

    return remove


def _no_caches_brief() -> None:
    for one in ("_sides", "_split"):
        _no_cache(one)()


def _no_facet(module: str, name: str) -> Callable[[], None]:
    def remove() -> None:
        import importlib

        facet = getattr(importlib.import_module(f"conformance.contract.{module}"), name)
        facet.state = lambda self, view: None

    return remove


def _no_facets() -> None:
    from conformance.contract import judge

    judge._state = lambda view, facet: None


def _no_agreement() -> None:
    from conformance.campaign.decoding import Decoders

    Decoders.agree = lambda self, view: None
    Decoders.prepare = staticmethod(lambda view: None)


def _no_prepare() -> None:
    from conformance.campaign.decoding import Decoders

    Decoders.prepare = staticmethod(lambda view: None)


def _no_same_bytes() -> None:
    from conformance.contract import compared, samebytes

    compared.bit_for_bit = samebytes.bit_for_bit = lambda view: False


def _no_bare() -> None:
    from conformance.campaign.decoding import Decoders
    from conformance.readers.whole import whole_reads

    Decoders._wholes = lambda self, view: whole_reads(view.case, view.exchange)


def _no_side_by_side() -> None:
    from conformance.campaign import step

    step.BRISK = -1.0


def _no_settle() -> None:
    from conformance.campaign import step

    step.settle = lambda: None


def _no_freeze() -> None:
    import gc

    from conformance.campaign import step

    step.settle = lambda: gc.set_threshold(*step._THRESHOLDS)


def _no_thresholds() -> None:
    import gc

    from conformance.campaign import step

    step.settle = lambda: (gc.collect(), gc.freeze())


def _no_bits() -> None:
    from conformance.campaign.rows import Places

    def bits(self, group):
        return sum(1 << self._places[clause] for clause in {*group} & self._places.keys())

    Places.bits = bits


def _no_lru(module: str, *names: str) -> Callable[[], None]:
    def remove() -> None:
        import importlib

        here = importlib.import_module(f"conformance.{module}")
        for name in names:
            setattr(here, name, getattr(here, name).__wrapped__)

    return remove

IDENTITY = ("_types", "_floats", "_all_places", "_all_shown", "_all_said", "_place_in")

PIECES: Final[Mapping[str, Callable[[], None]]] = {
    "nothing": lambda: None,
    "brief judge": _no_brief,
    "slot setters": _no_setters,
    "brief judge and slot setters": _no_brief_no_setters,
    "judge cache _sides": _no_cache("_sides"),
    "judge cache _split": _no_cache("_split"),
    "all facets": _no_facets,
    "facet messages": _no_facet("messages", "MessageFacet"),
    "facet columns": _no_facet("declared", "DeclaredFacet"),
    "facet values": _no_facet("compared", "ValueFacet"),
    "facet wholes": _no_facet("ipc.selectors", "WholeFacet"),
    "facet data": _no_facet("ipc.selectors", "DataFacet"),
    "agreement of decoders": _no_agreement,
    "phase of preparing": _no_prepare,
    "bit for bit": _no_same_bytes,
    "bare reads": _no_bare,
    "side by side": _no_side_by_side,
    "gc settings": _no_settle,
    "gc freeze": _no_freeze,
    "gc thresholds": _no_thresholds,
    "bits of groups": _no_bits,
    "coverage lru": _no_lru("campaign.coverage", "_pairs", "_under"),
    "all by identity": lambda: _no_memory(""),
}


def _names():
    return PIECES


class Side:
    """One of the two that are compared: a process with a checkout's stepper, a piece of which may be taken away."""

    def __init__(self, checkout: Path, without: str, *, target: str, cases: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE), "--side", without, "--target", target, "--cases", str(cases)],
            cwd=checkout,
            env={**os.environ, "PYTHONPATH": str(checkout), "PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_ended: object) -> None:
        self._process.communicate()

    def work(self, first: int, last: int) -> float:
        """Seconds of processor time for these cases."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(first, last, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())


def serve(without: str, target: str, cases: int, asked: IO[str], answers: IO[str]) -> None:
    """Be a side: work on the cases of each line, and answer with the processor time that they took."""
    if without.startswith("identity "):
        _no_memory(without.removeprefix("identity "))
    elif without == "all by identity":
        _no_memory("")
    from conformance.campaign import step
    from conformance.campaign.job import FAMILIES, Job
    from conformance.engine.files import data_file
    from conformance.engine.selection import all_clauses
    from conformance.targets import TargetKind, load_target, open_target

    if without in PIECES and without != "all by identity":
        PIECES[without]()
    spec = load_target(data_file("targets", f"{target}.toml"))
    profile = "server" if spec.kind is TargetKind.SERVER else "arrow"
    job = Job(spec, cases=cases + WARM_UP, seed=2026, profile=profile, clauses=tuple(all_clauses()), family=FAMILIES[profile])
    with open_target(spec, alone=True) as opened:
        stepper = step.Stepper(job, opened, weights=None, mark=lambda _index, _what: None)

        def work(first: int, last: int) -> float:
            began = time.process_time()
            for start in range(first, last, TOGETHER):
                for _ in stepper.steps(range(start, min(start + TOGETHER, last)), ended={}):
                    pass
            return time.process_time() - began

        work(cases, cases + WARM_UP)
        getattr(step, "settle", lambda: None)()
        for line in asked:
            print(work(*map(int, line.split())), file=answers, flush=True)


def compare(this: Side, other: Side, cases: int) -> tuple[list[float], float, float]:
    """The ratios of all chunks, the other's time over this one's, and milliseconds of both for a case."""
    ratios, spent = [], {this: 0.0, other: 0.0}
    for turn, first in enumerate(range(0, cases, CHUNK)):
        order = (this, other) if turn % 2 else (other, this)
        times = {side: side.work(first, min(first + CHUNK, cases)) for side in order}
        ratios.append(times[other] / times[this])
        spent = {side: spent[side] + times[side] for side in spent}
    return ratios, spent[this] / cases * 1e3, spent[other] / cases * 1e3


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pieces", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pieces", nargs="*", metavar="PIECE", help=f"out of: {', '.join(PIECES)}")
    parser.add_argument("--against", type=Path, help="compare with this checkout")
    parser.add_argument("--target", default="pyarrow", help="a target of targets/")
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--side", help=argparse.SUPPRESS)
    told = parser.parse_args(arguments)
    if told.side is not None:
        serve(told.side, told.target, told.cases, sys.stdin, sys.stdout)
        return 0
    here = HERE.parent.parent
    others = [("", told.against.resolve())] if told.against else [(one, here) for one in told.pieces or PIECES]
    for without, checkout in others:
        with (
            Side(here, "", target=told.target, cases=told.cases) as this,
            Side(checkout, without, target=told.target, cases=told.cases) as other,
        ):
            ratios, mine, theirs = compare(this, other, told.cases)
        low, middle, high = statistics.quantiles(ratios, n=4)
        print(f"{middle:6.3f} ({low:.3f} to {high:.3f}), {mine:.3f} and {theirs:.3f} ms ({theirs / mine:.3f}): {without or checkout}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
