"""Cases of the Storage Write API are written by hand: none are drawn yet."""

from __future__ import annotations

from typing import Final

from conformance.generate.casecheck import row_count
from conformance.generate.plugin import GeneratePlugin
from conformance.protocols.storage_write.records import DEFAULT, SHORT_DEFAULT, CreateWriteStream, WriteRows
from conformance.records import BqType, Case, RecordError, is_row_id


def _check(case: Case) -> None:
    """Check that the steps of a case fit each other and its table.

    Raises:
        RecordError: they do not; it names the place.
    """
    # A case without steps asks for nothing: what a proxy recorded is one.
    if case.steps and (not case.table.columns or not is_row_id(case.table.columns[0])):
        raise RecordError("Case.table.columns", "row_id first, a REQUIRED INT64, by which rows are found again", None)
    labels = {DEFAULT, SHORT_DEFAULT}
    count = row_count(case.table)
    for at, step in enumerate(case.steps):
        if isinstance(step, CreateWriteStream):
            labels.add(step.label)
        named = getattr(step, "streams", (getattr(step, "stream", DEFAULT),))
        if not getattr(step, "name", "") and not labels.issuperset(named):
            raise RecordError(f"Case.steps[{at}]", "labels of streams that were created before", list(named))
        if isinstance(step, WriteRows):
            _check_appends(f"Case.steps[{at}].appends", step, count, case)


def _check_appends(path: str, step: WriteRows, count: int, case: Case) -> None:
    for number, append in enumerate(step.appends):
        if not 0 <= append.first <= append.first + append.count <= count:
            raise RecordError(f"{path}[{number}]", f"rows of the table's {count}", [append.first, append.count])
        instants = any(column.type is BqType.TIMESTAMP for column in case.table.columns)
        if append.bad and (not instants or not all(0 <= row < append.count for row in append.bad)):
            raise RecordError(f"{path}[{number}].bad", "rows of the request, with a TIMESTAMP", list(append.bad))


PLUGIN: Final = GeneratePlugin(run_profile="storage-write", check=_check)
