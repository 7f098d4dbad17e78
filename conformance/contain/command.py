"""Commands that run to their end, with limits on output and time; all their descendants end with them."""

from __future__ import annotations

import dataclasses
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import Final

from conformance.contain.child import OutputEnds, drain, finish
from conformance.contain.supervised import Group, Supervised

__all__ = ["Finished", "run_command"]

KEPT: Final = 1 << 20
"""Bytes kept of each output stream, from its end."""


@dataclasses.dataclass(frozen=True, slots=True)
class Finished:
    """A finished command: ``code`` as in :mod:`subprocess`, None if its time was up, and its output."""

    code: int | None
    stdout: str
    stderr: str


def run_command(
    command: Sequence[str], *, environment: Mapping[str, str], seconds: float, group: Group | None = None
) -> Finished:
    """Run ``command`` for up to ``seconds``; killing ``group`` ends it early, even while a thread waits for it.

    Raises:
        CannotStart: There is no such program, or it cannot be executed.
    """
    process = Supervised(command, environment=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, group=group)
    tails = OutputEnds(KEPT), OutputEnds(KEPT)
    drains: list[threading.Thread] = []
    try:
        for stream, tail in zip((process.stdout, process.stderr), tails, strict=True):
            assert stream is not None
            drains.append(drain(stream, tail.add))
        in_time = process.wait(seconds)
    finally:
        process.end()
        finish(drains)
    return Finished(process.code if in_time else None, tails[0].raw(), tails[1].raw())
