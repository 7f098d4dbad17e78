"""UTF-8, column by column: the fast paths agree with decoding each value on its own."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pyarrow as pa
import pytest

from conformance.wire import Rule, read_batch
from conformance.wire.text import faulty_text, is_plain
from tests.wire.forge import batch_message, column, i4

PIECES = [
    *(b"a", b"\x7f", b"\xc3\xa9", b"\xe4\xb8\x96", b"\xf0\x9f\x98\x80", b"\xf4\x8f\xbf\xbf", b"\xed\x9f\xbf"),
    *(b"\x80", b"\xc3", b"\xe4\xb8", b"\xf0\x9f\x98", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xed\xa0\x80"),
    *(b"\xf0\x80\x80\xaf", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xff"),
]

BOUNDARIES = b"\x00\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc2\xe0\xe1\xf0\xff"
"""Second bytes on either side of every border that the table of well-formed sequences draws."""


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("seed", range(20))
def test_each_range_is_judged_on_its_own(seed: int) -> None:
    """Classifying bytes finds exactly the ranges that do not decode, whatever bytes are around them."""
    rng = random.Random(seed)
    data = b"".join(rng.choices(PIECES, k=400))
    cuts = [(start, min(len(data), start + rng.randrange(9))) for start in range(len(data))]
    starts, ends = (np.array(column, np.int64) for column in zip(*cuts, strict=True))

    found = faulty_text(np.frombuffer(data, np.uint8), starts, ends)

    expected = [not _is_text(data[start:end]) for start, end in cuts]
    assert found.tolist() == expected


@pytest.mark.parametrize("seed", range(20))
def test_column_is_judged_value_by_value(seed: int) -> None:
    """A column has a fault exactly if one of its values that are not null does not decode."""
    rng = random.Random(seed)
    values = [b"".join(rng.choices(PIECES[: rng.choice([7, 9])], k=rng.randrange(4))) for _ in range(9)]
    data = b"".join(values)
    if rng.random() < 0.5:  # the same bytes, cut elsewhere: characters may end up in two slots
        cuts = sorted(rng.choices(range(len(data) + 1), k=8))
        values = [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    offsets = i4(*np.cumsum([0, *map(len, values)]).tolist())
    valid = rng.randrange(512)
    nulls = 9 - valid.bit_count()

    message = batch_message(9, [(9, nulls)], [valid.to_bytes(2, "little"), offsets, data])
    faults = read_batch(message, column(pa.utf8())).faults

    bad = [slot for slot, value in enumerate(values) if valid >> slot & 1 and not _is_text(value)]
    assert [fault.rule for fault in faults] == [Rule.UTF8_INVALID] * bool(bad)
    if bad:
        assert f"in slot {bad[0]} ({len(bad)} such slots)" in faults[0].observed


@pytest.mark.parametrize("prefix", [b"", b"a", b"\xc3\xa9", b"\xe4\xb8\x96"], ids=["first", "ascii", "two", "three"])
@pytest.mark.parametrize("suffix", [b"", b"a", b"\xc3\xa9", b"\xbf"], ids=["last", "ascii", "two", "stray"])
def test_what_is_plainly_text_is_text(prefix: bytes, suffix: bytes) -> None:
    """No byte, whatever follows it and in any surroundings, is waved through where the decoder refuses it."""
    pairs = [bytes(pair) for pair in itertools.product(range(256), BOUNDARIES)]

    waved = [pair for pair in pairs if is_plain(prefix + pair + suffix)]

    assert all(_is_text(prefix + pair + suffix) for pair in waved)


@pytest.mark.parametrize("seed", range(20))
def test_plain_text_is_seen_to_be_plain(seed: int) -> None:
    """Well-formed text of up to three bytes a character is waved through, and nothing malformed is."""
    rng = random.Random(seed)
    good = b"".join(rng.choices([b"a", b"\xc3\xa9", b"\xe4\xb8\x96", b"\xef\xbf\xbd", b"\xdf\xbf"], k=300))
    bad = bytearray(good)
    bad[rng.randrange(len(bad))] = rng.randrange(256)

    assert is_plain(good)
    assert not is_plain(bytes(bad)) or _is_text(bytes(bad))


@pytest.mark.parametrize(
    "text",
    ["x" * 29, "\u00e9t\u00e9 " * 9, "\u4e16\u754c" * 5, "\U0001f600" * 11],
    ids=["ascii", "two", "three", "four"],
)
def test_long_columns_are_judged_in_chunks(text: str) -> None:
    """Characters that cross the borders of chunks are read whole, and one bad byte among millions is found."""
    values = pa.array([text] * 20_000)
    batch = pa.record_batch([values], names=["x"])
    data = bytearray(batch.serialize().to_pybytes())
    assert read_batch(data, column(pa.utf8())).faults == []

    data[-24] = 0xFF
    faults = read_batch(data, column(pa.utf8())).faults

    assert [fault.rule for fault in faults] == [Rule.UTF8_INVALID]
    assert "in slot 19999" in faults[0].observed


def test_bytes_are_not_text() -> None:
    """A binary column may hold anything."""
    assert read_batch(batch_message(1, [(1, 0)], [b"", i4(0, 1), b"\xff"]), column(pa.binary())).faults == []
