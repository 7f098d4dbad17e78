"""Mutants of ``sample_percentage``: refused, misread, or with the rows of a block in several samples."""

from __future__ import annotations

from typing import Any

from conformance.protocols.storage_read.reference.catalogue import Snapshot
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.reference.statuses import Reason


@behaviour_mutant("sample.refused", kills="sample.request-is-served")
class SampleRefused(ReadService):
    """A sample of less than the whole table is refused."""

    def check_request(self, request: Any) -> None:
        super().check_request(request)
        options = request.read_session.read_options
        if options.HasField("sample_percentage") and options.sample_percentage < 100:
            self.refuse(Reason.SAMPLE_OUT_OF_RANGE, percentage=options.sample_percentage)


@behaviour_mutant("sample.percentage-clamped", kills="sample.percentage-outside-is-refused")
class PercentageClamped(ReadService):
    """A percentage above 100 is read as 100, and one below 0 as 0."""

    def check_request(self, request: Any) -> None:
        options = request.read_session.read_options
        if options.HasField("sample_percentage"):
            options.sample_percentage = min(max(options.sample_percentage, 0), 100)
        super().check_request(request)


@behaviour_mutant("sample.blocks-drawn-again", kills="sample.rows-are-the-tables")
class BlocksDrawnAgain(ReadService):
    """The blocks of a sample are drawn with replacement: those of half a table may be one block twice."""

    def plan_streams(self, snapshot: Snapshot, request: Any) -> list[tuple[int, int]]:
        runs = super().plan_streams(snapshot, request)
        options = request.read_session.read_options
        drawn_again = runs and options.HasField("sample_percentage") and options.sample_percentage < 100
        return [runs[0]] * len(runs) if drawn_again and len(runs) > 1 else runs


@behaviour_mutant("sample.percentage-is-a-fraction", kills="sample.of-everything-is-everything")
class PercentageIsFraction(ReadService):
    """The percentage is divided by 100 twice: a sample of everything takes a hundredth of the rows."""

    def plan_streams(self, snapshot: Snapshot, request: Any) -> list[tuple[int, int]]:
        runs = super().plan_streams(snapshot, request)
        options = request.read_session.read_options
        rows = round(snapshot.rows.num_rows * options.sample_percentage / 100 / 100)
        return [(0, rows)] if runs and options.sample_percentage == 100 else runs
