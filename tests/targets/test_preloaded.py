"""A preloaded table serves exactly the cases whose rows it has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.records import BqType, Column
from conformance.targets import TargetError
from conformance.targets.preloaded import PreloadedWay
from conformance.targets.seeding import Seeder
from conformance.targets.tablefiles import write_tables
from conformance.targets.targeterrors import CannotSeed
from tests.targets.conftest import case_of

CASE = case_of(rows=3)
ROWS: list[dict[str, Any]] = [{"a": 0}, {"a": 1}, {"a": 2}]


@pytest.fixture
def seeder(tmp_path: Path) -> Seeder:
    """A seeder of the tables of one case."""
    write_tables([CASE], tmp_path, project="p", dataset="d")
    return Seeder([PreloadedWay(tmp_path, "x_{table}_y")], project="p", dataset="d", listed=None)


def test_a_table_is_found_by_its_content(seeder: Seeder, tmp_path: Path) -> None:
    """Whatever the case is called, and every time, it is the table with these columns and rows."""
    names = {seeder.seed(case, CASE.table.columns, ROWS, withheld=0).names.table for case in ("one", "one", "two")}

    assert len(names) == 1
    assert (tmp_path / f"{names.pop().removeprefix('x_').removesuffix('_y')}.jsonl").exists()


@pytest.mark.parametrize(
    ("columns", "rows", "withheld", "said"),
    [
        (CASE.table.columns, [{"a": 0}, {"a": 1}, {"a": 3}], 0, "is not in "),
        ((Column("a", BqType.FLOAT64),), ROWS, 0, "is not in "),
        ((Column("b", BqType.INT64),), ROWS, 0, "is not in "),
        (CASE.table.columns, ROWS, 1, "a preloaded table cannot be appended to, and the case does that"),
    ],
)
def test_any_other_table_is_untestable(
    seeder: Seeder, columns: tuple[Column, ...], rows: list[dict[str, Any]], withheld: int, said: str
) -> None:
    """A table of another version of the suite, or one that has to grow, is never taken for the case's."""
    with pytest.raises(CannotSeed, match=said):
        seeder.seed("case", columns, rows, withheld=withheld)


@pytest.mark.parametrize(
    ("index", "said"),
    [
        (None, "cannot read the index of preloaded tables: No such file or directory"),
        ("{", "expected the index that `conformance tables` writes"),
        ("[]", "expected the index that `conformance tables` writes"),
        ('{"tables": [1]}', "expected the index that `conformance tables` writes"),
        ('{"tables": {"a": 1}}', "expected the index that `conformance tables` writes"),
    ],
)
def test_a_directory_without_an_index_is_one_sentence(tmp_path: Path, index: str | None, said: str) -> None:
    """The sentence names the file."""
    if index is not None:
        (tmp_path / "index.json").write_text(index)

    with pytest.raises(TargetError) as raised:
        PreloadedWay(tmp_path, "{table}")

    assert str(raised.value) == f"{tmp_path / 'index.json'}: {said}"
