"""How far the clock of a server is ahead after a step that lets time pass: the driver and the judge work it out alike.

It follows from the recorded answers alone, so that an exchange says it without a field of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.protocols.flight.contract.decoding import Info, message_of, read_endpoint, read_info, read_poll
from conformance.protocols.flight.contract.encoding import part
from conformance.protocols.flight.records import DoAction, FlightMethod
from conformance.records import Call, Case, Happening, Meanwhile

__all__ = ["LONGEST", "first_of", "renewed_in", "seconds_ahead"]

LONGEST: Final = 366 * 24 * 3600
"""The most seconds by which a clock is set ahead: a later time is no such instant."""


def seconds_ahead(case: Case, calls: Sequence[Call], step: Meanwhile, *, ahead: int, now: int) -> int | None:
    """Return by how many seconds the clock is ahead after ``step``, which comes after ``calls``; None if none passes.

    ``ahead`` is what it was before, and ``now`` when the exchange began, in microseconds. An endpoint that expires in
    more than a year is left out.
    """
    began = now // 1_000_000
    times = [time for time in _times(case, calls, step.info) if began + ahead < time <= began + LONGEST]
    if not times:
        return None
    if step.what is Happening.HALFWAY:
        left = min(times) - began - ahead
        return ahead + left // 2 if left > 1 else None
    return max(times) + 1 - began


def _times(case: Case, calls: Sequence[Call], label: str) -> Iterator[int]:
    """Yield the expiration times in the latest info of a label, or in all infos."""
    for call in reversed(calls):
        if label and getattr(case.steps[call.step], "label", "") != label:
            continue
        infos = [one for one in _infos(call, case) if one is not None]
        yield from (one.expires for info in infos for one in info.endpoints if one.expires is not None)
        if label and (infos or call.method != FlightMethod.POLL_FLIGHT_INFO):
            return


def _infos(call: Call, case: Case) -> Iterator[Info | None]:
    """Yield the infos in the answer of a call that a step can refer to."""
    step = case.steps[call.step]
    if call.method == FlightMethod.GET_FLIGHT_INFO:
        yield read_info(first_of(call))
    elif call.method == FlightMethod.POLL_FLIGHT_INFO:
        poll = read_poll(first_of(call))
        yield None if poll is None else poll.info
    elif isinstance(step, DoAction) and step.endpoint:
        yield renewed_in(first_of(call))


def first_of(call: Call) -> bytes:
    """The first message of an answer; bytes that are no message if there is none."""
    return call.responses[0] if call.status == "OK" and call.responses else b"\x00"


def renewed_in(answer: bytes) -> Info | None:
    """An info with the one endpoint in the Result of RenewFlightEndpoint; None if there is none."""
    result = message_of("Result", answer)
    body = b"" if result is None else bytes(result.data("body"))
    return None if read_endpoint(body) is None or not body else read_info(part(3, body))
