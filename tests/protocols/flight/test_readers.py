"""The streams of Flight that decoders read, in this process and in workers."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.contract.viewing import view_of
from conformance.engine.owed import reference_target
from conformance.generate import draw_case, materialise
from conformance.protocols.flight.contract.view import FlightView
from conformance.protocols.flight.readers import flight_reads
from conformance.readers import ReaderPool
from conformance.readers.fullread import FullRead
from conformance.readers.plugin import held_tables, reads_of
from conformance.records import Case, Exchange, ReadingOutcome

CASES = [draw_case(3, index, profile="flight") for index in range(6)]


@pytest.fixture(scope="module")
def driven() -> list[tuple[Case, Exchange]]:
    """What the reference answers to some cases."""
    with reference_target("flight") as target:
        return [(case, target.drive(case, materialise(case.table))) for case in CASES]


def test_each_read_has_the_rows_that_the_bytes_have(driven: list[tuple[Case, Exchange]]) -> None:
    """A worker gets the same messages over its socket."""
    wholes = [whole for case, exchange in driven for whole in reads_of(case, exchange)]
    assert wholes
    assert [FullRead.from_frame(whole.to_frame()) for whole in wholes] == wholes

    with ReaderPool(1, readers=("pyarrow.slots", "arro3.stream")) as pool:
        for case, exchange in driven:
            held = held_tables(view_of(case, exchange, materialise(case.table)))
            readings = pool.read(case, exchange)
            assert {one.label for one in readings} == set(held)
            assert {one.outcome for one in readings} <= {ReadingOutcome.TABLE}


def test_a_stream_with_other_columns_is_left_out(driven: list[tuple[Case, Exchange]]) -> None:
    """Decoders know the types of the case alone."""
    case, exchange = next((case, exchange) for case, exchange in driven if reads_of(case, exchange))
    fewer = dataclasses.replace(case, table=dataclasses.replace(case.table, columns=case.table.columns[1:]))

    assert flight_reads(fewer, exchange, FlightView(fewer, exchange, materialise(case.table))) == []
