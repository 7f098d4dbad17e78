"""The judgement of a history in words: each anomaly with its calls, what still holds, and what is not known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.contain.text import many, safe
from conformance.history.anomalies import Anomaly, HistoryJudgement
from conformance.history.calls import Append, Create, End, History, HistoryCall, RowsRead, Split

__all__ = ["lines", "show_call", "show_rows"]

RUN: Final = 3
"""Consecutive ids from which a run of them is written by its ends."""
RUNS: Final = 8
"""The most runs of ids that one line shows."""
CALLS: Final = 12
"""The most calls of a proof that are shown; a session of many streams has many reads."""


def show_rows(rows: Sequence[int]) -> str:
    """Return row ids as text: ``0-9, 12, 11``, in their order."""
    runs: list[tuple[int, int]] = []
    for row in rows:
        if runs and row == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], row)
        else:
            runs.append((row, row))
    shown = []
    for first, last in runs[:RUNS]:
        wide = last - first + 1 >= RUN
        shown.append(f"{first}-{last}" if wide else ", ".join(map(str, range(first, last + 1))))
    return ", ".join(shown) + (", …" if len(runs) > RUNS else "") if shown else "no rows"


def show_call(call: HistoryCall) -> str:
    """Return a call in one line."""
    ended = "" if call.ended is End.OK else f" ({_ENDS[call.ended]})"
    match call:
        case Append():
            said = f"append {show_rows(call.rows)} to {call.table}"
        case Create():
            streams = ", ".join(call.streams) if len(call.streams) <= RUNS else many(len(call.streams), "stream")
            said = f"create {call.session} on {call.table}: {streams or 'no streams'}"
        case RowsRead():
            at = f" from {call.offset}" if call.offset else ""
            said = f"read {call.stream}{at}: {show_rows(call.rows)}"
        case Split():
            children = f"{call.primary}, {call.remainder}" if call.divided else "no children"
            said = f"split {call.stream}: {children}"
    return safe(said + ended)


_ENDS: Final = {End.CUT: "cut", End.REFUSED: "refused", End.UNKNOWN: "no answer"}


def lines(history: History, judgement: HistoryJudgement) -> Iterator[str]:
    """Yield the lines of a judgement."""
    for anomaly in judgement.anomalies:
        yield from _anomaly(history, anomaly)
    if judgement.holds:
        yield "STILL HOLDS" if judgement.anomalies else "HOLDS"
        for one in judgement.holds:
            yield f"  {one.kind.holds} ({one.kind.over}: {one.checked or 'none'})"
    unknown = [f"{many(count, kind)} without an answer" for kind, count in judgement.unknown.items()]
    if judgement.unfinished:
        unknown.append(f"{many(judgement.unfinished, 'session')} not read to the end")
    if unknown:
        yield f"UNKNOWN: {', '.join(unknown)}"
    found = many(len(judgement.anomalies), "anomaly", "anomalies")
    yield f"{found} in {many(judgement.calls, 'call')} with {many(judgement.rows, 'row')}"


def _anomaly(history: History, anomaly: Anomaly) -> Iterator[str]:
    yield f"{anomaly.kind.value.upper()} in {safe(anomaly.session)}: {safe(anomaly.observed)}"
    if anomaly.count > 1:
        more = ", …" if anomaly.count > len(anomaly.rows) else ""
        yield f"  {many(anomaly.count, 'row')}: {show_rows(anomaly.rows)}{more}"
    for index in anomaly.witness[:CALLS]:
        call = history.calls[index]
        yield f"  {index:>4}  {call.begin:g}..{call.end:g}  {show_call(call)}"
    if len(anomaly.witness) > CALLS:
        yield f"        and {len(anomaly.witness) - CALLS} more reads of the session"
