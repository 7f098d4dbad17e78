"""The reference as a process."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import grpc
import pytest

from conformance.contract import proto
from tests.interrupts import interrupts
from tests.protocols.storage_read.reference.client import DEADLINE


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_says_its_ports_and_ends_on_a_signal(number: signal.Signals) -> None:
    """One JSON line per listener once it is bound; a signal ends the process cleanly."""
    command = [sys.executable, "-m", "conformance.reference", "--project", "p"]
    with interrupts(heard=True), subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
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


def test_a_server_with_a_state_serves_its_sessions_after_a_restart(tmp_path: Path) -> None:
    """Tables and streams of before are there; without a state they are not."""
    kept = []
    for options in (["--state", str(tmp_path / "state")], []):
        names = []
        for start in range(2):
            command = [sys.executable, "-m", "conformance.reference", *options]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                ports = [json.loads(process.stdout.readline())["port"] for _ in range(2)]
                if not start:
                    names.append(_session(*ports))
                kept.append(_rows(ports[0], names[0]))
                process.send_signal(signal.SIGTERM)
                process.wait(DEADLINE)

    assert kept == [3, 3, 3, None]


def _session(grpc_port: int, rest_port: int) -> str:
    """Make a table of three rows and a session on it, and return the name of its stream."""
    base = f"http://127.0.0.1:{rest_port}/bigquery/v2/projects/p/datasets"
    place = {"projectId": "p", "datasetId": "d", "tableId": "t"}
    for path, body in (
        ("", {"datasetReference": {"projectId": "p", "datasetId": "d"}}),
        ("/d/tables", {"tableReference": place, "schema": {"fields": [{"name": "n", "type": "INT64"}]}}),
        ("/d/tables/t/insertAll", {"rows": [{"json": {"n": n}} for n in range(3)]}),
    ):
        urllib.request.urlopen(urllib.request.Request(base + path, json.dumps(body).encode()), timeout=DEADLINE).close()
    request = proto.CreateReadSessionRequest(parent="projects/p", max_stream_count=1)
    request.read_session.table = "projects/p/datasets/d/tables/t"
    request.read_session.data_format = 2
    with grpc.insecure_channel(f"127.0.0.1:{grpc_port}") as channel:
        call = channel.unary_unary(proto.SERVICE + "CreateReadSession", bytes, proto.ReadSession.FromString)
        name: str = call(request.SerializeToString(), timeout=DEADLINE).streams[0].name
    return name


def _rows(grpc_port: int, stream: str) -> int | None:
    """How many rows a stream has; None if it is refused."""
    request = proto.ReadRowsRequest(read_stream=stream)
    with grpc.insecure_channel(f"127.0.0.1:{grpc_port}") as channel:
        call = channel.unary_stream(proto.SERVICE + "ReadRows", bytes, proto.ReadRowsResponse.FromString)
        try:
            return sum(one.row_count for one in call(request.SerializeToString(), timeout=DEADLINE))
        except grpc.RpcError:
            return None


def test_an_unknown_mutant_is_a_usage_error() -> None:
    """A mutant that does not exist ends in status 2, and names the command that lists those that do."""
    command = [sys.executable, "-m", "conformance.reference", "--mutant", "no-such-lie"]

    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, check=False)

    assert done.returncode == 2
    assert "no mutant is called 'no-such-lie'; `conformance serve --mutants` lists them all" in done.stderr


@pytest.mark.parametrize("module", ["conformance.reference", "conformance.protocols.flight.reference"])
def test_an_address_that_cannot_be_bound_is_a_usage_error(module: str) -> None:
    """A sentence and status 2, as for other arguments."""
    command = [sys.executable, "-m", module, "--host", "256.0.0.1"]

    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, check=False)

    assert done.returncode == 2
    assert "error: cannot serve: " in done.stderr
    assert "Traceback" not in done.stderr
