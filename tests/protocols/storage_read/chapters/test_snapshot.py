from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.records import AppendRows, CreateSession, Expect, Happening, Meanwhile, ReadRows
from tests.contract.exchanges import Answer, Deviation, Obedient, Spoil, case_of, create, prove, read, session
from tests.protocols.storage_read.chapters.test_restriction import accepted

BEFORE = case_of(CreateSession(), AppendRows(3), ReadRows())
AFTER = case_of(CreateSession(), AppendRows(3), CreateSession(label="later"), ReadRows(session="later"))
PARTS = case_of(CreateSession(max_stream_count=2), ReadRows(stream="0"), AppendRows(3), ReadRows(stream="1"))
AGAIN = case_of(CreateSession(), ReadRows(), AppendRows(3), ReadRows())
TIMED = case_of(AppendRows(3), CreateSession(snapshot="before-append"), ReadRows())
ASKED = case_of(Meanwhile(Happening.QUERY), AppendRows(3), CreateSession(), ReadRows())
REMADE = case_of(CreateSession(), AppendRows(3, again=True), CreateSession(label="later"), ReadRows(session="later"))
PAST = case_of(
    CreateSession(snapshot="past", expect=Expect(codes=("INVALID_ARGUMENT",), reason="snapshot-outside-window"))
)


def rows(start: int, end: int, index: int = 0) -> Spoil:
    """A read delivers these rows of the table."""

    def spoil(answers: list[Answer]) -> None:
        read(answers, index).send(Obedient(case_of()).table.slice(start, end - start))

    return spoil


def reversed_again(answers: list[Answer]) -> None:
    """The second read gives the rows in another order."""
    table = read(answers, 1).table
    assert table is not None
    read(answers, 1).send(table.take(pa.array(range(table.num_rows - 1, -1, -1))))


DEVIATIONS = (
    Deviation("rows.read-is-served", BEFORE, lambda a: read(a).refuse("INTERNAL")),
    Deviation("rows.read-is-served", TIMED, lambda a: read(a).refuse("INTERNAL")),
    Deviation("snapshot.later-rows-stay-out", BEFORE, rows(0, 10)),
    Deviation("snapshot.later-rows-stay-out", BEFORE, rows(0, 8)),
    Deviation("snapshot.earlier-rows-are-there", AFTER, rows(0, 7)),
    Deviation("snapshot.earlier-rows-are-there", REMADE, rows(7, 9)),
    Deviation("snapshot.table-made-again-is-new", REMADE, rows(6, 10)),
    Deviation("session.query-result-is-served", ASKED, lambda a: create(a).refuse("NOT_FOUND")),
    Deviation("rows.query-result-is-the-table", ASKED, rows(0, 6)),
    Deviation("rows.query-result-is-the-table", ASKED, rows(0, 8)),
    Deviation("snapshot.streams-share-one", PARTS, rows(3, 10, 1), streams=2),
    Deviation("snapshot.rereading-repeats", AGAIN, reversed_again),
    Deviation("snapshot.time-is-served", TIMED, lambda a: create(a).refuse("UNIMPLEMENTED")),
    Deviation("snapshot.time-is-honoured", TIMED, rows(0, 10)),
    Deviation(
        "snapshot.time-is-echoed",
        TIMED,
        lambda a: session(a).table_modifiers.snapshot_time.FromSeconds(1),
    ),
    Deviation("snapshot.time-outside-the-window-is-refused", PAST, accepted),
)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_one_lie_is_told_by_its_clause_alone(deviation: Deviation) -> None:
    """A single deviation from an obedient answer fails the clause on it, and no other."""
    prove(deviation)

    """The seed holds the first rows, the AppendRows steps bring the rest in order."""
    server = Obedient(BEFORE)

    exchange = server.freeze(server.run())

    assert len(exchange.calls) == 2
    assert server.answers[1].table is not None
    assert server.answers[1].table.column("id").to_pylist() == list(range(7))
