"""Case files: one case a file, YAML for people and JSON for saved counterexamples.

The rule of names: below a directory of cases, the path is the id, with dots for slashes:
``types/int64.yaml`` holds the case ``types.int64``. A file elsewhere may have any name.
YAML scalars are read as JSON would: what is not a number, ``true``, ``false`` or ``null`` is text, quoted or not
(``NO``, ``2019-03-18`` and ``12:30`` are); it is written in quotes where another reader might think otherwise.
A file that is not a case is refused with one sentence: the file, the place inside it, what was expected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any, Final

import yaml

from conformance.disk.files import write_whole
from conformance.generate.casecheck import check_case
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

__all__ = ["CaseFileError", "check_foreign", "load_case", "load_cases", "save_case"]

SUFFIXES: Final = (".json", ".yaml")
SCHEMA_FILE: Final = "case.schema.json"
"""Stands beside the cases and is none itself."""


class CaseFileError(ValueError):
    """A file does not hold a case: the message names the file, the place inside it, and what was expected."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path


def load_case(path: Path) -> Case:
    """The case in a file; raises :class:`CaseFileError` where it is none, :class:`OSError` where it cannot be read."""
    try:
        case = from_json(Case, _parse(path))
        check_foreign(case)
    except CaseFileError:
        raise
    except ValueError as error:
        raise CaseFileError(path, str(error)) from None
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


def load_cases(directory: Path) -> list[Case]:
    """Every case below a directory, sorted by id; raises :class:`CaseFileError` also where an id is not its path."""
    files = sorted(path for path in directory.rglob("*") if path.suffix in SUFFIXES and path.name != SCHEMA_FILE)
    cases = []
    for path in files:
        case = load_case(path)
        expected = ".".join(path.relative_to(directory).with_suffix("").parts)
        if case.id != expected:
            raise CaseFileError(path, f"Case.id: expected {expected!r}, the file's path, but got {case.id!r}")
        cases.append(case)
    return sorted(cases, key=lambda case: case.id)


def save_case(case: Case, path: Path) -> None:
    """Write a case to a file, as JSON or YAML by its suffix; :func:`load_case` reads the same case back."""
    if path.suffix not in SUFFIXES:
        raise CaseFileError(path, f"expected the suffix {' or '.join(SUFFIXES)} but got {path.suffix!r}")
    data = to_json(case)
    if path.suffix == ".json":
        text = json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    else:
        text = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
    write_whole(path, text)


# --- reading ----------------------------------------------------------------------------------------


def _parse(path: Path) -> Any:
    if path.suffix not in SUFFIXES:
        raise CaseFileError(path, f"expected the suffix {' or '.join(SUFFIXES)} but got {path.suffix!r}")
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
        return yaml.load(text, Loader=_Loader)  # noqa: S506  # a SafeLoader with fewer types
    except UnicodeDecodeError as error:
        raise CaseFileError(path, f"expected UTF-8 text but byte {error.start} is not") from None
    except json.JSONDecodeError as error:
        raise CaseFileError(path, f"line {error.lineno}: expected JSON, {error.msg}") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise CaseFileError(path, f"line {line}: expected YAML, {error.problem}") from None
    except yaml.YAMLError as error:
        raise CaseFileError(path, f"expected YAML, {' '.join(str(error).split())}") from None


def _no_constant(name: str) -> None:
    raise RecordError("case", f'a number, or the text "{name}" in quotes', name)


def _unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise RecordError(key, "each key once", key)
        members[key] = value
    return members


_SCALARS: Final = (
    ("null", "null|~|", ["n", "~", ""]),
    ("bool", "true|false", ["t", "f"]),
    ("int", "[-+]?[0-9]+", list("-+0123456789")),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", list("-+.0123456789")),
)
"""What an unquoted scalar may be besides text; NaN and infinities are texts in a case."""


class _Loader(yaml.SafeLoader):
    """YAML whose plain scalars mean what they would in JSON, and whose keys are unique."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  # PyYAML's own attribute

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002  # PyYAML's signature
        seen: set[str] = set()
        for key_node, _value in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str) or key in seen:
                problem = f"each key once and a text, {key!r} here"
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    """The writer beside :class:`_Loader`: it quotes what that reader, or one of YAML 1.1, would not take for text."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


for _class in (_Loader, _Dumper):
    for _name, _pattern, _first in _SCALARS:
        _class.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", re.compile(f"^(?:{_pattern})$"), _first)


def _construct_float(loader: _Loader, node: yaml.ScalarNode) -> float:
    return float(loader.construct_scalar(node))


def _construct_int(loader: _Loader, node: yaml.ScalarNode) -> int:
    return int(loader.construct_scalar(node))


_Loader.add_constructor("tag:yaml.org,2002:float", _construct_float)
_Loader.add_constructor("tag:yaml.org,2002:int", _construct_int)
_Dumper.add_representer(float, lambda dumper, value: dumper.represent_scalar("tag:yaml.org,2002:float", repr(value)))
