"""A lab as its owner sees it: cases go in, rows come out, whatever the target or a decoder does to the process."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

import pyarrow as pa

import conformance
from conformance.campaign.done import Done, condemned
from conformance.campaign.guidance import Weights
from conformance.campaign.job import Job
from conformance.campaign.lab import FLUSH, frame_done, job_frame
from conformance.readers.frames import Channel, Frame, FrameError
from conformance.readers.process import ENVIRONMENT, last_words
from conformance.records import Call, CallEnd, Case, Exchange, Outcome, ReadingOutcome, from_json, to_json
from conformance.targets import TargetKind, TargetUnavailable

__all__ = ["Lab"]

START: Final = 180.0
"""Seconds for a lab to import its libraries and open its target, beside the target's own deadline."""
MARGIN: Final = 30.0
"""Seconds for one case beside the target's own deadline for it: judging the largest exchange on a busy core."""

_ENVIRONMENT: Final = {**ENVIRONMENT, "PYTHONHASHSEED": "0"}


class _Died(Exception):  # noqa: N818  # an event, not an error of the caller's
    """The runner is gone: why in words, what it was doing on which case, and whether it did not come back."""

    def __init__(self, text: str, mark: str, *, hung: bool) -> None:
        super().__init__(text)
        case, _, self.doing = mark.partition(" ")
        self.case = int(case) if case.isdecimal() else 0
        self.text = text
        self.hung = hung


