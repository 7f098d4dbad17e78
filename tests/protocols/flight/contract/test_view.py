"""An exchange of Flight as calls, infos and streams, which refer to each other."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pytest

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.contract.judge import judge_view
from conformance.contract.viewing import profile_of, view_of
from conformance.protocol import DEFAULT_PROTOCOL
from conformance.protocols.flight.contract.encoding import part
from conformance.protocols.flight.contract.expanding import MOST_ROWS
from conformance.protocols.flight.contract.view import ExchangeView, FlightView
from conformance.protocols.flight.records import (
    Descriptor,
    DoExchange,
    DoGet,
    DoPut,
    GetFlightInfo,
    PollFlightInfo,
)
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.reference.store import Flight
from conformance.protocols.flight.reference.variations import FLIGHT_VARIATIONS
from conformance.protocols.storage_read.contract.serverview import ServerView
from conformance.records import Asker, AskerKind, CallEnd, Exchange, GivingUp, Outcome
from conformance.wire.protobuf import MAX_FIELDS
from tests.protocols.flight.reference.direct import PATH, PUT_AND_GET, case_of, seen
from tests.protocols.flight.wire.samples import divided, flight_data, streamed

load_chapters()
OTHER = Descriptor(path=("other",))


def test_a_read_belongs_to_the_latest_info_with_its_ticket() -> None:
    """And an info has the reads of its endpoints in their order."""
    view = seen(case_of(*PUT_AND_GET), FLIGHT_VARIATIONS["flight-info.several-endpoints"].service())

    (info,) = view.infos
    assert [get.info for get in view.gets] == [info] * len(info.info.endpoints)
    assert info.reads == view.gets
    assert info.whole == view.gets


def test_a_literal_ticket_belongs_to_no_info() -> None:
    """Even if an info happens to have the same ticket."""
    view = seen(case_of(*PUT_AND_GET, DoGet(ticket=b"none")))

    assert [get.info is None for get in view.gets] == [False, True]


def test_an_info_that_was_not_read_whole_is_not_whole() -> None:
    """What is missing is not the server's fault, or another clause's finding."""
    (info,) = seen(case_of(DoPut(PATH), GetFlightInfo(PATH))).infos

    assert info.reads == (None,)
    assert info.whole is None


def test_reads_with_the_same_answer_share_the_stream() -> None:
    """It is read and judged once; each of them has its rows."""
    one, again = seen(case_of(*PUT_AND_GET, DoGet())).gets

    assert one.stream is again.stream
    assert one.table is not None
    assert one.table is again.table


def test_an_info_of_a_put_is_under_its_descriptor() -> None:
    """Not under another one, and not if the put was refused."""
    view = seen(case_of(DoPut(PATH), GetFlightInfo(PATH), DoPut(OTHER), GetFlightInfo(PATH)))

    assert [info.put for info in view.infos] == [view.flight_calls[0]] * 2
    assert view.put_before(GetFlightInfo(OTHER), 1) is None


def test_polls_are_infos() -> None:
    """Each answer that has one; a later read belongs to the last."""
    view = seen(case_of(DoPut(PATH), PollFlightInfo(PATH), DoGet()))

    assert len(view.infos) == 2
    assert [poll is not None for call in view.flight_calls for poll in call.polls] == [True, True]
    assert view.gets[0].info is view.infos[1]


class _Garbled(FlightService):
    def stream(self, flight: Flight) -> Messages:
        first, *rest = super().stream(flight)
        yield from (first, b"\x0a\xff", *rest)


def test_a_stream_with_bytes_that_are_no_message_has_no_table() -> None:
    """The rows around them would look whole."""
    (get,) = seen(case_of(*PUT_AND_GET), _Garbled()).gets

    assert [one is None for one in get.data][:3] == [False, True, False]
    assert get.table is None


class _Cut(FlightService):
    def encode(self, message: object) -> tuple[bytes, bytes]:
        header, body = super().encode(message)  # type: ignore[arg-type]  # as the service has it
        return header, body[:-8]


def test_a_stream_that_breaks_the_format_has_no_table() -> None:
    """Its rows are nobody's."""
    (get,) = seen(case_of(*PUT_AND_GET), _Cut()).gets

    assert get.table is None


def test_calls_of_a_client_carry_out_no_step() -> None:
    """They are served, and no clause on steps sees them."""
    view = seen(case_of(*PUT_AND_GET))
    asked = dataclasses.replace(view.exchange, asked_by=Asker(AskerKind.PROXY, "somebody", "1"))

    recorded = FlightView(view.case, asked, view.table)

    assert [call.raw.method for call in recorded.served] == ["DoPut", "GetFlightInfo", "DoGet"]
    assert (recorded.flight_calls, recorded.gets, recorded.infos) == ((), (), ())


class _Silent(FlightService):
    def do_get(self, requests: Iterator[bytes]) -> Sequence[bytes]:
        return [part(3, b"x") for _ in range(10_000)]


def test_a_call_that_the_driver_ended_was_not_answered() -> None:
    """It has no status to judge."""
    (get,) = seen(case_of(*PUT_AND_GET), _Silent()).gets

    assert get.raw.end is CallEnd.OVER_BUDGET
    assert not get.answered
    assert not get.ok


def test_the_protocol_chooses_the_view_and_the_profile() -> None:
    """An exchange of Storage Read has the view of its own clauses."""
    view = seen(case_of())
    stored = Exchange("a", "t")

    assert type(view_of(view.case, view.exchange, view.table)) is FlightView
    assert type(view_of(view.case, stored, view.table)) is ServerView
    assert [profile_of(one) for one in ("flight", DEFAULT_PROTOCOL)] == ["flight", "bq-arrow"]


