"""Checks that the steps of Flight SQL in a case fit each other: labels that were given before, and rows to send."""

from __future__ import annotations

from collections.abc import Collection

from conformance.protocols.flight.contract.sqlschemas import SCHEMAS
from conformance.protocols.flight.records import (
    FlightSqlStep,
    SqlBegin,
    SqlBind,
    SqlIngest,
    SqlMetadata,
    SqlPrepare,
    SqlQuery,
)
from conformance.records import RecordError, Table

__all__ = ["check_sql_step", "info_label"]


def check_sql_step(step: FlightSqlStep, path: str, given: set[str], table: Table, rows: int) -> None:
    """Refuse a step that cannot be carried out; ``given`` are the labels of handles, to which the step adds its own.

    Raises:
        RecordError: one sentence with the place.
    """
    for name in ("prepared", "transaction"):
        label = getattr(step, name, "")
        if label and f"{name} {label}" not in given:
            raise RecordError(f"{path}.{name}", f"the label of an earlier step that begins a {name} one", label)
    if isinstance(step, SqlPrepare):
        given.add(f"prepared {step.label}")
    if isinstance(step, SqlBegin):
        given.add(f"transaction {step.label}")
    if isinstance(step, SqlMetadata) and step.command not in SCHEMAS:
        raise RecordError(f"{path}.command", f"one of {', '.join(_commands(SCHEMAS))}", step.command)
    if isinstance(step, SqlIngest | SqlBind) and not (table.columns or table.arrow):
        raise RecordError(path, "a table with columns or Arrow fields, which this step sends", step.TAG)
    if isinstance(step, SqlBind) and not 0 <= step.row < rows:
        raise RecordError(f"{path}.row", f"an index into the table's {rows} rows", step.row)


def info_label(step: FlightSqlStep) -> str:
    """The label of the info that a step remembers; empty if it remembers none."""
    return step.label if isinstance(step, SqlQuery | SqlMetadata) and not step.schema else ""


def _commands(names: Collection[str]) -> list[str]:
    return [name for name in names if " " not in name]
