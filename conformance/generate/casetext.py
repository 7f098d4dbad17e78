"""The text of a case file to plain data and back: YAML for people, JSON for saved counterexamples.

YAML scalars are read as in JSON: any scalar except a number, ``true``, ``false`` or ``null`` is text, quoted or not
(for example ``NO``, ``2019-03-18`` and ``12:30``). A text is written in quotes if another reader might read it
otherwise.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
import sys
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from conformance.contain.parse import nests_deeper
from conformance.contain.text import escaped
from conformance.disk.files import read_text
from conformance.records import RecordError

__all__ = [
    "LARGEST_CASE",
    "SUFFIXES",
    "TOO_DEEP",
    "YAML",
    "CaseFileError",
    "check_suffix",
    "line_of",
    "parse",
    "render",
]

JSON: Final = ".json"
YAML: Final = ".yaml"
SUFFIXES: Final = (JSON, YAML)
LARGEST_CASE: Final = 16 << 20
"""The most bytes of a case file: a case with more rows has a recipe."""
MOST_PARTS: Final = 1_000_000
"""The most lines, commas, dashes and brackets of a case file. Each item of a list or a mapping has one or two of them,
and a YAML item takes 350 bytes while it is read.
"""
TOO_DEEP: Final = "expected lists and mappings that nest less deeply"
_PARTS: Final = ("\n", ",", "- ", "[", "{")
SHALLOW_BRACKETS: Final = 1500
"""Brackets of a text that is read in C; 20,000 levels fit into a stack of 8 MiB, and no case of the suite has 1500."""
SHALLOW_COLUMNS: Final = 960
"""Characters of a line of such a text: a request as base64 has some hundred."""


class CaseFileError(ValueError):
    """A file is not a case file: the message names the file, the place inside it, and the expectation."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path


def parse(path: Path) -> Any:
    """Return the data in a case file.

    Raises:
        CaseFileError: the text is neither YAML nor JSON, or the suffix is neither of them.
        RecordError: a JSON object has a key twice, or a number is NaN or infinite.
        OSError: the file cannot be read.
    """
    check_suffix(path)
    try:
        text = read_text(path, LARGEST_CASE)
        if sum(map(text.count, _PARTS)) > MOST_PARTS:
            raise CaseFileError(
                path,
                f"expected at most {MOST_PARTS} lines, commas, dashes and brackets: many rows have a recipe",
            )
        if path.suffix == JSON:
            if nests_deeper(text.encode(errors="surrogatepass")):
                raise CaseFileError(path, TOO_DEEP)
            return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=_whole)
        return _load(text)
    except UnicodeDecodeError as error:
        raise CaseFileError(path, f"expected UTF-8 text but byte {error.start} is not") from None
    except json.JSONDecodeError as error:
        raise CaseFileError(path, f"line {error.lineno}: expected JSON, {error.msg}") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise CaseFileError(path, f"line {line}: expected YAML, {error.problem}") from None
    except yaml.YAMLError as error:
        raise CaseFileError(path, f"expected YAML, {' '.join(str(error).split())}") from None


def render(data: Any, suffix: str) -> str:
    """Return the text of ``data`` for a file with one of :data:`SUFFIXES`."""
    if suffix == JSON:
        return json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    text = _yaml(data, allow_unicode=True)
    # Texts that must not be printed as they are stand in double quotes, where each of their characters has an escape.
    return text if escaped(text) == text else escaped(_yaml(data, allow_unicode=False))


def _yaml(data: Any, *, allow_unicode: bool) -> str:
    return str(
        yaml.dump(
            data, Dumper=_Dumper, sort_keys=False, allow_unicode=allow_unicode, width=120, default_flow_style=None
        )
    )


