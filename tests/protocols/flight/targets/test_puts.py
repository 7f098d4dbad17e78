"""The messages of a DoPut mean the same in every form that a step can ask for."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.generate import materialise
from conformance.protocols.flight.contract.decoding import Data, meaning_of, message_of, read_data
from conformance.protocols.flight.contract.encoding import descriptor, part
from conformance.protocols.flight.records import Descriptor, DoPut, FlightWriting, Naming, Spelling
from conformance.protocols.flight.targets.puts import put_messages, spelled
from conformance.protocols.flight.wire.data import read_flight
from conformance.records import BqType, Column, Recipe, Table
from tests.protocols.flight.reference.direct import PATH, case_of

TABLE = Table((Column("n", BqType.INT64), Column("word", BqType.STRING)), recipe=Recipe(rows=6))
NAMED = descriptor(Descriptor(path=("a", "b")))
OTHER = descriptor(Descriptor(path=("c",)))


def messages(step: DoPut) -> list[bytes]:
    """The messages of a step over six rows."""
    return [message for message, _ in put_messages(case_of(table=TABLE), materialise(TABLE), step, NAMED, OTHER)]


def data(step: DoPut) -> list[Data]:
    """The same, decoded."""
    found = [read_data(message) for message in messages(step)]
    return [one for one in found if one is not None]


@pytest.mark.parametrize("how", Spelling)
def test_a_descriptor_means_the_same_in_every_spelling(how: Spelling) -> None:
    """The steps of the path keep their order."""
    read = message_of("FlightDescriptor", spelled("FlightDescriptor", NAMED, how))

    assert read is not None
    assert meaning_of(read) == (1, b"", ("a", "b"))


def test_each_spelling_has_bytes_of_its_own() -> None:
    """Otherwise a case would repeat another one."""
    ticket, data = part(1, b"ticket"), part(1, NAMED) + part(2, b"header")
    flat = [how for how in Spelling if how is not Spelling.HALVES]  # of the others, none has a message inside

    assert len({spelled("FlightDescriptor", NAMED, how) for how in flat}) == len(flat)
    assert len({spelled("Ticket", ticket, how) for how in flat}) == len(flat) - 1  # one field has one order
    assert len({spelled("FlightData", data, how) for how in Spelling}) == len(Spelling)


def test_the_halves_of_a_descriptor_are_merged() -> None:
    """Each has a part of the path, and the last one alone names another flight."""
    message = message_of("FlightData", spelled("FlightData", part(1, NAMED), Spelling.HALVES))

    assert message is not None
    halves = message.messages("flight_descriptor")
    merged = message.message("flight_descriptor")
    assert merged is not None
    assert [meaning_of(one) for one in halves] == [(1, b"", ("a",)), (0, b"", ("b",))]
    assert meaning_of(merged) == (1, b"", ("a", "b"))


@pytest.mark.parametrize("written", FlightWriting)
def test_the_rows_are_the_same_in_every_writing(written: FlightWriting) -> None:
    """A strict reader finds nothing to object to."""
    content = read_flight(messages(DoPut(PATH, written=written))).content
    got = content.to_arrow()
    plain = [column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column for column in got.columns]

    assert not content.violations
    assert [column.to_pylist() for column in plain] == [column.to_pylist() for column in materialise(TABLE).columns]


@pytest.mark.parametrize(
    ("named", "paths"),
    [
        (Naming.FIRST, ["a/b", "", ""]),
        (Naming.EVERY, ["a/b", "a/b", "a/b"]),
        (Naming.LATE, ["", "a/b", ""]),
        (Naming.CHANGED, ["a/b", "c", "c"]),
    ],
)
def test_a_step_says_which_messages_name_the_flight(named: Naming, paths: list[str]) -> None:
    """There are a schema and two batches."""
    found = [one.descriptor for one in data(DoPut(PATH, named=named))]

    assert ["" if one is None else "/".join(one[2]) for one in found] == paths


def test_metadata_comes_with_rows_and_alone() -> None:
    """No message of metadata alone comes before the schema."""
    found = data(DoPut(PATH, metadata=True))

    assert [(bool(one.header), one.metadata) for one in found] == [
        (True, None),
        (False, b"alone"),
        (True, b"1"),
        (False, b"alone"),
        (True, b"2"),
        (False, b"alone"),
    ]
