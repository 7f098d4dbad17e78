"""The streams of a step with a damage: three batches, of which one is damaged."""

from __future__ import annotations

import pytest

from conformance.generate import materialise
from conformance.protocols.flight.contract.encoding import data
from conformance.protocols.flight.records import Damage
from conformance.protocols.flight.targets.pieces import pieces_of
from conformance.protocols.flight.wire.data import read_flight
from conformance.records import BqType, Column, Recipe, Table
from tests.protocols.flight.reference.direct import case_of

TABLE = Table((Column("n", BqType.INT64), Column("word", BqType.STRING)), recipe=Recipe(rows=7))
CASE = case_of(table=TABLE)


def test_every_damage_can_be_made() -> None:
    """Those that take a message of another table too, and each is another stream."""
    made = {
        damage: tuple(piece.message for piece in pieces_of(CASE, materialise(TABLE), damage=damage))
        for damage in Damage
    }

    assert len(set(made.values())) == len(Damage)


def test_a_damaged_table_comes_in_three_batches() -> None:
    """There is a first one, one between two others, and a last one, of all rows together."""
    pieces = pieces_of(CASE, materialise(TABLE), damage=Damage.MESSAGE_EMPTY)
    content = read_flight([piece.message for piece in pieces if piece.message]).content

    assert [piece.rows for piece in pieces].count(True) == 3
    assert content.to_arrow().num_rows == 7


@pytest.mark.parametrize("damage", [Damage.OTHER_BATCH, Damage.OTHER_KIND, Damage.SCHEMA_OTHER])
def test_a_foreign_message_is_whole(damage: Damage) -> None:
    """What comes of another stream is no damaged message itself: only its place is wrong."""
    plain = {piece.message for piece in pieces_of(CASE, materialise(TABLE), damage=Damage.MESSAGE_EMPTY)}
    (foreign,) = (piece for piece in pieces_of(CASE, materialise(TABLE), damage=damage) if piece.message not in plain)

    assert foreign.header
    assert data(foreign.header, foreign.body) == foreign.message
