"""Judge readers of IPC data: give them inputs and turn their answers into the events of a run.

The reader decodes in a process of its own (:mod:`conformance.readers.ipc`); this module only judges its answers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from conformance.contract.clause import CLAUSES, Clause, Role
from conformance.contract.closed import Validity as Said
from conformance.contract.ipc.expectation import Expectation
from conformance.contract.ipc.reading import judge_reading
from conformance.contract.raised import reason_of
from conformance.engine.answerers import ONCE, Chosen, Putting, answerer_events
from conformance.engine.combining import covered, factors_of
from conformance.engine.events import READ_PROFILE, CaseJudged, Event, RunStarted
from conformance.engine.outcomes import WHOLE_CASE
from conformance.engine.readerinputs import OPTION, Inputs, ReadInput
from conformance.engine.selection import LeftOut
from conformance.engine.started import implementation_started
from conformance.readers.ipc.implementation import Hello, IpcReaderInfo
from conformance.readers.ipc.implementations import IPC_READERS
from conformance.readers.ipc.job import LIMIT, MEMORY, READ_OPTIONS, Job, JobAnswer, JobStage
from conformance.readers.ipc.job import JobOutcome as Ended
from conformance.readers.ipc.jobpool import IpcPool
from conformance.readers.ipc.rewrites import as_read_by
from conformance.records import Level, Outcome, Verdict

__all__ = ["REUSE", "ReaderTask", "reader_clauses"]

REUSE: Final = 64
"""The number of inputs that share a process; an input that ends the process is read again in a process of its own."""
_NO_ERRORS: Final = ("", "exit", "frame", LIMIT, MEMORY, "answer", "deadline")
"""Error classes that the suite or the system gives when it ends the reader, instead of an error of the library."""
_WHERE: Final = {
    JobStage.VALUES: "while its rows were looked at",
    JobStage.OWN: "while its own interface gave the values",
}
"""The words for an end after the bytes were read."""
_PLAIN: Final = ("types.int32", "types.utf8", "rows.several")
"""Inputs of each kind that every reader reads."""
_ENDS: Final = {Ended.DIED: Outcome.CRASH, Ended.HUNG: Outcome.HANG, Ended.EXHAUSTED: Outcome.HANG}


def reader_clauses() -> tuple[Clause, ...]:
    """The clauses on readers."""
    return tuple(clause for clause in CLAUSES.values() if clause.role is Role.READER)


@dataclasses.dataclass(frozen=True, slots=True)
class ReaderTask:
    """A reader, its inputs, and the clauses under which its answers are judged.

    ``reader`` is one of ``readers``, which are also those of the pool.
    """

    pool: IpcPool
    reader: str
    inputs: Inputs
    clauses: Sequence[Clause]
    select: tuple[str, ...] = ()
    level: Level = Level.MAY
    seed: int = 0
    generated: int = 0
    readers: Mapping[str, IpcReaderInfo] = dataclasses.field(default_factory=lambda: IPC_READERS)
    left_out: tuple[LeftOut, ...] = ()
    only: ReadInput | None = None
    putting: Putting = ONCE

    def events(self) -> Iterator[Event]:
        """Read every chosen input, or the ``only`` one, judge the answers, and yield the events.

        Raises:
            Unavailable: the reader is not installed; the text says what is missing.
        """
        return answerer_events(_Reading(self, self.pool.hello(self.reader)), self.putting)

    def verdicts(self, asked: ReadInput, answer: JobAnswer) -> list[Verdict]:
        """The verdicts on one answer; if the reader's process died or hung, a failure becomes a crash or a hang."""
        answer = _well_behaved(answer, asked.expectation)
        try:
            expected = self._expected(asked)
        except Exception as error:  # noqa: BLE001  # an error of the suite costs this input only
            return [Verdict(asked.id, WHOLE_CASE, Outcome.ERROR, reason=reason_of(error))]
        judged = judge_reading(expected, answer, case_id=asked.id)
        known = {clause.id for clause in self._asked}
        ended = _ENDS.get(answer.outcome)
        made = [
            dataclasses.replace(verdict, outcome=ended) if ended and verdict.outcome is Outcome.FAIL else verdict
            for verdict in judged
            if verdict.clause in known
        ]
        if answer.outcome is Ended.UNAVAILABLE:
            made = [Verdict(asked.id, WHOLE_CASE, Outcome.UNTESTABLE, reason=answer.error_text)]
        return made

    @property
    def _asked(self) -> list[Clause]:
        """The clauses, without those that this reader leaves to a separate validation."""
        left = self.readers[self.reader].left_to_validation
        return [clause for clause in self.clauses if clause.id not in left]

    def _expected(self, asked: ReadInput) -> Expectation:
        """The expectation for this reader: its rows have the units to which the reader is documented to convert."""
        rows = asked.expectation.rows
        if rows is None or asked.schema is None:
            return asked.expectation
        return dataclasses.replace(asked.expectation, rows=as_read_by(self.readers[self.reader], rows, asked.schema))

    def started(self, hello: Hello) -> RunStarted:
        """The first event of a run that puts each chosen input once."""
        only = () if self.only is None else (self.only.id,)
        return implementation_started(
            READ_PROFILE,
            name=self.reader,
            title=hello.title,
            version=hello.version,
            select=self.select,
            level=self.level,
            cases=only or self.inputs.ids(self.select),
            all_cases=len(self.inputs.ids()),
            clauses=self._asked,
            left_out=self.left_out,
            seed=self.seed,
            generated=0 if only else self.generated,
        )


