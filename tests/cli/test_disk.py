"""A full disk names the file and keeps what was judged; two commands never write into each other's files."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.cli import _numbers
from conformance.disk.locks import held
from conformance.engine import log
from conformance.engine.log import read_log
from conformance.engine.session import last_log
from tests.cli.typed import CASE, conformance_, run

FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")


@contextmanager
def no_longer_than(size: int) -> Iterator[None]:
    """A disk on which no file gets longer than ``size`` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class TestFullDisk:
    """The sentence, the files that stay, and the status."""

    def test_a_log_that_fills_the_disk_ends_the_run_with_its_report(self, user: Path) -> None:
        """The verdicts so far are reported as incomplete, and the log can be read up to its end."""
        path = user / ".conformance" / "honest.jsonl"
        run("--target", "honest.toml", "--cases", "2")
        room = sum(len(line) for line in path.read_bytes().splitlines(keepends=True)[:2]) + 10

        with no_longer_than(room):
            result = run("--target", "honest.toml", "--cases", "2")

        assert result.exit_code == 2
        assert "target    honest (honest.toml)\n" in result.stdout
        assert "INCOMPLETE" in result.stdout
        assert result.stderr == "Error: .conformance/honest.jsonl: cannot be written: File too large\n"
        assert len(list(read_log(path))) == 2

    @FULL
    @pytest.mark.usefixtures("user")
    def test_a_log_without_any_room_is_one_sentence(self) -> None:
        """Nothing was judged, and there is nothing to report."""
        result = run("--target", "honest.toml", "--log", "/dev/full")

        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == "Error: /dev/full: cannot be written: No space left on device\n"

    @FULL
    def test_a_report_that_cannot_be_written_costs_no_other(self, user: Path) -> None:
        """The terminal has the report, the other files are whole, and each missing one is named."""
        result = run("--target", "honest.toml", "--junit", "/dev/full", "--json", "out.json", "--html", "/dev/full")

        assert result.exit_code == 2
        assert "PASSED: " in result.stdout
        assert json.loads((user / "out.json").read_text())["complete"]
        assert result.stderr.count("Error: /dev/full: cannot be written: No space left on device\n") == 2

    def test_no_half_report_is_left(self, user: Path) -> None:
        """A report that does not fit leaves the one of before."""
        (user / "out.json").write_text("before")
        run("--target", "honest.toml")

        with no_longer_than(100):
            result = conformance_("report", ".conformance/honest.jsonl", "--json", "out.json")

        assert result.exit_code == 2
        assert "out.json: cannot be written: File too large" in result.stderr
        assert (user / "out.json").read_text() == "before"

    def test_a_counterexample_that_does_not_fit_is_a_remark(self, user: Path) -> None:
        """The verdict remains, and the report says which file is missing."""
        (user / ".conformance").mkdir()
        (user / ".conformance" / "counterexamples").touch()

        result = run("--target", "liar.toml", "--cases", "1", "--no-shrink", "--all")

        assert result.exit_code == 1
        assert "no counterexample of framing.batch-without-end-of-stream is kept: .conformance/count" in result.stdout

    @FULL
    @pytest.mark.parametrize("word", ["clauses", "--help", "--version"])
    def test_a_full_standard_output_is_named(self, word: str) -> None:
        """Python itself would say so only at its end, in four lines and with status 120."""
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "conformance", word], stdout=full, stderr=subprocess.PIPE, check=False
            )

        assert done.returncode == 2
        assert done.stderr == b"Error: standard output: cannot be written: No space left on device\n"

    @FULL
    @pytest.mark.parametrize(("words", "status"), [(["clauses"], 0), (["no-command"], 2), (["show", "nothing"], 2)])
    def test_a_full_standard_error_changes_no_status(self, words: list[str], status: int) -> None:
        """Nobody reads the sentence, and the status is its own."""
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "conformance", *words], stdout=subprocess.PIPE, stderr=full, check=False
            )

        assert done.returncode == status
        assert bool(done.stdout) is (status == 0)


