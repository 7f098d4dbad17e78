"""Tests of the checker: each anomaly by its smallest histories, and what is no anomaly."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.history import (
    AnomalyKind,
    Append,
    Create,
    End,
    History,
    HistoryCall,
    HistoryJudgement,
    RowsRead,
    Split,
    check,
)

SEED = Append(0, 1, (0, 1, 2, 3))
A = Create(2, 3, "a", ("a/0",))
TWO = Create(2, 3, "a", ("a/0", "a/1"))
LATER = Append(10, 11, (4, 5))
B = Create(12, 13, "b", ("b/0",))


def judged(*calls: HistoryCall) -> HistoryJudgement:
    """The judgement of a history of these calls."""
    return check(History(calls))


def read(at: int, stream: str, *rows: int, offset: int = 0, ended: End = End.OK) -> RowsRead:
    """A read that lasts one instant."""
    return RowsRead(at, at + 1, stream, rows, offset, ended)


K = AnomalyKind
ANOMALIES: dict[str, tuple[AnomalyKind, tuple[HistoryCall, ...], int]] = {
    "resumed in a newer table": (
        K.TORN_SESSION,
        (SEED, A, read(4, "a/0", 0, 1, ended=End.CUT), LATER, read(14, "a/0", 2, 3, 4, 5, offset=2)),
        4,
    ),
    "a later row without an earlier one": (
        K.TORN_SESSION,
        (SEED, LATER, Append(20, 21, (6,)), Create(30, 31, "c", ("c/0",)), read(32, "c/0", 0, 1, 2, 3, 6)),
        4,
    ),
    "an older state than a session before": (
        K.RECEDING_SNAPSHOT,
        (SEED, LATER, B, read(14, "b/0", *range(6)), Create(20, 21, "c", ("c/0",)), read(22, "c/0", *range(4))),
        4,
    ),
    "two sessions at once, each with a row of its own": (
        K.RECEDING_SNAPSHOT,
        (
            SEED,
            Append(10, 19, (4,)),
            Append(10, 19, (5,)),
            Create(10, 19, "b", ("b/0",)),
            Create(10, 19, "c", ("c/0",)),
            read(20, "b/0", 0, 1, 2, 3, 4),
            read(20, "c/0", 0, 1, 2, 3, 5),
        ),
        4,
    ),
    "an older state than rows that a session began after": (
        K.RECEDING_SNAPSHOT,
        (
            SEED,
            Append(10, 30, (4,)),
            Append(16, 17, (5,)),
            Create(12, 14, "b", ("b/0",)),
            Create(13, 30, "c", ("c/0",)),
            read(31, "b/0", 0, 1, 2, 3, 4),
            read(31, "c/0", 0, 1, 2, 3, 5),
        ),
        5,
    ),
    "two states out of the order of two insertions": (
        K.RECEDING_SNAPSHOT,
        (
            SEED,
            Append(0, 40, (4,)),
            Append(10, 11, (5,)),
            Append(20, 40, (6,)),
            Create(0, 40, "b", ("b/0",)),
            Create(0, 40, "c", ("c/0",)),
            read(41, "b/0", 0, 1, 2, 3, 5, 6),
            read(41, "c/0", 0, 1, 2, 3, 4),
        ),
        4,
    ),
    "a row that nobody inserted": (K.STREAM_FROM_ELSEWHERE, (SEED, A, read(4, "a/0", 0, 1, 2, 3, 9)), 2),
    "a row of another table": (
        K.STREAM_FROM_ELSEWHERE,
        (SEED, Append(0, 1, (9,), table="other"), A, read(4, "a/0", 0, 1, 2, 3, 9)),
        3,
    ),
    "a row whose insertion was refused": (
        K.STREAM_FROM_ELSEWHERE,
        (SEED, Append(0, 1, (9,), ended=End.REFUSED), A, read(4, "a/0", 0, 1, 2, 3, 9)),
        3,
    ),
    "a child with a row that its parent lacks": (
        K.STREAM_FROM_ELSEWHERE,
        (SEED, TWO, read(4, "a/0", 0, 1), Split(5, 6, "a/0", "p", "r"), read(7, "r", 1, 2)),
        4,
    ),
    "a resumed read of another stream": (
        K.STREAM_FROM_ELSEWHERE,
        (SEED, TWO, read(4, "a/0", 0, 1), read(6, "a/0", 3, offset=1)),
        3,
    ),
    "a row inserted after the session": (K.EARLY_ROW, (SEED, A, LATER, read(12, "a/0", *range(6))), 3),
    "a row inserted after the snapshot time": (
        K.EARLY_ROW,
        (SEED, LATER, dataclasses.replace(B, after=2, before=3), read(14, "b/0", *range(6))),
        3,
    ),
    "a row that was there does not come": (K.LOST_ROW, (SEED, A, read(4, "a/0", 0, 1, 2)), 3),
    "no streams over rows": (K.LOST_ROW, (SEED, Create(2, 3, "a")), 2),
    "inserted rows do not come": (K.LOST_ROW, (SEED, LATER, B, read(14, "b/0", *range(4))), 3),
    "a resumed read skips a row": (
        K.LOST_ROW,
        (SEED, A, read(4, "a/0", 0, 1, 2, 3), read(6, "a/0", 2, 3, offset=1)),
        3,
    ),
    "a resumed read goes on behind a gap": (
        K.LOST_ROW,
        (SEED, A, read(4, "a/0", 0, 1, ended=End.CUT), read(6, "a/0", 3, offset=2)),
        4,
    ),
    "a split loses a row": (
        K.LOST_ROW,
        (
            SEED,
            dataclasses.replace(A, partial=True),
            read(4, "a/0", 0, 1, 2, 3),
            Split(5, 6, "a/0", "p", "r"),
            read(7, "p", 0, 1),
            read(7, "r", 3),
        ),
        5,
    ),
    "a split loses a row, and a child ends at a resumed read": (
        K.LOST_ROW,
        (
            SEED,
            dataclasses.replace(A, partial=True),
            read(4, "a/0", 0, 1, 2, 3),
            Split(5, 6, "a/0", "p", "r"),
            read(7, "p", 0, ended=End.CUT),
            read(8, "p", offset=1),
            read(9, "r", 2, 3),
        ),
        6,
    ),
    "a row twice in one read": (K.REPEATED_ROW, (SEED, A, read(4, "a/0", 0, 1, 2, 3, 3)), 2),
    "a row in two streams": (K.REPEATED_ROW, (SEED, TWO, read(4, "a/0", 0, 1, 2), read(4, "a/1", 2, 3)), 3),
    "a row in both children": (
        K.REPEATED_ROW,
        (SEED, A, Split(5, 6, "a/0", "p", "r"), read(7, "p", 0, 1, 2), read(7, "r", 2, 3)),
        4,
    ),
    "a resumed read begins too early": (
        K.REPEATED_ROW,
        (SEED, A, read(4, "a/0", 0, 1, ended=End.CUT), read(6, "a/0", 1, 2, 3, offset=2)),
        3,
    ),
    "another order when read again": (
        K.REORDERED_RESUME,
        (SEED, A, read(4, "a/0", 0, 1, 2, 3), read(6, "a/0", 3, 2, 1, 0)),
        3,
    ),
    "children in another order than their parent": (
        K.REORDERED_RESUME,
        (SEED, A, read(4, "a/0", 0, 1, 2, 3), Split(5, 6, "a/0", "p", "r"), read(7, "p", 2, 3), read(7, "r", 0, 1)),
        4,
    ),
    "a child of a child in another order, whose place follows from lengths": (
        K.REORDERED_RESUME,
        (
            SEED,
            A,
            read(4, "a/0", 0, 1, 2, 3),
            Split(5, 6, "a/0", "p", "r"),
            Split(7, 8, "p", "y.p", "y.r"),
            read(9, "r", 3),
            read(9, "y.r", 2, 1),
        ),
        6,
    ),
}
"""Histories by name: the anomaly that each has, and no other, and the number of calls of its witness."""


@pytest.mark.parametrize("name", ANOMALIES)
def test_an_anomaly_is_named_and_proven(name: str) -> None:
    """The one anomaly is found under its name, in at most six calls."""
    kind, calls, size = ANOMALIES[name]

    (found,) = judged(*calls).anomalies

    assert (found.kind, len(found.witness)) == (kind, size)
    assert size <= 6


@pytest.mark.parametrize("name", ANOMALIES)
def test_a_witness_is_enough_and_each_call_of_it_is_needed(name: str) -> None:
    """The insertions and the calls of the witness alone show the anomaly; without one of its reads they do not."""
    kind, calls, _ = ANOMALIES[name]
    (found,) = judged(*calls).anomalies
    proof = [call for index, call in enumerate(calls) if index in found.witness or isinstance(call, Append)]

    assert kind in judged(*proof).kinds
    for reading in [call for call in proof if isinstance(call, RowsRead)]:
        assert kind not in judged(*(call for call in proof if call is not reading)).kinds


def test_every_kind_has_two_histories() -> None:
    """No name is without a history that shows it, and each has several."""
    shown = [kind for kind, _, _ in ANOMALIES.values()]

    assert all(shown.count(kind) >= 2 for kind in AnomalyKind)


PERMITTED: dict[str, tuple[HistoryCall, ...]] = {
    "any order of rows and streams": (SEED, TWO, read(4, "a/0", 3, 0), read(4, "a/1", 2, 1)),
    "later rows stay out": (SEED, A, LATER, read(12, "a/0", *range(4)), B, read(14, "b/0", *range(6))),
    "an insertion at the same time is seen in part": (
        SEED, Append(2, 5, (4, 5)), Create(4, 6, "a", ("a/0",)), read(7, "a/0", 0, 1, 2, 3, 5),
    ),
    "an insertion without an answer may happen later": (
        SEED, Append(2, 3, (4,), ended=End.UNKNOWN),
        Create(4, 5, "a", ("a/0",)), read(6, "a/0", *range(4)), B, read(14, "b/0", *range(5)),
    ),
    "rows of a streaming buffer come late": (
        SEED, dataclasses.replace(LATER, late=True), B, read(14, "b/0", *range(4)),
    ),
    "a cut read misses nothing": (SEED, A, read(4, "a/0", 0, 1, ended=End.CUT)),
    "a read without an answer misses nothing": (SEED, A, read(4, "a/0", 0, ended=End.UNKNOWN)),
    "a read that is refused misses nothing": (SEED, A, read(4, "a/0", ended=End.REFUSED)),
    "a restriction leaves rows out": (SEED, dataclasses.replace(A, partial=True), read(4, "a/0", 1)),
    "a session without an answer has no rows": (SEED, dataclasses.replace(A, ended=End.UNKNOWN)),
    "a split of a split": (
        SEED, A, Split(4, 5, "a/0", "p", "r"), Split(6, 7, "r", "q", "s"), read(8, "s", 3), read(8, "q", 1, 2),
        read(8, "p", 0), read(9, "a/0", 0, 1, 2, 3),
    ),
    "two splits of one stream at different rows": (
        SEED, A, Split(4, 5, "a/0", "p", "r"), Split(6, 7, "a/0", "q", "s"), read(8, "p", 0), read(8, "r", 1, 2, 3),
        read(8, "q", 0, 1, 2), read(8, "s", 3),
    ),
    "a stream that cannot be split": (SEED, A, Split(4, 5, "a/0"), read(6, "a/0", 0, 1, 2, 3)),
    "nothing behind the end": (SEED, A, read(4, "a/0", 0, 1, 2, 3), read(6, "a/0", offset=4)),
    "two tables": (SEED, Append(0, 1, (9,), table="other"), A, read(4, "a/0", *range(4))),
}  # fmt: skip


@pytest.mark.parametrize("name", PERMITTED)
def test_a_permitted_history_has_no_anomaly(name: str) -> None:
    """What the contract leaves open is no anomaly."""
    assert judged(*PERMITTED[name]).anomalies == ()


def test_what_still_holds_is_counted() -> None:
    """Each guarantee without a counterexample comes with the number of its observations."""
    judgement = judged(SEED, A, LATER, read(12, "a/0", *range(6)))

    holds = {one.kind: one.checked for one in judgement.holds}
    assert K.EARLY_ROW not in holds
    assert holds[K.LOST_ROW] == holds[K.REPEATED_ROW] == holds[K.TORN_SESSION] == 1
    assert holds[K.RECEDING_SNAPSHOT] == holds[K.REORDERED_RESUME] == 0


def test_unknown_outcomes_are_counted() -> None:
    """Calls without an answer are counted by kind, and sessions that were not read to the end."""
    lost = read(4, "a/0", 0, ended=End.UNKNOWN)

    judgement = judged(SEED, A, lost, dataclasses.replace(LATER, ended=End.UNKNOWN))

    assert judgement.unknown == {"append": 1, "read": 1}
    assert judgement.unfinished == 1
    assert (judgement.calls, judgement.rows) == (4, 1)


def test_the_order_of_the_calls_in_the_history_means_nothing() -> None:
    """Only their times do."""
    _, calls, _ = ANOMALIES["resumed in a newer table"]

    forwards, backwards = judged(*calls).anomalies, judged(*reversed(calls)).anomalies

    last = len(calls) - 1
    assert [tuple(last - index for index in one.witness) for one in backwards] == [one.witness for one in forwards]
