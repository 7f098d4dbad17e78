"""An exchange in a log is read back whole, shown, and judged again without a target."""

from __future__ import annotations

import dataclasses
import json
import queue
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pyarrow as pa
import pytest

from conformance.contract.viewing import view_of
from conformance.engine.casestep import CaseStep
from conformance.engine.events import CaseJudged, Event, ExchangeRecorded, RunEnded
from conformance.engine.log import LogError, LogWriter, read_log
from conformance.engine.recorded import read_recorded, with_exchange
from conformance.engine.run import CaseJob, run
from conformance.engine.selection import all_clauses
from conformance.engine.transcript import transcript
from conformance.generate import load_case
from conformance.records import Call, Case, Exchange, MetadataEntry, Outcome, RecordError, Turn
from tests.engine.samples import FakeTarget, judged, passing, sample_case, sample_exchange, started
from tests.protocols.flight.records.steps import BY_A_CLIENT, FLIGHT_CASE, FLIGHT_EXCHANGE

METHOD = "/arrow.flight.protocol.FlightService/DoExchange"


def log_of(path: Path, *recorded: ExchangeRecorded) -> Path:
    """A log of a run with these exchanges."""
    events: list[Event] = [
        started("calls.ok"),
        *(judged(one.case.id, passing(one.case.id, "calls.ok")) for one in recorded),
    ]
    for one in recorded:
        events = list(with_exchange(events, one))
    with LogWriter(path) as log:
        for event in [*events, RunEnded(1.0)]:
            log.write(event)
    return path


