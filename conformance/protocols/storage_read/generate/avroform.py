"""A case in the form ``avro``: its sessions ask for rows in Avro."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable
from typing import Final

from conformance._globs import matches
from conformance.contract.clause import CLAUSES, load_chapters
from conformance.formats.messages import ARROW, AVRO
from conformance.protocols.storage_read.generate.queries import CAPABILITY
from conformance.protocols.storage_read.generate.scenarios import is_scenario
from conformance.records import Case, Column, CreateSession, Expect, ReadResult, ReadRows, RunQuery

__all__ = ["ARROW_ALONE", "REFUSALS", "in_avro"]

REFUSALS: Final = ("INVALID_ARGUMENT", "UNIMPLEMENTED")
"""How a server may refuse a session in Avro: nothing says that each server has to serve both formats."""

ARROW_ALONE: Final = frozenset(
    {
        # they read the Arrow schema, or the deprecated count of Arrow rows
        "compression.none-without-asking",
        "offsets.resumed-schema-is-the-sessions",
        "projection.a-name-twice-gives-no-column-twice",
        "projection.all-the-selected",
        "projection.only-the-selected",
        "projection.order-is-the-tables",
        "projection.values-follow-their-names",
        "rows.deprecated-count-is-zero-or-true",
        "rows.schema-is-the-sessions",
        "session.projection-is-not-ignored",
        # they ask for OK, and a session in Avro may be refused
        "session.options-may-be-absent",
        "session.parent-may-be-another-project",
        "session.partitioned-table-is-served",
        "session.plain-request-is-served",
        "session.preferred-count-may-be-asked",
        "session.query-result-is-served",
        "session.several-streams-may-be-asked",
        "snapshot.time-is-served",
    }
)
"""The clauses on calls that no session in Avro shows."""

ON_TYPES: Final = "avro-schema.types-are-the-columns"
"""The clause that each form names whose case names clauses on Arrow bytes."""
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""The names of Avro: https://avro.apache.org/docs/1.12.0/specification/#names."""


def in_avro(case: Case) -> Case | None:
    """The case with all of its sessions in Avro, which a server may refuse; None if it has no such form.

    A drawn case may ask for a codec of Arrow buffers, or for the result of a query, which are no part of what it exists
    for: they are left out, and a drawn table without a session has a plain one. The case
    names no clauses on Arrow messages, nor any other that cannot be shown in Avro.
    """
    is_drawn = is_scenario(case) or not case.clauses
    if is_drawn and case.needs == (CAPABILITY,):
        others = tuple(step for step in case.steps if not isinstance(step, RunQuery | ReadResult))
        case = dataclasses.replace(case, steps=others or (CreateSession(), ReadRows()), needs=())
    sessions = [step for step in case.steps if isinstance(step, CreateSession)]
    if not sessions or any(isinstance(step, RunQuery | ReadResult) for step in case.steps):
        return None
    if any(step.data_format != ARROW.name or (step.buffer_compression and not is_drawn) for step in sessions):
        return None
    if case.table.arrow is not None or not _are_avro_names(case.table.columns):
        return None
    steps = tuple(_in_avro(step) if isinstance(step, CreateSession) else step for step in case.steps)
    clauses = tuple(name for glob in case.clauses for name in _shown(glob))
    # What is asked of the bytes in Arrow is asked of the schema in Avro: a session that is refused shows nothing of it.
    owed = (ON_TYPES,) if clauses != case.clauses and any("OK" in step.expect.codes for step in sessions) else ()
    return dataclasses.replace(case, steps=steps, clauses=(*clauses, *owed))


@functools.cache
def _shown(glob: str) -> tuple[str, ...]:
    """The clauses of a glob that a session in Avro can show, as that glob if these are all."""
    load_chapters()
    found = [clause for clause in CLAUSES.values() if matches(clause.id, (glob,))]
    shown = tuple(clause.id for clause in found if not clause.on_bytes and clause.id not in ARROW_ALONE)
    return (glob,) if len(shown) == len(found) else shown


def _in_avro(step: CreateSession) -> CreateSession:
    codes = step.expect.codes
    refused = [code for code in REFUSALS if "OK" in codes and code not in codes]
    expect: Expect = dataclasses.replace(step.expect, codes=(*codes, *refused))
    return dataclasses.replace(step, data_format=AVRO.name, buffer_compression="", expect=expect)


def _are_avro_names(columns: Iterable[Column]) -> bool:
    return all(_NAME.fullmatch(column.name) and _are_avro_names(column.fields) for column in columns)