class TestOneAtATime:
    """The second command names the file and the process that has it, with status 2."""

    def test_a_second_run_of_a_target_leaves_the_log_of_the_first(self, user: Path) -> None:
        """The sentence comes before anything is started or truncated."""
        run("--target", "honest.toml")
        path = Path(".conformance/honest.jsonl")
        before = path.read_bytes()

        with held(path):
            result = run("--target", "honest.toml")

        assert result.exit_code == 2
        assert result.stderr == (
            f"Error: .conformance/honest.jsonl is in use by process {os.getpid()};"
            " wait until it ends, or name another log with --log\n"
        )
        assert path.read_bytes() == before
        assert run("--target", "honest.toml", "--log", "other.jsonl").exit_code == 0

    @pytest.mark.usefixtures("user")
    @pytest.mark.parametrize("more", [(), ("--parallel", "2")])
    def test_a_log_that_is_named_is_locked_too(self, more: tuple[str, ...]) -> None:
        """Also that of a run in parts, before its parts begin."""
        with held(Path("mine.jsonl")):
            result = run("--target", "honest.toml", "--log", "mine.jsonl", *more)

        assert result.exit_code == 2
        assert "mine.jsonl is in use by process" in result.stderr

    @pytest.mark.usefixtures("user")
    def test_runs_of_different_targets_go_side_by_side(self) -> None:
        """A log is a target's own."""
        with held(Path(".conformance/liar.jsonl")):
            result = run("--target", "honest.toml")

        assert result.exit_code == 0

    def test_a_target_that_cannot_run_leaves_the_last_log(self, user: Path) -> None:
        """The log of an earlier run is replaced by a first event, not by an attempt."""
        run("--target", "honest.toml")
        before = (user / ".conformance" / "honest.jsonl").read_bytes()
        target = user / "honest.toml"
        target.write_text(target.read_text().replace("user_serializer", "no_such_module"))

        assert run("--target", "honest.toml").exit_code == 2
        assert (user / ".conformance" / "honest.jsonl").read_bytes() == before

    def test_a_target_that_cannot_run_is_not_the_last_run(self, user: Path) -> None:
        """Its log is empty: what reads the last run finds the one before."""
        run("--target", "honest.toml")
        target = (user / "honest.toml").read_text()
        (user / "other.toml").write_text(target.replace("user_serializer", "no_such_module"))

        assert run("--target", "other.toml").exit_code == 2
        assert last_log() == Path(".conformance/honest.jsonl")

    def test_parts_of_an_earlier_run_are_gone(self, user: Path) -> None:
        """Those of a run in other parts are none of this one's, and what is not ours stays."""
        folder = user / ".conformance" / "honest.jsonl.parts"
        folder.mkdir(parents=True)
        for name in ("part-3-of-3.jsonl", "mine.txt"):
            (folder / name).touch()

        (user / "corpus" / "three.yaml").write_text(CASE.replace("id: one", "id: three"))

        result = run("--target", "honest.toml", "--parallel", "2")

        assert result.exit_code == 0, result.stderr
        names = ["mine.txt", "part-1-of-2.jsonl", "part-2-of-2.jsonl"]
        assert sorted(path.name for path in folder.iterdir()) == names

    def test_two_golden_commands_do_not_mix(self, tmp_path: Path) -> None:
        """The set that is written is locked."""
        with held(tmp_path / "ipc"):
            result = conformance_("golden", "--set", "ipc", "--dir", str(tmp_path))

        assert result.exit_code == 2
        assert f"{tmp_path / 'ipc'} is in use by process {os.getpid()}" in result.stderr


@pytest.mark.usefixtures("user")
@pytest.mark.parametrize(
    "words",
    [
        ("--deadline-multiplier", "nan"),
        ("--deadline-multiplier", "inf"),
        ("--deadline-multiplier", "1e300"),
        ("--deadline-multiplier", "-1"),
        ("--cases", "1" + "0" * 30),
        ("--seed", "1" + "0" * 400),
        ("--seed", "1" * 5000),
        ("--shard", "1/1000000"),
        ("--shard", "0/2"),
        ("--parallel", "100000"),
    ],
    ids=lambda words: f"{words[0]}-{words[1][:8]}",
)
def test_a_number_that_means_nothing_is_refused(words: tuple[str, str]) -> None:
    """One sentence, status 2, and no run."""
    result = run("--target", "honest.toml", *words)

    assert result.exit_code == 2
    assert len([line for line in result.stderr.splitlines() if line.startswith("Error: ")]) == 1
    assert not Path(".conformance").exists()


@pytest.mark.parametrize("seconds", ["nan", "inf", "0", "1e9"])
@pytest.mark.parametrize("command", ["read", "write"])
def test_seconds_that_mean_nothing_are_refused(command: str, seconds: str) -> None:
    """Not a number is no number, whatever it is compared with."""
    result = conformance_(command, "--seconds", seconds)

    assert result.exit_code == 2
    assert "Invalid value for '--seconds'" in result.stderr


def test_a_run_draws_no_more_than_its_log_may_say() -> None:
    """The two limits are one, in modules of which neither needs the other."""
    assert _numbers.MOST_GENERATED == log.MOST_GENERATED
