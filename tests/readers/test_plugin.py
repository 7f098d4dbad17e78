"""What readers are compared with: the rows in the bytes, which the plugin of a protocol decodes."""

from __future__ import annotations

import pyarrow as pa

from conformance.contract.viewing import view_of
from conformance.readers import READERS, ReaderPool, Takes
from conformance.readers.agreement import differences
from conformance.readers.plugin import held_tables
from conformance.records import Case, Exchange
from tests.readers.recorded import EOS, batch, bytes_of, case, exchange

CASE = case()
TABLE = pa.Table.from_batches([batch(1, 2, 3)])


def held(recorded: Exchange, one: Case = CASE) -> dict[str, pa.Table]:
    """The content of the exchange."""
    return dict(held_tables(view_of(one, recorded, TABLE)))


def test_wrong_values_are_no_fault_of_the_readers(pool: ReaderPool) -> None:
    """Values that differ from the case's are the values chapter's business: no reader differs from the bytes."""
    recorded = exchange(bytes_of(batch(1, 2, 99)))

    sent = held(recorded)

    assert [one for reading in pool.read(CASE, recorded) for one in differences(reading, sent[reading.label])] == []


def test_markers_are_seen_by_stream_readers(pool: ReaderPool) -> None:
    """Rows behind an end-of-stream marker are in the bytes, and lost to readers of streams."""
    recorded = exchange(bytes_of(batch(1, 2)) + EOS, bytes_of(batch(3)), counts=[2, 1])

    sent = held(recorded)

    found = [one for reading in pool.read(CASE, recorded) for one in differences(reading, sent[reading.label])]
    assert {(one.reader, one.kind, one.rows) for one in found} == {
        (name, "lost", 1) for name, info in READERS.items() if info.takes is Takes.STREAM
    }
