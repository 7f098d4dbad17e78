"""The kind of bytes, from their beginning and end."""

from __future__ import annotations

import pytest

from conformance.wire import Kind, sniff
from tests.wire.breaking import END, GOOD_BATCH, GOOD_SCHEMA
from tests.wire.breaking_files import GOOD_FILE, GOOD_SPARSE, GOOD_TENSOR


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (GOOD_SCHEMA, Kind.MESSAGE),
        (GOOD_BATCH, Kind.MESSAGE),
        (GOOD_SCHEMA[4:], Kind.MESSAGE),
        (GOOD_SCHEMA + END, Kind.STREAM),
        (GOOD_SCHEMA + GOOD_BATCH, Kind.STREAM),
        (END, Kind.STREAM),
        (GOOD_TENSOR, Kind.TENSOR),
        (GOOD_SPARSE[0], Kind.TENSOR),
        (GOOD_FILE, Kind.FILE),
        (GOOD_FILE[:-1], Kind.FILE),
        (GOOD_FILE[8:], Kind.FILE),
        (GOOD_FILE[:6], Kind.FILE),
        (b"ARROW", Kind.FILE),
        (b"ARRO", Kind.FILE),
        (b"ARR", Kind.MESSAGE),
        (GOOD_BATCH + GOOD_BATCH, Kind.STREAM),
        (GOOD_BATCH + END, Kind.STREAM),
        (END + GOOD_BATCH, Kind.STREAM),
        (GOOD_SCHEMA[:-8], Kind.MESSAGE),
        (b"", Kind.MESSAGE),
        (b"garbage in plenty", Kind.MESSAGE),
    ],
)
def test_kind_is_guessed(data: bytes, kind: Kind) -> None:
    """The magic, the first header and the rest determine the kind."""
    assert sniff(data) is kind
