"""Matrices: files that contain many cases, as one case with parameters and tables of values for them.

``case`` is the case; in it ``$name`` is a parameter. If a text is ``$name`` alone, it becomes the parameter's value,
of any type; inside a longer text the value is inserted; ``$$`` is a dollar sign.
``matrix`` holds tables by name; each has entries by name, and each entry is an object of parameters. A combination
takes one entry of each table. It has the parameters of these entries, a parameter with each table's name whose value
is the entry's name, and the parameters of ``defaults`` that no entry gives. Values may contain other parameters.
``combine`` lists the entries that go together; without it, every entry goes with every other.

Two things differ from a case, because they depend on the combination:

- ``clauses`` may contain lists (values of parameters): all are merged into one list, sorted, each id once. -
``table`` may have ``values``, lists of values, instead of ``rows``. Then it has two columns: the first numbers the
  rows, the second has the values. A REPEATED column has each list as a row, between two empty lists; any other has
  each value of each list as a row, and NULL in a last row if it is NULLABLE.

This module only makes the data of cases; they are checked like those of any other file.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.records import Json, Mode, RecordError

__all__ = ["CaseMatrix", "CombinationError", "expand"]

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PARAMETER: Final = re.compile(rf"\$(?:(\$)|({_NAME.pattern})|)")
_MOST: Final = 10_000
"""The most combinations of a matrix, and the most parameters inserted into a case: parameters that contain others
grow exponentially.
"""
_MOST_VALUES: Final = 1_000_000
"""The most values in a case, including lists and objects: YAML references to others grow exponentially as well."""


@dataclasses.dataclass(frozen=True, slots=True)
class CaseMatrix:
    """Many cases: `case` with `$name` for each parameter, and tables of parameters by table and entry.

    ``combine`` lists, by table, entries that go together; a missing table takes part with all its entries.
    """

    case: Json
    matrix: Mapping[str, Mapping[str, Mapping[str, Json]]]
    defaults: Mapping[str, Json] = dataclasses.field(default_factory=dict)
    combine: tuple[Mapping[str, tuple[str, ...]], ...] = ({},)


class CombinationError(Exception):
    """A combination does not make a case: the text is the reason, ``entries`` is the combination."""

    def __init__(self, entries: Mapping[str, str], message: str) -> None:
        super().__init__(message)
        self.entries = entries


def expand(matrix: CaseMatrix) -> Iterator[tuple[Mapping[str, str], Any]]:
    """Yield the combinations of a matrix in the order of its tables: the entry of each table, and the data of the case.

    Raises:
        RecordError: a name is unknown, is given twice or is never used, or two combinations are the same.
        CombinationError: a parameter of one combination cannot be inserted at its place.
    """
    _check_names(matrix)
    used: set[tuple[str, ...]] = set()
    for entries in _combinations(matrix):
        scope = _Scope(matrix, entries)
        try:
            case = _finished(scope.filled(matrix.case, "case"))
        except RecordError as error:
            raise CombinationError(entries, str(error)) from None
        except RecursionError:  # for example a YAML reference to a list inside this list
            raise CombinationError(entries, "case: expected values that are nested less deeply") from None
        yield entries, case
        used |= scope.used
    _check_use(matrix, used)


def _combinations(matrix: CaseMatrix) -> list[dict[str, str]]:
    seen: dict[tuple[str, ...], None] = {}
    for index, wanted in enumerate(matrix.combine):
        path = f"Matrix.combine[{index}]"
        for table, names in wanted.items():
            known = matrix.matrix.get(table)
            if known is None:
                raise RecordError(path, f"tables among {', '.join(matrix.matrix)}", table)
            for name in names:
                if name not in known:
                    raise RecordError(f"{path}.{table}", f"entries among {', '.join(known)}", name)
        tables = [wanted.get(table, tuple(entries)) for table, entries in matrix.matrix.items()]
        if (count := len(seen) + math.prod(map(len, tables))) > _MOST:
            raise RecordError(path, f"at most {_MOST} combinations", count)
        for names in itertools.product(*tables):
            if names in seen:
                raise RecordError(path, "each combination of entries once", ", ".join(names))
            seen[names] = None
    return [dict(zip(matrix.matrix, names, strict=True)) for names in seen]


def _check_names(matrix: CaseMatrix) -> None:
    """Refuse names that no text can refer to, and parameters that are defined in two places."""
    if not matrix.matrix or not all(matrix.matrix.values()):
        raise RecordError("Matrix.matrix", "at least one table, and an entry in each", [*matrix.matrix])
    homes: dict[str, str] = dict.fromkeys(matrix.matrix, "the name of a table")
    for table, entries in matrix.matrix.items():
        mine = dict.fromkeys((name for entry in entries.values() for name in entry), f"a parameter of {table}")
        for name in sorted(mine.keys() & homes.keys()):
            raise RecordError(f"Matrix.matrix.{table}", f"a name that is not also {homes[name]}", name)
        homes |= mine
    for name in sorted(matrix.matrix.keys() & matrix.defaults.keys()):
        raise RecordError("Matrix.defaults", f"a name that is not also {homes[name]}", name)
    for name in (*homes, *matrix.defaults):
        if not _NAME.fullmatch(name):
            raise RecordError("Matrix", "names of tables and parameters of letters, digits and underscores", name)


def _check_use(matrix: CaseMatrix, used: set[tuple[str, ...]]) -> None:
    """Refuse entries and parameters that no case uses: they are misspelt, or useless."""
    for table, entries in matrix.matrix.items():
        for entry, parameters in entries.items():
            if (table, entry) not in used:
                raise RecordError(f"Matrix.matrix.{table}.{entry}", "an entry that a combination has", entry)
            for name in parameters:
                if (table, entry, name) not in used:
                    raise RecordError(f"Matrix.matrix.{table}.{entry}.{name}", "a parameter that a case uses", name)
    for name in matrix.defaults:
        if (name,) not in used:
            raise RecordError(f"Matrix.defaults.{name}", "a default that a case uses", name)


class _Scope:
    """The parameters of one combination; ``used`` collects the parameters that were read, by table, entry and name."""

    def __init__(self, matrix: CaseMatrix, entries: Mapping[str, str]) -> None:
        self.used: set[tuple[str, ...]] = set(entries.items())
        self._homes: dict[str, tuple[str, ...]] = {name: (name,) for name in matrix.defaults}
        self._values: dict[str, Any] = {**matrix.defaults, **entries}
        for table, entry in entries.items():
            for name, value in matrix.matrix[table][entry].items():
                self._homes[name], self._values[name] = (table, entry, name), value
        self._asked: list[str] = []
        self._parameters = self._visited = 0

    def filled(self, data: Any, path: str) -> Any:
        """Return ``data`` with the value of every parameter inserted."""
        self._visited += 1
        if self._visited > _MOST_VALUES:
            raise RecordError("case", f"at most {_MOST_VALUES} values in a case", self._visited)
        if isinstance(data, str):
            return self._text(data, path)
        if isinstance(data, list):
            return [self.filled(item, f"{path}[{index}]") for index, item in enumerate(data)]
        if isinstance(data, Mapping):
            return {key: self.filled(item, f"{path}.{key}") for key, item in data.items()}
        return data

    def _text(self, text: str, path: str) -> Any:
        whole = _PARAMETER.fullmatch(text)
        if whole and whole[2]:
            return self._value(whole[2], path)
        return _PARAMETER.sub(lambda found: self._part(found, path), text)

    def _part(self, found: re.Match[str], path: str) -> str:
        if found[1]:
            return "$"
        if not found[2]:
            raise RecordError(path, "the name of a parameter after $, or $$ for a dollar sign", found.string)
        value = self._value(found[2], path)
        if not isinstance(value, str | int) or isinstance(value, bool):
            raise RecordError(path, f"a text or an integer in ${found[2]}, because it is part of a text", value)
        return str(value)

    def _value(self, name: str, path: str) -> Any:
        if name not in self._values:
            raise RecordError(path, f"a parameter after $, one of {', '.join(sorted(self._values))}", name)
        if name in self._asked:
            raise RecordError(path, f"a value that does not need itself (${' needs $'.join(self._asked)})", name)
        self._parameters += 1
        if self._parameters > _MOST:
            raise RecordError(path, f"at most {_MOST} parameters in a case", name)
        if name in self._homes:
            self.used.add(self._homes[name])
        self._asked.append(name)
        value = self.filled(self._values[name], f"${name}")
        self._asked.pop()
        return value


def _finished(case: Any) -> Any:
    """Return the data of a case from that of a filled case: its clauses in one list, its values in rows."""
    if not isinstance(case, dict):
        raise RecordError("case", "an object (Case)", case)
    if isinstance(clauses := case.get("clauses"), list) and (flat := list(_flat(clauses))):
        case["clauses"] = sorted(set(flat)) if all(isinstance(one, str) for one in flat) else flat
    if isinstance(table := case.get("table"), dict) and "values" in table:
        table["rows"] = _rows(table.get("columns"), table.pop("values"))
    return case


def _rows(columns: Any, values: Any) -> list[dict[str, Any]]:
    """Return the rows of a table that is written as lists of values; raises :class:`RecordError`."""
    pair = columns if isinstance(columns, list) and len(columns) == 2 else []
    names = [one["name"] for one in pair if isinstance(one, dict) and isinstance(one.get("name"), str)]
    if len(names) != 2:
        raise RecordError("case.table.columns", "two columns, because the values are written as lists", columns)
    if not isinstance(values, list) or not all(isinstance(one, list) for one in values):
        raise RecordError("case.table.values", "a list of lists of values", values)
    return [dict(zip(names, row, strict=True)) for row in enumerate(_cells(values, columns[1].get("mode")))]


def _flat(items: Sequence[Any]) -> Iterator[Any]:
    for item in items:
        if isinstance(item, list):
            yield from _flat(item)
        else:
            yield item


def _cells(values: Sequence[Sequence[Any]], mode: Any) -> list[Any]:
    if mode == Mode.REPEATED:
        return [[], *values, []]
    cells = [value for one in values for value in one]
    return cells if mode == Mode.REQUIRED else [*cells, None]
