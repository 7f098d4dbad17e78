"""The gate file: the cells that held in each of the last runs, all others with their reasons, and the runs themselves.

It is TOML that people read and programs compare: everything in it is sorted and follows from the runs. Its form has a
version, :data:`SCHEMA_VERSION`.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from conformance.contain.parse import parse_toml
from conformance.contain.text import many, quoted, safe, safe_values
from conformance.disk.files import reading, write_whole
from conformance.records import RecordError, from_json
from conformance.report.document import Report
from conformance.report.gatecells import BY_READER, TARGET, CellState, GateCell, Judgement, RunView, reason_of_cell

__all__ = ["Gate", "GateError", "GateRun", "Passage", "make_gate", "read_gate", "write_gate"]

SCHEMA_VERSION: Final = 1
"""It is raised when an older suite would misread the file."""
LARGEST: Final = 16 << 20
"""The largest file in bytes; that of a run of all clauses with 20 readers is below 100 KiB."""


class GateError(ValueError):
    """The runs make no gate, or a file is none, or is not about this target; the message says why and what to do."""


@dataclasses.dataclass(frozen=True, slots=True)
class GateRun:
    """A run that the gate was made from. ``sha256`` is the digest of its log or report, ``readers`` are the packages of
    the readers that were here, with versions.
    """

    file: str
    sha256: str
    target: str
    suite: str
    began: str = ""
    commit: str = ""
    readers: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class CellsThatHold:
    """Clauses that held in each run, judged by what ``by`` gave."""

    by: str
    clauses: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class CellsLeftOut:
    """Clauses that are not in the gate for one reason."""

    by: str
    kind: CellState
    reason: str
    clauses: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class ReaderStatement:
    """A reader's own statement of what it cannot read; it was not asked for that, and no cell is about it."""

    by: str
    cannot: str


@dataclasses.dataclass(frozen=True, slots=True)
class Gate:
    """The content of a gate file."""

    schema_version: int
    target: str
    runs: tuple[GateRun, ...]
    holds: tuple[CellsThatHold, ...] = ()
    left_out: tuple[CellsLeftOut, ...] = ()
    statements: tuple[ReaderStatement, ...] = ()

    @property
    def cells(self) -> list[GateCell]:
        """The cells that have to hold, those of the target first."""
        cells = {GateCell(item.by, clause) for item in self.holds for clause in item.clauses}
        return sorted(cells, key=lambda cell: (cell.by != TARGET, cell))

    def judged(self, report: Report) -> Passage:
        """The result of each cell in a run.

        Raises:
            GateError: the run is of another target.
        """
        if (name := _target(report)) != self.target:
            raise GateError(f"expected a run of {self.target}, of which the gate is, got one of {name}")
        view = RunView(report)
        return Passage(tuple((cell, view.judge(cell)) for cell in self.cells), report.complete)


@dataclasses.dataclass(frozen=True, slots=True)
class Passage:
    """A run before a gate: what it says of each cell, and whether it is complete."""

    cells: tuple[tuple[GateCell, Judgement], ...]
    complete: bool

    def of(self, *kinds: CellState) -> list[tuple[GateCell, Judgement]]:
        """The cells of which the run says this."""
        return [(cell, said) for cell, said in self.cells if said.kind in kinds]

    @property
    def broken(self) -> list[tuple[GateCell, Judgement]]:
        """The cells that hold no longer: they failed, or were not judged although their reader is here. The failure of
        a MAY clause is none of them.
        """
        return self.of(*set(CellState) - {CellState.HELD, CellState.OPTIONAL, CellState.NOT_HERE, CellState.ASIDE})

    @property
    def fails(self) -> bool:
        """True if a cell holds no longer, if none is left that holds, or if the run was cut short."""
        return bool(self.broken) or not self.of(CellState.HELD) or not self.complete


def _target(report: Report) -> str:
    """The target's name without its version, so that a gate outlives a release."""
    return report.run.provenance.target.name or report.run.target


