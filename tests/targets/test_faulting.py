"""A plan in use: which call meets which fault."""

from __future__ import annotations

from conformance.records import FaultKind, PlannedFault
from conformance.targets.faulting import Faults


def test_calls_are_counted_for_each_stream() -> None:
    """The second read of each stream meets the fault."""
    fault = PlannedFault(FaultKind.RESET, call=1)
    faults = Faults((fault,))

    assert [faults.next("ReadRows", stream) for stream in "abba"] == [None, None, fault, fault]


def test_streams_are_counted_in_the_order_in_which_they_are_asked_for() -> None:
    """A call without a stream is no stream's, and another method has calls of its own."""
    fault = PlannedFault(FaultKind.STATUS, stream=1)
    faults = Faults((fault,))

    met = [
        faults.next(*asked)
        for asked in (("CreateReadSession", ""), ("ReadRows", "a"), ("SplitReadStream", "b"), ("ReadRows", "b"))
    ]

    assert met == [None, None, None, fault]


def test_the_first_of_two_faults_of_a_call_happens() -> None:
    """At most one fault happens to a call."""
    first, second = PlannedFault(FaultKind.RESET), PlannedFault(FaultKind.STATUS)

    assert Faults((first, second)).next("ReadRows", "a") is first
