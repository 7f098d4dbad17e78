"""Test the suite's own readers and judge with mutated bytes: each input is judged, decoded and dissected.

The suite itself is under test here: clauses are expected to fail on mutated bytes. The campaign fails on an
exception, a dump that omits a byte, a process that ends or hangs, an input that takes more than :data:`SECONDS` of
processor time, or a process that uses more than :data:`MEMORY`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import conformance
from conformance.campaign import storedrows
from conformance.campaign.campaignjob import MUTATED, CampaignJob
from conformance.campaign.decoders import Ended
from conformance.campaign.done import Done
from conformance.campaign.exercise import judge_input, look_at
from conformance.campaign.inputs import digest_of_subjects, input_id, make_input, plan_input
from conformance.contain.text import safe
from conformance.contract.clause import CLAUSES, IPC, MESSAGES
from conformance.contract.files import byte_clauses
from conformance.contract.ipc.judging import ipc_clauses
from conformance.engine.outcomes import WHOLE_CASE
from conformance.generate.mutating import MutatedInput
from conformance.records import Outcome, Verdict
from conformance.reference.legal import legal_subjects
from conformance.targets.spec import TargetKind, TargetSpec

__all__ = ["LIMIT", "MEMORY", "SECONDS", "InputSteps", "mutated_job"]

SECONDS: Final = 1.0
"""The most processor time for one input."""
MEMORY: Final = 300 << 20
"""The most bytes that a process may use in addition to its use before the first input."""
LIMIT: Final = 300 << 20
"""Bytes that a process may map in addition to its mapping before the first input; a larger allocation fails."""
_DUMPED: Final = 16
"""One in so many inputs has its dump written, as lines and as JSON, because that takes longest."""
_PROC: Final = Path("/proc/self")


def mutated_job(*, cases: int, seed: int, multiplier: float = 1.0) -> CampaignJob:
    """A campaign over mutated bytes, judged by every clause that needs nothing but bytes."""
    asked = {one.id for profile in MESSAGES for one in byte_clauses(profile)}
    asked |= {one.id for profile in IPC for one in ipc_clauses(profile, writer=True)}
    return CampaignJob(
        TargetSpec(MUTATED, TargetKind.SERIALIZER, title="The suite's own judge and readers, on mutated bytes"),
        cases=cases,
        seed=seed,
        profile=MUTATED,
        clauses=tuple(one for one in CLAUSES if one in asked),
        readers=(),
        sample=0,
        multiplier=multiplier,
        suite=conformance.__version__,
    )


class InputSteps:
    """Runs mutated inputs; ``mark`` is called with each input before it begins."""

    def __init__(self, job: CampaignJob, *, mark: Callable[[int, str], None]) -> None:
        self._job = job
        self._mark = mark
        self._places = storedrows.places(job.clauses)
        self.info: Mapping[str, Any] = {"name": MUTATED, "version": digest_of_subjects(), "capabilities": []}
        _warm_up()
        self._held = _resident("VmRSS")

    def steps(self, indices: range, *, ended: Mapping[int, Mapping[str, Ended]]) -> Iterator[Done]:  # noqa: ARG002  # no decoder is used
        """The rows of each input, in order. The suite takes the place of the target, so that a death counts as a
        crash.
        """
        for index in indices:
            self._mark(index, "drive")
            yield self._done(index, make_input(self._job.seed, index))

    def _done(self, index: int, made: MutatedInput) -> Done:
        """Judge, decode and dissect one input."""
        name = input_id(self._job.seed, index)
        verdicts: Sequence[Verdict] = ()
        wrong: list[Verdict] = []
        _forget_peak()
        began = time.process_time()
        try:
            verdicts = judge_input(made)
            look_at(made, dumped=index % _DUMPED == 0)
        except Exception as error:  # noqa: BLE001  # any exception is a failure that the campaign looks for
            wrong.append(Verdict(name, WHOLE_CASE, Outcome.ERROR, reason=_reported(error)))
        seconds = time.process_time() - began
        peak = _resident("VmHWM")
        memory = None if peak is None or self._held is None else max(0, peak - self._held)
        wrong += _above(name, seconds, memory)
        # Only clauses that could not be judged are wrong: mutated bytes are meant to fail clauses.
        broken = [one for one in verdicts if one.outcome not in (Outcome.PASS, Outcome.FAIL)]
        wrong += [dataclasses.replace(one, case_id=name) for one in broken]
        failed = [one for one in verdicts if one.outcome is Outcome.FAIL]
        outcome = max((one.outcome for one in wrong), key=storedrows.WEIGHT.__getitem__, default=None)
        passed = [one.clause for one in verdicts if one.outcome is Outcome.PASS]
        judged = {
            "index": index,
            "case_id": name,
            "outcome": str(outcome or (Outcome.EXPECTED_FAIL if failed else Outcome.PASS)),
            "passed": storedrows.passed_bits(passed, self._places),
            "read": 0,
            "bytes_digest": _digest(made),
            "calls": 0,
            "received": made.size,
            "drive_seconds": 0.0,
            "judge_seconds": seconds,
            "failed": [one.clause for one in failed],
            "findings": sum(len(one.findings) for one in failed),
            "memory": memory,
        }
        return Done(plan_input(self._job.seed, index, made), judged, storedrows.verdicts(index, wrong), [])


def _above(name: str, seconds: float, memory: int | None) -> Iterator[Verdict]:
    """A failure for each bound that the input exceeds."""
    if seconds > SECONDS:
        reason = f"expected at most {SECONDS:g} s of processor time, took {seconds:.2f} s"
        yield Verdict(name, WHOLE_CASE, Outcome.FAIL, reason=reason)
    if memory is not None and memory > MEMORY:
        reason = f"expected the process to hold at most {MEMORY >> 20} MiB more than before, held {memory >> 20} MiB"
        yield Verdict(name, WHOLE_CASE, Outcome.FAIL, reason=reason)


def _reported(error: Exception) -> str:
    """An exception in one line, with the place where it was raised."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return safe(f"{type(error).__name__} in {Path(place.filename).name}, {place.name}: {error}")


def _digest(made: MutatedInput) -> int:
    digest = hashlib.sha1(usedforsecurity=False)
    for part in made.parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return int.from_bytes(digest.digest()[:8], "little", signed=True)


def _warm_up() -> None:
    """Judge and decode one subject of each kind, so that no input is charged for what is loaded only once."""
    for subjects in legal_subjects().values():
        subject = subjects[0]
        made = MutatedInput(subject, subject.kind, subject.parts, ())
        judge_input(made)
        look_at(made, dumped=True)


# --- memory -------------------------------------------------------------------------------------------


def _forget_peak() -> None:
    """Reset the system's record of this process's peak memory, if it can (proc(5), ``clear_refs``)."""
    if (_PROC / "clear_refs").exists():
        (_PROC / "clear_refs").write_text("5")


def _resident(which: str) -> int | None:
    """Bytes of memory that this process uses (``VmRSS``) or used at most (``VmHWM``); None if the system does not
    say.
    """
    try:
        lines = (_PROC / "status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(f"{which}:")), None)
