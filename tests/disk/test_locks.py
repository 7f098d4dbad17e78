"""One process at a time, identified by its number, and no lock outlives its holder."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.disk.files import DiskError
from conformance.disk.locks import InUseError, held, is_locked

HOLDER = """
import sys
from pathlib import Path
from conformance.disk.locks import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def names(folder: Path) -> list[str]:
    """The contents of a directory."""
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock of ``path``."""
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        other.stdout.readline()
        yield other


def test_a_second_holder_is_told_which_file_and_which_process(tmp_path: Path) -> None:
    """The sentence names the file, the process and what to do."""
    path = tmp_path / "run.jsonl"
    with holder(path) as other, pytest.raises(InUseError) as raised, held(path, advice="name another with --log"):
        pytest.fail("held twice")

    assert str(raised.value) == f"{path} is in use by process {other.pid}; name another with --log"


def test_a_killed_holder_leaves_no_lock(tmp_path: Path) -> None:
    """The lock is the operating system's: the file that a killed process leaves locks nothing."""
    path = tmp_path / "run.jsonl"
    with holder(path) as other:
        assert is_locked(path)
        other.kill()
        other.wait()

        assert not is_locked(path)
    assert names(tmp_path) == []


def test_nothing_is_left_beside_the_file(tmp_path: Path) -> None:
    """The lock's file goes with the lock, and the path itself is not touched."""
    with held(tmp_path / "below" / "run.jsonl"):
        assert names(tmp_path / "below") == [".run.jsonl.lock"]

    assert names(tmp_path / "below") == []


def test_two_names_of_one_file_are_one_lock(tmp_path: Path) -> None:
    """A link to a log is that log."""
    (tmp_path / "real").touch()
    (tmp_path / "link").symlink_to("real")

    with held(tmp_path / "real"), pytest.raises(InUseError, match=f"process {os.getpid()}"), held(tmp_path / "link"):
        pytest.fail("held twice")


def test_whoever_waits_comes_next(tmp_path: Path) -> None:
    """A waiting holder gets the lock although its file is removed in between."""
    path, order = tmp_path / "env", list[str]()
    asked = threading.Event()

    def wait() -> None:
        asked.set()
        with held(path, wait=True):
            order.append("second")

    with held(path):
        waiting = threading.Thread(target=wait)
        waiting.start()
        asked.wait()
        order.append("first")
    waiting.join()

    assert order == ["first", "second"]
    assert names(tmp_path) == []


def test_a_device_has_no_lock() -> None:
    """Two runs may both throw their log away."""
    with held(Path("/dev/null")), held(Path("/dev/null")):
        assert not is_locked(Path("/dev/null"))


def test_a_link_in_the_place_of_a_lock_is_not_followed(tmp_path: Path) -> None:
    """Nobody asked for the file that it leads to."""
    (tmp_path / "precious").write_text("mine")
    (tmp_path / ".run.jsonl.lock").symlink_to(tmp_path / "precious")

    with pytest.raises(DiskError, match="is not followed"), held(tmp_path / "run.jsonl"):
        pytest.fail("held")

    assert (tmp_path / "precious").read_text() == "mine"
