"""``conformance record`` between a real client and the reference: plain and behind TLS, whole and cut short."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from conformance.contain import secrets
from conformance.contain.child import Child
from conformance.contract import proto
from conformance.disk import pipes
from conformance.engine.events import ExchangeRecorded, RunEnded
from conformance.engine.log import read_log
from conformance.protocols.storage_read.reference.server import ReferenceServer
from conformance.reference.guard import Guard, ServerTls
from tests.certificates import make_certificates
from tests.cli.typed import INSTALLED, conformance_
from tests.patience import LONG

TOKEN = "ya29.a-token-that-nobody-has"  # made up

CLIENT = """
import json, os, ssl, sys, urllib.request
import grpc
from google.cloud.bigquery_storage_v1 import BigQueryReadClient, types
from google.cloud.bigquery_storage_v1.services.big_query_read.transports import BigQueryReadGrpcTransport

token, ca, certificate, key = (sys.argv[1:] + [""] * 4)[:4]
context = ssl.create_default_context(cafile=ca) if ca else None
if certificate:
    context.load_cert_chain(certificate, key)

def post(path, body):
    url = os.environ["CONFORMANCE_REST"] + "/bigquery/v2/projects/p/datasets" + path
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + token}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    urllib.request.urlopen(request, context=context)

assert os.environ["BIGQUERY_EMULATOR_HOST"] == os.environ["CONFORMANCE_REST"]
post("", {"datasetReference": {"projectId": "p", "datasetId": "d"}})
schema = {"fields": [{"name": "n", "type": "INTEGER"}]}
post("/d/tables", {"tableReference": {"projectId": "p", "datasetId": "d", "tableId": "t"}, "schema": schema})
post("/d/tables/t/insertAll", {"rows": [{"json": {"n": n}} for n in range(10)]})
if ca:
    read = lambda path: open(path, "rb").read() if path else None
    credentials = grpc.ssl_channel_credentials(read(ca), read(key), read(certificate))
    channel = grpc.secure_channel(os.environ["CONFORMANCE_GRPC"], credentials)
else:
    channel = grpc.insecure_channel(os.environ["CONFORMANCE_GRPC"])
client = BigQueryReadClient(transport=BigQueryReadGrpcTransport(channel=channel))
sent = [("authorization", "Bearer " + token)]
asked = types.ReadSession(table="projects/p/datasets/d/tables/t", data_format="ARROW")
session = client.create_read_session(parent="projects/p", read_session=asked, max_stream_count=1, metadata=sent)
rows = client.read_rows(session.streams[0].name, metadata=sent).to_arrow(session)
assert rows["n"].to_pylist() == list(range(10))
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the client, in which the command runs."""
    (tmp_path / "client.py").write_text(CLIENT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def server() -> Iterator[ReferenceServer]:
    """A server that obeys."""
    with ReferenceServer() as running:
        yield running


def upstream(server: ReferenceServer) -> list[str]:
    """The options that name the addresses of a server."""
    return ["--upstream", server.grpc_endpoint, "--rest-upstream", server.rest_endpoint, "--out", "said.log"]


def client(*arguments: str) -> list[str]:
    """The command that is the client."""
    return ["--", sys.executable, "client.py", *arguments]


def recorded(path: Path) -> list[ExchangeRecorded]:
    """The calls in a log."""
    return [event for event in read_log(path) if isinstance(event, ExchangeRecorded)]


class TestAClient:
    """The Python client of Google, as the command of a recording."""

    def test_what_it_and_the_server_said_is_judged(self, here: Path, server: ReferenceServer) -> None:
        """At the end of the recording, and from the log."""
        result = conformance_("record", *upstream(server), "--judge", *client())

        assert result.exit_code == 0, result.output
        assert "1 exchange of 2 calls: " in result.output
        assert " 0 failed" in result.output
        assert [one.exchange.calls[0].method for one in recorded(here / "said.log")] == [
            "CreateReadSession",
            "ReadRows",
        ]
        for command in ("judge", "replay"):
            again = conformance_(command, "said.log")
            assert again.exit_code == 0, again.output
            assert "PASSED: " in again.output

    def test_the_fault_of_a_server_is_found(self, here: Path) -> None:
        """Once while the calls are recorded, and in the report at the end."""
        with ReferenceServer(mutant="rows.count-zero") as faulty:
            result = conformance_("record", *upstream(faulty), "--judge", *client())

        assert result.exit_code == 1
        assert result.stderr.count("FAIL rows.row-count-is-true: row_count 0 (required: row_count ") == 1
        assert "1 failed rows.row-count-is-true" in result.stdout

    def test_tls_on_both_sides_and_no_token_in_the_log(self, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The server repeats the token in its refusals; the client's certificate is not the proxy's."""
        monkeypatch.setattr(secrets, "_hidden", ())  # other tests of this process have had secrets of their own
        monkeypatch.setattr(secrets, "_hidden_bytes", ())
        made = make_certificates(here)
        tls = ServerTls(made / "server.pem", made / "server.key", made / "ca.pem")
        ours = ["--tls-certificate", "server.pem", "--tls-key", "server.key", "--client-ca", "ca.pem"]
        theirs = ["--upstream-ca", "ca.pem", "--upstream-certificate", "client.pem", "--upstream-key", "client.key"]
        given = client(TOKEN, "ca.pem", "client.pem", "client.key")
        with ReferenceServer(tls=tls, guard=Guard(tokens=lambda: [TOKEN], quota_calls=1, echo=True)) as server:
            result = conformance_("record", *upstream(server), *ours, *theirs, *given)

        assert result.exit_code == 1
        first, second = (one.exchange.calls[0] for one in recorded(here / "said.log")[:2])
        assert (first.status, second.status) == ("OK", "RESOURCE_EXHAUSTED")
        assert "(authorization: ***)" in second.details
        assert TOKEN.encode() not in (here / "said.log").read_bytes()


