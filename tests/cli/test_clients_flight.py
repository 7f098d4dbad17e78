"""``conformance clients --flight`` with a program of the user's own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.typed import conformance_
from tests.fixtures import ROOT

EXAMPLE = ROOT / "docs" / "examples" / "flight-client"
ONE = "do-get.plain.not-found.behind"

pytestmark = pytest.mark.usefixtures("desk")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory of the user's own, with a copy of the example."""
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def judged(*options: str) -> int:
    """The exit status of the command on the example, in one situation."""
    return conformance_("clients", "--flight", "--program", "flight.toml", "--quiet", *options).exit_code


def test_the_command_that_replays_a_finding_finds_it_again() -> None:
    """It names the file of the program, because no client that ships with the suite has its name."""
    assert judged("--select", ONE, "--json", "found.json") == 1
    (cause,) = json.loads(Path("found.json").read_text(encoding="utf-8"))["causes"]

    _, *command = cause["replay"].split()
    assert command == ["clients", "--flight", "--program", "flight.toml", "--select", ONE]
    assert conformance_(*command).exit_code == 1


def test_a_path_of_the_program_can_be_chosen() -> None:
    """A glob that matches none is an error that names one."""
    result = conformance_("clients", "--flight", "--program", "flight.toml", "--client", "hasty.columns")

    assert result.exit_code == 2
    assert "expected a path of a client, such as hasty.rows, got 'hasty.columns'" in result.stderr
    assert judged("--client", "hasty.*", "--select", "do-get.plain") == 0


def test_a_program_elsewhere_is_not_told_to_be_built() -> None:
    """``python -m adapters`` builds the folders of ``adapters/`` only."""
    spec = Path("flight.toml")
    spec.write_text(spec.read_text(encoding="utf-8").replace("{here}", "{cache}"), encoding="utf-8")

    result = conformance_("clients", "--flight", "--program", "flight.toml", "--select", ONE)

    assert result.exit_code == 2
    assert "flight.toml: expected a command that names the program by {here}, and no build" in result.stderr
