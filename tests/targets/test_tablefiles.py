"""The files of a table all hold the rows of the case."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlglot

from conformance.records import AppendRows, BqType, Case, ChangeColumns, Column, CreateSession, Json, Table
from conformance.targets.tablefiles import FORMS, not_preloadable, write_tables
from tests.targets.conftest import case_of


def only(folder: Path, form: str) -> Path:
    """The one file of a form."""
    (path,) = folder.glob(f"*.{form}")
    return path


def test_every_form_has_the_rows(tmp_path: Path) -> None:
    """JSON, Arrow, Parquet and SQL agree; the index names the files."""
    write_tables([case_of(rows=3)], tmp_path, project="p", dataset="d")

    assert [json.loads(line) for line in only(tmp_path, "jsonl").read_text().splitlines()] == [
        {"a": "0"}, {"a": "1"}, {"a": "2"},
    ]  # fmt: skip
    assert json.loads(only(tmp_path, "schema.json").read_text()) == [{"name": "a", "type": "INT64", "mode": "NULLABLE"}]
    assert pa.ipc.open_file(only(tmp_path, "arrow")).read_all()["a"].to_pylist() == [0, 1, 2]
    assert pq.read_table(only(tmp_path, "parquet"))["a"].to_pylist() == [0, 1, 2]
    name = only(tmp_path, "jsonl").stem
    assert only(tmp_path, "create.sql").read_text() == f"CREATE TABLE `p`.`d`.`{name}` (\n  `a` INT64\n);\n"
    assert only(tmp_path, "insert.sql").read_text() == f"INSERT INTO `p`.`d`.`{name}` (`a`) VALUES (0), (1), (2);\n"
    index = json.loads((tmp_path / "index.json").read_text())
    assert index["tables"] == [
        {"table": name, "rows": 3, "files": [f"{name}.{form}" for form in FORMS], "cases": ["a-case"]}
    ]


def test_equal_tables_are_written_once(tmp_path: Path) -> None:
    """Many cases read the same rows."""
    cases = [case_of(case_id="one"), case_of(case_id="two"), case_of(case_id="three", rows=4)]

    assert write_tables(cases, tmp_path, project="p", dataset="d", forms=["jsonl"]) == (2, 0)
    index = json.loads((tmp_path / "index.json").read_text())
    assert [one["cases"] for one in index["tables"]] == [["one", "two"], ["three"]]


def test_what_parquet_lacks_is_left_out(tmp_path: Path) -> None:
    """INTERVAL has no form in Parquet; the other files are there."""
    table = Table((Column("i", BqType.INTERVAL),), rows=(Json({"i": {"months": 1, "days": 0, "micros": 0}}),))

    write_tables([Case("interval", "a title", table)], tmp_path, project="p", dataset="d")

    (written,) = json.loads((tmp_path / "index.json").read_text())["tables"]
    assert sorted(name.partition(".")[2] for name in written["files"]) == sorted(set(FORMS) - {"parquet"})


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (case_of(), ""),
        (case_of(AppendRows(1), CreateSession("s")), "it changes its table"),
        (case_of(ChangeColumns(drop=("a",)), CreateSession("s")), "it changes its table"),
        (Case("none", "a title", Table((), rows=(Json({}),))), "it has no BigQuery columns"),
    ],
)
def test_cases_that_need_another_way_are_named(tmp_path: Path, case: Case, reason: str) -> None:
    """The index says which cases no preloaded table can serve."""
    assert not_preloadable(case) == reason
    assert write_tables([case], tmp_path, project="p", dataset="d", forms=["jsonl"])[1] == bool(reason)
    left_out = json.loads((tmp_path / "index.json").read_text())["left_out"]
    assert left_out == ([{"case": case.id, "reason": reason}] if reason else [])


def test_statements_have_a_size(tmp_path: Path) -> None:
    """Many rows become several statements, all of which parse."""
    rows = tuple(Json({"s": "x" * 200_000}) for _ in range(9))
    write_tables(
        [Case("wide", "a title", Table((Column("s", BqType.STRING),), rows=rows))], tmp_path, project="p", dataset="d"
    )

    lines = only(tmp_path, "insert.sql").read_text().splitlines()

    assert len(lines) > 2
    assert max(map(len, lines)) < 1_000_000
    assert all(sqlglot.parse_one(line, dialect="bigquery") for line in lines)
