"""``[tool.conformance]`` gives defaults, never wins over the command line, and starts nothing that nobody named."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.cli._project import LONGEST, ProjectFileError, defaults_of
from conformance.disk.files import data_file
from tests.cli.typed import conformance_


@pytest.fixture(autouse=True)
def _user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's project."""
    monkeypatch.chdir(tmp_path)


def write(table: str) -> None:
    """The table in the file of the project."""
    Path("pyproject.toml").write_text(f"[tool.conformance]\n{table}\n")


def test_a_project_names_the_target_the_cases_and_the_readers() -> None:
    """``run`` takes all of it, other commands the target alone, and most of them nothing."""
    write('target = "grpc://h:1"\nselect = ["types.*"]\nreaders = false\nreader = ["pyarrow*"]')

    assert defaults_of("run") == {
        "target": "grpc://h:1",
        "select": ["types.*"],
        "readers": False,
        "reader": ["pyarrow*"],
    }
    assert defaults_of("replay") == {"target": "grpc://h:1"}
    assert defaults_of("list") == {}


def test_a_run_uses_the_table_and_the_command_line_wins() -> None:
    """The same command, with and without an option."""
    write('target = "broken"\nselect = ["session.plain"]\nreaders = false')
    found, other = conformance_("run"), conformance_("run", "--target", "reference")

    assert found.exit_code == 1
    assert "--target broken" in found.output
    assert other.exit_code == 0, other.output
    assert "1 of" in other.output


@pytest.mark.parametrize("target", ['"mine.toml"', '"./broken"', '"/dev/null"', "1", '["reference"]', '"referencex"'])
def test_a_project_starts_no_program_of_its_own(target: str) -> None:
    """A file that came with a repository is named by the user alone."""
    write(f"target = {target}")
    refused = conformance_("run")

    assert refused.exit_code == 2
    assert "a target file starts programs, so only --target names one" in refused.output


def test_a_file_does_not_take_the_name_of_a_shipped_target() -> None:
    """The suite's own file is meant, wherever the command runs."""
    write('target = "reference"')
    Path("reference").write_text("a program of others")

    assert defaults_of("run") == {"target": str(data_file("targets") / "reference.toml")}


@pytest.mark.parametrize(
    ("table", "wanted"),
    [
        ("command = 1", "[tool.conformance] may have target, select, reader, readers but got 'command'"),
        ('select = "types.*"', "tool.conformance.select: expected a list of globs"),
        ("readers = 1", "tool.conformance.readers: expected true or false"),
        ("readers = ", "expected TOML"),
        ("x = " + "[" * 100_000, "expected TOML"),
        ("#" * LONGEST, "expected at most 1 MiB but got more"),
    ],
)
def test_a_wrong_table_ends_in_one_sentence(table: str, wanted: str) -> None:
    """A misspelt key is no default."""
    write(table)

    with pytest.raises(ProjectFileError) as raised:
        defaults_of("run")

    assert wanted in str(raised.value)


def test_a_project_without_the_table_changes_nothing() -> None:
    """Not even if its file cannot be read as TOML."""
    Path("pyproject.toml").write_text("[[[")

    assert defaults_of("run") == {}


@pytest.mark.parametrize("table", ["target = 0x" + "f" * 5000, "select = [0x" + "f" * 5000 + "]"])
def test_a_number_that_python_writes_in_no_decimal_form_is_refused(table: str) -> None:
    """TOML has hexadecimal numbers of any length, and the error quotes what it got."""
    write(table)

    with pytest.raises(ProjectFileError, match=r"tool\.conformance"):
        defaults_of("run")


def test_a_key_of_many_parts_takes_no_memory() -> None:
    """Below a megabyte of them Python takes gigabytes; the file may be that of a repository from elsewhere."""
    write("x" + 20_000 * ".x" + " = 1")

    with pytest.raises(ProjectFileError, match="nests deeper"):
        defaults_of("run")
