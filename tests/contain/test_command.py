"""A command ends, in time and with bounded output, whatever it does."""

from __future__ import annotations

import os
import sys

import pytest

from conformance.contain.command import KEPT, Finished, run_command
from conformance.contain.errors import CannotStart
from tests.patience import LONG, patiently


def test_a_command_runs_to_its_end() -> None:
    """Exit code and both streams come back."""
    done = run_command(["/bin/sh", "-c", "echo one; echo two >&2; exit 3"], environment={}, seconds=LONG)

    assert done == Finished(3, "one", "two")


def test_a_command_that_does_not_end_is_ended() -> None:
    """Its output until then is kept, and there is no exit code."""
    code = "import signal; print('begun', flush=True); signal.pause()"

    done = patiently(
        lambda seconds: run_command([sys.executable, "-c", code], environment=os.environ, seconds=seconds),
        lambda done: bool(done.stdout),
    )

    assert done == Finished(None, "begun", "")


def test_output_is_bounded() -> None:
    """Of a flood, the end is kept."""
    code = f"import sys; sys.stdout.write('x' * {3 * KEPT} + 'end')"

    done = run_command([sys.executable, "-c", code], environment=os.environ, seconds=LONG)

    assert (len(done.stdout), done.stdout[-3:]) == (KEPT, "end")


def test_a_child_that_holds_the_pipe_is_not_waited_for() -> None:
    """A descendant that keeps the output open ends with the command."""
    done = run_command(["/bin/sh", "-c", "sleep 100 & echo done"], environment=os.environ, seconds=LONG)

    assert done == Finished(0, "done", "")


def test_no_such_command() -> None:
    """A command that does not exist is an error of its own."""
    with pytest.raises(CannotStart, match="cannot start 'nonesuch': no such program"):
        run_command(["nonesuch"], environment={}, seconds=1)
