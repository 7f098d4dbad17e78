"""Checks that the steps of a case of Storage Read fit each other: sessions, streams, insertions, what happens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.generate.casecheck import check_rows, row_count
from conformance.records import (
    AppendRows,
    CallStep,
    Case,
    CreateSession,
    Happening,
    Meanwhile,
    ReadRows,
    RecordError,
    SplitStream,
)

__all__ = ["check_steps"]

_QUERIES: Final = frozenset({Happening.QUERY, Happening.QUERY_INTO})


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
            _check_happening(step, path)
            happened.append(step.what)
            continue
        assert isinstance(step, CallStep), "the case has steps of its protocol"
        check_rows(step.expect.rows or (), path, count)
        if isinstance(step, CreateSession):
            if again or happened:
                _check_no_time(step, path)
            sessions.add(step.label)
        if isinstance(step, ReadRows | SplitStream):
            _check_stream(step, path, sessions, splits)
        if isinstance(step, SplitStream):
            splits.add(step.label)


def _check_insertion(step: AppendRows, path: str, happened: Sequence[Happening]) -> None:
    if step.again and not _QUERIES.isdisjoint(happened):
        raise RecordError(f"{path}.again", "no table made again after a query", step.again)
    if Happening.EXPIRY in happened:
        raise RecordError(path, "no insertion after expiry: the server's clock is ahead then", step.TAG)


def _check_happening(step: Meanwhile, path: str) -> None:
    if step.what is Happening.HALFWAY or step.info:
        raise RecordError(path, "a happening of Storage Read, which has no infos", step.what)


def _check_no_time(step: CreateSession, path: str) -> None:
    if step.snapshot:
        expected = "none after the table was made again, or after a meanwhile step: the time is before that"
        raise RecordError(f"{path}.snapshot", expected, step.snapshot)


def _check_stream(step: ReadRows | SplitStream, path: str, sessions: set[str], splits: set[str]) -> None:
    if step.name:
        return
    split, dot, child = step.stream.partition(".")
    if dot and (split not in splits or child not in {"primary", "remainder"}):
        raise RecordError(f"{path}.stream", "a child (x.primary, x.remainder) of an earlier split", step.stream)
    if not dot and step.session not in sessions:
        raise RecordError(f"{path}.session", "the label of an earlier create-session step", step.session)
