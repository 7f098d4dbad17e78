"""Broken streams are decoded or refused: never a crash, never another exception, never an array that is not sound."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from conformance.wire import DecodingError, PlainError, plain_table, read_stream
from tests.wire.breaking import ENCODED_SCHEMA, END, NULLS, SOUND, VALUES
from tests.wire.corpus import decodable
from tests.wire.forge import dictionary_message
from tests.wire.test_decoding import _ENCODED_WIDELY, _one, _written
from tests.wire.test_robustness import _mutate

LIMIT = 1 << 16


def _streams() -> list[bytes]:
    whole = decodable()["every type"]
    made = [_written(whole), *(_written(_one(array)) for array in _ENCODED_WIDELY.values())]
    made += [_written(decodable()[name]) for name in ("map", "sparse_union", "dense_union", "struct", "list_of_struct")]
    delta = dictionary_message(7, [30], delta=True)
    made.append(ENCODED_SCHEMA + NULLS + VALUES + SOUND + delta + SOUND + VALUES + END)
    return made


@pytest.mark.parametrize("seed", range(4))
def test_mutated_streams_are_decoded_or_refused(seed: int) -> None:
    """Every decoded batch has rows that can be read."""
    rng = random.Random(seed)
    corpus, decoded = _streams(), 0

    for _ in range(300):
        reading = read_stream(_mutate(rng.choice(corpus), rng))
        try:
            batches = reading.to_batches()
            plain_table(batches, limit=LIMIT)
        except (DecodingError, PlainError):
            continue
        decoded += 1
        for batch in batches:
            if not reading.violations and batch.num_rows <= LIMIT:
                batch.validate(full=True)

    assert decoded > 20


def test_null_columns_of_any_length_cost_nothing() -> None:
    """A length is only a number until somebody asks for the rows."""
    nulls = pa.Array.from_buffers(pa.null(), 1 << 40, [None])
    options = {"allow_64bit": True}

    (batch,) = read_stream(_written(_one(nulls), **options)).to_batches()

    assert batch.num_rows == 1 << 40
    with pytest.raises(PlainError, match="more than"):
        plain_table([batch])
