"""``[tool.conformance]`` in the ``pyproject.toml`` of the current directory: defaults for options that are left out.

A repository may come from elsewhere, and a target file starts programs. So the table names a running server by its URL,
or a target that ships with the suite, and never a file: only the user does that, with ``--target``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from conformance.contain.parse import parse_toml
from conformance.contain.text import representation, safe

__all__ = ["PROJECT_FILE", "ProjectFileError", "defaults_of"]

PROJECT_FILE: Final = Path("pyproject.toml")
LONGEST: Final = 1 << 20
"""The largest file in bytes that is read."""
_LISTS: Final = ("select", "reader")
_KEYS: Final = ("target", *_LISTS, "readers")
_JUDGING: Final = "run"
"""The command that takes all keys; the others that speak to a target take ``target`` alone."""
COMMANDS: Final = frozenset({_JUDGING, "replay", "extract"})


class ProjectFileError(Exception):
    """The table cannot be used; the text is one sentence."""


def defaults_of(command: str) -> dict[str, Any]:
    """The defaults of a command by the names of its options; empty without a table.

    Raises:
        ProjectFileError: the file or the table is not as expected.
    """
    if command not in COMMANDS or not PROJECT_FILE.is_file():
        return {}
    with PROJECT_FILE.open("rb") as opened:
        content = opened.read(LONGEST + 1)
    if b"conformance" not in content:
        return {}
    if len(content) > LONGEST:
        raise ProjectFileError(f"{PROJECT_FILE}: expected at most {LONGEST >> 20} MiB but got more")
    try:
        table = parse_toml(content.decode("utf-8")).get("tool", {}).get("conformance", {})
    except (ValueError, RecursionError, AttributeError) as error:
        raise ProjectFileError(f"{PROJECT_FILE}: expected TOML: {safe(str(error))}") from None
    _check(table)
    if "target" in table:
        table["target"] = _target(table["target"])
    return {key: value for key, value in table.items() if key == "target" or command == _JUDGING}


def _check(table: Any) -> None:
    if not isinstance(table, dict) or (strange := sorted(set(table) - set(_KEYS))):
        found = f" but got {safe(strange[0], 80)!r}" if isinstance(table, dict) else ""
        raise ProjectFileError(f"{PROJECT_FILE}: [tool.conformance] may have {', '.join(_KEYS)}{found}")
    for key, value in table.items():
        if key in _LISTS and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
            raise ProjectFileError(f"{PROJECT_FILE}: tool.conformance.{key}: expected a list of globs")
        if key == "readers" and not isinstance(value, bool):
            raise ProjectFileError(f"{PROJECT_FILE}: tool.conformance.readers: expected true or false")


def _target(given: object) -> str:
    """The URL, or the path of the shipped target: a file of that name in the current directory is not meant."""
    from conformance.targets.shipped import shipped_targets  # noqa: PLC0415  # most calls have no table
    from conformance.targets.urls import is_url  # noqa: PLC0415  # as above

    if isinstance(given, str) and is_url(given):
        return given
    if isinstance(given, str) and (shipped := shipped_targets().get(given)) is not None:
        return str(shipped)
    raise ProjectFileError(
        f"{PROJECT_FILE}: tool.conformance.target: expected a URL, or a name of `conformance list targets`, but got"
        f" {safe(representation(given), 80)}; a target file starts programs, so only --target names one"
    )
