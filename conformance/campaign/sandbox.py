"""The process in which targets and decoders run; if it crashes, loops or is killed, only one case is lost.

:class:`conformance.campaign.sandboxed.Sandbox` starts it with one end of a socket pair and a progress file. The
first process imports what it needs and forks a *runner*. If the runner dies, the first process reports how and forks
another, which starts in milliseconds. Frames that the runner takes:

``{"do": "open", "job": ..., "weights": ...}``
    Open the target. Answers ``{"opened": {name, version, capabilities}}`` or ``{"unusable": why}``.
``{"do": "range", "first": a, "last": b, "careful": k, "ended": {index: {reader: [outcome, text]}}}``
    Answers with the rows of every case, in order, several cases to a frame: the bytes of their exchanges are its
    byte strings. All finished rows are sent before case *k* begins, because that case may end the process.
``{"do": "drive", "case": ...}``
    Put one case to the target. Answers with its exchange.

The first process reports the death of a runner as a frame ``{"died": signal name or status}``.
"""

from __future__ import annotations

import base64
import contextlib
import os
import pickle
import socket
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.campaign.campaignjob import CampaignJob
from conformance.campaign.done import Done
from conformance.campaign.guidance import Weights
from conformance.campaign.phases import SIDE_BY_SIDE
from conformance.campaign.work import Steps, open_work
from conformance.contain.channel import Channel, ChannelMessage, Closed, FrameError
from conformance.contain.forks import run_in_fork
from conformance.contain.limits import collect_seldom, limit_files, limit_memory, no_core_dump
from conformance.contain.supervised import signal_name
from conformance.generate import materialise
from conformance.records import Case, ReadingOutcome, from_json, to_json
from conformance.targets import TargetError

__all__ = ["FLUSH", "done_frame", "frame_done", "job_frame", "main"]

OUTPUT_BYTES: Final = 1 << 30
"""The largest file in bytes that a target in this process may write, including the one behind its standard output."""
FRAME: Final = 32
"""Cases per frame; at most as many are run again if the process ends."""
FRAME_BYTES: Final = 4 << 20
"""Bytes of exchanges after which a frame is sent."""
FLUSH: Final = 0.5
"""Seconds that rows may wait for others."""


def job_frame(job: CampaignJob, weights: Weights | None) -> tuple[dict[str, Any], tuple[bytes, ...]]:
    """The frame that opens a target. The job is pickled, which is safe here: it comes from the process that started
    this one.
    """
    return {"do": "open"}, (pickle.dumps((job, weights)),)


def done_frame(several: Sequence[Done]) -> tuple[dict[str, Any], list[bytes]]:
    """The rows of cases as a frame; responses and further requests are byte strings, all other bytes base64."""
    blobs: list[bytes] = []
    return {"done": [_header(done, blobs) for done in several]}, blobs


def _header(done: Done, blobs: list[bytes]) -> list[Any]:
    exchange = None
    if done.exchange is not None:
        exchange = dict(done.exchange)
        exchange["calls"] = [_cut(call, blobs) for call in exchange["calls"]]
    judge = {**done.judge, "passed": base64.b64encode(done.judge["passed"]).decode()}
    return [done.plan, judge, done.verdicts, done.readings, exchange]


def _cut(call: Mapping[str, Any], blobs: list[bytes]) -> dict[str, Any]:
    blobs += call["responses"]
    blobs += call["more_requests"]
    texts = {name: [{**one, "value": _text(one["value"])} for one in call[name]] for name in _METADATA}
    counts = {name: len(call[name]) for name in ("responses", "more_requests")}
    return {**call, **texts, **counts, "request": _text(call["request"])}


_METADATA: Final = ("trailers", "initial_metadata")


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def frame_done(frame: ChannelMessage) -> list[Done]:
    """The rows in a frame of :func:`done_frame`."""
    blobs = iter(frame.blobs)
    return [_done(held, blobs) for held in frame.header["done"]]


