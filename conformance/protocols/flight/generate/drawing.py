"""The steps of a drawn case of Arrow Flight: a table that is put and read again, or sent to an exchange that echoes.

A server may refuse what is drawn: a type that it cannot store, a way of writing. What it accepts has to come back.
"""

from __future__ import annotations

from typing import Final

from conformance.generate.choices import Choices, one_in
from conformance.protocols.flight.records import (
    Descriptor,
    DoExchange,
    DoGet,
    DoPut,
    FlightWriting,
    GetFlightInfo,
    GetSchema,
    Naming,
    PollFlightInfo,
    Spelling,
)
from conformance.records import Expect, Step

__all__ = ["OR_REFUSED", "SPELLINGS", "draw_flight_steps"]

OR_REFUSED: Final = Expect(
    codes=(
        *("OK", "NOT_FOUND", "INVALID_ARGUMENT", "UNIMPLEMENTED", "UNAUTHENTICATED", "PERMISSION_DENIED", "UNKNOWN"),
        *("INTERNAL", "FAILED_PRECONDITION"),
    )
)
"""A request that a server may serve or refuse: the errors of Flight, and those that libraries make of exceptions.

A ticket may have expired as well; whether it had to be redeemed is for the clauses on tickets.
"""
SPELLINGS: Final = (Spelling.PLAIN, Spelling.REVERSED, Spelling.UNKNOWN_FIELDS)
"""The forms of messages that every parser of protobuf reads alike."""
_NAMINGS: Final = (Naming.FIRST, Naming.FIRST, Naming.EVERY)
_FLIGHT: Final = Descriptor(path=("table",))
_ECHOED: Final = 5
"""One case in this many is an exchange."""


def draw_flight_steps(choices: Choices) -> tuple[Step, ...]:
    """Return a DoPut with the info and the reads of its flight, or an exchange."""
    if one_in(choices, _ECHOED):
        metadata, alone = one_in(choices, 2), choices.pick((0, 0, 1, 3))
        return (DoExchange(metadata=metadata, alone=alone, expect=OR_REFUSED),)
    put = DoPut(
        _FLIGHT,
        ahead=one_in(choices, 4),
        named=choices.pick(_NAMINGS),
        written=choices.pick(tuple(FlightWriting)),
        spelled=choices.pick(SPELLINGS),
        metadata=one_in(choices, 3),
        expect=OR_REFUSED,
    )
    spelled = choices.pick(SPELLINGS)
    info = GetFlightInfo(_FLIGHT, spelled=spelled, expect=OR_REFUSED)
    asked = (PollFlightInfo(_FLIGHT, expect=OR_REFUSED),) if one_in(choices, 4) else (info,)
    schema = (GetSchema(_FLIGHT, expect=OR_REFUSED),) if one_in(choices, 3) else ()
    return (put, *asked, *schema, *choices.pick(_READS)(choices))


def _once(choices: Choices) -> tuple[Step, ...]:
    return (DoGet(spelled=choices.pick(SPELLINGS), expect=OR_REFUSED),)


def _again(choices: Choices) -> tuple[Step, ...]:
    return (*_once(choices), *_once(choices))


def _abandon(choices: Choices) -> tuple[Step, ...]:
    """A read that is given up, and the whole one with an info of its own."""
    abandoned = DoGet(take=choices.pick((1, 2)), expect=OR_REFUSED)
    info = GetFlightInfo(_FLIGHT, label="j", expect=OR_REFUSED)
    return (abandoned, info, DoGet(info="j", expect=OR_REFUSED))


_READS: Final = (_once, _once, _again, _abandon)
