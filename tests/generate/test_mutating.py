"""Mutated bytes: they follow from seed and number, and every change changes something."""

from __future__ import annotations

import io
from collections import Counter

import pyarrow as pa
import pytest

from conformance.generate.changes import CHANGES, Patient
from conformance.generate.choices import Seeded
from conformance.generate.mutating import LONGEST, mutated
from conformance.generate.subject import LegalBytes
from conformance.wire import Kind, Severity, read_batch, read_file, read_schema, read_stream

BATCH = pa.RecordBatch.from_pydict({"x": pa.array(["a", None, "ccc"]), "y": pa.array([1, 2, 3])})


def written(*, file: bool = False, rows: int = 3) -> bytes:
    """A stream or file of two batches."""
    sink = io.BytesIO()
    make = pa.ipc.new_file if file else pa.ipc.new_stream
    with make(sink, BATCH.schema) as writer:
        writer.write(BATCH.slice(0, rows))
        writer.write(BATCH)
    return sink.getvalue()


def subjects() -> dict[Kind, tuple[LegalBytes, ...]]:
    """Two streams, a file and a pair of messages, about which nothing is known yet."""
    pair = (BATCH.schema.serialize().to_pybytes(), BATCH.serialize().to_pybytes())
    return {
        Kind.STREAM: (
            LegalBytes("stream", Kind.STREAM, (written(),)),
            LegalBytes("other", Kind.STREAM, (written(rows=1),)),
        ),
        Kind.FILE: (LegalBytes("file", Kind.FILE, (written(file=True),)),),
        Kind.MESSAGE: (LegalBytes("pair", Kind.MESSAGE, pair, "bq-arrow"),),
    }


def patient(subject: LegalBytes) -> Patient:
    """A subject ready to be changed."""
    return Patient(bytearray(subject.parts[0]), subject.anatomies[0], subjects()[subject.kind])


def test_an_input_does_not_depend_on_those_before_it() -> None:
    """From number to bytes there is one way, in whatever order and process inputs are made."""
    known = subjects()
    in_order = [mutated(known, 7, number) for number in range(200)]

    alone = [mutated(subjects(), 7, number) for number in (199, 3, 150)]

    assert [made.parts for made in alone] == [in_order[number].parts for number in (199, 3, 150)]
    assert [made.changes for made in alone] == [in_order[number].changes for number in (199, 3, 150)]


def test_another_seed_makes_other_inputs() -> None:
    """Seeds are not numbers by another name."""
    known = subjects()

    assert [mutated(known, 1, number).parts for number in range(20)] != [
        mutated(known, 2, number).parts for number in range(20)
    ]


def test_inputs_are_of_every_kind_and_every_change() -> None:
    """A few hundred inputs show all there is: changes, kinds, readings as another kind, and judging as a writer's."""
    made = [mutated(subjects(), 0, number) for number in range(1500)]

    assert {one.subject.kind for one in made} == {Kind.STREAM, Kind.FILE, Kind.MESSAGE}
    assert Counter(change for one in made for change in one.changes).keys() == CHANGES.keys()
    assert any(one.kind is not one.subject.kind for one in made)
    assert {one.writer for one in made} == {True, False}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("kind", [Kind.STREAM, Kind.FILE])
def test_every_change_changes_something(name: str, kind: Kind) -> None:
    """Not each time, but in one of a few tries."""
    subject = subjects()[kind][0]

    made = {bytes(CHANGES[name](Seeded(0, number, name), patient(subject))) for number in range(20)}

    assert made - {subject.parts[0]}


def test_changes_break_many_different_rules() -> None:
    """A few hundred inputs break dozens of rules of the wire."""
    made = [mutated(subjects(), 0, number) for number in range(400)]
    readings = [
        read_file(one.parts[0]) if one.kind is Kind.FILE else read_stream(one.parts[0])
        for one in made
        if one.kind in (Kind.STREAM, Kind.FILE)
    ]

    assert len({fault.rule for reading in readings for fault in reading.violations}) > 50


@pytest.mark.parametrize("name", ["resized", "stretched"])
def test_lengths_change_with_what_they_measure(name: str) -> None:
    """The messages of a stream still follow one another, to its end."""
    subject = subjects()[Kind.STREAM][0]
    whole = len(read_stream(subject.parts[0]).messages)

    for number in range(30):
        data = bytes(CHANGES[name](Seeded(1, number, name), patient(subject)))
        assert len(read_stream(data).messages) == whole


def test_one_number_changes_wherever_it_stands() -> None:
    """A batch may then claim other rows than it has, of which each of its columns has as many."""
    subject = subjects()[Kind.STREAM][0]
    lengths = set()
    for number in range(300):
        data = bytes(CHANGES["numbers"](Seeded(2, number, "numbers"), patient(subject)))
        for batch in read_stream(data).batches:
            if batch.length != 3 and {node.length for node in batch.nodes} == {batch.length}:
                lengths.add(batch.length)

    assert len(lengths) > 3


def test_bytes_stay_short() -> None:
    """Whatever is repeated, and however often."""
    large = {Kind.STREAM: (LegalBytes("large", Kind.STREAM, (written() + bytes(100_000),)),)}

    assert all(sum(map(len, mutated(large, 1, number).parts)) <= LONGEST for number in range(100))


def test_a_batch_of_messages_is_changed_under_its_schema() -> None:
    """Pairs have places for numbers in both messages, found with the schema that the batch has."""
    (pair,) = subjects()[Kind.MESSAGE]
    schema = read_schema(pair.parts[0]).schema
    assert schema is not None

    assert all(anatomy.numbers for anatomy in pair.anatomies)
    assert not [fault for fault in read_batch(pair.parts[1], schema).faults if fault.severity is Severity.VIOLATION]
