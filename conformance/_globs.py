"""Names that globs match: ids of clauses, variables, folders."""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Iterable

__all__ = ["matches"]


def matches(name: str, globs: Iterable[str]) -> bool:
    """True if one of the globs matches the name, as :func:`fnmatch.fnmatchcase` does."""
    return _expression(tuple(globs)).match(name) is not None


@functools.lru_cache(maxsize=4096)
def _expression(globs: tuple[str, ...]) -> re.Pattern[str]:
    """Return one expression for all globs: each exchange compares several hundred clauses with those of its case.

    Without a glob, it matches nothing.
    """
    return re.compile("|".join(map(fnmatch.translate, globs)) or "(?!)")
