"""Seeding by tables that are in the server already: ``conformance tables`` wrote them, and their owner loaded them.

The index says which tables were written. The name of each is made from its columns and rows, so that a table of another
version of the suite is never taken for this one; a case whose table is not in the index is untestable.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from conformance.contain.parse import ForeignJsonError, parse_object
from conformance.disk.files import LARGEST_TEXT, read_whole
from conformance.targets.names import Names
from conformance.targets.seeds import Row, SeededTable, content_id
from conformance.targets.targeterrors import CannotSeed, TargetError

__all__ = ["INDEX", "PreloadedWay", "read_index"]

INDEX: Final = "index.json"
"""The name of the index in the directory that ``conformance tables`` writes."""
VALUES: Final = 2_000_000

_APPENDED: Final = "a preloaded table cannot be appended to, and the case does that"


class PreloadedWay:
    """Finds tables by ``pattern``, in which ``{table}`` is the name that the index in ``folder`` has.

    Raises:
        TargetError: there is no such index.
    """

    own = False

    def __init__(self, folder: Path, pattern: str) -> None:
        self._folder = folder
        self._pattern = pattern
        self._names = read_index(folder)

    def make(self, table: SeededTable, first: Sequence[Row], until: float) -> None:  # noqa: ARG002  # one signature
        """Find the table that holds exactly the rows of the case."""
        if len(first) < len(table.rows):
            raise CannotSeed(_APPENDED)
        name = content_id(table.columns, table.rows)
        if name not in self._names:
            raise CannotSeed(f"the table {name} is not in {self._folder / INDEX}: write and load the tables again")
        table.names = dataclasses.replace(table.names, table=self._pattern.replace("{table}", name))

    def append(self, table: SeededTable, more: Sequence[Row], until: float) -> None:  # noqa: ARG002  # as above
        """Refuse, as :meth:`make` does before."""
        raise CannotSeed(_APPENDED)

    def drop(self, names: Names) -> None:
        """Nothing: the table is not the suite's."""

    def close(self, *, grace: float) -> None:
        """Nothing was started."""


def read_index(folder: Path) -> frozenset[str]:
    """The names of the tables that were written to ``folder``; raises :class:`TargetError`."""
    path = folder / INDEX
    try:
        tables: Any = parse_object(read_whole(path, LARGEST_TEXT), values=VALUES)["tables"]
        return frozenset(str(one["table"]) for one in tables)
    except OSError as error:
        raise TargetError(f"{path}: cannot read the index of preloaded tables: {error.strerror}") from None
    except (ForeignJsonError, KeyError, TypeError, json.JSONDecodeError):
        raise TargetError(f"{path}: expected the index that `conformance tables` writes") from None
