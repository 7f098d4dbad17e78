"""Generation of cases of the Storage Write API: which steps fit each other, and drawn histories on drawn tables."""

from __future__ import annotations

import dataclasses
from typing import Final

from conformance.generate.casecheck import row_count
from conformance.generate.choices import Choices
from conformance.generate.plugin import GeneratePlugin
from conformance.generate.profile import KEYWORD_NAMES, PLAIN_NAMES, Profile
from conformance.protocols.storage_write.generate.histories import draw_history
from conformance.protocols.storage_write.generate.simpler import simpler
from conformance.protocols.storage_write.records import DEFAULT, SHORT_DEFAULT, CreateWriteStream, WriteRows
from conformance.records import ROW_ID, BqType, Case, Column, Mode, RecordError, Table, is_row_id


def _check(case: Case) -> None:
    """Check that the steps of a case fit each other and its table.

    Raises:
        RecordError: they do not; it names the place.
    """
    # A case without steps asks for nothing: what a proxy recorded is one.
    if case.steps and (not case.table.columns or not is_row_id(case.table.columns[0])):
        raise RecordError("Case.table.columns", "row_id first, a REQUIRED INT64, by which rows are found again", None)
    labels = {DEFAULT, SHORT_DEFAULT}
    count, ends = row_count(case.table), [len(case.steps)]
    for at, step in enumerate(case.steps):
        if isinstance(step, CreateWriteStream):
            labels.add(step.label)
        named = getattr(step, "streams", (getattr(step, "stream", DEFAULT),))
        if not getattr(step, "name", "") and not labels.issuperset(named):
            raise RecordError(f"Case.steps[{at}]", "labels of streams that were created before", list(named))
        if isinstance(step, WriteRows):
            ends = [*(end for end in ends if end > at), at + 1 + step.during]
            if ends[-1] > min(ends[:-1], default=ends[-1]):
                raise RecordError(f"Case.steps[{at}].during", "a number of steps that follow", step.during)
            _check_appends(f"Case.steps[{at}].appends", step, count, case)


def _check_appends(path: str, step: WriteRows, count: int, case: Case) -> None:
    for number, append in enumerate(step.appends):
        if not 0 <= append.first <= append.first + append.count <= count:
            raise RecordError(f"{path}[{number}]", f"rows of the table's {count}", [append.first, append.count])
        instants = any(column.type is BqType.TIMESTAMP for column in case.table.columns)
        if append.bad and (not instants or not all(0 <= row < append.count for row in append.bad)):
            raise RecordError(f"{path}[{number}].bad", "rows of the request, with a TIMESTAMP", list(append.bad))


_PROFILE: Final = Profile(
    # Texts that the service writes in its own way are not drawn, nor BIGNUMERIC, whose values may have 77 digits.
    types=(
        *(BqType.INT64, BqType.STRING, BqType.FLOAT64, BqType.BOOL, BqType.BYTES, BqType.NUMERIC),
        *(BqType.DATE, BqType.TIME, BqType.DATETIME, BqType.TIMESTAMP),
    ),
    names=PLAIN_NAMES * 2 + KEYWORD_NAMES,
    rows=(1, 3, 5, 8, 9, 13, 17, 33),
    depth=4,
    leaves=12,
    requests=True,
    protocol="storage-write",
)


def _draw(choices: Choices, table: Table, case_id: str) -> Case:
    if not is_row_id(table.columns[0]):
        table = dataclasses.replace(table, columns=(Column(ROW_ID, BqType.INT64, Mode.REQUIRED), *table.columns))
    title = "What a drawn history writes is what readers see, when they may see it"
    return Case(case_id, title, table, draw_history(choices, row_count(table)), protocol="storage-write")


PLUGIN: Final = GeneratePlugin(
    run_profile="storage-write",
    profile=_PROFILE,
    check=_check,
    draw=_draw,
    simpler=simpler,
    names_rows=lambda case: bool(case.steps),
)
