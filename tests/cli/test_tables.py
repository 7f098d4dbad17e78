"""``conformance tables`` writes what a run of the same selection reads."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.typed import conformance_


def index(folder: Path) -> dict[str, list[str]]:
    """The cases of each table."""
    return {one["table"]: one["cases"] for one in json.loads((folder / "index.json").read_text())["tables"]}


def test_the_tables_of_a_selection_are_written(tmp_path: Path) -> None:
    """With them come those that every run asks for first; one form alone can be chosen."""
    result = conformance_("tables", "--out", str(tmp_path), "--select", "shapes.one-row", "--form", "jsonl")

    assert result.exit_code == 0
    cases = {case for cases in index(tmp_path).values() for case in cases}
    assert cases == {"shapes.one-row", "rows.one-row", "session.plain", "types.int64"}
    assert {path.suffix for path in tmp_path.glob("t_*")} == {".jsonl"}
    assert result.output.endswith(f"tables in {tmp_path}, for 4 cases\n")


def test_generated_tables_are_those_of_a_run_with_the_seed(tmp_path: Path) -> None:
    """The same seed gives the same names, and another one others."""
    names = []
    for at, seed in enumerate(("7", "7", "8")):
        folder = tmp_path / str(at)
        options = ("--select", "shapes.one-row", "--form", "schema.json", "--cases", "3", "--seed", seed)
        assert conformance_("tables", "--out", str(folder), *options).exit_code == 0
        names.append(set(index(folder)))

    assert names[0] == names[1] != names[2]


def test_cases_that_need_another_way_are_counted(tmp_path: Path) -> None:
    """The last line says how many, and where the reasons are."""
    result = conformance_("tables", "--out", str(tmp_path), "--select", "snapshot.new-session", "--form", "jsonl")

    assert result.output.endswith(f"1 case cannot be preloaded; {tmp_path / 'index.json'} says why\n")
