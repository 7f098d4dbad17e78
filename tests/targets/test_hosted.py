"""Servers in this process: the tables that are kept for new servers, and the clock."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from conformance.engine.corpus import load_corpus
from conformance.generate import materialise
from conformance.generate.materialise import to_json_rows
from conformance.protocols.storage_read.reference.hosted import storage_target
from conformance.records import BqType, Case, Column, Recipe, Table
from conformance.targets import hosted
from conformance.targets.hosted import _Seeds, rows_of
from conformance.targets.ticks import BEGIN

SIZES = {"small": 3, "large": 9, "other": 3, "last": 3}


class _Server:
    """A server without tables."""

    handlers = answering = None

    def listen(self) -> tuple[str, str]:
        """It does not."""
        return "", ""

    def stop(self) -> None:
        """There is nothing to stop."""

    def kept(self) -> object:
        """Nothing."""
        return None

    def restore(self, kept: object) -> None:
        """Have nothing."""


def test_cases_that_come_in_turn_find_their_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where not all can be kept, the largest one is made each time, and the others once."""
    monkeypatch.setattr(hosted, "MOST_BYTES", 10)
    seeds, made = _Seeds(), Counter[str]()

    def make(case: str) -> Any:
        made[case] += 1
        return SimpleNamespace(table=SimpleNamespace(sent=SIZES[case]))

    for _ in range(3):
        for case in SIZES:
            server: Any = _Server()
            seeds.remember(server, case, lambda case=case: make(case), lambda _one: True)  # type: ignore[misc]

    assert made == {"small": 1, "large": 3, "other": 1, "last": 1}


def snapshot() -> Case:
    """A case that reads a table as it was at a time."""
    return next(case for case in load_corpus().values() if case.id.startswith("snapshot."))


def test_by_the_clock_of_the_machine_tables_are_of_its_time() -> None:
    """A table that a server by the other clock had would not exist yet."""
    case = snapshot()
    table = materialise(case.table)
    with closing(storage_target()) as still, closing(storage_target(still=False)) as moving:
        before, after = (target.drive(case, table) for target in (still, moving))

    assert before.now == BEGIN
    assert after.now != BEGIN
    assert {call.status for call in before.calls} == {call.status for call in after.calls} == {"OK"}


def test_a_table_that_is_brought_back_needs_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of a recipe are made in JSON for the server that is filled, and not for the next one."""
    made: list[pa.Table] = []

    def counted(table: pa.Table, columns: Sequence[Column]) -> list[Any]:
        made.append(table)
        return to_json_rows(table, columns)

    monkeypatch.setattr(hosted, "to_json_rows", counted)
    monkeypatch.setattr(hosted, "_SEEDS", _Seeds())
    case = next(case for case in load_corpus().values() if case.id == "shapes.rows-63")
    table = materialise(case.table)
    with closing(storage_target()) as target:
        first, second = (target.drive(case, table) for _ in range(2))

    assert first == second
    assert len(made) == 1


def test_rows_of_one_recipe_are_equal() -> None:
    """They are compared without being made; those of other columns differ."""
    table = Table((Column("n", BqType.INT64),), recipe=Recipe(rows=3))
    other = dataclasses.replace(table, columns=(Column("m", BqType.INT64),))
    cases = [dataclasses.replace(snapshot(), table=one) for one in (table, table, other)]
    one, same, another = (rows_of(case, materialise(case.table)) for case in cases)

    assert one == same
    assert one != another
    assert len(one) == len(list(one)) == 3