class Lab:
    """Works on the cases of a job in a process of its own; use as a context manager.

    ``python`` is the interpreter of that process, this one unless another is named.
    ``info`` are the target's name, version and capabilities, once the target was opened.
    """

    def __init__(self, job: Job, weights: Weights | None = None, *, python: str = "") -> None:
        self._job = job
        self._python = python or sys.executable
        self._weights = weights
        deadlines = job.spec.deadlines.stretched(job.multiplier)
        serializing = job.spec.kind is TargetKind.SERIALIZER
        self._deadline = (deadlines.call if serializing else deadlines.case) + MARGIN * job.multiplier
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Channel | None = None
        self._open = False
        self._marks: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the lab
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # as above
        self.info: Mapping[str, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process; a target that it started is closed by it, or dies with it."""
        self._end()
        self._marks.close()
        self._stderr.close()

    def open(self) -> None:
        """Start the process and open the target.

        Raises:
            TargetUnavailable: the target cannot run here.
        """
        for _ in range(3):
            try:
                self._opened()
            except _Died as died:
                said = died.text
            else:
                return
        raise TargetUnavailable(f"{self._job.spec.name} ended the process that opened it, three times: {said}")

    def run(self, first: int, last: int) -> Iterator[Done]:
        """The rows of every case from ``first`` to ``last`` (excluded), in order, one per case whatever happens.

        A case on which the process ends is tried once more: somebody else may have ended it. Cases before it whose
        rows had not been sent are worked on again.
        """
        index = first
        ended: dict[str, dict[str, tuple[str, str]]] = {}
        suspect: tuple[int, str] | None = None
        fates: dict[int, _Died] = {}
        while index < last:
            if index in fates:
                yield self._condemned(index, fates.pop(index))
                index += 1
                continue
            stop = min([last, *fates])
            try:
                self.open()
                careful = -1 if suspect is None else suspect[0]
                self._send({"do": "range", "first": index, "last": stop, "careful": careful, "ended": ended})
                while index < stop:
                    for done in frame_done(self._answer()):
                        yield done
                        index += 1
            except _Died as died:
                # What a target may have written into the marks is not believed beyond the range that was asked for.
                case = min(max(index, died.case), stop - 1)
                if not died.hung and suspect != (case, died.doing):
                    suspect = case, died.doing
                elif died.doing in self._job.readers:
                    outcome = ReadingOutcome.HANG if died.hung else ReadingOutcome.CRASH
                    ended.setdefault(str(case), {})[died.doing] = (outcome, died.text)
                else:
                    fates[case] = died

    def drive(self, case: Case, _table: pa.Table) -> Exchange:
        """Put one case to the target; where that ends the process, the exchange says so."""
        try:
            self.open()
            self._send({"do": "drive", "case": to_json(case)})
            return from_json(Exchange, self._answer().header["exchange"])
        except _Died as died:
            end = CallEnd.DEADLINE if died.hung else CallEnd.CRASH
            call = Call(0, "", "SerializeSchema", b"", status="", details=died.text, end=end)
            return Exchange(case.id, self._job.spec.name, (call,))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Nothing: what is noticed about a target beside its cases stays in its lab."""
        return ()

    def _condemned(self, index: int, died: _Died) -> Done:
        if died.doing != "drive":
            outcome, reason = Outcome.ERROR, f"the suite itself broke: {died.text}"
        elif died.hung:
            outcome, reason = Outcome.HANG, f"the target did not come back: {died.text}"
        else:
            outcome, reason = Outcome.CRASH, f"the target ended its process: {died.text}"
        return condemned(self._job, index, outcome, reason, self._weights)

    def _opened(self) -> None:
        if self._process is None:
            self._start()
        if not self._open:
            header, blobs = job_frame(self._job, self._weights)
            self._send(header, blobs)
            answer = self._answer(START + self._job.spec.deadlines.stretched(self._job.multiplier).start).header
            if "unusable" in answer:
                self._end()
                raise TargetUnavailable(answer["unusable"])
            self.info = answer["opened"]
            self._open = True

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        self._stderr.seek(0)
        self._stderr.truncate()
        # Another interpreter has packages of its own, and needs none of ours but this one.
        here = [str(Path(conformance.__file__).parent.parent)]
        path = os.pathsep.join(entry for entry in (sys.path if self._python == sys.executable else here) if entry)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  # our own interpreter and module
                [self._python, "-m", "conformance.campaign.lab", str(theirs.fileno()), str(self._marks.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=self._stderr,
                stderr=self._stderr,
                pass_fds=[theirs.fileno(), self._marks.fileno()],
                env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": path},
                start_new_session=True,
            )
        self._channel = Channel(ours)
        self._open = False

    def _send(self, header: Mapping[str, Any], blobs: tuple[bytes, ...] = ()) -> None:
        assert self._channel is not None
        os.pwrite(self._marks.fileno(), b" " * 64, 0)
        try:
            self._channel.send(header, blobs, seconds=self._deadline)
        except OSError as error:
            raise self._lost(error) from error

    def _answer(self, seconds: float | None = None) -> Frame:
        assert self._channel is not None
        try:
            frame = self._channel.receive(seconds=self._deadline + FLUSH if seconds is None else seconds)
        except (FrameError, OSError) as error:
            raise self._lost(error) from error
        if "died" in frame.header:
            self._open = False
            raise _Died(f"{frame.header['died']}{self._said()}", self._doing(), hung=False)
        return frame

    def _lost(self, error: Exception) -> _Died:
        """End the whole lab, whose connection is of no use any more."""
        doing, said = self._doing(), self._said()
        self._end(force=True)
        hung = isinstance(error, TimeoutError)
        text = f"no answer within {self._deadline:g} s" if hung else f"the connection to the lab broke: {error}"
        return _Died(text + said, doing, hung=hung)

    def _doing(self) -> str:
        return os.pread(self._marks.fileno(), 64, 0).decode(errors="replace").strip()

    def _said(self) -> str:
        self._stderr.seek(0)
        said = last_words(self._stderr.read().decode(errors="replace"))
        return f"; it last said: {said}" if said else ""

    def _end(self, *, force: bool = False) -> None:
        """Close the connection, at which a lab ends; one that does not, or is not to be trusted, is killed."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        process, self._process = self._process, None
        self._open = False
        if process is None:
            return
        try:
            if not force:
                process.wait(timeout=self._job.spec.start.grace + 10 if self._job.spec.start else 10)
        except subprocess.TimeoutExpired:
            pass
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
