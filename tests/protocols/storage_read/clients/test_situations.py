"""The situations are what their titles say."""

from __future__ import annotations

import dataclasses

from conformance.contract import proto
from conformance.contract.clientjudging import Situation
from conformance.protocols.storage_read.clients.situations import RESPONSES, ROWS, STREAMS, Set, faulty, numbers, put_to
from conformance.readers.info import ReaderInfo, Takes

INFO = ReaderInfo("client.path", "a client", "package", Takes.SERVER)
ONE = dataclasses.replace(INFO, one_stream=True)


def of(name: str) -> Set:
    """The situation with this id."""
    return next(one for one in faulty() if one.id == name)


def test_ids_are_unique_and_begin_with_their_kind() -> None:
    """A glob can select one kind."""
    made = list(faulty())

    assert len({one.id for one in made}) == len(made)
    assert all(one.id.startswith(f"{one.kind}.") for one in made)
    assert {one.kind for one in made} == set(Situation) - {Situation.OPEN, Situation.MUTATED}


def test_the_tape_has_places_between_all_responses() -> None:
    """A client can resume behind each of them."""
    tape = next(iter(next(one for one in faulty() if one.kind is Situation.INTERRUPTED).tapes))

    assert [stream.places for stream in tape.streams] == [tuple(range(0, RESPONSES * ROWS + 1, ROWS))] * STREAMS


def test_what_is_large_has_the_rows_that_are_expected() -> None:
    """Each stream has its own."""
    for name, streams, rows in (("healthy.long-response", 1, 100_000), ("healthy.many-streams", 300, 4)):
        made = of(name)

        assert len(made.read.streams) == streams
        counts = [proto.ReadRowsResponse.FromString(one.responses[0]).row_count for one in made.read.streams]
        assert counts == [rows] * streams
        assert made.expected.num_rows == streams * rows
        assert len(set(made.expected.column("number").to_pylist())) == streams * rows


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


def test_a_client_of_one_stream_gets_all_responses_in_it() -> None:
    """The session names one stream, which has the responses of both in their order."""
    asked = of("interrupted.unavailable.stream-0.after-1")

    made, refusal = put_to(ONE, asked)

    first, second = asked.read.streams
    assert (refusal, made.plan) == ("", asked.plan)
    assert [stream.responses for stream in made.read.streams] == [first.responses + second.responses]
    assert [stream.name for stream in proto.ReadSession.FromString(made.read.session).streams] == [first.name]


def test_a_fault_of_the_second_stream_stays_behind_the_same_response() -> None:
    """In one stream, the responses of the first stream come before it."""
    made, _ = put_to(ONE, of("interrupted.unavailable.stream-1.after-2"))

    assert [(fault.stream, fault.responses) for fault in made.plan] == [(0, RESPONSES + 2)]


def test_other_clients_get_the_situation_as_it_is() -> None:
    """So does a client of one stream where there is one."""
    several, one = of("interrupted.twice"), of("empty.no-rows")

    assert put_to(INFO, several) == (several, "")
    assert put_to(ONE, one) == (one, "")


def test_what_a_mutant_serves_is_not_joined() -> None:
    """Its streams are what is wrong with it, perhaps; the client is not asked."""
    asked = of("interrupted.twice")
    asked = dataclasses.replace(asked, served=asked.tapes)

    assert put_to(ONE, asked) == (asked, "this client asks for a session of one stream")
