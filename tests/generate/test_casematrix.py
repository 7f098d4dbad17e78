"""A file of many cases: what it expands to, what it refuses, and that the suite's own gives the cases that it gave."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conformance.generate import CaseFileError, load_case, load_cases, load_file, save_case
from conformance.generate.casematrix import CaseMatrix, expand
from conformance.records import from_json, to_json

CASES = Path(__file__).parents[2] / "cases"
PINNED = Path(__file__).with_name("types.sha256")
MATRIX: dict[str, Any] = {
    "case": {
        "id": "t.$name$suffix",
        "title": "A title of $name",
        "table": {
            "columns": [{"name": "n", "type": "INT64"}, {"name": "v", "type": "$type", "mode": "$mode"}],
            "values": "$values",
        },
        "clauses": ["values.nulls", "$observes"],
    },
    "defaults": {"observes": ["types.$name"]},
    "matrix": {
        "mode": {"NULLABLE": {"suffix": ""}, "REPEATED": {"suffix": "-repeated"}, "REQUIRED": {"suffix": "-required"}},
        "name": {
            "int64": {"type": "INT64", "values": [[1], [2, 3]]},
            "bool": {"type": "BOOL", "values": [[True]], "observes": ["a.b", "values.nulls"]},
        },
    },
}
TEXT = """\
case:
  id: t.$name
  title: $title
  table: {columns: [{name: v, type: INT64}], rows: [{v: $cell}]}
matrix:
  name:
    one: {title: One, cell: 1}
    two: {title: Two, cell: 2}
