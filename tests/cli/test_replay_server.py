"""``conformance replay-server`` as it is typed: its line of ports, its command, its errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.cli.typed import INSTALLED, conformance_

PROGRAM = """
import json, os, sys, urllib.request
with urllib.request.urlopen(os.environ["CONFORMANCE_REST"] + "/replay/exchanges") as answer:
    (one,) = json.load(answer)["exchanges"]
assert one["table"] == os.environ["CONFORMANCE_TABLE"]
assert one["sessions"][0]["streams"][0]["offsets"][0] == 0
"""


def test_a_command_gets_the_addresses_and_the_table() -> None:
    """The exchanges of a case on the reference are served while it runs."""
    ended = conformance_("replay-server", "session.plain", "--no-tls", "--", sys.executable, "-c", PROGRAM)

    assert ended.exit_code == 0, ended.output


def test_without_a_command_it_serves_until_a_signal(tmp_path: Path) -> None:
    """One line has the ports, and SIGTERM ends it in order."""
    command = [sys.executable, "-m", "conformance", "replay-server", "--no-tls"]
    environment = {**os.environ, "PYTHONPATH": str(INSTALLED)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        addresses = json.loads(running.stdout.readline())
        with urllib.request.urlopen(f"http://127.0.0.1:{addresses['rest']}/replay/") as answer:
            told = json.load(answer)
        running.terminate()

        assert told == addresses
        assert running.wait() == 0


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--no-tls", "--", sys.executable, "-c", "raise SystemExit(3)"], 1, "the process exited with status 3"),
        (["--no-tls", "--", "no-such-program"], 2, "cannot start 'no-such-program'"),
        (["nowhere.log"], 2, "nowhere.log"),
        (["no.such-case"], 2, "no case is called 'no.such-case'"),
        (["--faults", "deadline.json"], 2, "got a deadline, which is the client's own"),
        (["--faults", "method.json"], 2, "expected a method out of CreateReadSession"),
        (["--faults", "nowhere.json"], 2, "nowhere.json"),
        (["--log", "/dev/null/x.log", "--no-tls", "--", "true"], 2, "cannot be written"),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else None,
)
def test_an_error_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], status: int, said: str
) -> None:
    """The status is that of docs/exit-codes.md, and the sentence names what is wrong."""
    monkeypatch.chdir(tmp_path)
    Path("deadline.json").write_text('{"faults": [{"kind": "deadline", "seconds": 1}]}', "utf-8")
    Path("method.json").write_text('{"faults": [{"kind": "reset", "method": "NoSuchMethod"}]}', "utf-8")

    ended = conformance_("replay-server", *arguments)

    assert (ended.exit_code, said in ended.stderr) == (status, True), ended.output
