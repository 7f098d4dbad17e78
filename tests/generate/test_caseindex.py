"""The index of the suite's cases: it saves parsing, and changes no case."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from conformance.generate import CaseFileError, casefile, load_cases
from conformance.generate.casefile import case_files, load_file, parse_file
from conformance.generate.caseindex import indexed

CASES = Path(__file__).parents[2] / "cases"
PLAIN = CASES / "rows" / "plain.yaml"


def test_a_case_of_the_index_is_the_one_that_is_parsed() -> None:
    """The same records come back, those of a matrix too."""
    for path in (PLAIN, CASES / "types.yaml"):
        assert indexed(path) == parse_file(path)


def test_no_file_of_the_suite_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command that needs the cases reads the index and the bytes of the files."""

    def parsed(path: Path) -> None:
        raise AssertionError(path)

    monkeypatch.setattr(casefile, "parse", parsed)

    assert len(load_cases(CASES)) >= len(case_files(CASES))


def test_a_file_that_has_changed_is_parsed(tmp_path: Path) -> None:
    """The digest is of the whole content: a case that someone edits is the edited one."""
    path = tmp_path / "plain.yaml"
    path.write_bytes(PLAIN.read_bytes().replace(b"rows.plain", b"rows.other"))

    (case,) = load_file(path)

    assert case.id == "rows.other"


def test_a_broken_file_is_refused_as_without_an_index(tmp_path: Path) -> None:
    """A line that is no YAML is named."""
    path = tmp_path / "plain.yaml"
    path.write_bytes(PLAIN.read_bytes() + b"steps: [\n")

    with pytest.raises(CaseFileError, match=r"line .*: expected YAML"):
        load_file(path)


def test_a_copy_under_another_path_is_refused(tmp_path: Path) -> None:
    """The index has contents, not paths: whether an id fits its path is checked for each file."""
    shutil.copy(PLAIN, tmp_path / "copy.yaml")

    with pytest.raises(CaseFileError, match=r"expected 'copy', the file's path, but got 'rows.plain'"):
        load_cases(tmp_path)


def test_the_suffix_says_how_a_text_is_read(tmp_path: Path) -> None:
    """The content of a YAML file is not JSON, though the index has it."""
    shutil.copy(PLAIN, tmp_path / "plain.json")

    with pytest.raises(CaseFileError, match="expected JSON"):
        load_file(tmp_path / "plain.json")
