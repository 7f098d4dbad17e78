"""The content of full reads, and the comparison of readers with it."""

from __future__ import annotations

import pyarrow as pa

from conformance.contract.viewing import view_of
from conformance.protocols.storage_read.readers.held import held_sessions
from conformance.records import Case, Exchange
from tests.readers.recorded import SCHEMA, batch, bytes_of, case, create, exchange, of_calls, serialized

CASE = case()
TABLE = pa.Table.from_batches([batch(1, 2, 3)])


def held(recorded: Exchange, one: Case = CASE) -> dict[str, pa.Table]:
    """The content of the exchange."""
    return dict(held_sessions(view_of(one, recorded, TABLE)))


def test_rows_are_those_of_the_bytes() -> None:
    """The rows that were sent count, not the rows of the case."""
    sent = held(exchange(bytes_of(batch(7, 8)), bytes_of(batch(9))))

    assert {label: table.column("id").to_pylist() for label, table in sent.items()} == {"s": [7, 8, 9]}


def test_serializer_under_its_label() -> None:
    """A serializer's rows are under the label of its readings."""
    sent = held(serialized(bytes_of(batch(1, 2))))

    assert {label: table.num_rows for label, table in sent.items()} == {"serializer": 2}


def test_session_without_streams_holds_nothing() -> None:
    """A session without streams holds no rows under the columns that it describes, be they the case's or not."""
    described = pa.schema([("id", pa.int64()), ("name", pa.binary())])

    sent = held(of_calls(create(bytes_of(described), [])))

    assert sent["s"].equals(described.empty_table())


def test_session_that_describes_no_columns_is_left_out() -> None:
    """Nobody knows what a reader should make of a session whose schema cannot be read."""
    assert held(of_calls(create(b"", []))) == {}


def test_streams_without_responses_hold_nothing() -> None:
    """Streams that were read to their end without a batch have no rows, under the session's columns."""
    sent = held(exchange())

    assert sent["s"].equals(SCHEMA.empty_table())


def test_undecodable_reads_are_left_out() -> None:
    """Nothing is expected of readers where our own decoding fails."""
    assert held(exchange(bytes_of(batch(1, 2, 3))[:-8])) == {}
