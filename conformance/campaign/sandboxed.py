"""The owner's side of a sandbox: cases go in and rows come out, even if the target or a decoder ends the process."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import IO, Any, Final, Self

import pyarrow as pa

from conformance.campaign.campaignjob import CampaignJob
from conformance.campaign.done import Done, condemned
from conformance.campaign.guidance import Weights
from conformance.campaign.sandbox import FLUSH, frame_done, job_frame
from conformance.contain.channel import ChannelMessage, FrameError
from conformance.contain.errors import CannotStart
from conformance.contain.worker import Worker, last_words
from conformance.engine.outcomes import BROKE
from conformance.records import Call, CallEnd, Case, Exchange, Outcome, ReadingOutcome, from_json, to_json
from conformance.targets import TargetKind, TargetUnavailable

__all__ = ["Sandbox"]

START: Final = 180.0
"""Seconds for a sandbox to import its libraries and open its target, in addition to the target's own deadline."""
MARGIN: Final = 30.0
"""Seconds for one case in addition to the target's own deadline for it: judging the largest exchange on a busy core."""

END: Final = 10.0
"""Seconds for a sandbox to end in order, in addition to the seconds that its target may take."""

_ENVIRONMENT: Final = {"PYTHONHASHSEED": "0"}


class _Died(Exception):  # noqa: N818  # an event, not an error of the caller
    """The runner has ended: the reason, the case and the step that it was in, and whether it missed its deadline."""

    def __init__(self, text: str, mark: str, *, hung: bool) -> None:
        super().__init__(text)
        case, _, self.doing = mark.partition(" ")
        self.case = int(case) if case.isdecimal() else 0
        self.text = text
        self.hung = hung


class Sandbox:
    """Runs the cases of a job in a process of its own; use as a context manager.

    ``python`` is the interpreter of that process; the default is this one. ``info`` has the target's name, version
    and capabilities once the target is open.
    """

    def __init__(self, job: CampaignJob, weights: Weights | None = None, *, python: str = "") -> None:
        self._job = job
        self._python = python
        self._weights = weights
        deadlines = job.spec.deadlines.stretched(job.multiplier)
        serializing = job.spec.kind == TargetKind.SERIALIZER
        self._deadline = (deadlines.call if serializing else deadlines.case) + MARGIN * job.multiplier
        self._worker: Worker | None = None
        self._open = False
        self._marks: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the sandbox
        self.info: Mapping[str, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process; it closes a target that it started, or the target dies with it."""
        self._end()
        self._marks.close()

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
        """The rows of every case from ``first`` to ``last`` (excluded), in order, exactly one result per case.

        A case on which the process ends is tried once more, because something else may have ended the process.
        Earlier cases whose rows had not been sent are run again.
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
                # A target can write into the progress file, so an index outside the requested range is not trusted.
                case = min(max(index, died.case), stop - 1)
                if not died.hung and suspect != (case, died.doing):
                    suspect = case, died.doing
                elif died.doing in self._job.readers:
                    outcome = ReadingOutcome.HANG if died.hung else ReadingOutcome.CRASH
                    ended.setdefault(str(case), {})[died.doing] = (outcome, died.text)
                else:
                    fates[case] = died

    def drive(self, case: Case, _table: pa.Table) -> Exchange:
        """Put one case to the target; if that ends the process, the exchange says so."""
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
        """Empty: observations about a target that belong to no case stay in its sandbox."""
        return ()

    def _condemned(self, index: int, died: _Died) -> Done:
        if died.doing != "drive":
            outcome, reason = Outcome.ERROR, f"{BROKE}: {died.text}"
        elif died.hung:
            outcome, reason = Outcome.HANG, f"the target did not come back: {died.text}"
        else:
            outcome, reason = Outcome.CRASH, f"the target ended its process: {died.text}"
        return condemned(self._job, index, outcome, reason, self._weights)

    def _opened(self) -> None:
        if self._worker is None:
            self._worker = self._started()
            self._open = False
        if not self._open:
            header, blobs = job_frame(self._job, self._weights)
            self._send(header, blobs)
            answer = self._answer(START + self._job.spec.deadlines.stretched(self._job.multiplier).start).header
            if "unusable" in answer:
                self._end()
                raise TargetUnavailable(answer["unusable"])
            self.info = answer["opened"]
            self._open = True

    def _started(self) -> Worker:
        number = self._marks.fileno()
        try:
            return Worker(
                "conformance.campaign.sandbox",
                [str(number)],
                environment=_ENVIRONMENT,
                python=self._python,
                keep=[number],
            )
        except CannotStart as error:
            raise TargetUnavailable(str(error)) from None

    def _send(self, header: Mapping[str, Any], blobs: tuple[bytes, ...] = ()) -> None:
        assert self._worker is not None
        # Clear the record of the last step, so that a death is not attributed to an earlier one.
        os.pwrite(self._marks.fileno(), b" " * 64, 0)
        try:
            self._worker.channel.send(header, blobs, seconds=self._deadline)
        except OSError as error:
            raise self._lost(error) from error

    def _answer(self, seconds: float | None = None) -> ChannelMessage:
        assert self._worker is not None
        try:
            frame = self._worker.channel.receive(seconds=self._deadline + FLUSH if seconds is None else seconds)
        except (FrameError, OSError) as error:
            raise self._lost(error) from error
        if "died" in frame.header:
            self._open = False
            raise _Died(f"{frame.header['died']}{self._said()}", self._doing(), hung=False)
        return frame

    def _lost(self, error: Exception) -> _Died:
        """End the whole sandbox, whose connection is broken, and return the exception for it."""
        doing, said = self._doing(), self._said()
        self._end(force=True)
        hung = isinstance(error, TimeoutError)
        text = f"no answer within {self._deadline:g} s" if hung else f"the connection to the lab broke: {error}"
        return _Died(text + said, doing, hung=hung)

    def _doing(self) -> str:
        return os.pread(self._marks.fileno(), 64, 0).decode(errors="replace").strip()

    def _said(self) -> str:
        said = last_words(self._worker.said()) if self._worker is not None else ""
        return f"; it last said: {said}" if said else ""

    def _end(self, *, force: bool = False) -> None:
        """Close the connection, upon which a sandbox ends; kill one that does not end or must not be waited for."""
        worker, self._worker = self._worker, None
        self._open = False
        if worker is not None:
            start = self._job.spec.start
            worker.close(grace=0.0 if force else (start.grace if start else 0.0) + END)
