"""An event loop says what the system refuses, and a defect keeps its traceback."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging

import pytest

from conformance.contain.loops import says_plainly


def test_what_the_system_refuses_is_said_once_and_in_one_line(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Without a free descriptor, asyncio tries again each second."""
    with contextlib.closing(says_plainly(asyncio.new_event_loop())) as loop:
        for _ in range(3):
            error = OSError(errno.EMFILE, "Too many open files")
            loop.call_exception_handler({"message": "socket.accept() out of system resource", "exception": error})

    assert capsys.readouterr().err == "socket.accept() out of system resource: Too many open files\n"
    assert not caplog.records


def test_a_defect_keeps_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    """It is logged as by any loop."""
    with contextlib.closing(says_plainly(asyncio.new_event_loop())) as loop, caplog.at_level(logging.ERROR):
        loop.call_exception_handler({"message": "broken", "exception": ZeroDivisionError()})

    assert [record.message.partition("\n")[0] for record in caplog.records] == ["broken"]