def line_of(path: Path, keys: Sequence[str | int]) -> int | None:
    """Return the line of a YAML file on which the value at ``keys`` begins, or its nearest parent; None for JSON.

    The file is parsed again: lines are needed only for error messages, and the data has none.
    """
    if path.suffix == JSON:
        return None
    node: yaml.Node | None = yaml.compose(read_text(path, LARGEST_CASE), Loader=_Loader)
    line = 1
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            found = {name.value: (name, value) for name, value in node.value}.get(key)
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            found = (node.value[key], node.value[key])
        else:
            found = None
        if found is None:
            break
        line, node = found[0].start_mark.line + 1, found[1]
    return line


def check_suffix(path: Path) -> None:
    """Check that the suffix of a file is one of :data:`SUFFIXES`; raises :class:`CaseFileError` if not."""
    if path.suffix not in SUFFIXES:
        raise CaseFileError(path, f"expected the suffix {' or '.join(SUFFIXES)} but got {path.suffix!r}")


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
"""The types of an unquoted scalar other than text; NaN and infinities are texts in a case."""


class _Values(yaml.constructor.SafeConstructor, yaml.resolver.Resolver):
    """YAML whose plain scalars have the meaning that they have in JSON, and whose keys are unique."""

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


class _Loader(_Values, yaml.SafeLoader):
    """The parser in Python, whose errors are the same on every machine."""


def _load(text: str) -> Any:
    """The data in a YAML text; raises YAMLError.

    libyaml takes a fifth of the time, and every run reads two hundred files. A text that it refuses is read once more
    in Python, so that refusals and their texts do not depend on whether PyYAML was built with libyaml.
    """
    if yaml.__with_libyaml__ and _is_shallow(text):
        with contextlib.suppress(yaml.YAMLError):
            return yaml.load(text, Loader=_quick_loader())  # noqa: S506  # a SafeLoader with fewer types
    return yaml.load(text, Loader=_Loader)  # noqa: S506  # as above


def _is_shallow(text: str) -> bool:
    """Whether ``text`` cannot nest deeply: PyYAML recurses in C over what libyaml gives it, and would crash.

    A level needs a bracket of its own, or a column of its own: on one column a mapping and a list in it can begin.
    """
    brackets = text.count("[") + text.count("{")
    return brackets <= SHALLOW_BRACKETS and all(len(line) <= SHALLOW_COLUMNS for line in text.splitlines())


@functools.cache
def _quick_loader() -> type[yaml.CSafeLoader]:
    class Quick(_Values, yaml.CSafeLoader):
        """The parser in C; the class is made on demand, because PyYAML may lack it."""

    return Quick


class _Dumper(yaml.SafeDumper):
    """The writer for :class:`_Values`: it quotes texts that this loader, or a YAML 1.1 loader, would not read as
    text.
    """

    def ignore_aliases(self, _data: Any) -> bool:
        return True

    def represent_text(self, text: str) -> yaml.ScalarNode:
        return self.represent_scalar("tag:yaml.org,2002:str", text, style='"' if escaped(text) != text else None)


_Dumper.add_representer(str, _Dumper.represent_text)

for _class in (_Values, _Dumper):
    for _name, _pattern, _first in _SCALARS:
        _class.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", re.compile(f"^(?:{_pattern})$"), _first)


def _construct_float(loader: Any, node: yaml.ScalarNode) -> float:
    return float(loader.construct_scalar(node))


def _construct_int(loader: Any, node: yaml.ScalarNode) -> int:
    text = loader.construct_scalar(node)
    try:
        return int(text)
    except ValueError:
        problem = f"{_short()}, one of {len(text)} here"
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None


def _whole(text: str) -> int:
    """The whole number of a JSON text; raises RecordError for one with more digits than Python reads."""
    try:
        return int(text)
    except ValueError:
        raise RecordError("case", _short(), f"one of {len(text)}") from None


def _short() -> str:
    return f"a number of at most {sys.get_int_max_str_digits()} digits"


_Values.add_constructor("tag:yaml.org,2002:float", _construct_float)
_Values.add_constructor("tag:yaml.org,2002:int", _construct_int)
_Dumper.add_representer(float, lambda dumper, value: dumper.represent_scalar("tag:yaml.org,2002:float", repr(value)))
