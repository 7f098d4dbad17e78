"""Foreign bytes never raise, never take long, and are always covered by the dump to the last one."""

from __future__ import annotations

import functools
import random
import time

import pytest

from conformance.wire import Schema, batch_to_arrow, dissect, read_batch, read_messages, read_schema
from conformance.wire import lines as dump_lines
from conformance.wire.arrow import DecodingError
from tests.studies import sample
from tests.wire.corpus import batches, compressed, pair

SEEDS = range(8)
ROUNDS = 150
LONGEST = 1.0
"""Seconds that any one reading may take; they take about a millisecond."""

WORDS = [(1 << 62), (1 << 63) - 1, -1, -(1 << 63), 1 << 40, 1 << 31, 7]


def _mutate(data: bytes, rng: random.Random) -> bytes:
    made = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 16])):
        at = rng.randrange(len(made) + 1)
        match rng.randrange(7):
            case 0 if at < len(made):
                made[at] ^= 1 << rng.randrange(8)
            case 1:
                made[at & ~3 : (at & ~3) + 4] = rng.choice(WORDS[2:]).to_bytes(8, "little", signed=True)[:4]
            case 2:
                made[at & ~7 : (at & ~7) + 8] = rng.choice(WORDS).to_bytes(8, "little", signed=True)
            case 3:
                made[at & ~3 : (at & ~3) + 4] = rng.randrange(64).to_bytes(4, "little")
            case 4:
                del made[at : at + rng.randrange(1, 9)]
            case 5:
                made[at:at] = rng.randbytes(rng.randrange(1, 9))
            case _:
                del made[at:]
    return bytes(made)


@functools.cache
def _corpus() -> list[tuple[bytes, bytes, Schema]]:
    corpus = []
    for name, batch in batches().items():
        schema_bytes, data = pair(batch)
        schema = read_schema(schema_bytes).schema
        assert schema is not None
        corpus.append((schema_bytes, data, schema))
        if "," not in name:
            corpus += [(schema_bytes, compressed(batch, codec), schema) for codec in ("lz4", "zstd")]
    return corpus


@pytest.mark.parametrize("seed", sample(SEEDS, ("0", "1", "2", "3"), env="thorough"))
def test_mutated_bytes_are_read_in_time(seed: int) -> None:
    """Flipped, cut, stretched and rewritten messages end in faults, or in none; never in an exception."""
    rng, corpus = random.Random(seed), _corpus()

    for _ in range(ROUNDS):
        schema_bytes, data, schema = rng.choice(corpus)
        schema_bytes, data = _mutate(schema_bytes, rng), _mutate(data, rng)
        started = time.process_time()

        other = read_schema(schema_bytes).schema
        for read in (read_batch(data, schema), *([read_batch(data, other)] if other else [])):
            try:
                batch_to_arrow(read).validate()
            except DecodingError:
                assert read.faults or not read.schema.fields or read.body is not None
        for dissection in (dissect(schema_bytes), dissect(data, schema)):
            _assert_covered(dissection.regions, len(dissection.data))
            dump_lines(dissection)
            dissection.to_json()
        read_messages(data)

        assert time.process_time() - started < LONGEST


def _assert_covered(regions: tuple[object, ...], size: int) -> None:
    at = 0
    for region in regions:
        start, end = region.start, region.end  # type: ignore[attr-defined]
        assert start == at < end
        at = end
    assert at == size


@pytest.mark.parametrize(
    "filler", [b"\0", b"\xff", b"\x08", b"\x01\0\0\0", b"\xff\xff\xff\xff\x08\0\0\0", b"ARROW1\0\0"]
)
def test_monotonous_bytes_are_read_in_time(filler: bytes) -> None:
    """Long runs of one pattern, which look like endless tiny messages or tables, are read in time."""
    data = filler * (1 << 17)
    schema = _corpus()[0][2]
    started = time.process_time()

    read_schema(data)
    read_batch(data, schema)
    _assert_covered(dissect(data, schema).regions, len(data))

    assert time.process_time() - started < 5 * LONGEST


def test_a_fault_of_a_cut_message_lies_inside_what_there_is() -> None:
    """However a message is cut, no fault points beyond the last byte."""
    schema_bytes, whole = pair(batches()["every type"])
    schema = read_schema(schema_bytes).schema
    assert schema is not None

    for size in range(0, len(whole), 7):
        ends = [fault.end for fault in read_batch(whole[:size], schema).faults]
        assert max(ends, default=0) <= size
