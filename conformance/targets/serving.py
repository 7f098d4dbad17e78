"""The process in which the functions of a Python serializer are called: it may end, hang or be spoilt.

Started by :class:`conformance.targets.contained.ContainedTarget` with one end of a socket pair. The first process
imports what the suite needs and forks a *runner*, which imports the serializer; where the runner ends, the first
process says how and forks the next, which starts in milliseconds. Frames that the runner takes, and its answers:

``{"open": true}`` with the pickled target file and environment
    ``{"importing": true}``, then ``{"opened": true}`` or ``{"unusable": why}``.
``{"drive": case}``
    ``{"ready": true}`` once the case's table is there, then ``{"call": call}`` with its responses for each call when
    it has been made, then ``{"done": true}``.

A runner's end is a frame ``{"died": signal name or exit status}`` from the first process. What the serializer prints
goes to the standard error of both.
"""

from __future__ import annotations

import dataclasses
import pickle
import socket
import sys
from typing import Final

from conformance.contain.channel import Channel
from conformance.contain.forks import run_in_fork
from conformance.contain.limits import limit_files, limit_memory, no_core_dump
from conformance.contain.supervised import signal_name
from conformance.generate import materialise
from conformance.records import Case, from_json, to_json
from conformance.targets.errors import TargetError
from conformance.targets.serializer import SerializerTarget

__all__ = ["main"]

OUTPUT_BYTES: Final = 1 << 30
"""Bound in bytes on a file that the serializer may write, the one behind its standard output included."""
MEMORY: Final = 4 << 30
"""Bytes that a runner may map beyond its libraries: several copies of the largest table, and slack."""


def main() -> None:
    """Fork runners on the socket whose number is the argument, until its other end is closed."""
    no_core_dump()
    limit_files(OUTPUT_BYTES)
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    while True:
        code = run_in_fork(lambda: _run(channel))
        try:
            channel.send({"died": signal_name(code) or f"exit status {code}"})
        except OSError:
            return


def _run(channel: Channel) -> None:
    frame = channel.receive()
    while "open" not in frame.header:  # a case that was put to the runner before, which had just ended
        frame = channel.receive()
    spec, environment = pickle.loads(frame.blobs[0])  # noqa: S301  # from the process that started this one
    channel.send({"importing": True})
    try:
        target = SerializerTarget(spec, environment)
    except TargetError as error:
        channel.send({"unusable": str(error)})
        return
    limit_memory(MEMORY)
    channel.send({"opened": True})
    while True:
        case = from_json(Case, channel.receive().header["drive"])
        table = materialise(case.table)
        channel.send({"ready": True})
        for call in target.calls(case, table):
            channel.send({"call": to_json(dataclasses.replace(call, responses=()))}, call.responses)
        channel.send({"done": True})


if __name__ == "__main__":
    main()
