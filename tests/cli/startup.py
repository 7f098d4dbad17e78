"""What a module imports, directly and through others, when it is imported: found in the sources, without a process."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def imported_by(module: str) -> set[str]:
    """The names of all modules that importing ``module`` imports; for modules of others, of these alone."""
    seen: set[str] = set()
    left = [module]
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            package, dot, _ = name.rpartition(".")
            left += [package] if dot else []
            left += _direct(name)
    return seen


def _source(module: str) -> Path | None:
    place = ROOT.joinpath(*module.split("."))
    return next((path for path in (place / "__init__.py", place.with_suffix(".py")) if path.is_file()), None)


@functools.cache
def _direct(module: str) -> frozenset[str]:
    path = _source(module)
    found: set[str] = set()
    for statement in _run_at_import(ast.parse(path.read_text("utf-8")).body) if path is not None else ():
        if isinstance(statement, ast.Import):
            found |= {alias.name for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom) and statement.module is not None:
            members = {f"{statement.module}.{alias.name}" for alias in statement.names}
            found |= {statement.module, *(name for name in members if _source(name) is not None)}
    return frozenset(found)


def _run_at_import(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement that runs when the module is imported: none of a function, none for the type checker."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            continue
        yield statement
        for part in ("body", "orelse", "finalbody"):
            yield from _run_at_import(getattr(statement, part, []))
        for handler in getattr(statement, "handlers", []):
            yield from _run_at_import(handler.body)
