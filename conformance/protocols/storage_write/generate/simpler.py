"""Simpler histories of writes: fewer streams, fewer reads and a shorter history, which stay legal."""

from __future__ import annotations

import dataclasses

from conformance.generate.choices import Choices
from conformance.generate.simplify import keeps, simpler_columns, under, up_to
from conformance.protocols.storage_write.records import CommitStreams, GetWriteStream, ReadWritten, WriteRows
from conformance.records import Case, Column, Step

__all__ = ["simpler"]


def simpler(choices: Choices, case: Case) -> Case:
    """Return the case with fewer steps and columns, and the same rows.

    Steps go from the end, with all steps of a stream, or alone if nothing rests on them: what stays was legal before,
    and is. All steps of a case stay in which some are carried out while a connection is open.
    """
    labels = dict.fromkeys(label for step in case.steps for label in _labels(step))
    gone = {label for label in labels if not keeps(choices)}
    if any(isinstance(step, WriteRows) and step.during for step in case.steps):
        return dataclasses.replace(case, table=under(case.table, _columns(choices, case)))
    looks = [keeps(choices) or not isinstance(step, ReadWritten | GetWriteStream) for step in case.steps]
    most = up_to(choices, len(case.steps), least=1)
    found = [_without(step, gone) for step, kept in zip(case.steps[:most], looks, strict=False) if kept]
    columns = _columns(choices, case)
    steps = tuple(step for step in found if step is not None)
    return dataclasses.replace(case, table=under(case.table, columns), steps=steps or case.steps[:1])


def _columns(choices: Choices, case: Case) -> tuple[Column, ...]:
    row_id, *others = case.table.columns
    return (row_id, *(simpler_columns(choices, others, "") if others else ()))


def _labels(step: Step) -> tuple[str, ...]:
    if isinstance(step, CommitStreams):
        return step.streams
    return tuple(filter(None, [getattr(step, "label", "") or getattr(step, "stream", "")]))


def _without(step: Step, gone: set[str]) -> Step | None:
    """The step without some streams; None if nothing is left of it."""
    left = tuple(label for label in _labels(step) if label not in gone)
    if isinstance(step, CommitStreams):
        return dataclasses.replace(step, streams=left) if left else None
    return step if left or not _labels(step) else None
