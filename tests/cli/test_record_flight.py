"""``conformance record`` between a real client and a real server of Arrow Flight, both on pyarrow.flight."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.contain.child import Child
from conformance.engine.events import ExchangeRecorded
from conformance.engine.log import read_log
from conformance.protocols.flight.reference.deviations import flight_service
from conformance.protocols.flight.reference.server import FlightServer
from conformance.records import Call
from tests.cli.typed import conformance_
from tests.fixtures import ROOT
from tests.patience import LONG

SERVER = ROOT / "targets" / "flight" / "with_pyarrow.py"
CLIENT = (sys.executable, str(ROOT / "tests" / "cli" / "flightclient.py"))
EVERYTHING = ("write", "read", "talk", "be-refused", "act")
METHODS = [
    *("DoAction", "DoExchange", "DoGet", "DoPut", "GetFlightInfo", "GetFlightInfo", "GetSchema"),
    *("ListActions", "ListFlights"),
]
"""Every method that pyarrow has but the login, as often as the client calls it."""
REFUSALS = ["NOT_FOUND", "UNIMPLEMENTED"]


@pytest.fixture(autouse=True)
def _user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's directory, which holds the logs."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server on pyarrow.flight."""
    program = Child([sys.executable, str(SERVER), "127.0.0.1"], environment=os.environ)
    try:
        yield f"127.0.0.1:{program.wait_for_port('grpc.listen', time.monotonic() + LONG)}"
    finally:
        program.stop(grace=0)


def calls(path: str) -> list[Call]:
    """The calls in a log, all of them of Flight."""
    found = [event for event in read_log(Path(path)) if isinstance(event, ExchangeRecorded)]
    assert {one.exchange.protocol for one in found} == {"flight"}
    return [call for one in found for call in one.exchange.calls]


def test_what_client_and_server_said_is_judged(server: str) -> None:
    """Every method that pyarrow has passes, streams in both directions and errors too, and nothing fails."""
    result = conformance_("record", "--upstream", server, "--out", "said.log", "--judge", "--", *CLIENT, *EVERYTHING)

    assert result.exit_code == 0, result.output
    assert " 0 failed" in result.output
    made = calls("said.log")
    assert sorted(call.method for call in made) == METHODS
    assert sorted(call.status for call in made if call.status != "OK") == sorted(REFUSALS)
    (put,) = (call for call in made if call.method == "DoPut")
    (talk,) = (call for call in made if call.method == "DoExchange")
    assert (len(put.requests), len(talk.requests), len(talk.responses)) == (5, 4, 3)
    assert talk.order.startswith(">>"), talk.order
    assert talk.order.index("<") < talk.order.rindex(">"), "an answer came before the last request"
    for command in ("judge", "replay", "report"):
        again = conformance_(command, "said.log")
        assert again.exit_code == 0, again.output
        assert "PASSED: " in again.output
        assert (" 0 failed" in again.output) is (command != "report")


def test_the_fault_of_a_server_is_found() -> None:
    """Once while the calls are recorded, in the result at the end, and in each report: the same as in a run."""
    with FlightServer(flight_service("flight-data.header-with-prefix")()) as faulty:
        result = conformance_("record", "--upstream", faulty.endpoint, "--out", "said.log", "--judge", "--", *CLIENT,
                              "write", "read")  # fmt: skip

    assert result.exit_code == 1
    assert "FAIL flight-data.header-without-prefix: the continuation " in result.stderr
    assert "flight-data.header-without-prefix" in conformance_("judge", "said.log").output
    reported = conformance_("report", "said.log", "--json", "said.json", "--html", "said.html", "--badge", "said.svg")
    assert reported.exit_code == 1
    assert "flight-data.header-without-prefix" in reported.output
    report = json.loads(Path("said.json").read_text("utf-8"))
    # The command judges the log again, without a target.
    assert {one["replay"] for one in report["deviations"]} == {"conformance replay said.log"}
    assert "arrow flight: " in Path("said.svg").read_text("utf-8")
    explained = conformance_("explain", "said.log", "1")
    assert explained.exit_code == 0, explained.output
    assert "flight-data." in explained.output
