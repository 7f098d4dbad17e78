"""Clients of Arrow's own libraries pass in the scenarios of its integration tests, before the reference's bytes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from conformance.protocols.flight.reference.scenarios import SCENARIOS
from conformance.protocols.flight.reference.server import FlightServer
from conformance.targets import load_target, prepare
from conformance.targets.environment import Environment, fill, find
from conformance.targets.installing import missing_clients
from conformance.targets.spec import TargetSpec

pytestmark = [pytest.mark.slow(env="flight"), pytest.mark.timeout(900)]

HERE = Path(__file__).parent / "clients"
OF_GO = tuple(name for name in SCENARIOS if name != "do_exchange:echo")
"""Every scenario of the reference but the one that the Go client does not know."""
TABLE = {
    "schema": {"fields": [{"name": "n", "type": {"name": "int", "isSigned": True, "bitWidth": 32}, "nullable": True}]},
    "batches": [
        {"count": 2, "columns": [{"name": "n", "count": 2, "VALIDITY": [1, 0], "DATA": [1, 0]}]},
        {"count": 1, "columns": [{"name": "n", "count": 1, "VALIDITY": [1], "DATA": [7]}]},
    ],
}
"""A table in the JSON form of Arrow's integration tests."""


def installed(name: str, monkeypatch: pytest.MonkeyPatch, cache: Path) -> tuple[TargetSpec, Environment]:
    """A client in an environment of its own; the test skips without its toolchain."""
    monkeypatch.setenv("CONFORMANCE_CACHE", str(cache))
    spec = load_target(str(HERE / f"{name}.toml"))
    assert spec.environment is not None
    missing = missing_clients(spec.environment)
    if missing:
        pytest.skip(f"not here: {', '.join(missing)}")
    prepare(spec, say=lambda _: None)
    return spec, find(spec)


def asked(client: tuple[TargetSpec, Environment], *arguments: str) -> None:
    """Run the client, which has to end without an error."""
    spec, environment = client
    assert spec.start is not None
    command = [fill(part, environment, host="127.0.0.1") for part in spec.start.command]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=300, check=False)

    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the clients are installed, once for the tests of this module."""
    return tmp_path_factory.mktemp("clients")


@pytest.mark.parametrize("name", OF_GO, ids=lambda name: name or "base")
def test_the_client_of_arrow_go_passes(name: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the scenario without a name it stores the table of a file, and reads it at the location that it gets."""
    client = installed("go", monkeypatch, cache)
    table = tmp_path / "table.json"
    table.write_text(json.dumps(TABLE), encoding="utf-8")
    with FlightServer(SCENARIOS[name]()) as server:
        asked(client, "-port", str(server.port), "-scenario", name, "-path", str(table))


def test_a_client_on_arrow_java_gets_its_batches_back(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each before the next one, with its metadata or without any."""
    client = installed("java", monkeypatch, cache)
    with FlightServer(SCENARIOS["do_exchange:echo"]()) as server:
        asked(client, str(server.port))
