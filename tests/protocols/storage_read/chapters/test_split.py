from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from conformance.records import CreateSession, Expect, ReadRows, SplitStream
from tests.contract.exchanges import Answer, Deviation, Spoil, case_of, failed, prove, read, session, split, verdicts

PRIMARY, REMAINDER = ReadRows(stream="x.primary"), ReadRows(stream="x.remainder")
FAMILY = case_of(CreateSession(), ReadRows(), SplitStream(), PRIMARY, REMAINDER, ReadRows())
SPLIT = case_of(CreateSession(), SplitStream())
BEYOND = Expect(codes=("FAILED_PRECONDITION",), reason="offset-beyond-end")
RESUMED = case_of(CreateSession(), SplitStream(), PRIMARY, ReadRows(stream="x.primary", offset="3"))
PAST_CHILD = case_of(CreateSession(), SplitStream(), PRIMARY, ReadRows(stream="x.primary", offset="6", expect=BEYOND))
CHAIN = case_of(
    CreateSession(),
    ReadRows(),
    SplitStream(label="a"),
    SplitStream(label="b", stream="a.primary"),
    SplitStream(label="c", stream="b.primary"),
    SplitStream(label="d", stream="c.primary"),
)
OUTSIDE = case_of(
    CreateSession(),
    SplitStream(fraction=1.5, expect=Expect(codes=("INVALID_ARGUMENT",), reason="split-fraction-outside")),
)
NO_NUMBER = case_of(
    CreateSession(),
    SplitStream(fraction=math.nan, expect=Expect(codes=("INVALID_ARGUMENT",), reason="split-fraction-no-number")),
)


def delivers(index: int, change: Callable[[pa.Table], pa.Table]) -> Spoil:
    """A read delivers other rows."""

    def spoil(answers: list[Answer]) -> None:
        answer = read(answers, index)
        assert answer.table is not None
        answer.status, answer.details = "OK", ""
        answer.send(change(answer.table))

    return spoil


def renamed(primary: str, remainder: str) -> Spoil:
    """The children have other names; ``{}`` is the session's."""

    def spoil(answers: list[Answer]) -> None:
        name = session(answers).name
        split(answers).responses[0].primary_stream.name = primary.format(name)
        split(answers).responses[0].remainder_stream.name = remainder.format(name)

    return spoil


def endless(answers: list[Answer]) -> None:
    """Every split of the chain gives children, however few rows there are."""
    name, parent = session(answers).name, session(answers).streams[0].name
    for number in range(12):
        if number >= 3:
            answers.append(Answer(5, "d", "SplitReadStream", type(split(answers).request)(), [_answer(answers)]))
        answer = split(answers, number)
        answer.request.name = parent
        answer.responses[0].primary_stream.name = parent = f"{name}/streams/p{number}"
        answer.responses[0].remainder_stream.name = f"{name}/streams/r{number}"


def _answer(answers: list[Answer]) -> Any:
    return type(split(answers).responses[0])()


def outside_accepted(answers: list[Answer]) -> None:
    """The fraction is taken, and the stream not split."""
    answer = split(answers)
    answer.status, answer.details = "OK", ""


def outside_read(answers: list[Answer]) -> None:
    """The read beyond the child's end ends in OK."""
    read(answers, 1).status, read(answers, 1).details = "OK", ""


DEVIATIONS = (
    Deviation("split.request-is-served", SPLIT, lambda a: split(a).refuse("UNKNOWN", "unimplemented")),
    Deviation("split.answer-has-two-children-or-none", SPLIT, renamed("{}/streams/a", "")),
    Deviation("split.answer-has-two-children-or-none", SPLIT, renamed("", "{}/streams/a")),
    Deviation("split.children-have-names-of-their-own", SPLIT, renamed("{}/streams/a", "{}/streams/a")),
    Deviation("split.children-have-names-of-their-own", SPLIT, renamed("{}/streams/0", "{}/streams/a")),
    Deviation(
        "split.children-are-below-the-session",
        SPLIT,
        renamed("{}/streams/a", "projects/p/locations/us/sessions/s9/streams/b"),
    ),
    Deviation("split.children-are-the-parent", FAMILY, delivers(1, lambda t: t.slice(1))),
    Deviation("split.children-are-the-parent", FAMILY, delivers(2, lambda t: t.slice(0, 0))),
    Deviation("split.children-are-the-parent", FAMILY, delivers(1, lambda t: t.take(pa.array([4, 3, 2, 1, 0])))),
    Deviation("split.parent-is-still-served", FAMILY, lambda a: read(a, 3).refuse("NOT_FOUND")),
    Deviation("split.parent-is-unchanged", FAMILY, delivers(3, lambda t: t.slice(5))),
    Deviation("split.child-is-served", FAMILY, lambda a: read(a, 1).refuse("NOT_FOUND")),
    Deviation("split.child-resumes", RESUMED, lambda a: read(a, 1).refuse("OUT_OF_RANGE")),
    Deviation("split.child-resumes", RESUMED, lambda a: read(a, 1).send(read(a, 0).table)),
    Deviation("split.beyond-the-child-is-refused", PAST_CHILD, outside_read),
    Deviation("split.beyond-the-child-has-its-code", PAST_CHILD, lambda a: read(a, 1).refuse("OUT_OF_RANGE")),
    Deviation("split.splitting-ends", CHAIN, endless),
    Deviation("split.fraction-outside-is-refused", OUTSIDE, outside_accepted),
    Deviation("split.fraction-that-is-no-number-is-refused", NO_NUMBER, outside_accepted),
)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_one_lie_is_told_by_its_clause_alone(deviation: Deviation) -> None:
    """A single deviation from an obedient answer fails the clause on it, and no other."""
    prove(deviation)


def test_an_offset_of_a_second_child_that_nobody_has_read_may_be_refused() -> None:
    """Only reads of the child itself reach it, and the proto calls an offset undefined that no read has reached."""
    permitted = Expect(codes=("OK", "FAILED_PRECONDITION"))
    steps = (ReadRows(stream="x.remainder", offset="2", expect=permitted), ReadRows(stream="x.remainder"))
    case = case_of(CreateSession(), ReadRows(), SplitStream(), *steps)

    found = verdicts(case, lambda answers: read(answers, 1).refuse("FAILED_PRECONDITION"))

    assert {verdict.clause for verdict in found if verdict.findings} == set()


def test_an_empty_answer_is_permitted() -> None:
    """A server may say that it cannot split a stream, whatever its size."""
    found = verdicts(SPLIT, lambda a: split(a).responses[0].Clear())

    assert {verdict.clause for verdict in found if verdict.findings} == set()
    assert "split.request-is-served" in {verdict.clause for verdict in found}


def test_a_filtered_stream_is_split_among_the_rows_of_its_table() -> None:
    """Split points are found before the restriction: more splits than selected rows are no fault, endless ones are."""
    filtered = (CreateSession(row_restriction="row_id < 8", expect=Expect(rows=tuple(range(8)))), *CHAIN.steps[1:])
    case = case_of(*filtered)

    def few(answers: list[Answer]) -> None:
        endless(answers)
        del answers[2 + 9 :]

    assert "split.splitting-ends" not in failed(verdicts(case, few))
    assert "split.splitting-ends" in failed(verdicts(case, endless))
