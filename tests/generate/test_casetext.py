"""The text of a case file: read in C where that is safe, in Python where it is not, with the same outcome."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from conformance.contain.text import safe
from conformance.disk.files import data_file
from conformance.generate import casetext
from conformance.generate.casetext import YAML, CaseFileError, parse, render
from conformance.records import RecordError

ROOT = data_file("cases")


def _in_python(path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    with monkeypatch.context() as patched:
        patched.setattr(yaml, "__with_libyaml__", False)
        return parse(path)


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.yaml")), ids=lambda path: path.stem)
def test_both_parsers_make_the_same_of_a_case_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every case file of the suite is shallow, and is the same data by either parser, down to the types."""
    assert casetext._is_shallow(path.read_text(encoding="utf-8"))

    assert repr(parse(path)) == repr(_in_python(path, monkeypatch))


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000, "? " * 100_000, "{" * 100_000, "x: " * 100_000])
def test_deep_text_does_not_reach_the_parser_in_c(text: str) -> None:
    """A text that may nest deeply is not read in C, where it would overflow the stack."""
    assert not casetext._is_shallow(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [("case.yaml", "- a\n" * 4), ("case.yaml", "- - - - a"), ("case.yaml", "[a,a,a,a,a]"), ("case.json", "[[],[],[]]")],
)
def test_many_items_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    """Each of them takes a hundred times its bytes while it is read."""
    monkeypatch.setattr(casetext, "MOST_PARTS", 3)
    path = tmp_path / name
    path.write_text(text)

    with pytest.raises(CaseFileError, match="expected at most 3 lines, commas"):
        parse(path)


def test_columns_that_grow_line_by_line_are_bounded() -> None:
    """Nesting by indentation alone is seen as well: each level needs a longer line."""
    assert not casetext._is_shallow("\n".join(" " * depth + "-" for depth in range(1000)))


@pytest.mark.parametrize("text", ["a: [", "a: 1\na: 2", "a: *none", "a: !!python/none x", "\ta: 1", "a: \x01"])
def test_a_refusal_has_the_same_words_by_either_parser(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refusals and their texts do not depend on how PyYAML was built."""
    path = tmp_path / "case.yaml"
    path.write_text(text)
    with pytest.raises(CaseFileError) as quick:
        parse(path)
    with pytest.raises(CaseFileError) as slow:
        _in_python(path, monkeypatch)

    assert str(quick.value) == str(slow.value)


@pytest.mark.parametrize("name", ["huge.yaml", "huge.json"])
def test_a_number_with_too_many_digits_is_refused(name: str, tmp_path: Path) -> None:
    """Python reads 4300 digits; more are a fault of the file, in either form."""
    path = tmp_path / name
    path.write_text('{"rows": ' + "9" * 5000 + "}")

    with pytest.raises((CaseFileError, RecordError), match="a number of at most 4300 digits"):
        parse(path)


def test_what_must_not_be_printed_is_escaped_in_yaml(tmp_path: Path) -> None:
    """The file is printed by ``show``; what it says stays the same."""
    data = {"a\u202e": ["\x9b2J", "\x7f\U000e0041", "\u00e9", "3", 3, True], "b": "##vso[task.x]", "c": "a\nb\u2028"}
    path = tmp_path / "case.yaml"
    path.write_text(render(data, YAML), encoding="utf-8")

    assert [line for line in path.read_text(encoding="utf-8").split("\n") if safe(line) != line] == []
    assert parse(path) == data
    assert render({"a": "\u00e9"}, YAML) == "{a: \u00e9}\n"
