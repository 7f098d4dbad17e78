"""Each damage changes one batch of a stream, or what comes beside it, and nothing else."""

from __future__ import annotations

import pytest

from conformance.protocols.flight.generate.damage import DAMAGES, Piece
from conformance.protocols.flight.records import Damage

SCHEMA = Piece(b"schema  ")
BATCHES = tuple(Piece(b"header %d" % at, b"the body of %d..." % at, rows=True) for at in range(3))
STREAM = (SCHEMA, *BATCHES)


def test_no_damage_changes_nothing() -> None:
    """A step without a damage sends the stream as it is."""
    assert tuple(DAMAGES[Damage.NONE](STREAM, 1)) == STREAM


@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("damage", [one for one in DAMAGES if one not in (Damage.NONE, Damage.SCHEMA_MISSING)])
def test_a_damage_leaves_the_other_batches(damage: Damage, at: int) -> None:
    """Two of the three batches and the schema come as they were, whichever batch is damaged."""
    got = [piece.message for piece in DAMAGES[damage](STREAM, at)]
    others = [piece.message for number, piece in enumerate(BATCHES) if number != at]

    assert got != [piece.message for piece in STREAM]
    assert [one for one in got if one in others] == others
    assert SCHEMA.message in got


def test_a_cut_body_lacks_its_end() -> None:
    """A body of which eight bytes are missing is not one of eight bytes."""
    short, first = (DAMAGES[one](STREAM, 0)[1].body for one in (Damage.BODY_SHORT_BY_8, Damage.BODY_OF_8))

    assert short == BATCHES[0].body[:-8]
    assert first == BATCHES[0].body[:8]


def test_what_is_inserted_at_the_last_batch_comes_behind_it() -> None:
    """So that nothing at all follows it."""
    assert DAMAGES[Damage.END_MARKER](STREAM, 2)[-1].header.startswith(b"\xff\xff\xff\xff")
