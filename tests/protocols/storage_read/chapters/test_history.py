"""Tests of the chapter on histories: exchanges by hand in which calls contradict one another, each call right alone."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

from conformance.contract.viewing import view_of
from conformance.history import AnomalyKind, Append, Create, End, RowsRead, Split
from conformance.protocols.storage_read.contract.rowhistory import observed
from conformance.records import (
    AppendRows,
    BqType,
    CallEnd,
    Case,
    Column,
    CreateSession,
    Mode,
    ReadRows,
    Recipe,
    SplitStream,
    Step,
    Table,
)
from tests.contract.exchanges import Answer, Deviation, Obedient, Spoil, prove, read, verdicts

ROWS = 12
COLUMNS = (Column("row_id", BqType.INT64, Mode.REQUIRED), Column("name", BqType.STRING))


def numbered(*steps: Step) -> Case:
    """A case over rows with ids."""
    return Case("hand.history", "made by hand", Table(COLUMNS, recipe=Recipe(rows=ROWS)), steps)


PARTS = (ReadRows(stream="0", take=1), ReadRows(stream="0", offset="3"))
IN_PARTS = numbered(CreateSession(row_restriction="row_id >= 0"), *PARTS)
RESUMED = numbered(CreateSession(), ReadRows(stream="0", take=1), AppendRows(2), ReadRows(stream="0", offset="3"))
OPENED = numbered(CreateSession(), AppendRows(2), ReadRows(stream="0", offset="1"))
CHILDREN = numbered(CreateSession(), SplitStream(), ReadRows(stream="x.primary"), ReadRows(stream="x.remainder"))
ONE_CHILD = numbered(CreateSession(), ReadRows(stream="0"), SplitStream(), ReadRows(stream="x.remainder"))
SESSIONS = numbered(
    CreateSession(label="a"), AppendRows(2), CreateSession(label="b"), ReadRows(session="b", take=1),
    ReadRows(session="b", offset="3"), CreateSession(label="c"), ReadRows(session="c", take=1),
    ReadRows(session="c", offset="3"),
)  # fmt: skip
APPENDS = numbered(
    AppendRows(2), AppendRows(2), CreateSession(), ReadRows(stream="0", take=1), ReadRows(stream="0", offset="3")
)


def sends(ids: Sequence[int], index: int) -> Spoil:
    """A read delivers the rows with these ids; a negative one is of no table."""

    def spoil(answers: list[Answer]) -> None:
        table = Obedient(numbered()).table
        rows = table.take(pa.array([max(row, 0) for row in ids], pa.int64()))
        rows = rows.set_column(0, rows.schema.field(0), pa.array(list(ids), pa.int64()))
        read(answers, index).send(rows)

    return spoil


DEVIATIONS = (
    Deviation("history.no-torn-session", RESUMED, sends(range(3, 12), 1)),
    Deviation("history.no-torn-session", APPENDS, sends([*range(3, 8), 10, 11], 1)),
    Deviation("history.no-receding-snapshot", SESSIONS, sends(range(3, 10), 3)),
    Deviation("history.no-stream-from-elsewhere", IN_PARTS, sends([*range(3, 12), -1], 1)),
    Deviation("history.no-stream-from-elsewhere", ONE_CHILD, sends(range(2, 9), 1), streams=2),
    Deviation("history.no-early-row", OPENED, sends(range(1, 12), 0)),
    Deviation("history.no-lost-row", CHILDREN, sends(range(5), 0)),
    Deviation("history.no-lost-row", IN_PARTS, sends(range(4, 12), 1)),
    Deviation("history.no-repeated-row", CHILDREN, sends(range(7), 0)),
    Deviation("history.no-repeated-row", IN_PARTS, sends(range(2, 12), 1)),
    Deviation("history.no-reordered-resume", IN_PARTS, sends(range(11, 2, -1), 1)),
)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_one_fault_is_reported_by_its_clause_alone(deviation: Deviation) -> None:
    """A single deviation from an obedient answer fails the clause on it, and no other."""
    prove(deviation)


def history_of(case: Case, spoil: Spoil = lambda _: None, *, streams: int = 1) -> tuple[object, ...]:
    """The calls of the history of an obedient server's answers, spoiled."""
    server = Obedient(case, streams=streams)
    answers = server.run()
    spoil(answers)
    seen = observed(view_of(case, server.freeze(answers), server.table))
    assert seen is not None
    return seen.history.calls