def test_an_exchange_has_what_was_sent_and_what_came() -> None:
    """Both as FlightData; the rows are those of the answers."""
    view = seen(case_of(DoExchange(alone=1, metadata=True)))
    (call,) = view.flight_calls

    assert isinstance(call, ExchangeView)
    assert [one.metadata for one in call.sent[1:]] == [one.metadata for one in call.data if one is not None]
    assert call.table is not None
    assert call.table.equals(view.table)


def test_answers_of_metadata_alone_have_no_rows() -> None:
    """Nothing can be read of them, and nothing is broken."""
    (call,) = seen(case_of(DoExchange(alone=1, rows=False))).flight_calls

    assert isinstance(call, ExchangeView)
    assert (call.table, call.joined.filled, call.messages) == (None, (), [])


def test_what_a_given_up_upload_stored_is_open() -> None:
    """Also where an earlier one was accepted; one that was half-closed was sent."""
    for how, found in ((GivingUp.CANCEL, None), (GivingUp.DEADLINE, None), (GivingUp.HALF_CLOSE, 1)):
        view = seen(case_of(DoPut(PATH), DoPut(PATH, stop=2, gives_up=how), GetFlightInfo(PATH)))
        put = view.put_before(GetFlightInfo(PATH), 2)

        assert (put if put is None else put.index) == found


@pytest.mark.parametrize("outcome", [Outcome.HANG, Outcome.UNTESTABLE])
def test_a_dictionary_column_that_decodes_to_too_much_is_not_compared(
    outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the table was put, no answer is so large; otherwise nobody knows."""
    monkeypatch.setattr("conformance.protocols.flight.contract.view.MOST_EXPANDED", 1)
    service = FLIGHT_VARIATIONS["flight-data.dictionaries"].service()
    case = case_of(*PUT_AND_GET)
    view = seen(case, service)
    if outcome is Outcome.UNTESTABLE:
        view = FlightView(
            dataclasses.replace(case, steps=(GetFlightInfo(PATH), *case.steps[1:])), view.exchange, view.table
        )

    (get,) = view.gets
    assert get.table is None
    assert (view.excess is not None) == (outcome is Outcome.HANG)
    found, words = view.reason_not_judged()
    assert found is outcome
    assert "its dictionary columns take more than" in words


def test_rows_without_bytes_are_too_many_to_be_compared() -> None:
    """A column of NULLs may have any number of rows in a few bytes, in one stream or in several together."""
    nulls = pa.record_batch({"n": pa.nulls(MOST_ROWS)})
    sent = tuple(flight_data(message) for message in divided(streamed(nulls)))
    case = case_of(*PUT_AND_GET, DoGet())
    right = seen(case)
    calls = [
        dataclasses.replace(call, responses=sent) if call.method == "DoGet" else call for call in right.exchange.calls
    ]

    view = FlightView(case, dataclasses.replace(right.exchange, calls=tuple(calls)), right.table)

    first, second = view.gets
    assert first.table is not None
    assert second.table is None
    assert view.excess is not None
    found, words = view.reason_not_judged()
    assert found is Outcome.HANG
    assert "rows or more, of which at most" in words


class _Twice(FlightService):
    def endpoints(self, flight: Flight) -> Sequence[bytes]:
        return [*super().endpoints(flight)] * 2


def test_endpoints_with_the_same_ticket_have_a_read_each() -> None:
    """One read is not that of a million endpoints; if one of them was not read, the info was not read whole."""
    (both,) = seen(case_of(*PUT_AND_GET), _Twice()).infos
    (one,) = seen(case_of(DoPut(PATH), GetFlightInfo(PATH), DoGet(endpoint="0")), _Twice()).infos

    assert both.whole == tuple(both.of.view.gets)
    assert len(both.of.view.gets) == 2
    assert one.reads == (one.of.view.gets[0], None)
    assert one.whole is None


def _many_fields(count: int) -> FlightView:
    """A view whose FlightInfo has so many unknown fields before its numbers."""
    view = seen(case_of(*PUT_AND_GET))
    calls = [
        dataclasses.replace(call, responses=(b"\xf8\x07\x01" * count + call.responses[0],))
        if call.method == "GetFlightInfo"
        else call
        for call in view.exchange.calls
    ]
    exchange = dataclasses.replace(view.exchange, calls=tuple(calls))
    made = view_of(view.case, exchange, view.table)
    assert isinstance(made, FlightView)
    return made


def test_a_message_that_is_not_read_to_its_end_is_judged_by_no_clause() -> None:
    """The numbers behind the last field that is read would count as absent, and their clauses would hold."""
    few, many = _many_fields(10), _many_fields(MAX_FIELDS)

    assert (few.excess, many.excess is None) == (None, False)
    assert many.reason_not_judged() == (
        Outcome.HANG,
        f"call 1: a FlightInfo with more than {MAX_FIELDS} fields, which are not read",
    )
    assert Outcome.PASS not in {one.outcome for one in judge_view(many, CLAUSES.values())}


def test_such_a_message_about_an_unknown_table_is_no_failure() -> None:
    """A large table may have so many endpoints: nothing is judged, and every verdict gives the reason."""
    view = _many_fields(MAX_FIELDS)
    view.case = dataclasses.replace(view.case, table=dataclasses.replace(view.case.table, columns=(), recipe=None))

    verdicts = judge_view(view, CLAUSES.values())

    assert {one.outcome for one in verdicts} == {Outcome.UNTESTABLE}
    assert all("which are not read" in one.reason for one in verdicts)
