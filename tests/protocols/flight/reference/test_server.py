"""The reference as a server, asked by pyarrow's own Flight client, and as a process."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grpc
import pyarrow as pa
import pyarrow.flight as pf
import pytest

from conformance.protocols.flight.contract.encoding import part
from conformance.protocols.flight.reference.actions import CANCEL, RENEW
from conformance.protocols.flight.reference.server import FlightServer
from conformance.protocols.flight.reference.sessions import CLOSE, GET, SET
from conformance.protocols.flight.wire.messages import SERVICE
from conformance.reference.guard import ServerTls
from tests.certificates import make_certificates
from tests.interrupts import interrupts

SECONDS = 30
TABLE = pa.table({"n": [1, 2, 3], "w": pa.array(["x", "y", None]).dictionary_encode()})
PATH = pf.FlightDescriptor.for_path("a", "b")


@pytest.fixture(scope="module")
def client() -> Iterator[pf.FlightClient]:
    """A client of a reference that stores one table."""
    with FlightServer() as server, pf.connect(f"grpc://{server.endpoint}") as client:
        writer, reader = client.do_put(PATH, TABLE.schema)
        with writer:
            writer.write_table(TABLE)
            writer.done_writing()
            assert reader.read() is not None
        yield client


def test_a_table_comes_back(client: pf.FlightClient) -> None:
    """By its schema, its info and its ticket."""
    info = client.get_flight_info(PATH)

    assert info.total_records == 3
    assert info.descriptor == PATH
    assert info.schema == client.get_schema(PATH).schema == TABLE.schema
    assert client.do_get(info.endpoints[0].ticket).read_all().equals(TABLE)
    assert [flight.descriptor for flight in client.list_flights()] == [PATH]


def test_an_exchange_comes_back(client: pf.FlightClient) -> None:
    """As it was sent."""
    writer, reader = client.do_exchange(PATH)
    with writer:
        writer.begin(TABLE.schema)
        writer.write_table(TABLE)
        writer.done_writing()
        assert reader.read_all().equals(TABLE)


def test_what_there_is_not_is_not_found(client: pf.FlightClient) -> None:
    """Pyarrow has an exception for that."""
    with pytest.raises(KeyError, match="no flight has this descriptor"):
        client.get_flight_info(pf.FlightDescriptor.for_path("none"))
    with pytest.raises(KeyError, match="no such ticket"):
        client.do_get(pf.Ticket(b"none")).read_all()


def test_actions_are_served(client: pf.FlightClient) -> None:
    """A cancelled info is void."""
    info = client.get_flight_info(PATH)

    (result,) = client.do_action(pf.Action(CANCEL, part(1, info.serialize())))

    assert result.body.to_pybytes() == b"\x08\x01"
    assert [action.type for action in client.list_actions()] == [CANCEL, RENEW, SET, GET, CLOSE]
    with pytest.raises(KeyError):
        client.do_get(info.endpoints[0].ticket).read_all()


def test_a_method_that_there_is_not_is_unimplemented(client: pf.FlightClient) -> None:
    """Of this service, and of another one."""
    with FlightServer() as server, grpc.insecure_channel(server.endpoint) as channel:
        for method in (SERVICE + "DoNothing", "/other.Service/DoGet"):
            with pytest.raises(grpc.RpcError, match="UNIMPLEMENTED"):
                channel.unary_unary(method, bytes, bytes)(b"", timeout=SECONDS)


def test_a_client_that_trusts_the_authority_is_answered_over_tls(tmp_path: Path) -> None:
    """The server's certificate is that of 127.0.0.1."""
    made = make_certificates(tmp_path)
    roots = (made / "ca.pem").read_bytes()
    with (
        FlightServer(tls=ServerTls(made / "server.pem", made / "server.key")) as server,
        pf.connect(f"grpc+tls://{server.endpoint}", tls_root_certs=roots) as client,
    ):
        assert list(client.list_flights()) == []


def test_the_socket_of_a_server_that_runs_is_not_taken_away(tmp_path: Path) -> None:
    """Its clients still reach it; one that a killed server left is used again."""
    path = tmp_path / "flight.sock"
    with FlightServer(path=path) as server:
        with pytest.raises(OSError, match="another server listens there"):
            FlightServer(path=path)
        with pf.connect(server.uri) as client:
            assert list(client.list_actions())
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    with FlightServer(path=path) as server, pf.connect(server.uri) as client:
        assert list(client.list_actions())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_says_its_port_and_ends_on_a_signal(number: signal.Signals) -> None:
    """One JSON line; the mutant of the argument is served."""
    command = [sys.executable, "-m", "conformance.protocols.flight.reference", "--mutant", "flight-put.forgets"]
    with interrupts(heard=True), subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        with pf.connect(f"grpc://127.0.0.1:{said['port']}") as client:
            writer, _ = client.do_put(PATH, TABLE.schema)
            writer.close()
            flights = list(client.list_flights())
        process.send_signal(number)
        code = process.wait(SECONDS)

    assert (said["event"], flights, code) == ("grpc.listen", [], 0)


def test_an_unknown_mutant_ends_the_process() -> None:
    """In 2, with a sentence."""
    command = [sys.executable, "-m", "conformance.protocols.flight.reference", "--mutant", "forgets"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)

    assert done.returncode == 2
    assert "no mutant or legal variation of the Flight reference is called 'forgets'" in done.stderr
