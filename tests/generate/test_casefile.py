from __future__ import annotations

import fnmatch
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.generate import (
    CaseFileError,
    draw_case,
    explicit,
    load_case,
    load_cases,
    load_file,
    materialise,
    save_case,
)
from conformance.generate.casefile import case_files
from conformance.generate.caseschema import case_schema
from conformance.generate.casetext import parse
from conformance.records import BqType, Case, Column, Json, Mode, Table, to_json

CASES = Path(__file__).parents[2] / "cases"
FILES = case_files(CASES)
SMALL = Case("a.b", "A title", Table((Column("a", BqType.INT64),), rows=(Json({"a": 1}),)))


@pytest.fixture(scope="module")
def validator() -> Any:
    """The published schema of case files."""
    return jsonschema.Draft202012Validator(json.loads((CASES / "case.schema.json").read_text("utf-8")))


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    """Every named case."""
    return load_cases(CASES)


def test_every_case_file_loads(cases: list[Case]) -> None:
    """Every file below cases/ holds a case or more under the id of its path, and there are many."""
    assert len(cases) == sum(len(load_file(path)) for path in FILES)
    assert len({case.id for case in cases}) >= 60


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(CASES)))
def test_case_file_is_sound(path: Path, validator: Any) -> None:
    """A case fits the schema, says what it is for, and has rows that can be made."""
    for case in load_file(path):
        validator.validate(to_json(case))
        assert case.title[0].isupper()
        assert not case.title.endswith(".")
        assert case.clauses
        assert not case.source or case.source.startswith("https://")
        assert materialise(case.table).num_columns == len(case.table.columns)


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".yaml"], ids=lambda path: path.stem)
def test_other_yaml_readers_read_the_same(path: Path) -> None:
    """A common YAML reader finds in a file what ours does: nothing hangs on our reading of plain scalars."""
    data = yaml.load(path.read_text("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))

    assert _texts(data) == _texts(parse(path))


def _texts(data: Any) -> Any:
    """Data with its numbers as floats: YAML 1.1 takes ``5e-324`` for text."""
    if isinstance(data, dict):
        return {key: _texts(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_texts(item) for item in data]
    if isinstance(data, bool) or data is None:
        return data
    try:
        return repr(float(data))
    except ValueError:
        return data


def test_every_type_and_mode_has_a_case(cases: list[Case]) -> None:
    """No type is without a named case, alone and REPEATED."""
    types = [case for case in cases if case.id.startswith("types.")]

    seen = {(column.type, column.mode) for case in types for column in case.table.columns}

    assert {(kind, mode) for kind in BqType for mode in Mode} <= seen


def test_cases_name_clauses_that_exist(cases: list[Case]) -> None:
    """Every clause, or glob over clauses, that a case is there to observe matches one in the register."""
    load_chapters()

    dead = [(case.id, glob) for case in cases for glob in case.clauses if not fnmatch.filter(CLAUSES, glob)]
    assert dead == []


def test_schema_is_a_schema() -> None:
    """The schema is valid under its own draft."""
    jsonschema.Draft202012Validator.check_schema(case_schema())


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
@pytest.mark.parametrize("profile", ["arrow", "server"])
def test_saved_cases_load_as_they_were(tmp_path: Path, suffix: str, profile: str, validator: Any) -> None:
    """A case saved in either form is the same case when loaded, as a recipe and written out."""
    for index in range(15):
        drawn = draw_case(11, index, profile=profile)
        for case in (drawn, explicit(drawn) if materialise(drawn.table).num_rows < 70 else drawn):
            path = tmp_path / f"case{suffix}"
            save_case(case, path)

            assert repr(load_case(path)) == repr(case)
            validator.validate(to_json(case))


HEAD = "id: a.b\ntitle: T\ntable:\n  columns: [{name: a, type: INT64}, {name: t, type: STRING}]\n  rows: "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id: [", "line 1: expected YAML, expected the node content, but found '<stream end>'"),
        ("- 1\n", "Case: expected an object (Case) but got [1] (list)"),
        ("id: a.b\nid: c\n", "line 2: expected YAML, each key once and a text, 'id' here"),
        ("id: a.b\n1: c\n", "line 2: expected YAML, each key once and a text, 1 here"),
        ("id: a.b\nname: x\n", "Case.name: expected one of the keys id, title, table, steps, clauses, needs, "),
        (HEAD + "[{a: x}]\n", "Case.table.rows[0].a: expected an integer of 64 bits but got 'x' (str)"),
        (HEAD + "[{b: 1}]\n", "Case.table.rows[0].b: expected one of the columns a, t but got 'b' (str)"),
        (
            HEAD + "[]\nsteps: [{op: read-rows}]\n",
            "Case.steps[0].session: expected the label of an earlier create-session step but got 's' (str)",
        ),
    ],
)
def test_wrong_file_is_named_with_the_place(tmp_path: Path, text: str, message: str) -> None:
    """A file that is no case is refused with one sentence: file, place, what was expected."""
    path = tmp_path / "case.yaml"
    path.write_text(text)

    with pytest.raises(CaseFileError) as caught:
        load_case(path)

    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1: expected JSON, Expecting property name enclosed in double quotes"),
        ('{"id": NaN}', "case: expected a number, or the text \"NaN\" in quotes but got 'NaN' (str)"),
        ('{"id": "a", "id": "b"}', "id: expected each key once but got 'id' (str)"),
    ],
)
def test_wrong_json_is_named_with_the_place(tmp_path: Path, text: str, message: str) -> None:
    """A JSON file that is no JSON, or JSON that Python alone would take, is refused with the place."""
    path = tmp_path / "case.json"
    path.write_text(text)

    with pytest.raises(CaseFileError) as caught:
        load_case(path)

    assert str(caught.value) == f"{path}: {message}"


