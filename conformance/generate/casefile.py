"""Case files: one case a file, or one matrix of cases (:mod:`conformance.generate.casematrix`).

The rule of names: below a directory of cases, the path is the id, with dots for slashes: ``rows/plain.yaml`` holds the
case ``rows.plain``. The ids of a matrix begin with its path: those of ``types.yaml`` with ``types.``.
A file elsewhere may have any name.
A file that is not a case is refused with one sentence: the file, the place inside it, what was expected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from conformance.disk.files import write_whole
from conformance.generate.casecheck import check_case
from conformance.generate.casematrix import CombinationError, Matrix, expand
from conformance.generate.casetext import SUFFIXES, CaseFileError, check_suffix, line_of, parse, render
from conformance.generate.materialise import materialise
from conformance.generate.weight import GIVEN_MOST_BYTES, weight
from conformance.records import (
    Case,
    Column,
    Recipe,
    RecordError,
    from_json,
    to_json,
)

__all__ = ["CaseFileError", "check_foreign", "load_case", "load_cases", "load_file", "save_case"]

SCHEMA_FILE: Final = "case.schema.json"
"""Stands beside the cases and is none itself."""


class _NotACaseError(Exception):
    """Data is no case; the text says where and why, without the file."""


def load_case(path: Path) -> Case:
    """The case in a file; raises :class:`CaseFileError` where it is none, :class:`OSError` where it cannot be read."""
    case, *others = load_file(path)
    if others:
        message = f"expected one case, but this is a matrix of {1 + len(others)}; name one by its id ({case.id}, …)"
        raise CaseFileError(path, message)
    return case


def load_file(path: Path) -> list[Case]:
    """The cases in a file: one, or all of a matrix; raises as :func:`load_case` does."""
    cases, _ = _load(path)
    return cases


def load_cases(directory: Path) -> list[Case]:
    """Every case below a directory, sorted by id.

    Raises:
        CaseFileError: a file holds no case, an id is not its path or does not begin with it, or two files hold one id.
    """
    homes: dict[str, Path] = {}
    cases = []
    for path in sorted(path for path in directory.rglob("*") if path.suffix in SUFFIXES and path.name != SCHEMA_FILE):
        stem = ".".join(path.relative_to(directory).with_suffix("").parts)
        loaded, many = _load(path)
        for case in loaded:
            if not many and case.id != stem:
                raise CaseFileError(path, f"Case.id: expected {stem!r}, the file's path, but got {case.id!r}")
            if many and not case.id.startswith(f"{stem}."):
                message = f"expected {stem + '.'!r}, the file's path, at its beginning, but got {case.id!r}"
                raise CaseFileError(path, f"Case.id: {message}")
            if case.id in homes:
                raise CaseFileError(path, f"Case.id: expected each id once, but {homes[case.id]} has {case.id!r} too")
            homes[case.id] = path
        cases += loaded
    return sorted(cases, key=lambda case: case.id)


def save_case(case: Case, path: Path) -> None:
    """Write a case to a file, as JSON or YAML by its suffix; :func:`load_case` reads the same case back."""
    check_suffix(path)
    write_whole(path, render(to_json(case), path.suffix))


def _load(path: Path) -> tuple[list[Case], bool]:
    """The cases in a file, and whether it is a matrix."""
    try:
        data = parse(path)
        many = isinstance(data, Mapping) and "matrix" in data
        return (_expanded(path, data) if many else [_checked(data)]), many
    except (RecordError, _NotACaseError) as error:
        raise CaseFileError(path, str(error)) from None


def _expanded(path: Path, data: Any) -> list[Case]:
    """The cases of a matrix; an error names a line, or the entries of the case that it is about and their lines."""
    cases = []
    try:
        for entries, case in expand(from_json(Matrix, data)):
            try:
                cases.append(_checked(case))
            except _NotACaseError as error:
                raise CombinationError(entries, str(error)) from None
    except CombinationError as error:
        raise CaseFileError(path, f"{_reported(path, error.entries)}: {error}") from None
    except RecordError as error:
        line = line_of(path, _keys(error.path))
        raise CaseFileError(path, str(error) if line is None else f"line {line}: {error}") from None
    return cases


def _reported(path: Path, entries: Mapping[str, str]) -> str:
    """The entries of a combination by table, each with its line."""
    lines = {entry: line_of(path, ("matrix", *entry)) for entry in entries.items()}
    return ", ".join(f"{table} {name}" + (f" (line {line})" if line else "") for (table, name), line in lines.items())


def _keys(place: str) -> list[str | int]:
    """The keys and indices in the place that a :class:`RecordError` names, without the record's own name."""
    parts = re.findall(r"\.([^.\[]+)|\[([0-9]+)\]", place)
    return [int(index) if index else key for key, index in parts]


def _checked(data: Any) -> Case:
    try:
        case = from_json(Case, data)
        check_foreign(case)
    except ValueError as error:
        raise _NotACaseError(str(error)) from None
    return case


def check_foreign(case: Case) -> None:
    """Refuse a case that somebody wrote where its parts do not fit, or its table is too large.

    Raises:
        ValueError: with the place inside it.
    """
    check_case(case)
    if case.table.recipe is not None:
        _refuse_weight(case.table.columns, case.table.recipe)
    if case.table.rows is not None:
        try:
            materialise(case.table)
        except RecordError as error:
            raise ValueError(f"Case.table.{error}") from None


def _refuse_weight(columns: tuple[Column, ...], recipe: Recipe) -> None:
    if (weighs := weight(columns, recipe)) > GIVEN_MOST_BYTES:
        raise ValueError(
            f"Case.table.recipe: expected a table of at most {GIVEN_MOST_BYTES >> 20} MiB,"
            f" but {recipe.rows} rows of these columns take about {weighs >> 20} MiB; ask for fewer"
        )
