from __future__ import annotations

import dataclasses
from typing import Any

import pyarrow as pa
import pytest

from conformance.records import CreateSession, Expect, Json, Outcome, ReadRows, Table
from tests.contract.exchanges import COLUMNS, Answer, Deviation, Spoil, case_of, create, prove, read, verdicts
from tests.protocols.storage_read.chapters.test_restriction import accepted

MANY = Table(COLUMNS, tuple(Json({"id": n, "name": "name " * 20, "city": "c", "note": None}) for n in range(100)))
SMALL = Table(COLUMNS, tuple(Json({"id": n}) for n in range(4)))


def buffers(codec: str, table: Table = MANY) -> Any:
    """A case that asks for compressed buffers."""
    return case_of(CreateSession(buffer_compression=codec), ReadRows(), table=table)


PAYLOAD = case_of(CreateSession(response_compression="LZ4"), ReadRows(), table=MANY)
BOTH = case_of(
    CreateSession(
        buffer_compression="ZSTD",
        response_compression="LZ4",
        expect=Expect(codes=("INVALID_ARGUMENT",), reason="both-compressions"),
    )
)


def coded(codec: str) -> Spoil:
    """The read's buffers are compressed with another codec, or none."""

    def spoil(answers: list[Answer]) -> None:
        read(answers).coding["buffers"] = codec
        table = read(answers).table
        assert table is not None
        read(answers).send(table, response_rows=50)

    return spoil


def fewer_rows(answers: list[Answer]) -> None:
    """One row less."""
    table = read(answers).table
    assert table is not None
    read(answers).send(table.slice(1), response_rows=50)


def size(value: int | None) -> Spoil:
    """The first response declares another size, or none."""

    def spoil(answers: list[Answer]) -> None:
        response = read(answers).responses[0]
        if value is None:
            data = response.arrow_record_batch.serialized_record_batch
            declared = response.uncompressed_byte_size
            raw = pa.Codec("lz4_raw").decompress(data, decompressed_size=declared, asbytes=True)
            response.arrow_record_batch.serialized_record_batch = raw
            response.ClearField("uncompressed_byte_size")
        else:
            response.uncompressed_byte_size += value

    return spoil


def zero_size(answers: list[Answer]) -> None:
    """An uncompressed payload that declares the size 0."""
    size(None)(answers)
    read(answers).responses[0].uncompressed_byte_size = 0


def deviation(clause: str, case: Any, spoil: Spoil, *others: str) -> Deviation:
    """A deviation from answers of 50 rows a response."""
    return Deviation(f"compression.{clause}", case, spoil, others, response_rows=50)


DEVIATIONS = (
    deviation("request-is-served", buffers("LZ4_FRAME"), lambda a: create(a).refuse()),
    deviation("request-is-served", buffers("ZSTD"), lambda a: read(a).refuse()),
    deviation("lz4-frame-is-applied", buffers("LZ4_FRAME"), coded("")),
    deviation("zstd-is-applied", buffers("ZSTD"), coded("")),
    deviation("codec-is-the-one-asked-for", buffers("LZ4_FRAME"), coded("ZSTD")),
    deviation("codec-is-the-one-asked-for", buffers("ZSTD"), coded("LZ4_FRAME")),
    deviation("none-without-asking", buffers(""), coded("LZ4_FRAME")),
    deviation("rows-are-the-same", buffers("ZSTD"), fewer_rows),
    deviation("payload-request-is-served", PAYLOAD, lambda a: create(a).refuse()),
    deviation("payload-request-is-served", PAYLOAD, lambda a: read(a).refuse()),
    deviation("payload-size-is-set", PAYLOAD, size(None)),
    deviation("payload-size-is-positive-or-minus-one", PAYLOAD, zero_size),
    deviation("payload-has-its-size", PAYLOAD, size(1)),
    deviation("payload-has-its-size", PAYLOAD, size(-1)),
    deviation("payload-rows-are-the-same", PAYLOAD, fewer_rows),
    deviation("both-are-refused", BOTH, accepted),
)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_one_lie_is_told_by_its_clause_alone(deviation: Deviation) -> None:
    """A single deviation from an obedient answer fails the clause on it, and no other."""
    prove(deviation)


def test_a_small_batch_may_stay_as_it_is() -> None:
    """Below a kibibyte compression may be left out, though it was asked for."""
    found = verdicts(buffers("ZSTD", SMALL), coded(""))

    assert {verdict.clause for verdict in found if verdict.findings} == set()


def test_a_payload_that_would_not_shrink_may_be_left_alone() -> None:
    """A size of -1 says that the payload is not compressed."""

    def left_alone(answers: list[Answer]) -> None:
        size(None)(answers)
        read(answers).responses[0].uncompressed_byte_size = -1

    found = verdicts(PAYLOAD, left_alone, response_rows=50)

    assert {verdict.clause for verdict in found if verdict.findings} == set()


def test_a_payload_that_does_not_decompress_is_the_reason_for_what_lies_behind_it() -> None:
    """The clauses that the case names and that need the rows say which bytes cannot be read."""

    def noise(answers: list[Answer]) -> None:
        read(answers).responses[0].arrow_record_batch.serialized_record_batch = b"\xff" * 9

    found = verdicts(dataclasses.replace(PAYLOAD, clauses=("compression.payload-rows-are-the-same",)), noise)

    (verdict,) = [one for one in found if one.clause == "compression.payload-rows-are-the-same"]
    assert (verdict.outcome, verdict.reason) == (
        Outcome.DEPENDENCY_FAILED,
        "call 1, response 0: the bytes of a payload do not decompress; see the findings on them",
    )
    assert [one.clause for one in found if one.outcome is Outcome.FAIL] == ["compression.payload-has-its-size"]


@pytest.mark.parametrize(("codec", "said"), [("lz4", "an LZ4 frame"), ("gzip", "bytes that are no LZ4 block")])
def test_the_other_form_of_lz4_is_named(codec: str, said: str) -> None:
    """A server takes the frame for the block easily: most libraries write frames."""

    def packed(answers: list[Answer]) -> None:
        response = read(answers).responses[0]
        size(None)([*answers])
        data = pa.Codec(codec).compress(response.arrow_record_batch.serialized_record_batch, asbytes=True)
        response.arrow_record_batch.serialized_record_batch = data
        response.uncompressed_byte_size = 7008

    found = [one for verdict in verdicts(PAYLOAD, packed, response_rows=50) for one in verdict.findings]

    assert {one.observed for one in found if one.clause == "compression.payload-has-its-size"} == {said}


@pytest.mark.parametrize("refuse", [create, read])
def test_a_refusal_of_several_features_at_once_blames_none(refuse: Any) -> None:
    """Whether it is the codec or the projection that the server lacks, this request does not show."""
    step = CreateSession(buffer_compression="LZ4_FRAME", selected_fields=("id", "name"))

    found = verdicts(case_of(step, ReadRows()), lambda answers: refuse(answers).refuse())

    assert {verdict.clause for verdict in found if verdict.findings} == set()


def test_several_features_at_once_that_are_served_show_each_of_them() -> None:
    """A success needs no isolation."""
    step = CreateSession(buffer_compression="LZ4_FRAME", selected_fields=("id", "name"))

    found = {verdict.clause: verdict.outcome for verdict in verdicts(case_of(step, ReadRows()))}

    assert found["compression.request-is-served"] is Outcome.PASS
