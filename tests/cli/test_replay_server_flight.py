"""``conformance replay-server`` with recorded calls of Arrow Flight, and a real client on pyarrow.flight."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from conformance.contain.child import Child
from tests.cli.typed import conformance_
from tests.fixtures import ROOT
from tests.patience import LONG

SERVER = ROOT / "targets" / "flight" / "with_pyarrow.py"
CLIENT = (sys.executable, str(ROOT / "tests" / "cli" / "flightclient.py"))
EVERYTHING = ("write", "read", "talk", "be-refused", "act")


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the client and a server on pyarrow.flight said, which has ended since."""
    log = tmp_path_factory.mktemp("recorded") / "said.log"
    program = Child([sys.executable, str(SERVER), "127.0.0.1"], environment=os.environ)
    try:
        upstream = f"127.0.0.1:{program.wait_for_port('grpc.listen', time.monotonic() + LONG)}"
        made = conformance_("record", "--upstream", upstream, "--out", str(log), "--", *CLIENT, *EVERYTHING)
        assert made.exit_code == 0, made.output
    finally:
        program.stop(grace=0)
    return log


@pytest.fixture(autouse=True)
def _user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's directory, which holds the log of what was asked."""
    monkeypatch.chdir(tmp_path)


def asked() -> list[dict[str, Any]]:
    """The calls in the log of what was asked."""
    return [json.loads(line) for line in Path("asked.log").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("methods", [EVERYTHING, ("read",), ("talk", "be-refused"), ("read", "read")])
def test_the_client_gets_what_the_server_said(said: Path, methods: tuple[str, ...]) -> None:
    """The rows, the answers in turn and the refusals, all of them or some, and again."""
    ended = conformance_("replay-server", str(said), "--no-tls", "--log", "asked.log", "--", *CLIENT, *methods)

    assert ended.exit_code == 0, ended.output
    assert [one for one in asked() if one["end"] == "not recorded"] == []


def test_the_log_says_what_the_client_asked(said: Path) -> None:
    """By descriptor, ticket and action; of an upload also whether its messages are those of the recording."""
    conformance_("replay-server", str(said), "--no-tls", "--log", "asked.log", "--", *CLIENT, *EVERYTHING)

    calls = {(one["method"], one["end"]): one for one in asked()}
    assert calls["GetFlightInfo", "OK"]["path"] == ["rows"]
    assert calls["GetFlightInfo", "NOT_FOUND"]["path"] == ["nothing"]
    assert (calls["DoGet", "OK"]["ticket"], calls["DoGet", "OK"]["responses"]) == ("rows", 5)
    assert calls["DoAction", "UNIMPLEMENTED"]["action"] == "unknown"
    assert (calls["DoPut", "OK"]["further_requests"], calls["DoPut", "OK"]["as_recorded"]) == (4, True)
    assert calls["DoExchange", "OK"]["command"] == "echo"


def test_what_was_not_recorded_is_refused(said: Path) -> None:
    """No answer is invented."""
    asks = "from pyarrow import flight; import os\n"
    asks += "flight.connect('grpc+tcp://' + os.environ['CONFORMANCE_GRPC']).do_get(flight.Ticket(b'other')).read_all()"

    ended = conformance_("replay-server", str(said), "--no-tls", "--log", "asked.log", "--", sys.executable, "-c", asks)

    assert ended.exit_code == 1
    (call,) = asked()
    assert (call["ticket"], call["end"], call["why"]) == ("other", "not recorded", _WHY)


_WHY = "DoGet, ticket 'other'; GET /replay/exchanges of the REST port lists what is"


def test_a_fault_of_a_plan_happens_to_a_read(said: Path) -> None:
    """The client reads half, and the next read is whole."""
    plan = {"faults": [{"kind": "status", "method": "DoGet", "responses": 1, "code": "UNAVAILABLE"}]}
    Path("plan.json").write_text(json.dumps(plan), "utf-8")
    asks = "import os, pyarrow as pa\nfrom pyarrow import flight\n"
    asks += "client = flight.connect('grpc+tcp://' + os.environ['CONFORMANCE_GRPC'])\n"
    asks += "try:\n  client.do_get(flight.Ticket(b'rows')).read_all()\nexcept flight.FlightUnavailableError: pass\n"
    asks += "assert client.do_get(flight.Ticket(b'rows')).read_all().num_rows == 1000"
    options = ("--no-tls", "--log", "asked.log", "--faults", "plan.json")

    ended = conformance_("replay-server", str(said), *options, "--", sys.executable, "-c", asks)

    assert ended.exit_code == 0, ended.output
    assert [(one["end"], one["fault_happened"]) for one in asked()] == [("UNAVAILABLE", True), ("OK", False)]


def test_an_adapter_of_the_suite_reads_the_same_rows(said: Path) -> None:
    """The program through which the suite judges pyarrow.flight, by info and endpoints."""
    places = [str(ROOT / "adapters" / one) for one in ("flight-python", "python")]
    asks = f"import sys, os; sys.path += {places!r}; import client\n"
    asks += "batches = client.whole_flight({'grpc': os.environ['CONFORMANCE_GRPC'], 'name': 'rows'})\n"
    asks += "assert sum((one.column('n').to_pylist() for one in batches), []) == list(range(1000))"

    ended = conformance_("replay-server", str(said), "--no-tls", "--", sys.executable, "-c", asks)

    assert ended.exit_code == 0, ended.output


def test_a_case_of_flight_is_put_to_the_reference_first() -> None:
    """As a case of Storage Read is."""
    asks = "from pyarrow import flight; import os\n"
    asks += "list(flight.connect('grpc+tcp://' + os.environ['CONFORMANCE_GRPC']).list_flights())"
    options = ("--no-tls", "--log", "asked.log")

    ended = conformance_("replay-server", "flight.list", *options, "--", sys.executable, "-c", asks)

    assert ended.exit_code == 0, ended.output
    assert [(one["method"], one["end"]) for one in asked()] == [("ListFlights", "OK")]
