"""Documented losses change the values of their type at any depth, and no other value."""

from __future__ import annotations

import pyarrow as pa

from conformance.readers.info import LossKind, ReaderLoss
from conformance.readers.losses import as_read_with
from conformance.records import BqType

MARK = ReaderLoss(BqType.STRING, LossKind.LEADING_MARK, "")
FLOAT = ReaderLoss(BqType.TIMESTAMP, LossKind.FLOAT_MILLISECONDS, "")
FAR = -62135596800000000 + 1
"""The microsecond after the beginning of year 1."""


def test_a_mark_is_dropped_at_any_depth() -> None:
    """Only the first one, and nothing else changes."""
    table = pa.table(
        {
            "text": ["\ufeffa", None, "\ufeff\ufeff"],
            "list": [["\ufeff"], None, ["b", "\ufeffc"]],
            "struct": pa.array([{"s": ["\ufeffd"]}, None, {"s": None}]),
            "int": [1, 2, 3],
        }
    )

    assert as_read_with([MARK], table).to_pydict() == {
        "text": ["a", None, "\ufeff"],
        "list": [[""], None, ["b", "c"]],
        "struct": [{"s": ["d"]}, None, {"s": None}],
        "int": [1, 2, 3],
    }


def test_microseconds_are_rounded_only_far_from_1970() -> None:
    """A float of milliseconds is exact for the dates that people use; DATETIME is another type."""
    kind = pa.timestamp("us", "UTC")
    stored = pa.array([FAR, 1_700_000_000_123_456, None], pa.int64())
    table = pa.table({"t": stored.view(kind), "d": stored.view(pa.timestamp("us"))})

    lost = as_read_with([FLOAT], table)

    assert lost["t"].combine_chunks().view(pa.int64()).to_pylist() == [FAR - 1, 1_700_000_000_123_456, None]
    assert lost["d"].equals(table["d"])
