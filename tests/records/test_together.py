"""Steps alongside others form groups with them."""

from __future__ import annotations

from conformance.protocols.flight.records import DoGet, DoPut, GetFlightInfo
from conformance.protocols.flight.records.calls import Descriptor
from conformance.records import ReadRows
from conformance.records.together import groups

NAMED = Descriptor(path=("f",))


def test_a_step_alongside_belongs_to_the_step_before_it() -> None:
    """So does each further one; a step that says nothing begins a group."""
    steps = (DoPut(NAMED), GetFlightInfo(NAMED, alongside=True), DoGet(alongside=True), DoGet(), DoGet(alongside=True))

    assert groups(steps) == ((0, 1, 2), (3, 4))


def test_the_first_step_is_alongside_nothing() -> None:
    """Steps of either protocol are read."""
    assert groups((ReadRows(alongside=True), ReadRows())) == ((0,), (1,))
    assert groups(()) == ()
