"""Judging the IPC stream in the messages of a Flight call: the clauses on streams, at the bytes that were sent."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from conformance.contract.ipc.judging import PROFILE_OF, ipc_clauses
from conformance.contract.ipc.unread import judge_read
from conformance.protocols.flight.contract.streamview import FlightStreamView
from conformance.protocols.flight.wire.data import FlightStream, join_flight
from conformance.records import Finding, Verdict
from conformance.wire import Kind
from conformance.wire.messages import Bytes

__all__ = ["judge_flight", "judge_flight_view"]


def judge_flight(messages: Iterable[Bytes], call: int = 0) -> list[Verdict]:
    """Return the verdicts of the clauses on streams for the bytes of ``FlightData`` messages, in one direction.

    In a finding ``call`` is the given one, ``response`` the index of the message, and bytes count from the first byte
    of that message. Without any IPC message there is nothing to judge, and the list is empty.
    """
    return judge_flight_view(FlightStreamView(join_flight(messages)), call)


def judge_flight_view(view: FlightStreamView, call: int) -> list[Verdict]:
    """Return the verdicts of :func:`judge_flight` for messages that may have been read before."""
    if not view.flight.filled:
        return []
    return [
        dataclasses.replace(verdict, findings=tuple(_placed(one, view.flight, call) for one in verdict.findings))
        if verdict.findings
        else verdict
        for verdict in judge_read(view, ipc_clauses(PROFILE_OF[Kind.STREAM]))
    ]


def _placed(finding: Finding, flight: FlightStream, call: int) -> Finding:
    """The finding at the bytes of the message that it is about."""
    if finding.start is None:
        return dataclasses.replace(finding, call=call)
    place = flight.place(finding.start, finding.start if finding.end is None else finding.end)
    return dataclasses.replace(finding, call=call, response=place.message, start=place.start, end=place.end)
