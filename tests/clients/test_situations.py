"""The situations are what their titles say."""

from __future__ import annotations

from conformance.clients.situations import RESPONSES, ROWS, STREAMS, faulty, numbers
from conformance.contract.clients import Situation


def test_ids_are_unique_and_begin_with_their_kind() -> None:
    """A glob can select one kind."""
    made = list(faulty())

    assert len({one.id for one in made}) == len(made)
    assert all(one.id.startswith(f"{one.kind}.") for one in made)
    assert {one.kind for one in made} == set(Situation) - {Situation.HEALTHY, Situation.MUTATED}


def test_the_tape_has_places_between_all_responses() -> None:
    """A client can resume behind each of them."""
    tape = next(iter(next(one for one in faulty() if one.kind is Situation.INTERRUPTED).tapes))

    assert [stream.places for stream in tape.streams] == [tuple(range(0, RESPONSES * ROWS + 1, ROWS))] * STREAMS


def test_only_the_first_stream_is_changed() -> None:
    """A broken response costs one stream."""
    made = numbers(change=lambda data, at: b"" if at == 1 else data)

    assert made.streams[1] == numbers().streams[1]
    assert [
        one == other for one, other in zip(made.streams[0].responses, numbers().streams[0].responses, strict=True)
    ] == [
        True,
        False,
        True,
    ]