"""


def expanded(**changes: Any) -> dict[str, Any]:
    """The cases of the matrix above, with other parts, by id."""
    return {case["id"]: case for _, case in expand(from_json(CaseMatrix, MATRIX | changes))}


def test_every_combination_is_a_case() -> None:
    """Entries of each table are combined with all others; names and parameters are put into their places."""
    cases = expanded()

    assert list(cases) == [
        *("t.int64", "t.bool"),
        *("t.int64-repeated", "t.bool-repeated"),
        *("t.int64-required", "t.bool-required"),
    ]
    assert cases["t.bool"]["title"] == "A title of bool"
    assert cases["t.bool-repeated"]["table"]["columns"][1] == {"name": "v", "type": "BOOL", "mode": "REPEATED"}


def test_an_entry_goes_before_a_default() -> None:
    """Clauses are one list, sorted, each once, wherever they come from."""
    cases = expanded()

    assert cases["t.int64"]["clauses"] == ["types.int64", "values.nulls"]
    assert cases["t.bool"]["clauses"] == ["a.b", "values.nulls"]


def test_values_become_rows_by_the_mode() -> None:
    """Lists as they are between two empty ones; or value by value, and NULL at the end where there may be one."""
    cases = expanded()

    rows = {name: [row["v"] for row in cases[name]["table"]["rows"]] for name in cases}
    assert rows["t.int64"] == [1, 2, 3, None]
    assert rows["t.int64-required"] == [1, 2, 3]
    assert rows["t.int64-repeated"] == [[], [1], [2, 3], []]
    assert [row["n"] for row in cases["t.int64"]["table"]["rows"]] == [0, 1, 2, 3]
    assert all("values" not in case["table"] for case in cases.values())


def test_combine_says_what_goes_together() -> None:
    """A table that is left out goes in with all its entries."""
    cases = expanded(combine=[{"mode": ["NULLABLE", "REPEATED"]}, {"name": ["bool"], "mode": ["REQUIRED"]}])

    assert list(cases) == ["t.int64", "t.bool", "t.int64-repeated", "t.bool-repeated", "t.bool-required"]


def test_a_value_keeps_its_kind_and_a_text_takes_it_in() -> None:
    """Alone, a parameter gives its value; inside a text, its text; two dollar signs are one."""
    case = {"id": "x.$k", "title": "$$5 for $n of $k", "table": {"columns": "$list", "rows": [{"a": "$n"}]}}
    tables = {"k": {"one": {"n": 7, "list": ["$n", {"deep": "$k"}]}}}

    (made,) = (one for _, one in expand(from_json(CaseMatrix, {"case": case, "matrix": tables})))

    assert made == {
        "id": "x.one",
        "title": "$5 for 7 of one",
        "table": {"columns": [7, {"deep": "one"}], "rows": [{"a": 7}]},
    }


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
def test_a_matrix_is_a_file_of_cases(tmp_path: Path, suffix: str) -> None:
    """In either form; its path begins the ids of its cases, and one of them can be saved as a file of its own."""
    path = tmp_path / f"t{suffix}"
    path.write_text(json.dumps(MATRIX), encoding="utf-8")  # JSON is YAML as well

    cases = load_cases(tmp_path)
    assert [case.id for case in cases] == sorted(expanded())

    save_case(cases[0], tmp_path / "other" / "copy.yaml")
    assert load_case(tmp_path / "other" / "copy.yaml") == cases[0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("cell: 2", "cell: x", "name two (line 8): Case.table.rows[0].v: expected an integer of 64 bits but got 'x'"),
        ("cell: 2", "cel: 2", "name two (line 8): case.table.rows[0].v: expected a parameter after $, one of cel, na"),
        ("cell: 2", "cell: 2, c: 3", "line 8: Matrix.matrix.name.two.c: expected a parameter that a case uses but g"),
        ("cell: 2", "cell: $cell", "name two (line 8): $cell: expected a value that does not need itself ($cell)"),
        ("cell: 2", "name: 2", "line 6: Matrix.matrix.name: expected a name that is not also the name of a table"),
        ("$title", "a $title", "name one (line 7): case.title: expected a text or an integer in $title, because it "),
        ("$title", "5 $", "name one (line 7): case.title: expected the name of a parameter after $, or $$ for a dolla"),
        ("matrix:", "defaults: {d: 1}\nmatrix:", "line 5: Matrix.defaults.d: expected a default that a case uses"),
        ("matrix:", "combine: [{name: [three]}]\nmatrix:", "line 5: Matrix.combine[0].name: expected entries among"),
        ("matrix:", "combine: [{name: [one]}]\nmatrix:", "line 9: Matrix.matrix.name.two: expected an entry that a c"),
        ("matrix:", "combine: [{mode: [one]}]\nmatrix:", "line 5: Matrix.combine[0]: expected tables among name"),
        ("matrix:", "combine:\n- {}\n- {}\nmatrix:", "line 7: Matrix.combine[1]: expected each combination of entri"),
        ("matrix:", "cases: []\nmatrix:", "line 5: Matrix.cases: expected one of the keys case, matrix, defaults, c"),
        ("rows: [{v: $cell}]", "values: [$cell]", "name one (line 7): case.table.columns: expected two columns"),
        ("  name:\n", "  name: {}\n  a-b:\n", "line 5: Matrix.matrix: expected at least one table, and an entry in"),
        ("rows: [{v: $cell}]", "rows: &a [$cell, *a]", "name one (line 7): case: expected values that are nested less"),
        ("  name:\n", "  a-b:\n", "line 1: Matrix: expected names of tables and parameters of letters, digits and un"),
    ],
)
def test_what_is_wrong_is_named_with_line_and_entry(tmp_path: Path, old: str, new: str, message: str) -> None:
    """One sentence: file, line, the combination where it is about one, the place in it, and what was expected."""
    path = tmp_path / "t.yaml"
    text = TEXT.replace(old, new).replace("title: One", "title: [One]" if "a $title" in new else "title: One")
    path.write_text(text)

    with pytest.raises(CaseFileError) as caught:
        load_file(path)

    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


def test_growth_by_powers_is_refused(tmp_path: Path) -> None:
    """Twenty tables of ten entries, parameters that each name the one before twice, lists of references to lists."""
    tables = {f"t{table}": {f"e{entry}": {} for entry in range(10)} for table in range(20)}
    doubled = {f"p{number + 1}": f"$p{number}$p{number}" for number in range(40)}
    case = {"id": "t.$p40", "title": "T"}

    with pytest.raises(ValueError, match="at most 10000 combinations but got 1000000000000"):
        list(expand(from_json(CaseMatrix, {"case": case, "matrix": tables})))
    (tmp_path / "t.json").write_text(
        json.dumps({"case": case, "defaults": doubled, "matrix": {"p0": {"x": {}}}}), encoding="utf-8"
    )
    with pytest.raises(CaseFileError, match="at most 10000 parameters in a case"):
        load_file(tmp_path / "t.json")
    lists = ["  a0: &a0 [x]", *(f"  a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10))]
    (tmp_path / "t.yaml").write_text("\n".join(["defaults:", *lists, "case: $a9", "matrix: {name: {one: {}}}"]))
    with pytest.raises(CaseFileError, match="at most 1000000 values in a case"):
        load_file(tmp_path / "t.yaml")


def test_one_case_is_asked_for_by_its_id(tmp_path: Path) -> None:
    """The path of a matrix names no single case: the sentence says how one is named."""
    (tmp_path / "t.yaml").write_text(TEXT)

    with pytest.raises(
        CaseFileError, match=r"expected one case, but this is a matrix of 2; name one by its id \(t\.one"
    ):
        load_case(tmp_path / "t.yaml")


def test_ids_begin_with_the_path_and_are_there_once(tmp_path: Path) -> None:
    """An id that is not below the file's path is refused, and one that another file has."""
    (tmp_path / "u.yaml").write_text(TEXT)
    with pytest.raises(CaseFileError, match=r"Case\.id: expected 'u\.', the file's path, at its beginning, but got 't"):
        load_cases(tmp_path)

    (tmp_path / "u.yaml").write_text(TEXT.replace("t.$name", "u.$name").replace("    two: {title: Two, cell: 2}\n", ""))
    assert [case.id for case in load_cases(tmp_path)] == ["u.one"]

    (tmp_path / "u.yaml").unlink()
    (tmp_path / "t.yaml").write_text(TEXT)
    (tmp_path / "t").mkdir()
    save_case(load_file(tmp_path / "t.yaml")[1], tmp_path / "t" / "two.yaml")
    with pytest.raises(CaseFileError, match=r"expected each id once, but .*t\.yaml has 't\.two' too|has 't\.two' too"):
        load_cases(tmp_path)


