"""The log of a replay server."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.disk.files import DiskError
from conformance.disk.locks import InUseError
from conformance.replay.asked import MOST, AskedLog


def test_the_newest_events_are_remembered_under_their_numbers() -> None:
    """Memory is bounded; a number that is forgotten gives what comes after it."""
    with AskedLog(None) as asked:
        for _ in range(MOST + 1):
            asked.say("x")

        assert [event["number"] for event in asked.since(MOST - 1)] == [MOST - 1, MOST]
        assert asked.since(0)[0]["number"] > 0


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """The error comes before any client asks."""
    (tmp_path / "file").touch()
    with pytest.raises(DiskError, match="file"), AskedLog(tmp_path / "file" / "log"):
        pytest.fail("it was opened")


def test_two_servers_do_not_write_one_file(tmp_path: Path) -> None:
    """The second would empty the log of the first; afterwards the file is free."""
    path = tmp_path / "log"
    with AskedLog(path) as asked:
        asked.say("x")
        with pytest.raises(InUseError, match="log"), AskedLog(path):
            pytest.fail("it was opened")
    assert "x" in path.read_text(encoding="utf-8")

    with AskedLog(path):
        assert path.read_bytes() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_ends_the_file_and_not_the_answers() -> None:
    """The reason is kept, and events are still remembered."""
    with AskedLog(Path("/dev/full")) as asked:
        asked.say("x")
        asked.say("y")

        assert "/dev/full: cannot be written: No space left on device" in asked.failure
        assert len(asked.since(0)) == 2
