"""The reference as a process."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request

import pytest

from tests.reference.client import DEADLINE


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_says_its_ports_and_ends_on_a_signal(number: signal.Signals) -> None:
    """One JSON line per listener once it is bound; a signal ends the process cleanly."""
    command = [sys.executable, "-m", "conformance.reference", "--project", "p"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [json.loads(process.stdout.readline()) for _ in range(2)]
        ready = urllib.request.urlopen(f"http://127.0.0.1:{lines[1]['port']}/readyz", timeout=DEADLINE)
        with ready:
            status = ready.status
        process.send_signal(number)
        code = process.wait(DEADLINE)

    assert [line["event"] for line in lines] == ["grpc.listen", "rest.listen"]
    assert status == 200
    assert code == 0


def test_an_unknown_mutant_is_a_usage_error() -> None:
    """A mutant that does not exist ends in status 2, and names the command that lists those that do."""
    command = [sys.executable, "-m", "conformance.reference", "--mutant", "no-such-lie"]

    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, check=False)

    assert done.returncode == 2
    assert "no mutant is called 'no-such-lie'; `conformance serve --mutants` lists them all" in done.stderr