class _Reading:
    """One run of a reader, whose ``hello`` says which inputs it can be given."""

    def __init__(self, task: ReaderTask, hello: Hello) -> None:
        self._task = task
        self._hello = hello
        self._asked: list[ReadInput] = []
        self._read: list[ReadInput] = []

    def started(self) -> RunStarted:
        return self._task.started(self._hello)

    @property
    def whole(self) -> bool:
        return self._task.only is None and not self._task.select

    def plain(self) -> Iterable[str]:
        return (
            () if self._task.only is not None else [f"{kind}.{name}" for name in _PLAIN for kind in self._hello.reads]
        )

    def judged(self, chosen: Chosen) -> Iterator[CaseJudged]:
        """Read and judge. The inputs are made as they are needed: an interrupt does not wait for the last of them. An
        input with options belongs to the shard of its vector.
        """
        task, asked = self._task, self._asked
        known = (
            [task.only]
            if task.only is not None
            else task.inputs.chosen(task.select, self._hello.read_options, self._hello.reads, chosen)
        )

        def jobs() -> Iterator[Job]:
            for one in known:
                if chosen(one.id.partition(OPTION)[0]):
                    asked.append(one)
                    yield Job(str(len(asked) - 1), one.kind, one.data, options=one.options)

        for answer in task.pool.read(jobs(), [task.reader]):
            one = asked[int(answer.id)]
            if answer.outcome not in (Ended.UNSUPPORTED, Ended.UNAVAILABLE):
                self._read.append(one)
            yield CaseJudged(
                case_id=one.id,
                title=one.title,
                replay=one.id,
                verdicts=tuple(task.verdicts(one, answer)),
                calls=1,
                received=answer.rows,
                seconds=answer.seconds,
                generated=one.generated,
            )

    def remarks(self) -> Iterator[str]:
        if self._task.only is None:
            yield from _combinations(self._hello, self._asked, self._read)
            yield from _remarks(self._hello, self._task.readers[self._task.reader])


def _well_behaved(answer: JobAnswer, expectation: Expectation) -> JobAnswer:
    """The answer, with errors that are not the library's removed from it.

    A library that read invalid bytes has accepted them, even if its rows then could not be examined: the code that
    examines them may belong to another library. If its own interface ends the process there, the library has not
    survived them. If examining the rows of legal bytes ends with an error or ends the
    process, the reader that made the rows has failed. A reader that gave up an allocation with an error of its own has
    refused the bytes, even if the suite set the limit.
    """
    where = _WHERE.get(answer.stage)
    if where is not None and (answer.outcome is Ended.REFUSED or answer.outcome in _ENDS):
        if not _is_legal(expectation) and (answer.stage is JobStage.VALUES or answer.outcome is Ended.REFUSED):
            return dataclasses.replace(answer, outcome=Ended.ROWS, table=None)
        answer = dataclasses.replace(answer, error_text=f"{where}: {answer.error_text}")
    by_error = answer.error_class not in _NO_ERRORS and not answer.error_class.startswith("SIG")
    if answer.outcome is Ended.EXHAUSTED and by_error:
        return dataclasses.replace(answer, outcome=Ended.REFUSED)
    return answer


def _is_legal(expectation: Expectation) -> bool:
    return expectation.result is Said.VALID


def _combinations(hello: Hello, asked: Sequence[ReadInput], read: Sequence[ReadInput]) -> Iterator[str]:
    """How many combinations of legal features the reader was given, and how many it did not say that it lacks."""
    given = [one.row for one in asked if one.row]
    if given:
        factors = factors_of(hello.reads, hello.read_options)
        reached, possible = covered(given, factors), covered([one.row for one in read if one.row], factors)
        yield (
            f"combinations of legal features given: {reached.reached} of {reached.possible}, "
            f"in {len(given)} readings; of these it lacks no feature in {possible.reached}"
        )


def _remarks(hello: Hello, info: IpcReaderInfo) -> Iterator[str]:
    if info.left_to_validation:
        left = ", ".join(info.left_to_validation)
        yield f"not judged, because the reader leaves them to a validation that is not called: {left}"
    lacking = [name for name in READ_OPTIONS if name not in hello.read_options]
    if lacking:
        yield f"not applicable, because its interface has no such option: {', '.join(lacking)}"
    kinds = [kind for kind in ("stream", "file", "tensor") if kind not in hello.reads]
    if kinds:
        yield f"not applicable, because it does not read them: {', '.join(f'{kind}s' for kind in kinds)}"
    yield f"written in {hello.language}"
