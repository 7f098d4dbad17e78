"""The table of a target file about what only servers of one protocol have."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from conformance.protocol import plugins

__all__ = ["OwnTable", "TablePlugin", "own_tables"]


class OwnTable:
    """The content of such a table, a record. ``TAG`` is the name of the table: the kind of these servers."""

    __slots__ = ()

    TAG: ClassVar[str]


@dataclasses.dataclass(frozen=True, slots=True)
class TablePlugin:
    """A protocol in target files: ``kind`` is the class of its table."""

    LAYER: ClassVar[str] = "table"

    kind: type[OwnTable]


def own_tables() -> tuple[type[OwnTable], ...]:
    """The classes of the tables of all protocols that have one."""
    return tuple(one.kind for one in plugins(TablePlugin).values())
