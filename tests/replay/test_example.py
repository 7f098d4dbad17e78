"""A client that the suite does not use, held to ``read_retry.json`` by a program that knows nothing of the suite."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from conformance.contain.command import run_command
from conformance.replay.retrytable import read_table
from conformance.replay.server import Replay
from tests.fixtures import ROOT

EXAMPLE = ROOT / "docs" / "examples" / "retry"
BUILD_SECONDS = 900


def test_the_program_is_short_and_knows_nothing_of_the_suite() -> None:
    """It has fewer than 100 lines, and imports its client and gRPC only."""
    text = (EXAMPLE / "main.go").read_text("utf-8")

    assert len(text.splitlines()) < 100
    assert {name for name in re.findall(r'^\t"([\w./-]+)"$', text, re.MULTILINE) if "." in name} == {
        "cloud.google.com/go/bigquery",
        "google.golang.org/api/iterator",
        "google.golang.org/api/option",
        "google.golang.org/grpc",
        "google.golang.org/grpc/credentials/insecure",
    }


@pytest.mark.slow(env="retry")
@pytest.mark.timeout(BUILD_SECONDS)
def test_the_go_client_fails_no_test(tmp_path: Path) -> None:
    """Built from the modules that are here, it meets every instruction and leaves no permitted outcome."""
    if shutil.which("go") is None:
        pytest.skip("go is not installed")
    # Nothing is downloaded: the modules are here, or the test is skipped.
    offline = {**os.environ, "GOPROXY": "off", "GOFLAGS": "-mod=readonly", "GOTOOLCHAIN": "local"}
    command = ["go", "-C", str(EXAMPLE), "build", "-o", str(tmp_path / "retry"), "."]
    built = run_command(command, environment=offline, seconds=BUILD_SECONDS)
    if "module lookup disabled by GOPROXY=off" in built.stderr:
        pytest.skip("the modules of the Go client are not on this machine")
    assert built.code == 0, built.stderr

    with Replay(tls=False) as server:
        here = {**os.environ, "CONFORMANCE_REST": f"http://127.0.0.1:{server.addresses['rest']}"}
        ran = run_command([str(tmp_path / "retry")], environment=here, seconds=300)
    verdicts = Counter(line[:12].strip() for line in ran.stdout.splitlines()[:-1])

    assert ran.code == 0, ran.stdout + ran.stderr
    assert set(verdicts) <= {"held", "differs"}, ran.stdout
    assert verdicts.total() == len(read_table().tests)
