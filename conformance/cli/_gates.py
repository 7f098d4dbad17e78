"""The option ``--gate`` of commands that judge a target: the status of the run is that of its gate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import click

from conformance.cli._options import EXISTING
from conformance.cli._outputs import tell
from conformance.contain.text import many
from conformance.engine.result import Result
from conformance.report.document import document
from conformance.report.gatecells import CellState, GateCell, Judgement
from conformance.report.gatefile import Gate, GateError, Passage, read_gate

__all__ = ["GateOption", "fails_by", "gate_option"]

GateOption: TypeAlias = tuple[Path, Gate] | None
"""The file of ``--gate`` and its content."""

F = TypeVar("F", bound=Callable[..., Any])

_SHOWN: Final = 20
"""The most cells printed by name; a reader that broke has four."""


def gate_option(function: F) -> F:
    """``--gate``, as the argument ``gate``; the file is read before anything is judged."""
    return click.option(
        "--gate",
        metavar="FILE",
        type=EXISTING,
        callback=lambda _context, _parameter, path: None if path is None else (path, read_gate(path)),
        help="Fail exactly if something under [[holds]] of this file holds no longer; see `conformance gate`.",
    )(function)


def fails_by(gate: GateOption, result: Result) -> bool:
    """True if the run fails: by its gate if it has one, whose result is printed then, else by itself.

    Raises:
        GateError: the run is of another target.
    """
    if gate is None:
        return result.fails
    path, content = gate
    try:
        passage = content.judged(document(result))
    except GateError as error:
        raise GateError(f"{path}: {error}") from None
    for line in _lines(passage, path, runs=len(content.runs)):
        tell(line)
    return passage.fails


def _lines(passage: Passage, path: Path, *, runs: int) -> Iterator[str]:
    yield ""
    yield from _cells("no longer", passage.broken)
    yield from _cells("optional", passage.of(CellState.OPTIONAL))
    yield from _cells("set aside", passage.of(CellState.ASIDE))
    absent = passage.of(CellState.NOT_HERE)
    for reader in dict.fromkeys(cell.by for cell, _ in absent):
        why = next(said.why for cell, said in absent if cell.by == reader)
        yield f"not here   {reader}, {many(sum(cell.by == reader for cell, _ in absent), 'cell')}: {why}"
    held, every = len(passage.of(CellState.HELD)), len(passage.cells)
    said = [f"{held} of {many(every, 'cell')} hold" if held != every else f"all {many(every, 'cell')} hold"]
    said += [f"{len(passage.broken)} no longer"] if passage.broken else []
    said += [f"{len(unmet)} optional"] if (unmet := passage.of(CellState.OPTIONAL)) else []
    said += [f"{len(absent)} not here"] if absent else []
    said += [] if passage.complete else ["the run is incomplete"]
    verdict = "GATE FAILED" if passage.fails else "GATE PASSED"
    yield f"{verdict}: {', '.join(said)} ({path}, made from {many(runs, 'run')})"


def _cells(title: str, cells: Sequence[tuple[GateCell, Judgement]]) -> Iterator[str]:
    for cell, said in cells[:_SHOWN]:
        yield f"{title:<10} {cell.by}: {cell.clause}: {said.kind.replace('-', ' ')}: {said.why}"
    if len(cells) > _SHOWN:
        yield f"{title:<10} and {len(cells) - _SHOWN} more"
