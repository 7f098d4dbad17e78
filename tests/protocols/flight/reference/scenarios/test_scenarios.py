"""The services of the scenarios, asked by pyarrow's client and without one."""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pyarrow.flight as pf
import pytest

from conformance.protocols.flight.contract.decoding import message_of, read_info
from conformance.protocols.flight.contract.encoding import action, descriptor, part
from conformance.protocols.flight.contract.scenarios import FLIGHT_SCENARIOS
from conformance.protocols.flight.contract.view import FlightView
from conformance.protocols.flight.records import Descriptor
from conformance.protocols.flight.reference.deviations import scenario_service
from conformance.protocols.flight.reference.scenarios import SCENARIOS
from conformance.protocols.flight.reference.scenarios.actions import ThreeExpiring
from conformance.protocols.flight.reference.scenarios.register import scenario
from conformance.protocols.flight.reference.server import FlightServer
from conformance.protocols.flight.reference.service import FlightService
from conformance.records import Exchange
from conformance.reference.statuses import Refusal
from tests.protocols.flight.reference.direct import failures, seen, tried

ANY = descriptor(Descriptor(cmd=b"x"))


def test_the_scenarios_are_those_of_arrow() -> None:
    """By the names that its clients use; the base case has none. Servers and clients have the same."""
    assert set(SCENARIOS) == set(FLIGHT_SCENARIOS)
    assert set(SCENARIOS) == {
        "", "auth:basic_proto", "middleware", "ordered", "expiration_time:do_get", "expiration_time:list_actions",
        "expiration_time:cancel_flight_info", "expiration_time:renew_flight_endpoint", "do_exchange:echo",
        "location:reuse_connection", "session_options", "poll_flight_info", "app_metadata_flight_info_endpoint",
        "flight_sql", "flight_sql:extension", "flight_sql:ingestion",
    }  # fmt: skip


def test_a_name_is_taken_once() -> None:
    """A second service under it would never be asked."""
    with pytest.raises(ValueError, match="not taken"):
        scenario("ordered")(FlightService)


def test_an_unknown_scenario_has_no_service() -> None:
    """The message lists those that there are."""
    with pytest.raises(KeyError, match="'ordered'"):
        scenario_service("orderly")


def test_pyarrow_gets_its_batches_back() -> None:
    """Four batches in turns, every other with metadata."""
    with FlightServer(SCENARIOS["do_exchange:echo"]()) as server, pf.connect(f"grpc://{server.endpoint}") as client:
        writer, reader = client.do_exchange(pf.FlightDescriptor.for_command(b"echo"))
        with writer:
            for number in range(4):
                batch = pa.record_batch({"number": pa.array([number, None], pa.int32())})
                metadata = b"%d" % number if number % 2 == 0 else None
                if number == 0:
                    writer.begin(batch.schema)
                if metadata is None:
                    writer.write_batch(batch)
                else:
                    writer.write_with_metadata(batch, metadata)
                came = reader.read_chunk()
                assert came.data.equals(batch)
                assert (came.app_metadata and came.app_metadata.to_pybytes()) == metadata
            writer.done_writing()
            with pytest.raises(StopIteration):
                reader.read_chunk()


def test_pyarrow_reads_the_parts_in_order() -> None:
    """The info says so, for the command ``ordered`` alone."""
    with FlightServer(SCENARIOS["ordered"]()) as server, pf.connect(f"grpc://{server.endpoint}") as client:
        info = client.get_flight_info(pf.FlightDescriptor.for_command(b"ordered"))
        read = pa.concat_tables(client.do_get(one.ticket).read_all() for one in info.endpoints)
        other = client.get_flight_info(pf.FlightDescriptor.for_command(b"other"))

    assert (info.ordered, other.ordered) == (True, False)
    assert read.column("number").to_pylist() == [1, 2, 3, 10, 20, 30, 100, 200, 300]


def test_a_ticket_without_a_lifetime_is_read_once() -> None:
    """The others again and again, until they expire; a renewed one later than before."""
    service = ThreeExpiring()
    (answer,) = service.get_flight_info(iter([ANY]))
    info = read_info(answer)
    assert info is not None
    once, again, _ = info.endpoints
    tickets = [part(1, one.ticket or b"") for one in (once, again)]
    for ticket in (*tickets, tickets[1]):
        assert list(service.do_get(iter([ticket])))
    with pytest.raises(Refusal):
        list(service.do_get(iter([tickets[0]])))
    service._until[again.ticket or b""] = 0
    with pytest.raises(Refusal):
        list(service.do_get(iter([tickets[1]])))
    list(service.do_action(iter([action("RenewFlightEndpoint", part(1, again.raw))])))

    assert list(service.do_get(iter([tickets[1]])))


def test_a_path_is_refused_where_commands_are_asked_for() -> None:
    """So that a client learns what this server is for."""
    with pytest.raises(Refusal):
        list(SCENARIOS["poll_flight_info"]().get_flight_info(iter([descriptor(Descriptor(path=("a",)))])))


def test_a_session_begins_with_the_question() -> None:
    """Its options are none."""
    service = SCENARIOS["session_options"]().for_call("DoAction", {})
    (answer,) = service.do_action(iter([action("GetSessionOptions")]))
    result = message_of("Result", answer)

    assert result is not None
    assert result.data("body") == b""
    assert [name for name, _ in service.reply] == ["set-cookie"]


@pytest.mark.parametrize("name", FLIGHT_SCENARIOS, ids=lambda name: name or "base")
def test_the_reference_answers_the_suite_as_its_scenarios_ask(name: str) -> None:
    """Server and client agree, and no other clause fails."""
    service = type("Playing", (scenario_service(name),), {"scenario": name})

    assert dict(tried(service)) == {}


def test_a_client_that_stopped_early_misses_no_answer() -> None:
    """Calls that were not made for want of time say nothing of the server; those that were made are judged."""
    one = FLIGHT_SCENARIOS["session_options"].case
    whole = seen(one, SCENARIOS["session_options"]())
    cut = dataclasses.replace(whole.exchange, calls=whole.exchange.calls[:1], skipped_steps=(1,), stopped="no time")

    def fails(exchange: Exchange) -> bool:
        return "flight-scenario.answers-as-expected" in failures(FlightView(one, exchange, whole.table))

    assert not fails(cut)
    assert fails(dataclasses.replace(cut, stopped=""))