def test_the_calls_of_an_exchange_become_a_history() -> None:
    """Insertions stand between the calls, and streams have the names that the steps use."""
    case = numbered(
        CreateSession(), ReadRows(take=1), AppendRows(2), SplitStream(), ReadRows(stream="x.remainder"),
        CreateSession(), ReadRows(offset="9"),
    )  # fmt: skip

    assert history_of(case) == (
        Append(0, 1, tuple(range(10))),
        Create(4, 5, "s", ("s/0",)),
        RowsRead(6, 7, "s/0", (0, 1, 2, 3), 0, End.CUT),
        Append(8, 9, (10, 11)),
        Split(10, 11, "s/0", "x.primary", "x.remainder"),
        RowsRead(12, 13, "x.remainder", (5, 6, 7, 8, 9)),
        Create(14, 15, "s#4", ("s#4/0",)),
        RowsRead(16, 17, "s#4/0", (9, 10, 11), 9),
    )


def test_reads_together_overlap() -> None:
    """Concurrent calls of one step have the same times: nothing says which one was first."""
    case = numbered(CreateSession(), ReadRows(times=2, together=True))

    *_, one, other = history_of(case)

    assert one == other


def test_a_snapshot_time_before_the_first_append_is_known() -> None:
    """The session shows an instant after the seed and before the first insertion."""
    case = numbered(AppendRows(2), CreateSession(snapshot="before-append"), ReadRows())

    (create,) = (call for call in history_of(case) if isinstance(call, Create))

    assert (create.earliest, create.latest, create.partial) == (2, 2, False)


@pytest.mark.parametrize(
    ("spoil", "end"),
    [
        (lambda a: read(a).break_off(CallEnd.DEADLINE), End.UNKNOWN),
        (lambda a: read(a).break_off(CallEnd.CRASH), End.UNKNOWN),
        (lambda a: read(a).break_off(CallEnd.CANCELLED), End.CUT),
        (lambda a: setattr(read(a), "status", "INTERNAL"), End.CUT),
        (lambda a: read(a).refuse("INTERNAL"), End.REFUSED),
    ],
)
def test_a_read_that_does_not_end_in_ok_shows_no_end(spoil: Spoil, end: End) -> None:
    """The rows that came count, and nothing is derived from those that did not."""
    *_, last = history_of(numbered(CreateSession(), ReadRows()), spoil)

    assert isinstance(last, RowsRead)
    assert last.ended is end


def test_rows_that_cannot_be_decoded_are_unknown() -> None:
    """The suite decodes the rows itself; bytes that are no batch show no ids."""

    def spoil(answers: list[Answer]) -> None:
        read(answers).responses[0].arrow_record_batch.serialized_record_batch = b"no batch"

    *_, last = history_of(numbered(CreateSession(), ReadRows()), spoil)

    assert last == RowsRead(6, 7, "s/0", (), 0, End.UNKNOWN)


def test_a_table_without_ids_has_no_history() -> None:
    """Rows that cannot be told apart prove nothing."""
    case = Case("hand.history", "made by hand", Table(COLUMNS[1:], recipe=Recipe(rows=ROWS)), (CreateSession(),))
    server = Obedient(case)

    assert observed(view_of(case, server.freeze(server.run()), server.table)) is None


def test_what_other_chapters_compare_is_not_reported_twice() -> None:
    """A lost row in a session that was read in full is the chapter on rows' alone."""
    case = numbered(CreateSession(), ReadRows(stream="0"), ReadRows(stream="0", offset="3"))

    failing = {one.clause for one in verdicts(case, sends(range(11), 0)) if one.outcome == "fail"}

    assert "rows.none-is-missing" in failing
    assert not any(name.startswith("history.") for name in failing)


def test_rows_that_come_again_without_an_end_are_not_reported_twice() -> None:
    """An answer beyond reason is the chapter on calls' alone."""

    def goes_on(answers: list[Answer]) -> None:
        sends([0, 0], 0)(answers)
        read(answers).break_off(CallEnd.OVER_BUDGET)

    failing = {one.clause for one in verdicts(numbered(CreateSession(), ReadRows()), goes_on) if one.outcome == "fail"}

    assert "calls.stay-within-reason" in failing
    assert not any(name.startswith("history.") for name in failing)


def test_every_anomaly_has_a_clause() -> None:
    """The names of the checker and of the clauses are the same."""
    clauses = {deviation.clause for deviation in DEVIATIONS}

    assert clauses == {f"history.no-{kind.replace(' ', '-')}" for kind in AnomalyKind}
