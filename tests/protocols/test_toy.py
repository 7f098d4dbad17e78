"""The toy protocol of the guide: a folder, and nothing else, makes a protocol that is judged and proven."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import conformance
import conformance.protocols
from tests.fixtures import ROOT

TOY = Path(__file__).parent / "example" / "toy"
Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process in which the package has the folder of the toy protocol among the others."""
    root = tmp_path_factory.mktemp("suite")
    inside = root / "conformance" / "protocols"
    inside.mkdir(parents=True)
    for own, into in ((conformance, root / "conformance"), (conformance.protocols, inside)):
        for path in Path(own.__path__[0]).iterdir():
            if path.name != "__pycache__" and not (into / path.name).exists():
                (into / path.name).symlink_to(path)
    (inside / "toy").symlink_to(TOY)
    return {**os.environ, "PYTHONPATH": str(root)}


@pytest.fixture(scope="module")
def command(suite: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Runs ``conformance`` with these arguments."""
    place = tmp_path_factory.mktemp("place")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        asked = [sys.executable, "-m", "conformance", *arguments]
        return subprocess.run(asked, env=suite, cwd=place, capture_output=True, text=True, check=False, timeout=600)

    return run


@pytest.fixture
def served(suite: dict[str, str]) -> Iterator[str]:
    """The URL of a mutant of the toy reference in a process of its own."""
    asked = [sys.executable, "-P", "-m", "conformance.reference.simpleserver", "toy", "--mutant", "toy.trimmed"]
    with subprocess.Popen(asked, env=suite, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"toy://127.0.0.1:{json.loads(process.stdout.readline())['port']}"
        process.terminate()


def test_a_server_of_the_toy_protocol_is_judged_by_its_clause(command: Command, served: str) -> None:
    """The URL has the scheme that the protocol brings; the finding shows what came."""
    result = command("run", "--target", served)

    assert result.returncode == 1, result.stderr
    assert "toy.words-come-back  MUST  toy.blanks, call 0" in result.stdout
    assert "got       b'two blanks'" in result.stdout


@pytest.mark.slow(env="studies")
def test_the_clause_of_the_toy_protocol_is_proven(command: Command) -> None:
    """Its mutant dies, and its legal variation does not."""
    result = command("prove", "--clause", "toy.*")

    assert result.returncode == 0, result.stderr
    assert "1 of 1 mutant killed, 0 over-broad" in result.stdout


@pytest.mark.slow(env="studies")
def test_what_the_toy_protocol_does_not_bring_is_refused_in_a_sentence(
    command: Command, served: str, tmp_path: Path
) -> None:
    """It draws neither cases nor scenarios, and no replay server has its answers."""
    log = str(tmp_path / "toy.jsonl")
    command("run", "--target", served, "--exchanges", "--log", log)
    asked = {
        ("run", "--target", served, "--cases", "3"): "cases of toy are not drawn",
        ("run", "--target", served, "--scenarios", "3"): "a server of toy, which has no scenarios",
        ("replay-server", log): "its folder has no module 'replay'",
    }

    for arguments, wanted in asked.items():
        result = command(*arguments)
        assert (result.returncode, wanted in result.stderr) == (2, True), result.stderr


def test_the_toy_protocol_is_small() -> None:
    """A protocol of one method is a folder of fewer than 300 lines."""
    files = [path for path in TOY.rglob("*") if path.suffix in (".py", ".yaml", ".toml")]

    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) < 300


def test_the_guide_shows_the_files_as_they_are() -> None:
    """Every Python example of the guide is a part of a file of the toy protocol."""
    guide = (ROOT / "docs/dev/protocols.md").read_text(encoding="utf-8")
    sources = [path.read_text(encoding="utf-8") for path in TOY.rglob("*.py")]
    shown = re.findall(r"```python\n(.*?)```", guide, flags=re.DOTALL)

    assert len(shown) == 4
    assert [one for one in shown if not any(one in source for source in sources)] == []