@pytest.mark.parametrize("rows", [1_000_000_000, 10**30])
def test_recipe_of_too_heavy_a_table_is_refused(tmp_path: Path, rows: int) -> None:
    """The weight follows from the recipe: no row is made to find out."""
    path = tmp_path / "case.yaml"
    columns = "[{name: a, type: INT64}]"
    path.write_text(f"id: a.b\ntitle: T\ntable:\n  columns: {columns}\n  recipe: {{rows: {rows}, seed: 1}}\n")

    with pytest.raises(CaseFileError, match=r"Case\.table\.recipe: expected .*1024 MiB, but 10+ rows .* MiB"):
        load_case(path)


def test_recipe_of_too_many_rows_is_refused(tmp_path: Path) -> None:
    """A row takes memory while it is sent, however little its values weigh."""
    path = tmp_path / "case.yaml"
    columns = "[{name: a, type: INT64}]"
    path.write_text(f"id: a.b\ntitle: T\ntable:\n  columns: {columns}\n  recipe: {{rows: 1000001, seed: 1}}\n")

    with pytest.raises(
        CaseFileError, match=r"Case\.table\.recipe\.rows: expected at most 1000000 rows but got 1000001"
    ):
        load_case(path)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    """A file that is not UTF-8 is refused with the byte that is not."""
    path = tmp_path / "case.yaml"
    path.write_bytes(b"id: \xff")

    with pytest.raises(CaseFileError, match="expected UTF-8 text but byte 4 is not"):
        load_case(path)


@pytest.mark.parametrize("action", [load_case, lambda path: save_case(SMALL, path)])
def test_other_suffixes_are_refused(tmp_path: Path, action: Any) -> None:
    """Only .json and .yaml are case files, for reading and for writing."""
    with pytest.raises(CaseFileError, match=r"expected the suffix \.json or \.yaml but got '\.toml'"):
        action(tmp_path / "case.toml")


def test_id_is_the_path_below_a_directory(tmp_path: Path) -> None:
    """Below a directory of cases the path is the id; elsewhere a file may have any name."""
    (tmp_path / "a").mkdir()
    save_case(SMALL, tmp_path / "a" / "b.json")

    assert load_cases(tmp_path) == [SMALL]

    save_case(SMALL, tmp_path / "c.json")
    assert load_case(tmp_path / "c.json") == SMALL
    with pytest.raises(CaseFileError, match=r"Case\.id: expected 'c', the file's path, but got 'a.b'"):
        load_cases(tmp_path)


def test_plain_yaml_scalars_are_text_unless_json_has_them(tmp_path: Path) -> None:
    """``NO``, dates and times are text without quotes; numbers, booleans and null are what JSON says."""
    columns = "[{name: t, type: STRING}, {name: d, type: DATE}, {name: f, type: FLOAT64}, {name: c, type: TIME}]"
    path = tmp_path / "case.yaml"
    path.write_text(
        f"id: a\ntitle: yes\ntable:\n  columns: {columns}\n"
        "  rows: [{t: NO, d: 2019-03-18, f: 1e3, c: 12:30:00}, {t: null, f: -0.0}, {t: true_, f: 7}]\n"
    )

    case = load_case(path)

    assert case.title == "yes"
    assert [row["t"] for row in materialise(case.table).select(["t"]).to_pylist()] == ["NO", None, "true_"]
    assert repr(materialise(case.table).column("f").to_pylist()) == "[1000.0, -0.0, 7.0]"


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
@pytest.mark.parametrize("text", ["[" * 50_000 + "]" * 50_000, '{"a": ' * 50_000 + "1" + "}" * 50_000])
def test_deep_nesting_is_refused(tmp_path: Path, suffix: str, text: str) -> None:
    """In a sentence, as all that is no case."""
    path = tmp_path / f"case{suffix}"
    path.write_text(text)

    with pytest.raises(CaseFileError, match="expected lists and mappings that nest less deeply"):
        load_case(path)
