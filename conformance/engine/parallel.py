"""A run in parts beside each other: the shards of one run, each in a process with a target of its own.

What a target has seen before may show in what it answers, so one target is driven from one thread, always in the same
order. Shards are how a run uses more than one core: which case belongs to which depends on its id alone, and their
logs together are those of the whole run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from conformance.engine.events import Event
from conformance.engine.log import read_log
from conformance.engine.merge import merge
from conformance.engine.shards import Shard

__all__ = ["PartError", "run_parts"]

GRACE: Final = 30.0
"""Seconds for a part to stop its target after an interrupt."""
_JUDGED: Final = (0, 1)
"""Exit statuses of a run that was judged."""


class PartError(ValueError):
    """A part could not run; the message is what that part said."""


def run_parts(arguments: Sequence[str], count: int, folder: Path) -> list[Event]:
    """The events of ``conformance run`` with ``arguments``, run as ``count`` shards; their logs go to ``folder``.

    An interrupt ends all parts; what they had judged by then is returned, and is incomplete.

    Raises:
        PartError: a part found its input unusable.
    """
    folder.mkdir(parents=True, exist_ok=True)
    logs = {Shard(index, count): folder / f"part-{index}-of-{count}.jsonl" for index in range(1, count + 1)}
    with ExitStack() as stack:
        parts = [stack.enter_context(_started(arguments, shard, log)) for shard, log in logs.items()]
        try:
            said = [part.communicate()[1] for part in parts]
        except KeyboardInterrupt:
            said = [_ended(part) for part in parts]
    for part, text, log in zip(parts, said, logs.values(), strict=True):
        if part.returncode not in _JUDGED or not log.exists():
            raise PartError(text.strip().removeprefix("Error: ") or f"a part ended with status {part.returncode}")
    return merge([list(read_log(log)) for log in logs.values()])


def _started(arguments: Sequence[str], shard: Shard, log: Path) -> subprocess.Popen[str]:
    log.unlink(missing_ok=True)
    command = [sys.executable, "-m", "conformance", "run", *arguments, "--shard", str(shard), "--log", str(log)]
    return subprocess.Popen(  # noqa: S603  # our own command
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)},
    )


def _ended(part: subprocess.Popen[str]) -> str:
    """What a part said that was interrupted with us, or is now."""
    part.terminate()
    try:
        return part.communicate(timeout=GRACE)[1]
    except subprocess.TimeoutExpired:
        part.kill()
        return part.communicate()[1]
