"""The process that calls the functions of a Python serializer, and that may end, hang or be corrupted.

:class:`conformance.targets.contained.ContainedTarget` starts it with one end of a socket pair. The first process
imports the suite's modules and forks a *runner*, which imports the serializer. If the runner ends, the first process
reports how, and forks the next runner within milliseconds. The frames that the runner accepts, with its answers:

``{"open": true}`` with the pickled target file and environment
    ``{"importing": true}``, then ``{"opened": true}`` or ``{"unusable": reason}``.
``{"drive": case}``
    ``{"ready": true}`` when the case's table is made, then ``{"call": call}`` with its responses after each call,
    then ``{"done": true}``.

The first process reports a runner's end as ``{"died": signal name or exit status}``. The serializer's output goes to
the standard error of both processes.
"""

from __future__ import annotations

import dataclasses
import pickle
import socket
import sys
from typing import Final

from conformance._pandas import leave_pandas_out
from conformance.contain.channel import Channel
from conformance.contain.forks import run_in_fork
from conformance.contain.limits import limit_files, limit_memory, no_core_dump
from conformance.contain.supervised import signal_name
from conformance.generate import materialise
from conformance.records import Case, from_json, to_json
from conformance.targets.inprocessserializer import SerializerTarget
from conformance.targets.targeterrors import TargetError

__all__ = ["main"]

OUTPUT_BYTES: Final = 1 << 30
"""The largest size in bytes of a file that the serializer writes, including the one behind its standard output."""
MEMORY: Final = 4 << 30
"""Bytes that a runner may map beyond its libraries: several copies of the largest table, with a margin."""


def main() -> None:
    """Fork runners on the socket whose descriptor is the argument, until the other end is closed."""
    no_core_dump()
    leave_pandas_out()
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
    while "open" not in frame.header:  # a case that was sent to the runner before this one, which has just ended
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
