"""The first event of a run: the environment and, for an implementation of Arrow IPC, its name."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from typing import TypedDict

import pyarrow as pa

import conformance
from conformance.contract.clause import CLAUSES, Clause
from conformance.engine.events import RunStarted
from conformance.engine.selection import LeftOut
from conformance.records import FORMAT, Level

__all__ = ["Surroundings", "implementation_started", "surroundings"]


class Surroundings(TypedDict):
    """The environment of a run and the form of its log, under the field names of
    :class:`~conformance.engine.events.RunStarted`.
    """

    suite: str
    python: str
    pyarrow: str
    platform: str
    format: int


def surroundings() -> Surroundings:
    """The environment fields of ``RunStarted``: suite, Python and pyarrow version, platform, and form of the log."""
    return {
        "suite": conformance.__version__,
        "python": platform.python_version(),
        "pyarrow": pa.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "format": FORMAT,
    }


def implementation_started(
    profile: str,
    *,
    name: str,
    title: str,
    select: tuple[str, ...],
    level: Level,
    cases: Iterable[str],
    all_cases: int,
    clauses: Iterable[Clause],
    seed: int = 0,
    generated: int = 0,
    left_out: tuple[LeftOut, ...] = (),
) -> RunStarted:
    """The first event of a run that judges a reader or a writer; such a run has no target file, its ``name`` replays
    it.
    """
    return RunStarted(
        **surroundings(),
        target=title,
        target_file=name,
        seed=seed,
        generated=generated,
        profile=profile,
        select=select,
        clause=(),
        level=level,
        readers=False,
        deadline_multiplier=1.0,
        cases=tuple(cases),
        clauses=tuple(clause.id for clause in clauses),
        all_cases=all_cases,
        all_clauses=len(CLAUSES),
        left_out=left_out,
    )