def make_gate(runs: Sequence[tuple[str, str, Report]]) -> Gate:
    """The gate of ``runs``: the file, its SHA-256 digest in hexadecimal, and the report of each, in their order.

    Raises:
        GateError: a run is of another target, is incomplete or a shard, or occurs twice.
    """
    for file, _, report in runs:
        _check(file, report, runs[0][2])
    for (file, digest, report), (other, same, again) in itertools.combinations(runs, 2):
        if digest == same or (_identity(report) == _identity(again) and report.run.provenance.began):
            raise GateError(f"expected different runs, but {file} and {other} are of the same run")
    views = [RunView(report) for _, _, report in runs]
    holds: dict[str, list[str]] = {}
    others: dict[tuple[str, CellState, str], list[str]] = {}
    for cell in sorted({cell for view in views for cell in view.cells()}):
        kind, reason = reason_of_cell([view.judge(cell) for view in views])
        if kind is CellState.HELD:
            holds.setdefault(cell.by, []).append(cell.clause)
        else:
            others.setdefault((cell.by, kind, reason), []).append(cell.clause)
    return Gate(
        SCHEMA_VERSION,
        _target(runs[0][2]),
        tuple(_run(*run) for run in runs),
        tuple(CellsThatHold(by, tuple(holds[by])) for by in _target_first(holds)),
        tuple(
            CellsLeftOut(*key, tuple(clauses))
            for by in _target_first({by for by, _, _ in others})
            for key, clauses in sorted(others.items())
            if key[0] == by
        ),
        tuple(ReaderStatement(*one) for one in sorted({one for view in views for one in view.statements()})),
    )


def _target_first(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (name != TARGET, name))


def _check(file: str, report: Report, first: Report) -> None:
    if report.run.shard:
        raise GateError(
            f"expected whole runs, but {file} is of shard {report.run.shard}:"
            " make the report of all shards with `conformance report --json`"
        )
    if not report.complete:
        raise GateError(f"expected complete runs, but that of {file} was cut short: a gate of it would lose cells")
    if (_target(report), report.run.profile) != (_target(first), first.run.profile):
        raise GateError(f"expected runs of one target, {_target(first)}, but {file} is of {_target(report)}")


def _identity(report: Report) -> tuple[object, ...]:
    return report.run.provenance.began, report.run.provenance.command, report.run.target, report.seconds


def _run(file: str, digest: str, report: Report) -> GateRun:
    run, origin = report.run, report.run.provenance
    readers = {f"{reader.package} {reader.version}" for reader in origin.readers if reader.version}
    changed = " with changes" if origin.modified else ""
    commit = f"{origin.commit}{changed}" if origin.commit else ""
    return GateRun(file, digest, run.target, run.suite, origin.began, commit, tuple(sorted(readers)))


def write_gate(gate: Gate, path: Path) -> None:
    """Write ``gate`` to ``path``.

    Raises:
        DiskError: the file cannot be written.
    """
    write_whole(path, "\n".join(_lines(gate)) + "\n")


def _lines(gate: Gate) -> Iterator[str]:
    runs = many(len(gate.runs), "run")
    yield f"# What held in each of {runs} of {safe(gate.target)}, and why all else is left out: `conformance gate`."
    yield "# `conformance run --gate FILE` fails if a clause under [[holds]] holds no longer."
    yield f"schema_version = {gate.schema_version}"
    yield f"target = {quoted(gate.target)}"
    for name in ("runs", "holds", "left_out", "statements"):
        for item in getattr(gate, name):
            yield from ("", f"[[{name}]]")
            for field in dataclasses.fields(item):
                yield from _entry(field.name, getattr(item, field.name))


def _entry(key: str, value: str | tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, str):
        if value:
            yield f"{key} = {quoted(value)}"
    elif value:
        yield f"{key} = ["
        yield from (f"  {quoted(one)}," for one in value)
        yield "]"


def read_gate(path: Path) -> Gate:
    """The gate in the file at ``path``.

    Raises:
        GateError: the file is no gate that this version can read.
        OSError: the file cannot be read.
    """
    with reading(path), path.open("rb") as file:
        content = file.read(LARGEST + 1)
    wanted = f"{path}: expected a gate file, as `conformance gate` writes it"
    if len(content) > LARGEST:
        raise GateError(f"{wanted}, of at most {LARGEST >> 20} MiB, got more")
    try:
        data: dict[str, Any] = safe_values(parse_toml(content.decode()))
    except ValueError as error:
        raise GateError(f"{wanted}: {safe(str(error))}") from None
    if (version := data.get("schema_version")) != SCHEMA_VERSION:
        raise GateError(f"{wanted}, of schema version {SCHEMA_VERSION}, got {safe(repr(version))}")
    try:
        gate = from_json(Gate, data, path=str(path))
    except RecordError as error:
        raise GateError(f"{safe(str(error))}; make the gate again from the logs of its runs") from None
    if not gate.cells:
        raise GateError(f"{wanted}, with at least one clause under [[holds]]: a gate without any lets everything pass")
    for cell in gate.cells:
        if cell.by != TARGET and cell.clause not in BY_READER:
            raise GateError(f"{wanted}: {cell.clause} is no clause on one reader, such as {cell.by}")
    return gate
