"""Where the recordings of a replay server come from: logs with exchanges, truth packs, and messages over HTTP."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance.engine.recorded import read_recorded
from conformance.protocol import plugin
from conformance.readers.tape import tapes_of
from conformance.records import Call, Case, Exchange, FaultPlan, PlannedFault, RecordError, from_json
from conformance.replay.plugin import ReplayPlugin
from conformance.replay.sessions import SessionAnswers, renamed
from conformance.replay.shelf import Held
from conformance.truth.pack import read_pack
from conformance.truth.references import resolved

__all__ = ["faults_of", "from_log", "from_message", "from_pack", "held"]


def from_log(path: Path) -> Iterator[Held]:
    """Each exchange of a log with calls that can be answered, under the id of its case.

    All calls of some protocols that a proxy recorded are one recording with the name of the protocol, so that they are
    answered in their order.

    Raises:
        LogError: the file is not a log, or contains no exchange.
        OSError: the file cannot be read.
    """
    recorded = read_recorded(path)
    joined: dict[str, list[tuple[float, Call]]] = {}
    for one in recorded.exchanges:
        if recorded.conversed and plugin(ReplayPlugin, one.exchange.protocol).together is not None:
            calls = [(one.exchange.now / 1e6 + call.started, call) for call in one.exchange.calls]
            joined.setdefault(one.exchange.protocol, []).extend(calls)
        else:
            yield from _served(held(one.case, one.exchange))
    for protocol, found in joined.items():
        together = plugin(ReplayPlugin, protocol).together
        assert together is not None, "the calls were joined for it"
        yield from _served(Held(protocol, together(call for _, call in sorted(found, key=lambda pair: pair[0]))))


def _served(made: Held) -> Iterator[Held]:
    """The recording, if there is anything to answer with."""
    if made.names():
        yield made


def from_pack(folder: Path) -> Iterator[Held]:
    """Each answer of a truth pack that has a session, under the id of its case.

    A pack holds references instead of names, so each gets a table and streams with names of its own.

    Raises:
        PackError: the folder is no truth pack.
        UnresolvedError: an exchange cannot be resolved.
        OSError: a file cannot be read.
    """
    pack = read_pack(folder)
    chosen = {answer.case_id: answer.recordings[0] for answer in pack.findings.answers if not answer.replaced}
    for case_id, recording in sorted(chosen.items()):
        one = pack.recordings[recording].by_case()[case_id].exchange
        if one is None:
            continue
        made = tapes_of(one.case, resolved(one))
        number = re.sub(r"\W", "_", case_id)
        table = f"projects/truth/datasets/truth/tables/{number}"
        if made:
            yield Held(
                case_id, SessionAnswers(renamed(tape, table, f"{number}-{index}") for index, tape in enumerate(made))
            )


def held(case: Case, exchange: Exchange, *, name: str = "") -> Held:
    """A recording of one exchange; ``name`` is its name instead of the case's id."""
    return Held(name or case.id, plugin(ReplayPlugin, exchange.protocol).recorded(case, exchange))


def from_message(message: dict[str, Any], default: str) -> Iterator[Held]:
    """The recordings that a request to the control API puts on the shelf.

    Raises:
        RecordError: the request has an unknown key, or a value of another form.
        ValueError: the path that it names is neither a log with exchanges nor a truth pack.
        OSError: the log cannot be read.
    """
    allowed = {"path", "case", "exchange", "name", "table", "faults", "slow", "only"}
    if unknown := set(message) - allowed:
        raise RecordError(min(unknown), f"one of the keys {', '.join(sorted(allowed))}", message)
    for key in ("path", "name", "table", "only"):
        if message.get(key) is not None and not isinstance(message[key], str):
            raise RecordError(key, "a text", message[key])
    if "path" in message:
        path = Path(message["path"] or "")
        try:
            found = list(from_pack(path) if path.is_dir() else from_log(path))
        except ValueError:
            # The error shows bytes of the file, and another user of this machine may have sent the request.
            raise ValueError(f"{path}: expected a log with exchanges, or the folder of a truth pack") from None
        if only := message.get("only"):
            found = [one for one in found if one.name == only]
    else:
        found = [held(from_json(Case, message.get("case")), from_json(Exchange, message.get("exchange")))]
    plan = faults_of(message)
    slow = _pace(message.get("slow"))
    for one in found:
        name = message.get("name") or one.name
        table = message.get("table") or ""
        yield Held(name, one.answers.renamed(table, default) if table else one.answers, plan, slow)


def _pace(given: object) -> float:
    """The seconds behind each response."""
    wanted = "a finite number of seconds from 0"
    if given is None:
        return 0.0
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise RecordError("slow", wanted, given)
    try:
        seconds = float(given)
    except OverflowError:
        seconds = math.inf
    if not 0 <= seconds < math.inf:
        raise RecordError("slow", wanted, given)
    return seconds


def faults_of(message: dict[str, Any]) -> tuple[PlannedFault, ...]:
    """The plan in a request; raises RecordError."""
    return from_json(FaultPlan, {"faults": message.get("faults") or []}).faults
