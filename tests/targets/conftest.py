"""Fixtures of the targets package: a fake server in threads, targets from TOML text, and a table to seed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from conformance.records import BqType, Case, Column, Json, Step, Table
from conformance.targets import TargetSpec, load_target
from conformance.targets.rest import RestClient
from conformance.targets.seeding import Seeder
from tests.patience import LONG
from tests.targets.fake_server import FakeServer, serving
from tests.targets.raw_server import Serve, raw_servers
from tests.targets.seeded import seeder_of

ROOT = Path(__file__).resolve().parents[2]

Write = Callable[[str], TargetSpec]


@pytest.fixture
def target_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write TOML text to a target file and load it; its environments are made below the test's directory."""
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path / "cache"))

    def write(text: str) -> TargetSpec:
        path = tmp_path / "target.toml"
        path.write_text(text)
        return load_target(path)

    return write


@pytest.fixture
def fake() -> FakeServer:
    """A fake server that a test may still bend; ``endpoint`` serves it."""
    return FakeServer()


@pytest.fixture
def client(fake: FakeServer) -> Iterator[RestClient]:
    """A client of the fake server."""
    with serving(fake) as (_, port):
        client = RestClient(f"http://127.0.0.1:{port}", deadline=1)
        yield client
        client.close()


@pytest.fixture
def seeder(client: RestClient) -> Seeder:
    """A seeder of the fake server."""
    return seeder_of(client)


@pytest.fixture
def endpoint(fake: FakeServer, target_file: Write) -> Iterator[TargetSpec]:
    """A target file that points at the running fake server."""
    with serving(fake) as (grpc_port, rest_port):
        yield target_file(
            f"""
            name = "fake"
            kind = "server"
            [endpoint]
            grpc = "127.0.0.1:{grpc_port}"
            rest = "http://127.0.0.1:{rest_port}"
            [deadlines]
            start = {LONG}
            call = {LONG}
            seed = {LONG}
            [limits]
            message = 1000000
            call = 100000
            """
        )


@pytest.fixture
def started(target_file: Write, monkeypatch: pytest.MonkeyPatch) -> Callable[..., TargetSpec]:
    """A target file that starts the fake server as a process with the named quirks."""
    monkeypatch.chdir(ROOT)

    def write(*quirks: str, more: str = "", grace: float = 2.0, call: float = LONG) -> TargetSpec:
        command = ", ".join(f'"{part}"' for part in ("{python}", "-m", "tests.targets.fake_server", *quirks))
        return target_file(
            f"""
            name = "fake"
            kind = "server"
            [start]
            command = [{command}]
            grace = {grace}
            [ready]
            rest_path = "/ready"
            rest_event = "rest.listen"
            grpc_event = "grpc.listen"
            [deadlines]
            start = {LONG}
            call = {call}
            seed = {LONG}
            {more}
            """
        )

    return write


def case_of(*steps: Step, case_id: str = "a-case", rows: int = 3, isolated: bool = False) -> Case:
    """A case over one INT64 column with the values 0, 1, 2 …"""
    columns = (Column("a", BqType.INT64),)
    table = Table(columns, rows=tuple(Json({"a": value}) for value in range(rows)))
    if steps:
        return Case(case_id, "a title", table, steps=steps, isolated=isolated)
    return Case(case_id, "a title", table, isolated=isolated)


def table_of(case: Case) -> pa.Table:
    """The Arrow table of :func:`case_of`."""
    return pa.table({"a": pa.array(range(len(case.table.rows or ())), pa.int64())})


def python_program(path: Path, code: str) -> str:
    """A TOML command that runs ``code`` in a file at ``path``."""
    path.write_text(code)
    return f'["{sys.executable}", "{path}"]'


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start raw servers."""
    with raw_servers() as start:
        yield start
