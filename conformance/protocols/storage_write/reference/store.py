"""The tables of the reference: columns, and the rows that a reader sees."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Final

import pyarrow as pa

from conformance.contract.mapping import arrow_schema
from conformance.records import Column
from conformance.reference.tokens import Tokens

__all__ = ["Store", "WrittenTable", "named_table"]

_TABLE: Final = re.compile(r"(projects/[^/]+/datasets/[^/]+/tables/[^/]+)(?:/streams/([^/]+)|/(_default))?")


def named_table(name: str) -> tuple[str, str] | None:
    """The table that the name of a table or stream is about, and the id of the stream; None for another form."""
    match = _TABLE.fullmatch(name)
    return None if match is None else (match[1], match[2] or match[3] or "")


@dataclasses.dataclass(slots=True)
class WrittenTable:
    """A table: ``chunks`` are the rows that are visible, in the order in which they became so."""

    columns: tuple[Column, ...]
    chunks: list[pa.Table] = dataclasses.field(default_factory=list)

    @property
    def rows(self) -> pa.Table:
        """The visible rows."""
        schema = arrow_schema(self.columns)
        return pa.concat_tables(self.chunks) if self.chunks else schema.empty_table()


class Store:
    """The tables by their resource names. ``now`` gives microseconds since the Unix epoch, ``tokens`` opaque words."""

    def __init__(self, now: Callable[[], int], tokens: Tokens) -> None:
        self.now: Final = now
        self.token: Final = tokens
        self.datasets: set[tuple[str, str]] = set()
        self.tables: dict[str, WrittenTable] = {}

    def make(self, resource: str, columns: Sequence[Column]) -> bool:
        """Make an empty table; False if there is one of that name."""
        if resource in self.tables:
            return False
        self.tables[resource] = WrittenTable(tuple(columns))
        return True

    def kept(self) -> tuple[frozenset[tuple[str, str]], dict[str, WrittenTable]]:
        """The tables, for :meth:`restore` of another store."""
        copied = {name: WrittenTable(one.columns, list(one.chunks)) for name, one in self.tables.items()}
        return frozenset(self.datasets), copied

    def restore(self, kept: tuple[frozenset[tuple[str, str]], dict[str, WrittenTable]]) -> None:
        """Have these tables and no others."""
        self.datasets = set(kept[0])
        self.tables = {name: WrittenTable(one.columns, list(one.chunks)) for name, one in kept[1].items()}
