"""Run the shards of one run in parallel, each in a process with its own target.

Earlier requests may influence a target's answers, so one thread drives one target, always in the same order. Shards
let a run use more than one core: a hash of the case's id alone decides its shard, and merging their logs gives the log
of the unsharded run.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from conformance.contain.child import Child
from conformance.contain.supervised import in_words
from conformance.engine.events import CaseJudged, Event
from conformance.engine.log import TAG_KEY, read_log
from conformance.engine.merge import merge
from conformance.engine.shards import Shard

__all__ = ["PartError", "judged_in", "run_parts"]

GRACE: Final = 30.0
"""Seconds that a shard has to stop its target after an interrupt."""
_JUDGED: Final = (0, 1)
"""Exit statuses of a run that was judged."""
_INTERRUPTED: Final = 130
"""Exit status of a run that was interrupted before it had a verdict."""


class PartError(ValueError):
    """A shard could not run; the message is that shard's own error message."""


def run_parts(arguments: Sequence[str], count: int, folder: Path, *, say: Callable[[str], None]) -> list[Event]:
    """The events of ``conformance run`` with ``arguments``, run as ``count`` shards; their logs go to ``folder``.

    An interrupt ends all shards; the events up to then are returned, as those of an incomplete run. So are they if a
    signal that nobody sent through this process ended a shard, such as that of a system without memory: what it and
    the others had judged is kept. ``say`` gets a sentence about it.

    Raises:
        PartError: a shard found its input unusable, or nothing of it was begun.
        KeyboardInterrupt: an interrupt came before every shard had begun its log.
    """
    folder.mkdir(parents=True, exist_ok=True)
    logs = {Shard(index, count): folder / f"part-{index}-of-{count}.jsonl" for index in range(1, count + 1)}
    parts: list[Child] = []
    interrupted = False
    try:
        for shard, log in logs.items():
            # One by one: an interrupt must not leave a started shard out of the list, or nothing would stop it.
            parts.append(_started(arguments, shard, log))
        for part in parts:
            part.wait_for_exit(None)
    except KeyboardInterrupt:
        interrupted = True
        _end_in_order(parts)
    finally:
        for part in parts:
            part.stop(grace=0)
    if interrupted and not all(log.exists() for log in logs.values()):
        raise KeyboardInterrupt
    fine = (*_JUDGED, _INTERRUPTED) if interrupted else _JUDGED
    for part, (shard, log) in zip(parts, logs.items(), strict=True):
        if part.code is not None and part.code < 0 and _has_begun(log):
            say(f"shard {shard}: {in_words(part.code)}; the report is incomplete")
        elif part.code not in fine or not log.exists():
            raise PartError(part.tail.text().removeprefix("Error: ") or in_words(part.code))
    return merge([list(read_log(log)) for log in logs.values()])


def _has_begun(log: Path) -> bool:
    """True if the log of a shard has its first event."""
    if not log.exists():
        return False
    with log.open("rb") as file:
        return file.readline().endswith(b"\n")


def judged_in(folder: Path) -> int:
    """The number of cases that the shards with logs in ``folder`` have judged so far."""
    begins = f'{{"{TAG_KEY}":"{CaseJudged.TAG}"'.encode()
    count = 0
    for log in folder.glob("part-*-of-*.jsonl"):
        with log.open("rb") as file:
            count += sum(line.startswith(begins) for line in file)
    return count


def _end_in_order(parts: Sequence[Child]) -> None:
    """Ask every shard once to stop with what it has, and give all of them together ``GRACE`` seconds."""
    until = time.monotonic() + GRACE
    for part in parts:
        part.terminate()
    for part in parts:
        part.wait_for_exit(max(0.0, until - time.monotonic()))


def _started(arguments: Sequence[str], shard: Shard, log: Path) -> Child:
    log.unlink(missing_ok=True)
    alone = ["--shard", str(shard), "--log", str(log), "--no-github", "--quiet"]
    command = [sys.executable, "-m", "conformance", "run", *arguments, *alone]
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return Child(command, environment={**os.environ, "PYTHONPATH": path}, errors_only=True)