class TestTheEnd:
    """What ends a recording, and with which status."""

    @pytest.mark.parametrize(
        ("program", "status", "said"),
        [
            (("true",), 0, "0 calls recorded"),
            (("false",), 1, "false: the process exited with status 1"),
            (("no-such-program",), 2, "cannot start 'no-such-program': no such program"),
        ],
    )
    def test_a_command(self, here: Path, program: tuple[str, ...], status: int, said: str) -> None:
        """Its failure is a status, whatever number it has itself."""
        del here
        result = conformance_("record", "--upstream", "127.0.0.1:1", "--out", "said.log", "--", *program)

        assert result.exit_code == status
        assert said in result.stderr

    def test_nothing_to_judge_is_a_failure(self, here: Path) -> None:
        """A client that never came would pass otherwise."""
        del here
        result = conformance_("record", "--upstream", "127.0.0.1:1", "--out", "said.log", "--judge", "--", "true")

        assert result.exit_code == 1
        assert "no call of a protocol that the suite knows came" in result.stderr

    @pytest.mark.parametrize(
        ("number", "ended"), [(signal.SIGINT, True), (signal.SIGTERM, True), (signal.SIGKILL, False)]
    )
    def test_a_signal_loses_no_call_that_ended(self, here: Path, number: signal.Signals, *, ended: bool) -> None:
        """Only the last event is missing if the proxy is killed."""
        del here
        command = [sys.executable, "-m", "conformance", "record", "--upstream", "127.0.0.1:1", "--out", "said.log"]
        proxy = Child(command, environment={**os.environ, "PYTHONPATH": str(INSTALLED)})
        try:
            port = proxy.wait_for_port("grpc.listen", time.monotonic() + LONG)
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel, pytest.raises(grpc.RpcError):
                channel.unary_unary(proto.SERVICE + "CreateReadSession")(b"")
            while not recorded(Path("said.log")):
                threading.Event().wait(0.02)
            os.kill(proxy.pid, number)
            proxy.wait_for_exit(None)
        finally:
            proxy.stop(grace=0)

        *_, call, last = read_log(Path("said.log"))
        assert isinstance(last, RunEnded) is ended
        assert isinstance(call if ended else last, ExchangeRecorded)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--upstream", "nowhere", "--out", "x.log"], "expected HOST:PORT such as 127.0.0.1:9060"),
        (["--upstream", "h:1", "--rest-listen", "h:1", "--out", "x.log"], "expected --rest-upstream"),
        (["--upstream", "h:1", "--tls-key", "client.py", "--out", "x.log"], "expected both --tls-certificate and"),
        (["--upstream", "h:1", "--upstream-key", "client.py", "--out", "x.log"], "both --upstream-certificate and"),
        (["--upstream", "h:1", "--upstream-ca", "client.py", "--out", "x.log"], "expected PEM files"),
        (["--upstream", "h:1", "--listen", "192.0.2.1:0", "--out", "x.log"], "cannot listen"),
        (["--upstream", "h:1", "--out", "client.py/x.log"], "client.py"),
        (["--upstream", "h:1", "--listen", "h:1", "--out", "x.log"], "got that of the proxy itself: h:1"),
        (["--upstream", "localhost:1", "--listen", "0.0.0.0:1", "--out", "x.log"], "the proxy itself: localhost:1"),
        (
            ["--upstream", "h:1", "--rest-listen", "[::]:2", "--rest-upstream", "127.0.0.1:2", "--out", "x.log"],
            "itself",
        ),
    ],
)
def test_wrong_input_is_one_sentence(here: Path, arguments: list[str], said: str) -> None:
    """It says what was expected, and nothing is recorded."""
    del here
    result = conformance_("record", *arguments, "--", "true")

    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "option",
    [*(f"--upstream-{name}" for name in ("ca", "certificate", "key")), "--tls-certificate", "--tls-key", "--client-ca"],
)
def test_a_pipe_as_a_certificate_is_not_waited_for(here: Path, monkeypatch: pytest.MonkeyPatch, option: str) -> None:
    """Nobody writes into it, and the library that reads it would wait without an end."""
    monkeypatch.setattr(pipes, "FIRST_SECONDS", 0)
    os.mkfifo(here / "pipe")

    result = conformance_("record", "--upstream", "127.0.0.1:1", "--out", "out", option, "pipe", "--", "true")

    assert result.exit_code == 2
    assert "nothing came through the pipe" in result.output


@pytest.mark.parametrize("name", ["record", "replay_server"])
def test_a_command_that_a_signal_cut_short_is_no_success(
    here: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """SIGTERM ends the proxy in order; but the command had not come to its end: nobody may take it for passed."""
    del here
    module = importlib.import_module(f"conformance.cli.{name}")
    if name == "record":
        monkeypatch.setattr(module, "_record", lambda *given: (None, ()))
        arguments = ["record", "--upstream", "127.0.0.1:1", "--out", "said.log"]
    else:
        monkeypatch.setattr(module, "run", lambda *given: None)
        arguments = ["replay-server", "--no-tls", "rows.plain"]

    result = conformance_(*arguments, "--", "true")

    assert result.exit_code == 130, result.output
    assert "interrupted: the command was ended before its end" in result.stderr
