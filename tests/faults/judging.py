"""Judge a faulty server as ``conformance run`` judges a target, and stop at the first verdict that fails the run.

The run is the command itself, in this process. Only two things are added: the cases come cheapest first, by the times
that they took on the reference, and the events end after the first failing case. Neither changes whether a run passes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from unittest import mock

import click

from conformance.cli import run as running
from conformance.engine.causes import causes
from conformance.engine.events import CaseJudged, Event
from conformance.engine.log import read_log
from conformance.engine.result import fold
from conformance.engine.selection import Plan, plan
from conformance.protocols.storage_read.reference.catalogue import Catalogue
from conformance.protocols.storage_read.reference.server import ReferenceServer
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.records import Outcome
from tests.faults.blame import First

__all__ = ["DEADLY", "Judged", "costs", "first_cause", "judge"]

DEADLY: Final = frozenset({Outcome.FAIL, Outcome.REFUSED, Outcome.CRASH})
"""Outcomes that kill a fault. A *hang* does not, because a loaded machine causes hangs too, and an *error* is the
suite's own."""

_TARGET: Final = """\
name = {name}
kind = "server"

[endpoint]
grpc = "{grpc}"
rest = "http://{rest}"
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Judged:
    """The end of a run: whether the fault died, by which clauses in which case first, and the number of cases judged.

    ``broke`` says why a run does not count, empty if it does.
    """

    died: bool
    case: str = ""
    clauses: tuple[str, ...] = ()
    cases: int = 0
    seconds: float = 0.0
    broke: str = ""


def judge(
    name: str, service: type[ReadService], arguments: Sequence[str], *, folder: Path, cost: Mapping[str, float]
) -> Judged:
    """One run with further ``arguments`` of the command on a server of this class."""
    target, log = folder / f"{name}.toml", folder / f"{name}.jsonl"
    seen: list[CaseJudged] = []
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        faulty = stack.enter_context(ReferenceServer(service=service(Catalogue())))
        target.write_text(_TARGET.format(name=f'"{name}"', grpc=faulty.grpc_endpoint, rest=faulty.rest_endpoint))
        stack.enter_context(mock.patch.object(running, "plan", _cheapest_first(cost)))
        stack.enter_context(mock.patch.object(running, "watch", lambda events, *_, **__: _until_dead(events, seen)))
        broke = _command(["--target", str(target), "--log", str(log), "--no-shrink", "--quiet", *arguments])
    return _judged(seen, broke, time.monotonic() - began)


def first_cause(name: str, service: type[ReadService], arguments: Sequence[str], *, folder: Path) -> First | None:
    """The first cause of a run to its end on a server of this class; None if nothing failed.

    The run draws cases for its first causes, which it does only if it shrinks as well.

    Raises:
        ValueError: the run could not judge.
    """
    target, log = folder / f"{name}.toml", folder / f"{name}.jsonl"
    with ReferenceServer(service=service(Catalogue())) as faulty:
        target.write_text(_TARGET.format(name=f'"{name}"', grpc=faulty.grpc_endpoint, rest=faulty.rest_endpoint))
        broke = _command(["--target", str(target), "--log", str(log), "--quiet", *arguments])
    if broke:
        raise ValueError(f"expected a run that judges {name}, got: {broke}")
    found = causes(fold(read_log(log)))
    return First(found[0].clause, found[0].title, found[0].contrast, len(found)) if found else None


def costs(log: Path, events: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """The seconds of each case in the log of an earlier run; ``log`` is named in the error of an empty one."""
    found = {event["case_id"]: float(event["seconds"]) for event in events if event["event"] == CaseJudged.TAG}
    if not found:
        raise ValueError(f"expected judged cases in {log}, got none")
    return found


def _cheapest_first(cost: Mapping[str, float]) -> Any:
    def ordered(*arguments: Any, **named: Any) -> Plan:
        made = plan(*arguments, **named)
        return dataclasses.replace(made, cases=tuple(sorted(made.cases, key=lambda case: cost.get(case.id, 0.0))))

    return ordered


def _until_dead(events: Iterable[Event], seen: list[CaseJudged]) -> Iterator[Event]:
    for event in events:
        yield event
        if isinstance(event, CaseJudged):
            seen.append(event)
            if _killers(event):
                return


def _killers(event: CaseJudged) -> tuple[str, ...]:
    return tuple(dict.fromkeys(verdict.clause for verdict in event.verdicts if verdict.outcome in DEADLY))


def _command(arguments: Sequence[str]) -> str:
    """Run the command; returns the message of an error that kept it from judging."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            running.command.main([*arguments], standalone_mode=False)
    except SystemExit as end:
        return "" if end.code in (0, 1) else f"exit status {end.code}"
    except click.ClickException as error:
        return error.format_message()
    return ""


def _judged(seen: Sequence[CaseJudged], broke: str, seconds: float) -> Judged:
    other = {verdict.outcome for event in seen for verdict in event.verdicts if verdict.outcome.fails_run} - DEADLY
    killers = _killers(seen[-1]) if seen else ()
    if not killers and not broke and (other or not seen):
        broke = f"no verdict but {', '.join(sorted(other)) or 'none'}"
    last = seen[-1].case_id if killers else ""
    return Judged(bool(killers), last, killers, len(seen), round(seconds, 1), broke)