def _done(held: Sequence[Any], blobs: Iterator[bytes]) -> Done:
    plan, judge, verdicts, readings, exchange = held
    if exchange is not None:
        exchange["calls"] = [
            {
                **call,
                **{
                    name: [{**one, "value": base64.b64decode(one["value"])} for one in call[name]] for name in _METADATA
                },
                "responses": [next(blobs) for _ in range(call["responses"])],
                "request": base64.b64decode(call["request"]),
                "more_requests": [next(blobs) for _ in range(call["more_requests"])],
            }
            for call in exchange["calls"]
        ]
    judge["passed"] = base64.b64decode(judge["passed"])
    return Done(plan, judge, verdicts, readings, exchange)


class _Outbox:
    """Collects rows and sends several at a time, because a frame costs both sides more than the rows in it."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._held: list[Done] = []
        self._size = 0
        self._since = time.monotonic()

    def add(self, done: Done) -> None:
        """Add the rows of a case; everything is sent at once if it is large or older rows have waited long enough."""
        self._held.append(done)
        if done.exchange is not None:
            self._size += sum(len(data) for call in done.exchange["calls"] for data in call["responses"])
        if len(self._held) >= FRAME or self._size >= FRAME_BYTES or time.monotonic() - self._since >= FLUSH:
            self.flush()

    def flush(self) -> None:
        """Send the collected rows."""
        if self._held:
            self._channel.send(*done_frame(self._held))
        self._held, self._size, self._since = [], 0, time.monotonic()


class _Runner:
    """Serves frames with one target until the other side closes the connection."""

    def __init__(self, channel: Channel, marks: int) -> None:
        self._channel = channel
        self._marks = marks

    def mark(self, index: int, what: str) -> None:
        """Record the next step and its case in a file that outlives this process."""
        os.pwrite(self._marks, f"{index} {what}".encode().ljust(64), 0)

    def serve(self) -> None:
        """Answer frames; the target is closed at the end."""
        with contextlib.ExitStack() as stack, contextlib.suppress(Closed, BrokenPipeError, ConnectionResetError):
            first = self._channel.receive()
            job, weights = pickle.loads(first.blobs[0])  # noqa: S301  # from the process that started this one
            try:
                work = stack.enter_context(open_work(job, weights, mark=self.mark))
            except TargetError as error:
                self._channel.send({"unusable": str(error)})
                return
            limit_memory(work.memory)
            self._channel.send({"opened": dict(work.info)})
            while True:
                frame = self._channel.receive()
                if frame.header["do"] == "range":
                    self._range(work.steps, frame.header)
                else:
                    case = from_json(Case, frame.header["case"])
                    self.mark(0, "drive")
                    assert work.driver is not None, "single cases are put to targets"
                    exchange = work.driver.drive(case, materialise(case.table))
                    self._channel.send({"exchange": to_json(exchange)})

    def _range(self, steps: Steps, header: Mapping[str, Any]) -> None:
        outbox = _Outbox(self._channel)
        ended = {
            int(index): {reader: (ReadingOutcome(outcome), text) for reader, (outcome, text) in readers.items()}
            for index, readers in header["ended"].items()
        }
        careful = header["careful"]
        for span in _spans(header["first"], header["last"], careful):
            if span.start == careful:
                outbox.flush()
            for done in steps.steps(span, ended=ended):
                outbox.add(done)
        outbox.flush()


def _spans(first: int, last: int, careful: int) -> Iterator[range]:
    """The cases that run phase by phase together: those of one family; the careful case runs alone."""
    while first < last:
        stop = min(last, first - first % SIDE_BY_SIDE + SIDE_BY_SIDE)
        if first == careful:
            stop = first + 1
        elif first < careful < stop:
            stop = careful
        yield range(first, stop)
        first = stop


def main() -> None:
    """Fork runners on the socket and the progress file whose numbers are the arguments, until one ends in order."""
    number, marks = (int(argument) for argument in sys.argv[1:])
    collect_seldom()
    no_core_dump()
    limit_files(OUTPUT_BYTES)
    channel = Channel(socket.socket(fileno=number))
    while code := run_in_fork(lambda: _run(channel, marks)):
        try:
            channel.send({"died": signal_name(code) or f"status {code}"})
        except OSError:
            return


def _run(channel: Channel, marks: int) -> None:
    with contextlib.suppress(FrameError):  # the other side is gone
        _Runner(channel, marks).serve()


if __name__ == "__main__":
    main()
