"""The covering array is complete at strength 2, and each situation says what a client has to make of it."""

from __future__ import annotations

import dataclasses

from conformance.contract.clientjudging import Situation
from conformance.generate.covering import coverage
from conformance.protocols.flight.clients.answers import METHODS
from conformance.protocols.flight.clients.situations import (
    FACTORS,
    FlightSet,
    permitted,
    put_to,
    rows,
    scripted,
    unusual,
)
from conformance.protocols.flight.clients.streams import STREAMS, table
from conformance.readers.info import ReaderInfo, Takes
from conformance.readers.registry import client_readers


def named(name: str) -> FlightSet:
    """The situation with this id."""
    return next(one for one in scripted() if one.id == name)


def ended_by(asked: FlightSet) -> str:
    """What a path asks for that calls the first method of a situation."""
    return next(asks for asks in asked.rows if asked.methods[0] in METHODS[asks])


def reader(asks: str) -> ReaderInfo:
    """A path that asks for something."""
    return ReaderInfo(f"made-up.{asks}", "made up", "", Takes.SERVER, asks=asks)


def test_every_pair_that_can_be_is_in_a_row() -> None:
    """The array has every permitted pair of values of two factors."""
    found = coverage(rows(), FACTORS, permitted)

    assert found.missing == ()
    assert found.reached > 1000


def test_ids_are_unique_and_every_kind_occurs() -> None:
    """Each situation has an id of its own; all kinds that a script can have occur, and all methods."""
    made = [*scripted()]

    assert len({one.id for one in made}) == len(made)
    assert {one.kind for one in made} == {
        *(Situation.HEALTHY, Situation.EMPTY, Situation.OPEN),
        *(Situation.BROKEN, Situation.REFUSED, Situation.INTERRUPTED),
    }
    assert {method for one in made for method in one.methods} == set(FACTORS["method"])


def test_every_kind_of_stream_comes_by_itself() -> None:
    """Each kind of message is seen where nothing else is unusual, at each of its places."""
    ids = {one.id for one in scripted()}

    for name, kind in STREAMS.items():
        wanted = (
            [f"do-get.{name}.{place}" for place in ("first", "middle", "last")] if kind.placed else [f"do-get.{name}"]
        )
        assert set(wanted) <= ids


def test_a_status_is_refused_whatever_comes_before() -> None:
    """A call that ends with another status than OK is REFUSED, and one that breaks is INTERRUPTED."""
    assert named("do-get.plain.not-found.between").kind is Situation.REFUSED
    assert named("do-get.plain.reset.between").kind is Situation.INTERRUPTED


def test_a_documented_gap_may_be_an_error_and_nothing_else_changes() -> None:
    """A legal stream that a client is documented not to support is open; other streams and other ends are not."""
    lacking = dataclasses.replace(reader("rows"), gaps={"delta": "https://example.com/"})

    assert put_to(lacking, named("do-get.delta"))[0].kind is Situation.OPEN
    assert put_to(lacking, named("do-get.replacement"))[0].kind is Situation.HEALTHY
    assert put_to(reader("rows"), named("do-get.delta"))[0].kind is Situation.HEALTHY
    ended = next(one for one in scripted() if one.message == "delta" and one.kind is Situation.REFUSED)
    assert put_to(dataclasses.replace(lacking, asks=ended_by(ended)), ended)[0].kind is Situation.REFUSED


def test_the_gaps_of_clients_are_legal_streams_with_a_source() -> None:
    """Each gap of a shipped client names a kind of stream that is legal, and a page."""
    gaps = [gap for info in client_readers("flight").values() for gap in info.gaps.items()]

    assert gaps
    assert {STREAMS[kind].situation for kind, _ in gaps} == {Situation.HEALTHY}
    assert all(source.startswith("https://") for _, source in gaps)


def test_a_path_sees_the_methods_that_it_calls() -> None:
    """A path is put into the situations of its own methods, with the rows that it gives."""
    one = named("do-get.metadata-alone.middle")

    assert put_to(reader("action"), one)[1] == "this path does not call DoGet"
    assert put_to(reader("rows"), one)[0].expected == table()
    held = put_to(reader("metadata"), one)[0].expected["app_metadata"].to_pylist()
    assert held == [b"batch 0", b"alone", b"batch 1", b"batch 2"]


def test_every_path_has_a_method_of_the_array() -> None:
    """What a path can ask for calls methods that are factors."""
    assert {method for called in METHODS.values() for method in called} <= {*FACTORS["method"]}


def test_the_matrix_has_what_is_not_simply_served() -> None:
    """The rows of the matrix are streams of DoGet alone, and none of them is healthy."""
    made = [*unusual()]

    assert {one.methods for one in made} == {("DoGet",)}
    assert Situation.HEALTHY not in {one.kind for one in made}


def test_an_info_has_the_schema_of_its_data() -> None:
    """A column with a dictionary has one in the schema of the FlightInfo too."""
    plain, other = named("do-get.plain").script, named("do-get.dictionary").script

    assert plain.replies["GetFlightInfo"] != other.replies["GetFlightInfo"]
