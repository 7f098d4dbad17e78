"""Where a command cannot work it says so, before a library aborts the process."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from conformance.cli import _begin, _group, main


def told(monkeypatch: pytest.MonkeyPatch, space: float, *words: str) -> tuple[int, str]:
    """Status and output of a command that may map so many bytes."""
    monkeypatch.setattr(_group, "address_space", lambda: space)
    done = CliRunner().invoke(_group.cli, list(words))
    return done.exit_code, done.output


def test_little_address_space_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that starts processes needs more than one that reads a report."""
    status, text = told(monkeypatch, 1536 << 20, "run", "--help")

    assert (status, text.strip().splitlines()[-1]) == (
        2,
        "Error: `run` needs 2048 MiB of address space, and this process may have 1536 MiB (ulimit -v)",
    )
    assert told(monkeypatch, 1536 << 20, "list", "--help")[0] == 0
    assert told(monkeypatch, math.inf, "run", "--help")[0] == 0


def test_little_room_for_data_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other limit on memory counts what a process can write: half as much."""
    monkeypatch.setattr(_group, "data_space", lambda: 900 << 20)

    status, text = told(monkeypatch, math.inf, "run", "--help")

    assert (status, text.strip().splitlines()[-1]) == (
        2,
        "Error: `run` needs 1024 MiB of memory to write, and this process may have 900 MiB (ulimit -d)",
    )
    assert told(monkeypatch, math.inf, "list", "--help")[0] == 0


def test_python_without_docstrings_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The texts of clauses, cases and options are docstrings."""
    flags = type("Flags", (), {"optimize": 2})
    monkeypatch.setattr(_group.sys, "flags", flags)

    status, text = told(monkeypatch, math.inf, "explain", "types.int64")

    assert status == 2
    assert "PYTHONOPTIMIZE=2" in text


def test_a_clock_that_python_cannot_read_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even logging asks it, when it is imported."""

    def late() -> float:
        raise OverflowError("timestamp too large to convert to C _PyTime_t")

    monkeypatch.setattr(_group, "time", SimpleNamespace(time=late))

    status, text = told(monkeypatch, math.inf, "explain", "types.int64")

    assert status == 2
    assert "the clock of this machine shows a year after 2262" in text


def test_no_room_for_a_thread_is_no_defect_of_the_suite() -> None:
    """Python has no class for this error."""
    ending = _group._ending(RuntimeError("can't start new thread"))

    assert isinstance(ending, _group.Unusable)
    assert "ulimit -u" in ending.message
    assert isinstance(_group._ending(RuntimeError("another")), _group.SuiteBrokeError)


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current directory is one that was removed."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()


@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize("words", [["run"], ["init"], ["check", "x"]])
def test_a_current_directory_that_was_removed_is_said(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Python alone says that some file does not exist."""
    status, text = told(monkeypatch, math.inf, *words)

    assert status == 2
    assert text.endswith("Error: the current directory no longer exists; change to one that does\n")


@pytest.mark.usefixtures("nowhere")
def test_texts_are_printed_from_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clauses are not in the current directory."""
    assert told(monkeypatch, math.inf, "explain", "types.bool")[0] == 0


def test_how_grpc_waits_and_what_it_traces_is_not_asked_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would abort the process at a value that it does not know, and print tokens; its messages may stay on."""
    monkeypatch.setenv("GRPC_TRACE", "all")
    monkeypatch.setenv("GRPC_POLL_STRATEGY", "none")
    monkeypatch.setenv("GRPC_VERBOSITY", "INFO")

    with pytest.raises(SystemExit):
        main(["--version"])

    assert not {"GRPC_POLL_STRATEGY", "GRPC_TRACE"}.intersection(os.environ)
    assert os.environ["GRPC_VERBOSITY"] == "INFO"


@pytest.mark.parametrize(("asked", "left"), [("evil", None), ("cpp", None), ("python", "python")])
def test_an_implementation_of_protobuf_that_there_is_not_is_not_asked_for(
    asked: str, left: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protobuf would raise an exception when it is imported."""
    monkeypatch.setenv("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", asked)

    with pytest.raises(SystemExit):
        main(["--version"])

    assert os.environ.get("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION") == left


def test_a_closed_standard_input_is_an_empty_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python has none then, and a command that reads from it would end with a traceback."""
    found = []
    monkeypatch.setattr("sys.stdin", None)
    monkeypatch.setattr("conformance.cli._group.cli.main", lambda **_: found.append(sys.stdin.fileno()))

    _begin.begin([])

    assert found == [0]


def test_signals_that_were_blocked_end_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mask is inherited from whoever started it."""
    found: list[set[int]] = []
    monkeypatch.setattr(
        "conformance.cli._group.cli.main", lambda **_: found.append(set(signal.pthread_sigmask(signal.SIG_BLOCK, ())))
    )
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        _begin.begin([])
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    assert found == [set()]


@pytest.mark.parametrize("step", ["make_context", "invoke"])
def test_a_reader_that_goes_away_is_no_finding(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind ``| head`` a command that prints alone ends with 2 and without a sentence; 1 would mean findings."""

    def unread(*_: object, **__: object) -> None:
        raise BrokenPipeError

    forgotten = []
    monkeypatch.setattr(f"click.Group.{step}", unread)
    monkeypatch.setattr(_group, "_forget_output", lambda: forgotten.append(True))

    done = CliRunner().invoke(_group.cli, ["clauses"])

    assert (done.exit_code, done.output, forgotten) == (2, "", [True])


@pytest.mark.parametrize("arguments", [["--version"], ["nonsense"]])
def test_a_status_is_that_of_the_command_although_python_would_go_on(arguments: list[str]) -> None:
    """PYTHONINSPECT asks Python for a prompt, which ends at once without a terminal, in a traceback and status 1."""
    status = [
        subprocess.run(
            [sys.executable, "-m", "conformance", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={**os.environ, "PYTHONINSPECT": inspects},
            check=False,
        )
        for inspects in ("", "1")
    ]

    assert [(ended.returncode, ended.stdout, ended.stderr) for ended in status[1:]] == [
        (ended.returncode, ended.stdout, ended.stderr) for ended in status[:1]
    ]