def echo(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
    """Answer each message but the first, and once more when the client has said all."""
    context.send_initial_metadata((("server", "echo"),))
    next(requests)
    for data in requests:
        yield b"echo " + data
    yield b"bye"
    context.set_trailing_metadata((("x-arrow-status", "0"),))


class Echo(grpc.GenericRpcHandler):
    """Serves DoExchange as bytes."""

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
        """The handler of the method."""
        return grpc.stream_stream_rpc_method_handler(echo) if details.method == METHOD else None


def ping_pong(port: int) -> Call:
    """A DoExchange call in which each message but the first waits for its answer, as it was."""
    order: list[str] = []
    answers: list[bytes] = []
    asked = (b"descriptor", b"one", b"two")

    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        said: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        running = channel.stream_stream(METHOD)(iter(said.get, None))
        for place, data in enumerate(asked):
            said.put(data)
            order.append(Turn.REQUEST)
            if place:
                answers.append(next(running))
                order.append(Turn.RESPONSE)
        said.put(None)
        order.append(Turn.HALF_CLOSE)
        for answer in running:
            answers.append(answer)
            order.append(Turn.RESPONSE)
        entries = [
            tuple(MetadataEntry(key, str(value).encode()) for key, value in metadata)
            for metadata in (running.initial_metadata(), running.trailing_metadata())
        ]
    return Call(
        7,
        "words",
        "DoExchange",
        asked[0],
        tuple(answers),
        more_requests=asked[1:],
        order="".join(order),
        initial_metadata=entries[0],
        trailers=entries[1],
    )


@pytest.fixture
def echoing() -> Iterator[int]:
    """The port of a server of DoExchange."""
    server = grpc.server(ThreadPoolExecutor(2), handlers=[Echo()])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield port
    server.stop(None)


def test_a_call_of_many_messages_is_logged_read_and_shown(echoing: int, tmp_path: Path) -> None:
    """Requests, answers and the half-close in the order in which they were, and both kinds of metadata."""
    exchange = dataclasses.replace(BY_A_CLIENT, calls=(ping_pong(echoing),))

    path = log_of(tmp_path / "recorded.jsonl", ExchangeRecorded(FLIGHT_CASE, exchange))
    recorded = read_recorded(path)
    (view,) = recorded.views()
    shown = list(transcript(view))

    assert recorded.exchanges == (ExchangeRecorded(FLIGHT_CASE, exchange),)
    assert shown[0] == ("exchange of case flight.words with fake, in flight, asked by arrow-go 18.8.0 through a proxy")
    assert [line for line in shown if line.startswith("  ") and not line.startswith("    ")] == [
        "  request 0, 10 bytes",
        "  request 1, 3 bytes",
        "  response 0, 8 bytes",
        "  request 2, 3 bytes",
        "  response 1, 8 bytes",
        "  no further request",
        "  response 2, 3 bytes",
        "  initial metadata server: b'echo'",
        "  trailer x-arrow-status: b'0'",
    ]
    assert f"    {b'echo one'.hex(' ')}" in shown


def test_what_no_clause_speaks_of_is_not_judged(tmp_path: Path) -> None:
    """Flight's calls have no clauses yet: that is said of the case as a whole, and is no pass."""
    path = log_of(tmp_path / "recorded.jsonl", ExchangeRecorded(FLIGHT_CASE, BY_A_CLIENT))

    (case,) = [event for event in read_recorded(path).judged() if isinstance(event, CaseJudged)]

    assert [(one.clause, one.outcome) for one in case.verdicts] == [("case", Outcome.UNTESTABLE)]


def test_a_log_without_an_exchange_says_how_to_get_one(tmp_path: Path) -> None:
    """A run's log has verdicts alone."""
    path = log_of(tmp_path / "run.jsonl")

    with pytest.raises(LogError, match=r"run\.jsonl contains no exchange; `conformance replay CASE --log FILE` writes"):
        read_recorded(path)


def test_two_exchanges_of_one_case_are_refused(tmp_path: Path) -> None:
    """None of them is judged in the place of the other."""
    recorded = ExchangeRecorded(FLIGHT_CASE, BY_A_CLIENT)

    with pytest.raises(LogError, match=r"expected one exchange of each case, got several of 'flight\.words'"):
        read_recorded(log_of(tmp_path / "recorded.jsonl", recorded, recorded))


def test_rows_and_requests_come_back_as_they_were(tmp_path: Path) -> None:
    """Only what is printed is made safe."""
    table = json.loads('{"n": "\\u001b[2J\\n::error::"}')
    case = load_case(written(tmp_path / "case.json", table))

    path = log_of(tmp_path / "run.jsonl", ExchangeRecorded(case, Exchange(case.id, "t")))

    assert read_recorded(path).exchanges[0].case == case


def written(path: Path, row: dict[str, str]) -> Path:
    """The file of a case with one row."""
    columns = [{"name": "n", "type": "STRING"}]
    path.write_text(json.dumps({"id": "a", "title": "t", "table": {"columns": columns, "rows": [row]}}))
    return path


@pytest.mark.parametrize(
    ("case", "exchange", "complaint"),
    [
        (sample_case("a"), sample_exchange("b"), "exchange.case_id: expected 'a', the case's id but got 'b'"),
        (sample_case("a"), Exchange("a", "t", (Call(2, "", "ReadRows", b""),)), "calls[0].step: expected one of the"),
        (sample_case("a"), Exchange("a", "t", (Call(-1, "", "ReadRows", b""),)), "calls[0].step: expected one of the"),
        (FLIGHT_CASE, Exchange(FLIGHT_CASE.id, "t"), "exchange.protocol: expected flight, as the case has it"),
    ],
)
def test_an_exchange_is_that_of_its_case(case: Case, exchange: Exchange, complaint: str) -> None:
    """No call points at a step that is not there, in a file that anybody may have written."""
    with pytest.raises(RecordError) as error:
        ExchangeRecorded(case, exchange)

    assert complaint in str(error.value)


def test_a_case_in_a_log_is_checked_as_one_in_a_file(tmp_path: Path) -> None:
    """A table of a billion rows is not made because a log says so."""
    path = log_of(tmp_path / "run.jsonl", ExchangeRecorded(sample_case("a"), sample_exchange("a")))
    path.write_text(path.read_text().replace('"recipe":{"rows":2}', '"recipe":{"rows":1000000000}'))

    with pytest.raises(LogError, match=r"line 2: .*expected a table of at most 1024 MiB"):
        list(read_log(path))


def test_a_storage_read_target_does_not_support_a_case_of_flight() -> None:
    """It is not asked, and nothing crashes."""
    step = CaseStep(all_clauses().values(), FakeTarget({}))

    events = list(run(started("calls.ok"), [CaseJob(FLIGHT_CASE, "flight.yaml")], step))

    (case,) = [event for event in events if isinstance(event, CaseJudged)]
    assert [(one.clause, one.outcome, one.reason) for one in case.verdicts] == [
        ("case", Outcome.UNSUPPORTED, "this case speaks flight; the target storage-read")
    ]
    assert case.calls == 0


def test_a_refused_handshake_of_the_driver_is_shown() -> None:
    """A call in which nobody said anything but the status."""
    shown = list(transcript(view_of(FLIGHT_CASE, FLIGHT_EXCHANGE, pa.table({}))))

    assert shown[:4] == [
        "exchange of case flight.words with fake, in flight",
        "",
        "call 0  Handshake   UNAUTHENTICATED (complete, 0.0 ms)",
        "  no further request",
    ]
