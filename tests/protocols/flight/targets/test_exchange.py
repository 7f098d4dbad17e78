"""The messages of a DoExchange: the descriptor first, then metadata alone, then the rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from conformance.generate import materialise
from conformance.protocols.flight.contract.decoding import Data, read_data
from conformance.protocols.flight.contract.encoding import descriptor
from conformance.protocols.flight.records import Descriptor, DoExchange
from conformance.protocols.flight.reference.service import FlightService, Messages
from conformance.protocols.flight.targets.exchange import exchange_of
from conformance.records import CallEnd, RecordError
from tests.protocols.flight.reference.direct import case_of
from tests.protocols.flight.targets.test_driver import at, drive

OF = Descriptor(cmd=b"echo")


def messages(step: DoExchange) -> list[Data]:
    """The FlightData of a step."""
    case = case_of(step)
    made = exchange_of(case, materialise(case.table), step, descriptor(OF))
    found = [read_data(message) for message, _ in made]
    return [one for one in found if one is not None]


def test_the_descriptor_comes_alone_before_the_table() -> None:
    """As the C++ client sends it; no other message has one."""
    first, *rest = messages(DoExchange())

    assert (first.descriptor, first.header, first.metadata) == ((2, b"echo", ()), None, None)
    assert all(one.descriptor is None and one.header for one in rest)


def test_metadata_comes_alone_and_with_each_batch() -> None:
    """Each is another one, so that a lost one is noticed; the schema has none."""
    made = messages(DoExchange(alone=2, metadata=True))
    metadata = [one.metadata for one in made]

    assert metadata == [None, b"alone 0", b"alone 1", None, *(b"batch %d" % at for at in range(len(made) - 4))]
    assert [bool(one.header) for one in made[:4]] == [False, False, False, True]


def test_an_exchange_may_have_no_rows() -> None:
    """Then it has no schema either."""
    assert [one.header for one in messages(DoExchange(alone=1, rows=False))] == [None, None]


def test_a_negative_number_of_messages_is_refused() -> None:
    """One sentence says what was expected."""
    with pytest.raises(RecordError, match=r"do-exchange\.alone"):
        DoExchange(alone=-1)


class Endless(FlightService):
    """Answers without end."""

    def do_exchange(self, requests: Iterator[bytes]) -> Messages:
        """Empty messages."""
        return itertools.repeat(b"")


def test_the_driver_cancels_after_some_answers() -> None:
    """The record says that the driver ended the call, and not the server."""
    with at(Endless()) as target:
        (call,) = drive(target, case_of(DoExchange(take=3))).calls

    assert (call.end, len(call.responses)) == (CallEnd.CANCELLED, 3)
