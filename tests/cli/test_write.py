"""``conformance write`` as a user types it: what it prints, writes, replays, and the status that it ends with."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click.testing
import pytest

from conformance.cli._group import cli
from tests.engine import ipc_library
from tests.readers.ipc.kept import kept_processes


def conformance_(*arguments: str) -> click.testing.Result:
    """The result of one command line."""
    return click.testing.CliRunner().invoke(cli, arguments)


@pytest.fixture(scope="module", autouse=True)
def _kept() -> Iterator[None]:
    """The processes of the stand-ins are started once: what they answer is tested elsewhere."""
    with kept_processes():
        yield


@pytest.fixture(autouse=True)
def _standins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-ins are the writers that there are, and logs go into a directory of the test."""
    monkeypatch.setattr("conformance.cli.write.IPC_WRITERS", ipc_library.WRITERS)
    monkeypatch.setattr("conformance.cli.write.IPC_READERS", {})
    monkeypatch.chdir(tmp_path)


def test_nothing_found_is_status_0() -> None:
    """A correct writer passes; an absent one is named with the reason; a missing option is no failure."""
    result = conformance_("write", "--select", "types.int64", "--select", "types.uint32")

    assert result.exit_code == 0, result.output
    assert "absent: skipped, " in result.output
    assert "PASSED: " in result.output


def test_findings_are_status_1_and_replay() -> None:
    """A crash is reported with a line that, typed unchanged, shows the same crash of that case alone."""
    first = conformance_("write", "--writer", "standin", "--select", "types.int8")
    (line,) = re.findall(r"[ ·] conformance (write .*)", first.output)

    again = conformance_(*shlex.split(line))

    assert (first.exit_code, again.exit_code) == (1, 1)
    assert "SIGSEGV" in again.output
    assert "1 verdict on 1 case" in again.output


def test_options_that_are_not_the_writers_are_unusable() -> None:
    """The id of a case names values that the writer has."""
    result = conformance_("write", "--writer", "standin", "--case", "stream.types.int64+codec=7")

    assert result.exit_code == 2
    assert "expected options that standin has in the id of a case, got 'codec'" in result.output


def test_options_in_the_id_of_a_case_replay() -> None:
    """The id of a case names its combination, and selects it again."""
    result = conformance_(
        "write", "--writer", "standin", "--case", 'stream.types.uint16+codec="lz4"', "--json", "a.json"
    )
    report = json.loads(Path("a.json").read_text(encoding="utf-8"))

    assert result.exit_code == 1
    assert report["run"]["cases"] == ['stream.types.uint16+codec="lz4"']
    assert [item["clauses"] for item in report["deviations"] if item["outcome"] == "fail"] == [["written.rows"]]


def test_each_writer_gets_its_reports() -> None:
    """JSON, HTML and a badge, named after the writer; the run is named after library and version."""
    conformance_("write", "--select", "types.int64", "--reports", "reports")

    assert sorted(path.name for path in Path("reports").iterdir()) == ["standin.html", "standin.json", "standin.svg"]
    report = json.loads(Path("reports/standin.json").read_text(encoding="utf-8"))
    assert report["run"]["target"] == "a library that writes by type 0.2"
    assert any(text.startswith("combinations of sample and options written: ") for text in report["remarks"])


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (("--writer", "nobody"), "expected writers out of standin, absent, or globs of them, got nobody"),
        (("--writer", "absent"), "expected at least one installed writer, got none"),
        (("--writer", "standin", "--case", "nobody"), "expected the id of a case that standin is given, got 'nobody'"),
        (("--writer", "standin", "--select", "nobody*"), "expected globs that match ids of samples, got 'nobody*'"),
    ],
)
def test_unusable_input_is_status_2(arguments: tuple[str, ...], reported: str) -> None:
    """One sentence says what was expected; nothing is a traceback."""
    result = conformance_("write", *arguments)

    assert result.exit_code == 2
    assert reported in result.output
