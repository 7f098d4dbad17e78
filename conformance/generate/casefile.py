"""Case files: one case per file, or one matrix of cases (:mod:`conformance.generate.casematrix`).

The rule of names: below a directory of cases, the path is the id, with dots for slashes: ``rows/plain.yaml``
contains the case ``rows.plain``. The ids of a matrix begin with its path: those of ``types.yaml`` with ``types.``. A
file elsewhere may have any name. A file that is not a case is refused with one sentence: the file, the place inside
it, and the expectation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from conformance.disk.files import write_whole
from conformance.disk.trees import walk
from conformance.generate.casecheck import check_case
from conformance.generate.caseindex import INDEX_FILE, CasesOfFile, indexed
from conformance.generate.casematrix import CaseMatrix, CombinationError, expand
from conformance.generate.casetext import SUFFIXES, TOO_DEEP, CaseFileError, check_suffix, line_of, parse, render
from conformance.generate.materialise import materialise
from conformance.generate.weight import GIVEN_MOST_BYTES, GIVEN_MOST_ROWS, weight
from conformance.records import (
    Case,
    Column,
    Recipe,
    RecordError,
    from_json,
    to_json,
)

__all__ = [
    "CaseFileError",
    "case_files",
    "check_foreign",
    "load_case",
    "load_cases",
    "load_file",
    "parse_file",
    "save_case",
]

SCHEMA_FILE: Final = "case.schema.json"
"""The schema of case files; it is next to them and is not a case itself."""
_NO_CASES: Final = frozenset({SCHEMA_FILE, INDEX_FILE})


class _NotACaseError(Exception):
    """Data is not a case; the text says where and why, without the file."""


def load_case(path: Path) -> Case:
    """Return the case in a file.

    Raises:
        CaseFileError: the file is not one case.
        OSError: the file cannot be read.
    """
    case, *others = load_file(path)
    if others:
        message = f"expected one case, but this is a matrix of {1 + len(others)}; name one by its id ({case.id}, …)"
        raise CaseFileError(path, message)
    return case


def load_file(path: Path) -> list[Case]:
    """Return the cases in a file: one, or all of a matrix; raises the errors of :func:`load_case`."""
    cases, _ = _load(path)
    return cases


def load_cases(directory: Path) -> list[Case]:
    """Return every case below a directory, sorted by id.

    Raises:
        CaseFileError: a file has no case, an id is not its path or does not begin with it, or two files have the
            same id.
    """
    homes: dict[str, Path] = {}
    cases = []
    for path in case_files(directory):
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


def case_files(directory: Path) -> list[Path]:
    """The files below a directory that have cases, sorted; raises :class:`conformance.disk.trees.TooDeepError`."""
    found = (parent / name for parent, folders, others in walk(directory) for name in (*folders, *others))
    return sorted(path for path in found if path.suffix in SUFFIXES and path.name not in _NO_CASES)


def save_case(case: Case, path: Path) -> None:
    """Write a case to a file, as JSON or YAML by its suffix; :func:`load_case` reads an equal case back."""
    check_suffix(path)
    write_whole(path, render(to_json(case), path.suffix))


def _load(path: Path) -> CasesOfFile:
    """Return the cases in a file, without parsing it if its content is in the index of the suite's cases."""
    return indexed(path) or parse_file(path)


def parse_file(path: Path) -> CasesOfFile:
    """Return the cases in a file, whatever the index says; raises the errors of :func:`load_case`."""
    try:
        data = parse(path)
        many = isinstance(data, Mapping) and "matrix" in data
        return CasesOfFile(_expanded(path, data) if many else [_checked(data)], many)
    except (RecordError, _NotACaseError) as error:
        raise CaseFileError(path, str(error)) from None
    except RecursionError:
        # Parsers, the codec of records and the checks recurse; no case comes near the interpreter's limit.
        raise CaseFileError(path, TOO_DEEP) from None


def _expanded(path: Path, data: Any) -> list[Case]:
    """Return the cases of a matrix; an error names a line, or the entries of the faulty case and their lines."""
    cases = []
    try:
        for entries, case in expand(from_json(CaseMatrix, data, path="Matrix")):
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
    """Return the entries of a combination by table, each with its line."""
    lines = {entry: line_of(path, ("matrix", *entry)) for entry in entries.items()}
    return ", ".join(f"{table} {name}" + (f" (line {line})" if line else "") for (table, name), line in lines.items())


def _keys(place: str) -> list[str | int]:
    """Return the keys and indices of a place in a :class:`RecordError`, without the record's own name."""
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
    """Check a case that a user wrote: its parts have to fit each other, and its table must not be too large.

    Raises:
        ValueError: they do not, or it is; it names the place inside the case.
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
    if recipe.rows > GIVEN_MOST_ROWS:
        raise ValueError(f"Case.table.recipe.rows: expected at most {GIVEN_MOST_ROWS} rows but got {recipe.rows}")
