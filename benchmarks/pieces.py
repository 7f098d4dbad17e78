"""Measures the gain of each optimisation of a campaign: its step with and without it, in turns on one machine.

Run: ``python -m benchmarks.pieces`` for every entry of :data:`PIECES`, or with the names of some;
``python -m benchmarks.pieces --against DIR`` compares this checkout with another one instead.

Two processes with one stepper each work on the same drawn cases, one chunk at a time, and take turns at being first.
The measure is the processor time of a chunk, because the machine may be busy with other work. The program prints the
median of the ratios with its quartiles, and the means with their ratio: 1.10 means that the step takes 10 % more
processor time without the optimisation, or in the other checkout. An optimisation that gains less than 5 % is not worth
its lines.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import inspect
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final, Self

from conformance.campaign.campaignjob import CampaignJob, family_of
from conformance.campaign.phases import Stepper
from conformance.contract.view import View
from conformance.disk.files import data_file
from conformance.engine.selection import all_clauses
from conformance.readers.fullread import FullRead, full_reads
from conformance.targets import TargetKind, load_target, open_target

HERE: Final = Path(__file__).resolve()
CASES: Final = 4_000
CHUNK: Final = 200
"""Cases per turn: long enough for the clock, short enough that other work slows down both sides equally."""
WARM_UP: Final = 400
TOGETHER: Final = 16
"""Cases that a sandbox process asks its stepper for at a time."""


def _nothing(*_arguments: object) -> None:
    """In place of a function that finds a shortcut: it never finds one."""


def _wrapped(_decoders: object, view: View) -> list[FullRead]:
    """A serializer's messages as a client of a server would get them."""
    return full_reads(view.case, view.exchange)


PIECES: Final[Mapping[str, tuple[str, object]]] = {
    "aspects": ("conformance.contract.unjudged:state_of", _nothing),
    "aspect of messages": ("conformance.contract.messages:MessageAspect.state", _nothing),
    "aspect of columns": ("conformance.contract.comparing.declarations:DeclaredAspect.state", _nothing),
    "aspect of values": ("conformance.contract.comparing.received:ValueAspect.state", _nothing),
    "clauses divided once per state": ("conformance.contract.judge:_divided", "unwrapped"),
    "decoders that agree": ("conformance.campaign.decoders:Decoders.agree", _nothing),
    "messages parsed beforehand": ("conformance.campaign.decoders:Decoders.prepare", _nothing),
    "bit for bit": ("conformance.contract.comparing.bitwise:bit_for_bit", _nothing),
    "messages read bare": ("conformance.campaign.decoders:Decoders._wholes", _wrapped),
    "cases side by side": ("conformance.campaign.phases:BRISK", -1.0),
    "outlines by identity": ("conformance.generate.outline:outline", "unwrapped"),
    "empty arrays by identity": ("conformance.generate.synthesis:_empty", "unwrapped"),
}
"""The position and the replacement of each optimisation; ``"unwrapped"`` is a function without its memory."""


@contextlib.contextmanager
def without(piece: str) -> Iterator[None]:
    """Replace an optimisation in this process in every module that imported it, and restore it afterwards.

    Raises:
        AttributeError: it is not at the position that :data:`PIECES` gives.
    """
    place, instead = PIECES[piece]
    name, _, path = place.partition(":")
    owner: Any = importlib.import_module(name)
    *parents, last = path.split(".")
    for parent in parents:
        owner = getattr(owner, parent)
    old = inspect.getattr_static(owner, last)
    new = old.__wrapped__ if instead == "unwrapped" else instead
    modules = [module for known, module in list(sys.modules.items()) if known.startswith("conformance.")]
    found = [(module, key) for module in modules for key, value in vars(module).items() if value is old]
    places = [*found, (owner, last)] if callable(old) else [(owner, last)]
    for holder, key in places:
        setattr(holder, key, new)
    try:
        yield
    finally:
        for holder, key in places:
            setattr(holder, key, old)


class Side:
    """One of the two compared processes: a checkout's stepper, from which an optimisation may be removed."""

    def __init__(self, checkout: Path, piece: str, *, target: str, cases: int) -> None:
        self._process = subprocess.Popen(  # noqa: S603  # this very file
            [sys.executable, str(HERE), *([piece] if piece else []), "--side", "--target", target, f"--cases={cases}"],
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
        """The seconds of processor time for the cases from ``first`` up to ``last``."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(first, last, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())


def serve(target: str, cases: int, asked: IO[str], answers: IO[str]) -> None:
    """Be one of the processes: work on the cases of each line, and answer with the processor time for them."""
    spec = load_target(data_file("targets", f"{target}.toml"))
    profile = "server" if spec.kind == TargetKind.SERVER else "arrow"
    clauses, family = tuple(all_clauses()), family_of(profile)
    job = CampaignJob(spec, cases=cases + WARM_UP, seed=2026, profile=profile, clauses=clauses, family=family)
    with open_target(spec, alone=True) as opened:
        stepper = Stepper(job, opened, weights=None, mark=lambda _index, _what: None)

        def work(first: int, last: int) -> float:
            began = time.process_time()
            for start in range(first, last, TOGETHER):
                for _ in stepper.steps(range(start, min(start + TOGETHER, last)), ended={}):
                    pass
            return time.process_time() - began

        work(cases, cases + WARM_UP)
        for line in asked:
            print(work(*map(int, line.split())), file=answers, flush=True)


def compare(this: Side, other: Side, cases: int) -> str:
    """A line with the ratio of the other side's time to this side's."""
    ratios, spent = [], {this: 0.0, other: 0.0}
    for turn, first in enumerate(range(0, cases, CHUNK)):
        order = (this, other) if turn % 2 else (other, this)
        times = {side: side.work(first, min(first + CHUNK, cases)) for side in order}
        ratios.append(times[other] / times[this])
        spent = {side: spent[side] + times[side] for side in spent}
    low, middle, high = statistics.quantiles(ratios, n=4)
    mine, theirs = (spent[side] / cases * 1e3 for side in (this, other))
    return f"{middle:6.3f} ({low:.3f} to {high:.3f}), means {mine:.3f} and {theirs:.3f} ms ({theirs / mine:.3f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pieces", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pieces", nargs="*", metavar="PIECE", help=f"one of: {', '.join(PIECES)}")
    parser.add_argument("--against", type=Path, help="compare with this checkout")
    parser.add_argument("--target", default="pyarrow", help="the name of a file in targets/")
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--side", action="store_true", help=argparse.SUPPRESS)
    reported = parser.parse_args(arguments)
    if reported.side:
        with contextlib.ExitStack() as stack:
            for piece in reported.pieces:
                stack.enter_context(without(piece))
            serve(reported.target, reported.cases, sys.stdin, sys.stdout)
        return 0
    here = HERE.parent.parent
    others = (
        [(reported.against.resolve(), "")]
        if reported.against
        else [(here, piece) for piece in reported.pieces or PIECES]
    )
    for checkout, piece in others:
        with (
            Side(here, "", target=reported.target, cases=reported.cases) as this,
            Side(checkout, piece, target=reported.target, cases=reported.cases) as other,
        ):
            print(f"{compare(this, other, reported.cases)}: {piece or checkout}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
