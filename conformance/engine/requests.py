"""Describe a judged case for comparison with others: the features of its requests, and what its table has.

A cause is attributed to a feature by comparing the refused requests of a run with the served ones. Here the features
of one request become words; :mod:`conformance.engine.refusals` compares them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.contract.subjects import answered
from conformance.contract.view import View
from conformance.engine.events import CaseShape, Request
from conformance.engine.plugin import EnginePlugin
from conformance.protocol import plugin
from conformance.records import Case, Column, Mode, NullPattern

__all__ = ["requests_of", "shape_of"]

WIDE: Final = 100
"""The number of columns from which a table counts as wide."""
DEEP: Final = 4
"""The number of levels from which a column counts as deeply nested."""


def requests_of(view: View) -> tuple[Request, ...]:
    """The calls of a case that were served, and those that ended in a status that their step does not permit.

    A request that may be refused, and is, says nothing of what it asks for.
    """
    return tuple(_requests(view))


def _requests(view: View) -> Iterator[Request]:
    features = plugin(EnginePlugin, view.exchange.protocol).features
    for call in view.calls:
        codes = call.expected_codes
        wrong = answered(call) and call.raw.status != "OK" and call.raw.status not in codes
        served = call.raw.status == "OK" and "OK" in codes
        if not answered(call) or not (wrong or served):
            continue
        asked = features(call)
        yield Request(
            call=call.index,
            method=call.raw.method,
            asked=asked.features,
            session=asked.session,
            refused=f"{call.raw.status}: {call.raw.details}" if wrong else "",
            owed="OK" in codes,
            restriction=asked.restriction if wrong else "",
        )


def shape_of(case: Case) -> CaseShape:
    """The size of a case, and what its table has."""
    table = case.table
    rows = len(table.rows) if table.rows is not None else table.recipe.rows if table.recipe is not None else 0
    return CaseShape(rows, len(table.columns), len(case.steps), tuple(dict.fromkeys(_has(case, rows))))


def _has(case: Case, rows: int) -> Iterator[str]:
    if rows == 0:
        yield "no rows"
    elif rows == 1:
        yield "a single row"
    recipe, columns = case.table.recipe, case.table.columns
    if recipe is not None and rows and recipe.nulls is NullPattern.ALL:
        yield "only NULLs"
    if len(columns) >= WIDE:
        yield f"{WIDE} columns or more"
    for column in columns:
        yield from _of_column(column, 1)


def _of_column(column: Column, depth: int, *, in_list: bool = False, in_record: bool = False) -> Iterator[str]:
    repeated = column.mode is Mode.REPEATED
    yield f"columns of type {column.type}"
    if column.mode is Mode.REQUIRED:
        yield "REQUIRED columns"
    if repeated:
        yield "REPEATED columns"
        if in_list:
            yield "lists inside lists"
        if in_record:
            yield "lists inside records"
        if column.fields:
            yield "records inside lists"
    if column.fields and in_record:
        yield "records inside records"
    if depth >= DEEP:
        yield f"columns nested {DEEP} levels or deeper"
    if column.precision is not None:
        yield f"{column.type} columns with precision and scale"
    for field in column.fields:
        yield from _of_column(field, depth + 1, in_list=in_list or repeated, in_record=True)
