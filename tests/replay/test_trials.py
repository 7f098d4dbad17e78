"""The test server of ``read_retry.json``: what it says of clients that are right, and of clients that are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pyarrow as pa
import pytest

from conformance.contract import proto
from conformance.replay.server import Replay
from tests.replay.asking import at_once, http, session

ALONE = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0)]
AFTER_ONE = "read-rows.unavailable-after-one"
BEHIND = "read-rows.unavailable-behind-the-last"
PERMANENT = "read-rows.not-found"


class GaveUpError(Exception):
    """The client reports an error."""


@pytest.fixture(scope="module")
def server() -> Iterator[Replay]:
    """A test server."""
    with Replay(tls=False, clock=at_once) as one:
        yield one


class Client:
    """A client that reads on from the right row, as long as a status is UNAVAILABLE; its faults are subclasses."""

    retried: tuple[str, ...] = ("UNAVAILABLE",)

    def read(self, channel: grpc.Channel, table: str) -> list[int]:
        """Every value of a table; raises GaveUpError."""
        made = session(channel, table)
        schema = pa.ipc.read_schema(pa.py_buffer(made.arrow_schema.serialized_schema))
        return [value for stream in made.streams for value in self.stream(channel, stream.name, schema)]

    def stream(self, channel: grpc.Channel, name: str, schema: pa.Schema) -> list[int]:
        """Every value of a stream."""
        values: list[int] = []
        for _ in range(5):
            request = proto.ReadRowsRequest(read_stream=name, offset=self.offset(values)).SerializeToString()
            call = channel.unary_stream(f"{proto.SERVICE}ReadRows", None, None)(request)
            try:
                for data in call:
                    message = proto.ReadRowsResponse.FromString(data).arrow_record_batch.serialized_record_batch
                    values += pa.ipc.read_record_batch(pa.py_buffer(message), schema).column(0).to_pylist()
            except grpc.RpcError:
                if call.code().name in self.retried:
                    continue
                return self.failed(values)
            return values
        return self.failed(values)

    def offset(self, values: list[int]) -> int:
        """The row from which to read on."""
        return len(values)

    def failed(self, _values: list[int]) -> list[int]:
        """Report an error."""
        raise GaveUpError


class FromTheStart(Client):
    """It reads on from row 0, and keeps what it had."""

    def offset(self, values: list[int]) -> int:
        """Row 0."""
        return 0


class Silent(Client):
    """It takes an error for the end."""

    retried = ()

    def failed(self, values: list[int]) -> list[int]:
        """Say nothing."""
        return values


class GivesUp(Client):
    """It reports every status as an error."""

    retried = ()


class AsksForEver(Client):
    """It asks again after every status."""

    retried = ("UNAVAILABLE", "NOT_FOUND")


class ReadsNothing(Client):
    """It reports an error without a call."""

    def read(self, channel: grpc.Channel, table: str) -> list[int]:
        """Nothing."""
        raise GaveUpError


def tried(server: Replay, test: str, client: Client) -> dict[str, Any]:
    """The verdict on a client."""
    trial = http(server, "POST", "/replay/retry", {"test": test})[1]
    report: dict[str, Any]
    with grpc.insecure_channel(trial["grpc"], options=ALONE) as channel:
        try:
            report = {"rows": client.read(channel, trial["table"])}
        except GaveUpError:
            report = {"error": "gave up"}
    judged: dict[str, Any] = http(server, "POST", f"/replay/retry/{trial['id']}", report)[1]
    return judged


@pytest.mark.parametrize(
    ("test", "client", "verdict", "why"),
    [
        (AFTER_ONE, Client, "held", ""),
        (BEHIND, Client, "held", ""),
        ("read-rows.unavailable-on-every-stream", Client, "held", ""),
        ("read-rows.reset-in-the-second-message", Client, "held", ""),
        ("read-rows.stall-after-one", Client, "held", ""),
        (PERMANENT, Client, "held", ""),
        (AFTER_ONE, FromTheStart, "failed", "expected 400 rows once each, got 100 rows more than once"),
        (AFTER_ONE, Silent, "failed", "expected 400 rows once each, got 300 rows missing"),
        (PERMANENT, Silent, "failed", "expected 400 rows once each, got 300 rows missing"),
        (AFTER_ONE, GivesUp, "differs", "recommended: rows"),
        ("read-rows.unknown", GivesUp, "held", ""),
        (PERMANENT, AsksForEver, "differs", "the client made 5 calls, recommended: at most 1"),
        (AFTER_ONE, ReadsNothing, "not consumed", "0 of 1 instruction happened"),
    ],
)
def test_the_verdict_on_a_client(
    server: Replay, test: str, client: Callable[[], Client], verdict: str, why: str
) -> None:
    """Each fault of a client has its verdict, and the reason says what was wrong."""
    judged = tried(server, test, client())

    assert (judged["verdict"], why in judged["why"]) == (verdict, True), judged


def test_an_instruction_that_did_not_happen_shows_nothing(server: Replay) -> None:
    """A client that reads the first stream only never meets what happens on the second."""

    class First(Client):
        def read(self, channel: grpc.Channel, table: str) -> list[int]:
            """Make the rest up."""
            return list(range(800))

    judged = tried(server, "read-rows.unavailable-on-the-second-stream", First())

    assert (judged["verdict"], judged["outcome"]) == ("not consumed", "rows")


def test_a_client_that_does_not_answer_has_failed(server: Replay) -> None:
    """Its own test reports that it did not return, or that its process ended."""
    trial = http(server, "POST", "/replay/retry", {"test": AFTER_ONE})[1]

    judged = http(server, "POST", f"/replay/retry/{trial['id']}", {"no_answer": "exit status 1"})[1]

    assert (judged["verdict"], judged["outcome"]) == ("failed", "no answer")
    assert "neither rows nor an error: exit status 1" in judged["why"]


def test_the_table_of_a_trial_is_gone_after_its_report(server: Replay) -> None:
    """A second read of it would not be a trial."""
    trial = http(server, "POST", "/replay/retry", {"test": AFTER_ONE})[1]
    http(server, "POST", f"/replay/retry/{trial['id']}", {"error": "x"})

    assert server.shelf.get(trial["id"]) is None


@pytest.mark.parametrize("body", [{}, {"rows": [1], "error": "x"}, {"rows": "all"}, {"rows": [1.5]}])
def test_a_report_of_another_form_is_refused(server: Replay, body: object) -> None:
    """The trial goes on."""
    trial = http(server, "POST", "/replay/retry", {"test": AFTER_ONE})[1]

    assert http(server, "POST", f"/replay/retry/{trial['id']}", body)[0] == 400
    assert "verdict" not in http(server, "GET", f"/replay/retry/{trial['id']}")[1]


def test_the_summary_counts_verdicts_and_lists_what_nobody_tried() -> None:
    """A build that forgets a test sees it."""
    with Replay(tls=False, clock=at_once) as server:
        tried(server, AFTER_ONE, Client())
        http(server, "POST", "/replay/retry", {"test": BEHIND})
        summary = http(server, "GET", "/replay/retry")[1]

    assert summary["verdicts"] == {"held": 1, "not reported": 1}
    assert AFTER_ONE not in summary["not_tried"]
    assert PERMANENT in summary["not_tried"]
