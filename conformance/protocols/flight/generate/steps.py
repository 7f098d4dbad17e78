"""Checks that the steps of a case of Flight fit each other: labels of infos, endpoints, and what is sent."""

from __future__ import annotations

from typing import Final

from conformance.generate.casecheck import MOST_CALLS, check_rows, row_count
from conformance.protocols.flight.generate.sqlsteps import check_sql_step, info_label
from conformance.protocols.flight.records import (
    Damage,
    Descriptor,
    DoAction,
    DoExchange,
    DoGet,
    DoPut,
    FlightSqlStep,
    GetFlightInfo,
    GetSchema,
    ListFlights,
    PollFlightInfo,
)
from conformance.protocols.flight.records.calls import DAMAGED_BATCHES
from conformance.records import CallStep, Case, Happening, Meanwhile, RecordError, Step, Table

__all__ = ["check_steps"]

MOST_ROWS: Final = (1 << 63) - 1
"""The largest number of rows that Arrow has."""
_TIMES: Final = frozenset({Happening.EXPIRY, Happening.HALFWAY})


def check_steps(case: Case) -> None:
    """Refuse steps that do not fit each other, or the table.

    Raises:
        RecordError: one sentence with the place.
    """
    count = row_count(case.table)
    handles: set[str] = set()
    infos: set[str] = set()
    for index, step in enumerate(case.steps):
        path = f"Case.steps[{index}]"
        if isinstance(step, Meanwhile):
            _check_happening(step, path, infos)
            continue
        assert isinstance(step, CallStep), "the case has steps of its protocol"
        check_rows(step.expect.rows or (), path, count)
        if isinstance(step, FlightSqlStep):
            check_sql_step(step, path, handles, case.table, count)
        else:
            _check_step(step, path, infos, case.table)
        infos.update(filter(None, [_label(step)]))


def _label(step: Step) -> str:
    """The label of the info that a step remembers; empty if it remembers none."""
    if isinstance(step, FlightSqlStep):
        return info_label(step)
    return step.label if isinstance(step, ListFlights | GetFlightInfo | PollFlightInfo | DoAction) else ""


def _check_happening(step: Meanwhile, path: str, infos: set[str]) -> None:
    if step.what not in _TIMES:
        raise RecordError(f"{path}.what", f"one of {', '.join(sorted(_TIMES))} in a case of Flight", step.what)
    if step.info and step.info not in infos:
        raise RecordError(f"{path}.info", "the label of an earlier get-flight-info step", step.info)
    if step.what is Happening.HALFWAY and not step.info:
        raise RecordError(f"{path}.info", "the label of the info whose time passes", step.info)


def _check_step(step: Step, path: str, infos: set[str], table: Table) -> None:
    _check_named(step, path, infos)
    if isinstance(step, ListFlights) and not -1 <= step.nth <= MOST_CALLS:
        raise RecordError(f"{path}.nth", f"the index of a flight from 0 to {MOST_CALLS}, or -1", step.nth)
    if isinstance(step, DoGet):
        if step.ticket is None and step.info not in infos:
            raise RecordError(f"{path}.info", "the label of an earlier get-flight-info step", step.info)
        if step.endpoint != "*" and not step.endpoint.isdecimal():
            raise RecordError(f"{path}.endpoint", "'*' or an endpoint's index", step.endpoint)
    if isinstance(step, DoAction):
        _check_action(step, path, infos)
    if isinstance(step, PollFlightInfo) and not 1 <= step.most <= MOST_CALLS:
        raise RecordError(f"{path}.most", f"a number of calls from 1 to {MOST_CALLS}", step.most)
    if isinstance(step, DoPut | DoExchange):
        _check_sent(step, path, table)


def _check_named(step: Step, path: str, infos: set[str]) -> None:
    named = getattr(step, "descriptor", None)
    if not isinstance(named, Descriptor) or not named.info:
        return
    if not isinstance(step, GetFlightInfo | GetSchema):
        raise RecordError(f"{path}.descriptor", "a path or a cmd in this step", named.info)
    if named.info not in infos:
        raise RecordError(f"{path}.descriptor.info", "the label of an earlier step that gives an info", named.info)


def _check_sent(step: DoPut | DoExchange, path: str, table: Table) -> None:
    for key in ("first", "count"):
        if not 0 <= (getattr(step, key) or 0) <= MOST_ROWS:
            raise RecordError(f"{path}.{key}", f"a number of rows from 0 to {MOST_ROWS}", getattr(step, key))
    if isinstance(step, DoExchange) and step.alone > MOST_CALLS:
        raise RecordError(f"{path}.alone", f"at most {MOST_CALLS} messages", step.alone)
    if step.damage is not Damage.NONE and (_sent(step, table) < DAMAGED_BATCHES or not getattr(step, "rows", True)):
        raise RecordError(f"{path}.damage", f"a step that sends {DAMAGED_BATCHES} rows or more", step.damage)
    if not (table.columns or table.arrow):
        raise RecordError(path, "a table with columns or Arrow fields, which this step sends", step.TAG)


def _sent(step: DoPut | DoExchange, table: Table) -> int:
    """The number of rows that a step sends."""
    left = max(0, row_count(table) - step.first)
    return left if step.count is None else min(left, step.count)


def _check_action(step: DoAction, path: str, infos: set[str]) -> None:
    if step.info and step.info not in infos:
        raise RecordError(f"{path}.info", "the label of an earlier get-flight-info step", step.info)
    if step.info and step.body:
        raise RecordError(f"{path}.body", "no body where info names its content", step.body)
    if step.label and not step.endpoint:
        raise RecordError(f"{path}.label", "no label without the endpoint that is renewed", step.label)
    if step.endpoint and not (step.info and step.endpoint.isdecimal()):
        raise RecordError(f"{path}.endpoint", "an endpoint's index, of the info that is named", step.endpoint)
