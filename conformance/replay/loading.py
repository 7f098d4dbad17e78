"""Where the recordings of a replay server come from: logs with exchanges, and one case on the reference server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance.engine.recorded import read_recorded
from conformance.readers.tape import Tapes, tapes_of
from conformance.records import Case, Exchange, Fault, FaultPlan, RecordError, from_json
from conformance.replay.shelf import Held, renamed

__all__ = ["from_log", "from_message"]


def from_log(path: Path) -> Iterator[Held]:
    """Each exchange of a log that has a session, under the id of its case.

    Raises:
        LogError: the file is not a log, or contains no exchange.
        OSError: the file cannot be read.
    """
    for one in read_recorded(path).exchanges:
        if tapes := tapes_of(one.case, one.exchange):
            yield Held(one.case.id, Tapes(tapes))


def held(case: Case, exchange: Exchange, *, name: str = "") -> Held:
    """A recording of one exchange; ``name`` is its name instead of the case's id."""
    return Held(name or case.id, Tapes(tapes_of(case, exchange)))


def from_message(message: dict[str, Any], default: str) -> Iterator[Held]:
    """The recordings that a request to the control API puts on the shelf.

    Raises:
        RecordError: the request has an unknown key, or a value of another form.
        LogError: the log that it names is none.
        OSError: the log cannot be read.
    """
    allowed = {"path", "case", "exchange", "name", "table", "faults", "slow", "only"}
    if unknown := set(message) - allowed:
        raise RecordError(sorted(unknown)[0], f"one of the keys {', '.join(sorted(allowed))}", message)
    if "path" in message:
        found = list(from_log(Path(str(message["path"]))))
        if only := message.get("only"):
            found = [one for one in found if one.name == only]
    else:
        found = [held(from_json(Case, message.get("case")), from_json(Exchange, message.get("exchange")))]
    plan = faults_of(message)
    for one in found:
        name = str(message.get("name") or one.name)
        table = str(message.get("table") or "")
        tapes = Tapes(renamed(tape, table, default) for tape in one.tapes) if table else one.tapes
        yield Held(name, tapes, plan, float(message.get("slow") or 0))


def faults_of(message: dict[str, Any]) -> tuple[Fault, ...]:
    """The plan in a request; raises RecordError."""
    return from_json(FaultPlan, {"faults": message.get("faults") or []}).faults
