"""UTF-8, column by column: the fast paths agree with decoding each value on its own."""

from __future__ import annotations

import itertools
import random
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.contain.text import many
from conformance.wire import Rule, read_batch, utf8
from conformance.wire.utf8 import ChunkedCheck, faulty_text, is_ascii, is_utf8
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
        assert f"in slot {bad[0]} ({many(len(bad), 'such slot')})" in faults[0].observed


@pytest.mark.parametrize("prefix", [b"", b"a", b"\xc3\xa9", b"\xe4\xb8\x96"], ids=["first", "ascii", "two", "three"])
@pytest.mark.parametrize("suffix", [b"", b"a", b"\xbf", b"\xbf\xbf"], ids=["last", "ascii", "one more", "two more"])
def test_arrays_agree_with_the_decoder_on_every_pair(prefix: bytes, suffix: bytes) -> None:
    """Every byte, whatever follows it and in any surroundings, is accepted exactly if the decoder accepts it."""
    check = ChunkedCheck(64, small=0)
    pairs = [prefix + bytes(pair) + suffix for pair in itertools.product(range(256), BOUNDARIES)]

    accepted = [check.accepts(memoryview(pair)) for pair in pairs]

    assert accepted == [_is_text(pair) for pair in pairs]


@pytest.mark.parametrize("character", ["\u00e9", "\u4e16", "\U0001f600"], ids=["two", "three", "four"])
def test_ascii_between_the_parts_of_a_character_is_seen(character: str) -> None:
    """A character that ASCII of any length divides at any place is none, also where most of that ASCII is left out."""
    check = ChunkedCheck(256, small=0)
    encoded = character.encode()
    for before, gap, part in itertools.product(range(64, 72), range(33), range(1, len(encoded))):
        data = b"x" * before + encoded[:part] + b"x" * gap + encoded[part:] + b"x" * 64
        assert check.accepts(memoryview(data)) is (gap == 0)


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """Bytes that are text for the most part: characters of all lengths between stretches of ASCII, or spoilt ones."""
    pieces = draw(st.lists(st.one_of(st.text(max_size=5).map(str.encode), st.sampled_from(PIECES[:7])), max_size=12))
    stretches = draw(st.lists(st.integers(0, 40), min_size=len(pieces), max_size=len(pieces)))
    data = bytearray(b"".join(piece + b"x" * count for piece, count in zip(pieces, stretches, strict=True)))
    for place in draw(st.lists(st.integers(0, max(0, len(data) - 1)), max_size=2)) if data else ():
        spoil = draw(st.sampled_from(["set", "drop", "insert"]))
        byte = draw(st.sampled_from(BOUNDARIES))
        data[place : place + (spoil != "insert")] = b"" if spoil == "drop" else bytes([byte])
    return bytes(data)


@given(data=texts(), size=st.integers(4, 80), small=st.sampled_from([0, 16]))
def test_chunks_agree_with_the_decoder(data: bytes, size: int, small: int) -> None:
    """However long the chunks are, bytes are accepted exactly if the decoder accepts all of them."""
    assert ChunkedCheck(size, small=small).accepts(memoryview(data)) is _is_text(data)


@given(data=texts(), size=st.integers(4, 80), base=st.sampled_from([0, 7]), draw=st.data())
def test_starts_agree_with_decoding_each_value(data: bytes, size: int, base: int, draw: st.DataObject) -> None:
    """Values next to each other are accepted exactly if the decoder accepts each of them."""
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=8)))
    edges = [0, *cuts, len(data)]
    starts = np.array(edges[:-1], draw.draw(st.sampled_from(["<i4", "<i8"]))) + np.int8(base)

    accepted = ChunkedCheck(size, small=0).accepts(memoryview(data), starts, base=base)

    assert accepted is all(_is_text(data[start:end]) for start, end in itertools.pairwise(edges))


@given(data=texts(), draw=st.data())
def test_a_column_agrees_with_decoding_each_value(data: bytes, draw: st.DataObject) -> None:
    """The first slot that does not decode is reported with its place and its bytes, and how many there are."""
    length = draw.draw(st.integers(1, 9))
    edges = sorted(draw.draw(st.lists(st.integers(0, len(data)), min_size=length + 1, max_size=length + 1)))
    edges[0] = 0
    message = batch_message(length, [(length, 0)], [b"", i4(*edges), data])

    faults = read_batch(message, column(pa.utf8())).faults

    values = [data[start:end] for start, end in itertools.pairwise(edges)]
    bad = [slot for slot, value in enumerate(values) if not _is_text(value)]
    assert [fault.rule for fault in faults] == [Rule.UTF8_INVALID] * bool(bad)
    for fault in faults:
        shown = values[bad[0]][:24].hex(" ")
        assert fault.observed == f"the bytes {shown} in slot {bad[0]} ({many(len(bad), 'such slot')})"
        assert bytes(message[fault.start : fault.end]) == values[bad[0]][:1]
        assert message.index(data) + edges[bad[0]] == fault.start


KINDS = {
    "two": "\u00e9t\u00e9 " * 9,
    "three": "\u4e16\u754c" * 5,
    "korean": "\ud55c\uad6d\uc5b4 ",
    "devanagari": "\u0928\u092e\u0938\u094d\u0924\u0947 ",
    "four": "\U0001f600" * 11,
    "one in forty": "x" * 39 + "\U0001f600",
    "all": "na\u00efve \u6771\u4eac \U0001f600 \ud55c \u0928 x",
}


@pytest.mark.parametrize("text", KINDS.values(), ids=KINDS)
def test_text_is_not_looked_at_byte_by_byte(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Well-formed text of any script costs a few operations on each chunk; no character is decoded by itself."""

    def classified(_data: object) -> None:
        raise AssertionError("the bytes were classified one by one")

    monkeypatch.setattr(utf8, "_bad_bytes", classified)
    batch = pa.record_batch([pa.array([text] * 30_000)], names=["x"])

    assert read_batch(batch.serialize(), column(pa.utf8())).faults == []


@pytest.mark.parametrize("text", KINDS.values(), ids=KINDS)
def test_memory_does_not_grow_with_the_text(text: str) -> None:
    """Text is checked in chunks: a column of 8 MiB takes some arrays as long as a chunk, and no more."""
    text *= (8 << 20) // len(text.encode()) // 1000
    data = pa.record_batch([pa.array([text] * 1000)], names=["x"]).serialize().to_pybytes()
    schema = column(pa.utf8())
    tracemalloc.start()
    try:
        assert read_batch(data, schema).faults == []
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * utf8.CHUNK


def test_empty_values_are_looked_up_in_steps() -> None:
    """Any number of empty values may start at one place, inside a character too."""
    text, many = "\u4e16".encode() * 10_000, 3 * utf8.PLACES
    starts = np.full(many, 6000, np.int32)
    assert is_utf8(memoryview(text), starts)

    starts[-1] = 6001
    assert not is_utf8(memoryview(text), starts)


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


@pytest.mark.parametrize("size", [0, 1, 16_384, 16_385, 65_536, 65_537, 65_543, 600_001])
def test_one_byte_anywhere_makes_bytes_not_ascii(size: int) -> None:
    """Short and long bytes without a high bit are ASCII; a high bit in any place is seen."""
    data = bytearray(b"\x7f" * size)

    assert is_ascii(memoryview(data))
    for place in {0, 7, 8, size // 2, 524_287, 524_288, size - 9, size - 8, size - 1} & set(range(size)):
        data[place] = 0x80
        assert not is_ascii(memoryview(data))
        data[place] = 0x7F
