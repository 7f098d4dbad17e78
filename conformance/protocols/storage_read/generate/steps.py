"""Checks that the steps of a case of Storage Read fit each other: sessions, streams, insertions, what happens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from conformance.generate.casecheck import MOST_CALLS, check_rows, row_count
from conformance.protocols.storage_read.generate.changes import check_changes
from conformance.protocols.storage_read.generate.holding import check_held_reads
from conformance.records import (
    ROW_ID,
    AppendRows,
    BqType,
    CallStep,
    Case,
    Column,
    CreateSession,
    Happening,
    Meanwhile,
    Mode,
    QueryStatement,
    ReadResult,
    ReadRows,
    RecordError,
    RunQuery,
    SplitStream,
    Step,
    Table,
)

__all__ = ["check_steps"]

SNAPSHOTS: Final = ("before-append", "past", "future")
MOST_BYTES: Final = 16 << 20
"""The longest restriction in bytes: the service takes one MiB."""
INT32: Final = 1 << 31
LIMIT: Final = 1 << 63
ENUM: Final = re.compile(r"[0-9]{1,10}")
NUMBER: Final = re.compile(r"-?[0-9]{1,19}")
CODECS: Final = ("", "LZ4_FRAME", "ZSTD")
FORMATS: Final = ("", "ARROW", "STRUCT_ENCODING")
TIMES: Final = ("", "MICROS", "NANOS", "PICOS")
_ON_MADE: Final = (QueryStatement.COPY, QueryStatement.CLEAR)
_NO_ROWS: Final = (QueryStatement.CREATE, QueryStatement.INSERT, *_ON_MADE, QueryStatement.WRONG)


def check_steps(case: Case) -> None:
    """Refuse steps that do not fit each other, or the rows of the table.

    Raises:
        RecordError: one sentence with the place.
    """
    count = row_count(case.table)
    unborn = 0
    again = False
    happened: list[Happening] = []
    sessions: set[str] = set()
    splits: set[str] = set()
    _check_reads(case)
    _check_removal(case)
    check_held_reads(case)
    for index, step in enumerate(case.steps):
        path = f"Case.steps[{index}]"
        if isinstance(step, AppendRows):
            unborn += step.count
            if step.count < 0 or unborn > count:
                raise RecordError(f"{path}.count", f"at most the table's {count} rows in all", step.count)
            again |= step.again
            _check_insertion(step, path, happened)
            continue
        if isinstance(step, Meanwhile):
            _check_happening(step, path, case.table, case.steps[:index])
            happened.append(step.what)
        if not isinstance(step, CallStep):
            continue
        check_rows(step.expect.rows or (), path, count)
        if isinstance(step, CreateSession):
            if again or happened:
                _check_no_time(step, path)
            _check_session(step, path)
            sessions.add(step.label)
        if isinstance(step, ReadRows | SplitStream):
            _check_stream(step, path, sessions, splits)
        if isinstance(step, SplitStream):
            splits.add(step.label)
    check_changes(case)


def _check_session(step: CreateSession, path: str) -> None:
    """Refuse what no request can hold, and a restriction that is many times longer than a server has to take."""
    from conformance.contract import proto  # noqa: PLC0415  # cases of files alone need the names of enums

    if step.snapshot and step.snapshot not in SNAPSHOTS:
        raise RecordError(f"{path}.snapshot", f"one of {', '.join(SNAPSHOTS)}, or none", step.snapshot)
    for key, numbers in (
        ("data_format", proto.DATA_FORMAT),
        ("buffer_compression", proto.COMPRESSION),
        ("response_compression", proto.RESPONSE_COMPRESSION),
        ("timestamps", proto.TIMESTAMP_PRECISION),
    ):
        name: str = getattr(step, key)
        if name and name not in numbers and not (ENUM.fullmatch(name) and int(name) < INT32):
            expected = f"one of {', '.join(filter(None, numbers))}, or a number from 0 to {INT32 - 1}"
            raise RecordError(f"{path}.{key}", expected, name)
    for key in ("max_stream_count", "preferred_min_stream_count"):
        count: int = getattr(step, key)
        if not -INT32 <= count < INT32:
            raise RecordError(f"{path}.{key}", f"a number from {-INT32} to {INT32 - 1}", count)
    if len(rows := step.expect.rows or ()) > len(set(rows)):
        raise RecordError(f"{path}.expect.rows", "each index once", len(rows) - len(set(rows)))
    if not 0 <= step.restriction_bytes <= MOST_BYTES:
        raise RecordError(f"{path}.restriction_bytes", f"a number from 0 to {MOST_BYTES}", step.restriction_bytes)


def _check_insertion(step: AppendRows, path: str, happened: Sequence[Happening]) -> None:
    if step.again and any(what.makes_table for what in happened):
        raise RecordError(f"{path}.again", "no table made again after another was made of it", step.again)
    if Happening.EXPIRY in happened:
        raise RecordError(path, "no insertion after expiry: the server's clock is ahead then", step.TAG)


def _check_reads(case: Case) -> None:
    """Refuse offsets that are none, reads of unknown queries, and queries whose result is open."""
    queries: dict[str, QueryStatement] = {}
    made = False
    for index, step in enumerate(case.steps):
        path = f"Case.steps[{index}]"
        if isinstance(step, ReadRows | ReadResult):
            _check_offset(step, path)
        if isinstance(step, RunQuery):
            _check_query(step, path, case.table)
            made |= step.statement is QueryStatement.CREATE
            if step.statement in _ON_MADE and not made:
                raise RecordError(
                    f"{path}.statement", "a statement behind the one that makes its table", step.statement
                )
            queries[step.label] = step.statement
        if isinstance(step, ReadResult):
            if not step.written and queries.get(step.query, QueryStatement.CREATE) in _NO_ROWS:
                raise RecordError(f"{path}.query", "the label of an earlier run-query step that has rows", step.query)
            most = 1 if step.over_rest else MOST_CALLS
            if not 1 <= step.times <= most:
                raise RecordError(f"{path}.times", f"a number of calls from 1 to {most}", step.times)
            _check_options(step, path)
            for key, name in (("location", step.location), ("job", step.job)):
                if not name.isascii():
                    raise RecordError(f"{path}.{key}", "a name in ASCII", name)


def _check_removal(case: Case) -> None:
    """Refuse whatever needs the table behind its removal."""
    removed = False
    for index, step in enumerate(case.steps):
        if removed and not isinstance(step, ReadResult):
            raise RecordError(f"Case.steps[{index}]", "only reads of results behind the removal of the table", step.TAG)
        removed |= isinstance(step, Meanwhile) and step.what is Happening.REMOVED


def _check_offset(step: ReadRows | ReadResult, path: str) -> None:
    """An int64 in decimal digits, or a place."""
    if step.offset in step.PLACES or (NUMBER.fullmatch(step.offset) and -LIMIT <= int(step.offset) < LIMIT):
        return
    expected = f"a number from {-LIMIT} to {LIMIT - 1}, or one of {', '.join(step.PLACES)}"
    raise RecordError(f"{path}.offset", expected, step.offset)


def _check_options(step: RunQuery | ReadResult, path: str) -> None:
    """Refuse options of Arrow that there are not."""
    for key, value, allowed in (
        ("buffer_compression", step.buffer_compression, CODECS),
        ("timestamps", step.timestamps, TIMES),
    ):
        if value not in allowed:
            raise RecordError(f"{path}.{key}", f"one of {', '.join(allowed[1:])}, or none", value)


def _check_query(step: RunQuery, path: str, table: Table) -> None:
    """Refuse a query whose result is open: parameters of its columns are unrecorded, as is the order of equal rows."""
    if step.results not in FORMATS:
        raise RecordError(f"{path}.results", f"one of {', '.join(FORMATS[1:])}, or none", step.results)
    _check_options(step, path)
    if step.wait is not None and not 0 <= step.wait < INT32:
        raise RecordError(f"{path}.wait", f"a number of milliseconds from 0 to {INT32 - 1}", step.wait)
    if step.max_results is not None and step.max_results < 0:
        raise RecordError(f"{path}.max_results", "a number of rows from 0", step.max_results)
    if step.statement in _NO_ROWS:
        return
    for column in filter(_has_parameters, table.columns):
        raise RecordError(path, "columns without precision, scale and max_length for a query", column.name)
    if step.statement is QueryStatement.ORDERED:
        _check_order(f"{path}.statement", step.statement, table)
    numbered = any(column.name == ROW_ID and column.type is BqType.INT64 for column in table.columns)
    if step.statement is QueryStatement.UNNAMED and not numbered:
        raise RecordError(f"{path}.statement", f"a column {ROW_ID} of INT64", step.statement)
    places = [row.get(ROW_ID) for row in table.rows or () if isinstance(row, dict)]
    if step.statement is QueryStatement.FAILING and not (numbered and 0 in places):
        raise RecordError(f"{path}.statement", f"a written row with {ROW_ID} 0, at which it fails", step.statement)


def _check_order(path: str, what: object, table: Table) -> None:
    """Refuse an order of equal rows, which is open."""
    places = [row.get(ROW_ID) for row in table.rows or () if isinstance(row, dict)]
    known = any(column.name == ROW_ID for column in table.columns)
    if not known or None in places or len(set(map(str, places))) != row_count(table):
        raise RecordError(path, f"written rows with another {ROW_ID} in each", what)


def _has_parameters(column: Column) -> bool:
    own = (column.precision, column.scale, column.max_length)
    return own != (None, None, None) or any(map(_has_parameters, column.fields))


def _check_happening(step: Meanwhile, path: str, table: Table, before: Sequence[Step]) -> None:
    if step.what is Happening.PARTITIONED and not any(map(_is_day, table.columns)):
        raise RecordError(path, "a column of type DATE to partition by", step.what)
    if step.what is Happening.QUERY_ORDERED:
        _check_order(f"{path}.what", step.what, table)
    if step.what is Happening.RESULT and not any(isinstance(one, ReadResult) and one.described for one in before):
        raise RecordError(f"{path}.what", "a happening behind a read-result step that is described", step.what)
    if step.what is Happening.HALFWAY or step.info:
        raise RecordError(path, "a happening of Storage Read, which has no infos", step.what)


def _is_day(column: Column) -> bool:
    return column.type is BqType.DATE and column.mode is not Mode.REPEATED


def _check_no_time(step: CreateSession, path: str) -> None:
    if step.snapshot:
        expected = "none after the table was made again, or after a meanwhile step: the time is before that"
        raise RecordError(f"{path}.snapshot", expected, step.snapshot)


def _check_stream(step: ReadRows | SplitStream, path: str, sessions: set[str], splits: set[str]) -> None:
    if isinstance(step, ReadRows) and not 1 <= step.times <= MOST_CALLS:
        raise RecordError(f"{path}.times", f"a number of calls from 1 to {MOST_CALLS}", step.times)
    if step.name:
        return
    split, dot, child = step.stream.partition(".")
    if dot and (split not in splits or child not in {"primary", "remainder"}):
        raise RecordError(f"{path}.stream", "a child (x.primary, x.remainder) of an earlier split", step.stream)
    if not dot and step.session not in sessions:
        raise RecordError(f"{path}.session", "the label of an earlier create-session step", step.session)
