"""Checks that the parts of a case fit each other, which the records alone cannot check.

A case from a file may be anything that its schema permits; drawn and shrunk cases pass this check by construction.
Materialising checks whether written-out rows fit their columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.generate.arrowtable import arrow_table
from conformance.generate.sqlcheck import check_sql_step, info_label
from conformance.records import (
    STEPS,
    AppendRows,
    BqType,
    Case,
    Column,
    CreateSession,
    DoAction,
    DoExchange,
    DoGet,
    DoPut,
    FlightSqlStep,
    FlightStep,
    GetFlightInfo,
    Happening,
    Meanwhile,
    PollFlightInfo,
    ProtocolName,
    ReadRows,
    RecordError,
    SplitStream,
    Step,
    Table,
)

__all__ = ["check_case"]

MOST_POLLS: Final = 1000
"""The most calls of one step that polls."""


def check_case(case: Case) -> None:
    """Check that the parts of a case fit each other.

    Raises:
        RecordError: they do not; it names the place.
    """
    _check_columns(case.table.columns, "Case.table.columns")
    if case.table.recipe is not None:
        for name in ("rows", "max_items", "cell_bytes"):
            if (value := getattr(case.table.recipe, name)) < 0:
                raise RecordError(f"Case.table.recipe.{name}", "0 or more", value)
    if case.table.arrow is not None and case.protocol is ProtocolName.STORAGE_READ:
        raise RecordError(
            "Case.table.arrow", f"columns, because the case is of {case.protocol}", case.table.arrow.fields
        )
    for index, step in enumerate(case.steps):
        if not isinstance(step, STEPS[case.protocol]):
            raise RecordError(f"Case.steps[{index}]", f"a step of {case.protocol}, the protocol of the case", step.TAG)
    _check_steps(case)


# --- columns ------------------------------------------------------------------------------------------

_RANGES: Final = frozenset({BqType.DATE, BqType.DATETIME, BqType.TIMESTAMP})
_PARAMETERS: Final = (
    ("precision", frozenset({BqType.NUMERIC, BqType.BIGNUMERIC})),
    ("scale", frozenset({BqType.NUMERIC, BqType.BIGNUMERIC})),
    ("max_length", frozenset({BqType.STRING, BqType.BYTES})),
)
_DIGITS: Final = {BqType.NUMERIC: (29, 9), BqType.BIGNUMERIC: (38, 38)}
"""The most digits before the point, and the most after it
(https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types#parameterized_decimal_type).
"""


def _check_columns(columns: Sequence[Column], path: str) -> None:
    names: set[str] = set()
    for index, column in enumerate(columns):
        here = f"{path}[{index}]"
        if not column.name or column.name.casefold() in names:
            raise RecordError(f"{here}.name", "a name that no sibling column has, ignoring case", column.name)
        names.add(column.name.casefold())
        if column.range_of is not None and column.range_of not in _RANGES:
            raise RecordError(f"{here}.range_of", f"one of {', '.join(sorted(_RANGES))}", column.range_of)
        _check_parameters(column, here)
        _check_columns(column.fields, f"{here}.fields")


def _check_parameters(column: Column, path: str) -> None:
    for name, kinds in _PARAMETERS:
        if (value := getattr(column, name)) is not None and column.type not in kinds:
            raise RecordError(f"{path}.{name}", f"no value (only {' and '.join(sorted(kinds))} have it)", value)
    if column.max_length is not None and column.max_length < 1:
        raise RecordError(f"{path}.max_length", "1 or more", column.max_length)
    if column.type in _DIGITS and (column.precision is not None or column.scale is not None):
        before, after = _DIGITS[column.type]
        precision, scale = column.precision, column.scale or 0
        if precision is None or not 0 <= scale <= after or not max(1, scale) <= precision <= scale + before:
            expected = f"max(1, scale) to scale + {before} with a scale of at most {after} for {column.type}"
            raise RecordError(f"{path}.precision", expected, precision)


# --- steps --------------------------------------------------------------------------------------------


_QUERIES: Final = frozenset({Happening.QUERY, Happening.QUERY_INTO})
_TIMES: Final = frozenset({Happening.EXPIRY, Happening.HALFWAY})


def _check_steps(case: Case) -> None:
    count = _row_count(case.table)
    unborn = 0
    again = False
    happened: list[Happening] = []
    handles: set[str] = set()
    labels: dict[type[Step], set[str]] = {CreateSession: set(), SplitStream: set(), GetFlightInfo: set()}
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
            _check_happening(step, path, case.protocol, labels[GetFlightInfo])
            happened.append(step.what)
            continue
        _check_rows(step.expect.rows or (), path, count)
        if isinstance(step, CreateSession) and (again or happened):
            _check_no_time(step, path)
        if isinstance(step, ReadRows | SplitStream):
            _check_stream(step, path, labels[CreateSession], labels[SplitStream])
        elif isinstance(step, FlightSqlStep):
            check_sql_step(step, path, handles, case.table, count)
        elif not isinstance(step, CreateSession):
            _check_flight(step, path, labels[GetFlightInfo], case.table)
        _remember_label(step, labels)


def _remember_label(step: Step, labels: dict[type[Step], set[str]]) -> None:
    """Add the label of a step's answer to those of its kind."""
    if isinstance(step, PollFlightInfo | DoAction) and step.label:
        labels[GetFlightInfo].add(step.label)
    elif isinstance(step, FlightSqlStep):
        labels[GetFlightInfo].update(filter(None, [info_label(step)]))
    elif isinstance(step, CreateSession | SplitStream | GetFlightInfo):
        labels[type(step)].add(step.label)


def _check_rows(rows: Sequence[int], path: str, count: int) -> None:
    for row in rows:
        if not 0 <= row < count:
            raise RecordError(f"{path}.expect.rows", f"indices into the table's {count} rows", row)


def _check_insertion(step: AppendRows, path: str, happened: Sequence[Happening]) -> None:
    if step.again and not _QUERIES.isdisjoint(happened):
        raise RecordError(f"{path}.again", "no table made again after a query", step.again)
    if Happening.EXPIRY in happened:
        raise RecordError(path, "no insertion after expiry: the server's clock is ahead then", step.TAG)


def _check_happening(step: Meanwhile, path: str, protocol: ProtocolName, infos: set[str]) -> None:
    if protocol is ProtocolName.STORAGE_READ:
        if step.what is Happening.HALFWAY or step.info:
            raise RecordError(path, "a happening of Storage Read, which has no infos", step.what)
        return
    if step.what not in _TIMES:
        raise RecordError(f"{path}.what", f"one of {', '.join(sorted(_TIMES))} in a case of Flight", step.what)
    if step.info and step.info not in infos:
        raise RecordError(f"{path}.info", "the label of an earlier get-flight-info step", step.info)
    if step.what is Happening.HALFWAY and not step.info:
        raise RecordError(f"{path}.info", "the label of the info whose time passes", step.info)


def _check_no_time(step: CreateSession, path: str) -> None:
    if step.snapshot:
        expected = "none after the table was made again, or after a meanwhile step: the time is before that"
        raise RecordError(f"{path}.snapshot", expected, step.snapshot)


def _check_flight(step: FlightStep, path: str, infos: set[str], table: Table) -> None:
    if isinstance(step, DoGet):
        if step.ticket is None and step.info not in infos:
            raise RecordError(f"{path}.info", "the label of an earlier get-flight-info step", step.info)
        if step.endpoint != "*" and not step.endpoint.isdecimal():
            raise RecordError(f"{path}.endpoint", "'*' or an endpoint's index", step.endpoint)
    if isinstance(step, DoAction):
        _check_action(step, path, infos)
    if isinstance(step, PollFlightInfo) and not 1 <= step.most <= MOST_POLLS:
        raise RecordError(f"{path}.most", f"a number of calls from 1 to {MOST_POLLS}", step.most)
    if isinstance(step, DoPut | DoExchange) and not (table.columns or table.arrow):
        raise RecordError(path, "a table with columns or Arrow fields, which this step sends", step.TAG)


def _check_action(step: DoAction, path: str, infos: set[str]) -> None:
    if step.info and step.info not in infos:
        raise RecordError(f"{path}.info", "the label of an earlier get-flight-info step", step.info)
    if step.info and step.body:
        raise RecordError(f"{path}.body", "no body where info names its content", step.body)
    if step.label and not step.endpoint:
        raise RecordError(f"{path}.label", "no label without the endpoint that is renewed", step.label)
    if step.endpoint and not (step.info and step.endpoint.isdecimal()):
        raise RecordError(f"{path}.endpoint", "an endpoint's index, of the info that is named", step.endpoint)


def _check_stream(step: ReadRows | SplitStream, path: str, sessions: set[str], splits: set[str]) -> None:
    if step.name:
        return
    split, dot, child = step.stream.partition(".")
    if dot and (split not in splits or child not in {"primary", "remainder"}):
        raise RecordError(f"{path}.stream", "a child (x.primary, x.remainder) of an earlier split", step.stream)
    if not dot and step.session not in sessions:
        raise RecordError(f"{path}.session", "the label of an earlier create-session step", step.session)


def _row_count(table: Table) -> int:
    if table.arrow is not None:
        return int(arrow_table(table.arrow, path="Case.table.arrow").num_rows)
    return table.recipe.rows if table.recipe is not None else len(table.rows or ())
