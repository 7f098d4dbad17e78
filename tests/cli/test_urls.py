"""A target without a file, as a user types it: judged, replayed by the command that the finding shows, refused."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from conformance.protocols.flight.reference.deviations import flight_service
from conformance.protocols.flight.reference.server import FlightServer
from conformance.protocols.storage_read.reference.server import ReferenceServer
from tests.cli.typed import conformance_


@pytest.fixture(autouse=True)
def _user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's directory, which holds the logs."""
    monkeypatch.chdir(tmp_path)


def test_a_running_server_needs_no_file_and_its_findings_can_be_pasted() -> None:
    """The replay command of a finding has the whole URL, quoted for a shell."""
    with ReferenceServer(mutant="schema.end-of-stream") as server:
        url = f"grpc://{server.grpc_endpoint}?rest=http://{server.rest_endpoint}"
        found = conformance_("run", "--target", url, "--select", "session.plain", "--no-readers")
        (shown,) = re.findall(r"[ ·] (conformance replay .*)$", found.output, re.MULTILINE)
        again = conformance_(*shlex.split(shown)[1:], "--no-readers")

    name = server.grpc_endpoint.replace(":", "-")
    assert found.exit_code == 1
    assert f"target    {name} ({url})" in found.output
    assert shlex.split(shown) == ["conformance", "replay", "session.plain", "--target", url]
    assert again.exit_code == 1
    assert "framing.schema-without-end-of-stream" in again.output
    assert Path(".conformance", f"{name}.jsonl").exists()


def test_a_running_flight_server_needs_no_file() -> None:
    """It is written to, because the URL says so."""
    with FlightServer(flight_service(None)()) as server:
        url = f"flight://{server.endpoint}?seeding=put"
        found = conformance_("run", "--target", url, "--select", "flight.put-and-get", "--no-readers")

    assert found.exit_code == 0, found.output
    assert "nothing unexpected" in found.output


@pytest.mark.parametrize("command", ["run", "replay session.plain", "extract session.plain --out x", "prepare"])
def test_each_command_refuses_a_wrong_url_in_one_sentence(command: str) -> None:
    """Status 2, and nothing else is printed."""
    refused = conformance_(*command.split(), "--target", "grpc://localhost")

    assert (refused.exit_code, refused.output) == (2, "Error: grpc://localhost: expected grpc://HOST:PORT\n")


def test_a_url_has_no_list_of_known_failures() -> None:
    """``expect`` repairs the list of a file."""
    refused = conformance_("expect", "--target", "grpc://localhost:1")

    assert refused.exit_code == 2
    assert "expected a target file, which holds the list of known failures, got grpc://localhost:1" in refused.output


def test_the_broken_server_ships_by_name() -> None:
    """The first failure needs no file, and it is shown again from every directory."""
    found = conformance_("run", "--target", "broken", "--select", "session.plain", "--no-readers")

    assert found.exit_code == 1
    assert "FAILED: 1 cause (1 MUST);" in found.output
    assert " conformance replay session.plain --target broken\n" in found.output
    assert conformance_("list", "targets", "--select", "broken").output.startswith("broken  ")
