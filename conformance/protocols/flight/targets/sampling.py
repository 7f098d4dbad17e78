"""Reads of flights that the suite finds on a server: nobody knows how large they are, or whether they end.

Such a read has a small part of the limits of a call. What is beyond them is no fault of the server: the client gives
the call up.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Final

from conformance.protocols.flight.contract.decoding import AT, Info, message_of, read_info
from conformance.protocols.flight.records import FlightMethod, ListFlights
from conformance.records import Call, CallEnd
from conformance.targets.recordedcall import CallBudget

__all__ = ["MOST_SAMPLED", "bounded", "descriptor_in", "given_up", "is_spent", "listed_in"]

MOST_SAMPLED: Final = 8
"""The number of endpoints of one flight that a sample reads."""
SECONDS: Final = 3.0
"""The seconds of a read, and of all calls of a case after which it reads no further sample."""
RESPONSES: Final = 256
"""The messages of a read."""
SIZE: Final = 8 << 20
"""The bytes of a read."""

LISTED: Final = 2000
"""The flights of a list."""


def listed_in(call: Call, step: ListFlights) -> Info | None:
    """The flight that a step remembers of the answer to ListFlights; None if there is none, or no such one."""
    flights = call.responses if call.status == "OK" or call.end is CallEnd.CANCELLED else ()
    if not -len(flights) <= step.nth < len(flights):
        return None
    return read_info(flights[step.nth])


def descriptor_in(info: Info | None) -> bytes | None:
    """The descriptor that an info names, in its own bytes: those of all its parts. None if it names none."""
    message = None if info is None else message_of("FlightInfo", info.raw)
    if info is None or message is None or not message.has("flight_descriptor"):
        return None
    return b"".join(info.raw[one.value_start : one.end] for one in message.all("flight_descriptor"))


def is_spent(calls: Iterable[Call]) -> bool:
    """True if the calls of a case have taken so long that no further sample is read."""
    return sum(call.seconds for call in calls) > SECONDS


def bounded(budget: CallBudget, call: Call, earlier: Iterable[Call], sample: int | None) -> CallBudget:
    """The limits of a call; ``sample`` is the number of the endpoint that it reads a little of.

    An endpoint that was read to its end before has the time of any call: it does end, and one that hangs is at fault.
    """
    if call.method == FlightMethod.LIST_FLIGHTS:
        return dataclasses.replace(budget, responses=max(budget.responses, LISTED))
    if sample is None:
        return budget
    reads = (one for one in earlier if one.method == FlightMethod.DO_GET and one.status == "OK")
    part = dataclasses.replace(budget, responses=min(budget.responses, RESPONSES), bytes=min(budget.bytes, SIZE))
    seconds = min(budget.seconds, SECONDS)
    is_known = any(_endpoint(one) == str(sample) for one in reads)
    return part if is_known else dataclasses.replace(part, seconds=seconds, longest=seconds)


def _endpoint(call: Call) -> str:
    """The number of the endpoint in the label of a read."""
    return call.label.partition(AT)[0].rpartition("/")[2]


def given_up(call: Call, budget: CallBudget, sample: int | None) -> Call:
    """A call with these limits: what they cut off of a list, or of a sample, is what the client gave up."""
    over = call.end is CallEnd.OVER_BUDGET and (sample is not None or call.method == FlightMethod.LIST_FLIGHTS)
    late = call.end is CallEnd.DEADLINE and sample is not None and budget.seconds <= SECONDS
    if not over and not late:
        return call
    return dataclasses.replace(call, end=CallEnd.CANCELLED, details=f"the client took a part: {call.details}")