def test_a_matrix_fits_the_schema_of_case_files() -> None:
    """The published schema is one for both forms, and refuses a misspelt key in a matrix."""
    validator = jsonschema.Draft202012Validator(json.loads((CASES / "case.schema.json").read_text("utf-8")))

    validator.validate(MATRIX)
    validator.validate(to_json(load_file(CASES / "rows" / "plain.yaml")[0]))
    assert not validator.is_valid(MATRIX | {"combined": []})


def test_the_types_are_the_cases_that_they_were() -> None:
    """The matrix of types gives the records that the files before it gave, by the digests of their JSON."""
    made = [
        f"{hashlib.sha256(json.dumps(to_json(case), ensure_ascii=False).encode()).hexdigest()}  {case.id}"
        for case in sorted(load_file(CASES / "types.yaml"), key=lambda case: case.id)
    ]

    assert made == PINNED.read_text("utf-8").splitlines()


def test_the_guide_shows_a_matrix(tmp_path: Path) -> None:
    """The matrix in cases/README.md makes the four cases that it names."""
    shown = (CASES / "README.md").read_text("utf-8").split("```yaml\n")[2].split("```")[0]
    (tmp_path / "types.yaml").write_text(shown, encoding="utf-8")

    cases = load_cases(tmp_path)

    assert [case.id for case in cases] == ["types.bool", "types.bool-repeated", "types.date", "types.date-repeated"]
