"""The violations of an Arrow stream in the messages of a Flight call: those of the clauses on IPC streams."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contract.clause import CLAUSES, Violation
from conformance.protocols.flight.contract.streamjudging import judge_flight_view
from conformance.protocols.flight.contract.view import DataView
from conformance.records import Level, Outcome, Verdict
from conformance.wire import Header

__all__ = ["first_is_no_schema", "stream_violations"]


def stream_violations(call: DataView, level: Level) -> Iterator[Violation]:
    """Yield a violation for each clause of that level on IPC streams that fails, with its first finding."""
    # Calls with the same answer share the stream, and what is said of it here names no call.
    judged = ("stream", call.raw.responses)
    verdicts: list[Verdict] = call.view.once(judged, lambda: judge_flight_view(call.stream, call.index))
    for verdict in verdicts:
        if verdict.outcome is Outcome.FAIL and CLAUSES[verdict.clause].level is level:
            one = verdict.findings[0]
            required = f"{verdict.clause}: {one.required}"
            yield Violation(required, one.observed, one.field, start=one.start, end=one.end, response=one.response)


def first_is_no_schema(call: DataView) -> Iterator[Violation]:
    """Yield a violation if the first message with a header is not the schema."""
    for at in call.joined.filled[:1]:
        kind = call.messages[0].header
        if kind is not Header.SCHEMA:
            yield Violation(
                "the schema in the first message with a header", f"a message of the kind {kind}", response=at
            )
