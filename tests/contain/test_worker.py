"""A worker is asked over its channel, and leaves its last words."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.contain.channel import ChannelMessage, Closed, FrameError
from conformance.contain.errors import CannotStart
from conformance.contain.worker import Worker
from tests.patience import LONG


@pytest.fixture
def worker() -> Iterator[Worker]:
    """A worker that answers frames with themselves."""
    made = Worker("tests.contain.echoing", header=1000, frame=1000)
    yield made
    with contextlib.suppress(ValueError):  # closed by the test
        made.close()


def test_a_worker_answers(worker: Worker) -> None:
    """Headers and byte strings come back."""
    worker.channel.send({"n": 1}, [b"x"])

    assert worker.channel.receive(seconds=LONG) == ChannelMessage({"n": 1}, (b"x",))


def test_what_it_says_belongs_to_a_job(worker: Worker) -> None:
    """Output from before a job is dropped."""
    for word in ("one", "two"):
        worker.forget()
        worker.channel.send({"say": word})
        worker.channel.receive(seconds=LONG)

    assert worker.said() == "two\n"


def test_its_end_is_seen(worker: Worker) -> None:
    """The channel closes, and the exit code comes with the last words."""
    worker.channel.send({"say": "goodbye", "exit": 3})

    with pytest.raises(Closed):
        worker.channel.receive(seconds=LONG)
    assert worker.wait(LONG)
    assert (worker.code, worker.close()) == (3, "goodbye\n")


@pytest.mark.parametrize("header", [{"n": "x" * 2000}, {"n": 1}])
def test_what_comes_back_is_bounded(worker: Worker, header: dict[str, object]) -> None:
    """A header or byte strings beyond the bounds of the worker are refused unread."""
    worker.channel.send(header, [b"x" * 2000])

    with pytest.raises(FrameError, match="expected "):
        worker.channel.receive(seconds=LONG)


def test_a_folder_of_the_same_name_is_no_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the suite is started has no say in which code a worker runs."""
    (tmp_path / "conformance").mkdir()
    (tmp_path / "conformance" / "__init__.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    worker = Worker("tests.contain.echoing")
    worker.channel.send({"n": 1})

    assert worker.channel.receive(seconds=LONG).header == {"n": 1}
    worker.close()


def test_no_such_interpreter() -> None:
    """An interpreter that is not there is one sentence."""
    with pytest.raises(CannotStart, match="cannot start '/no/python': no such program"):
        Worker("tests.contain.echoing", python="/no/python")


def test_no_descriptor_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that can open nothing more is one sentence."""

    def full() -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(socket, "socketpair", full)

    with pytest.raises(CannotStart, match=r"cannot start a worker: .*Too many open files"):
        Worker("tests.contain.echoing")
