"""Judge writers of IPC data over their complete option space: a covering array of samples and options.

The writer gets the reference's stream of a sample, reads it with its own library, and writes the same batches again.
Every clause on bytes and on writers judges the written bytes, given the original batches. A writer of tensors gets the
reference's message of a tensor instead.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.contract.clause import Clause
from conformance.contract.ipc.ipcview import Attached
from conformance.contract.ipc.judging import judge_ipc
from conformance.engine.answerers import ONCE, Chosen, Putting, answerer_events
from conformance.engine.events import WRITE_PROFILE, CaseJudged, Event, RunStarted
from conformance.engine.given import expected_of, expected_tensors, not_asked
from conformance.engine.outcomes import WHOLE_CASE
from conformance.engine.selection import LeftOut, Patterns
from conformance.engine.started import implementation_started
from conformance.generate.covering import Combination, Coverage, Factors, Row, coverage, covering
from conformance.readers.ipc.implementation import Hello, IpcReaderInfo
from conformance.readers.ipc.implementations import IPC_READERS, IPC_WRITERS
from conformance.readers.ipc.job import METADATA, WRITE_OPTIONS, Job, JobAnswer, JobStage
from conformance.readers.ipc.job import JobOutcome as Ended
from conformance.readers.ipc.jobpool import WINDOW, IpcPool
from conformance.records import Level, Outcome, Verdict
from conformance.reference.ipc.samples import SAMPLES
from conformance.reference.ipc.samples.tensors import TENSORS
from conformance.wire import Kind

__all__ = ["WriteTask", "WriterTask", "factors", "sample_ids", "tensor_factors"]

_ANY: Final[Mapping[str, tuple[Hashable, ...]]] = {"min_space_savings": (None, 0.0, 0.5, 1.0)}
"""Values to try for options that accept any value; None means that the option is not given, as without a codec."""
_PLAIN: Final = ("types.int32", "types.utf8", "rows.several")
"""Samples that every writer writes, if it has no other options than its first ones."""
_THREES: Final = frozenset({"sample", "codec", "given", "layout", "through"})
"""What a writer compresses, and how it got it, depend on the sample: these are covered in threes."""
_GIVEN: Final = "given"
_ALONE: Final = (_GIVEN, "version")
"""What arrays a writer has, and which buffers it writes for them, depend on these options."""
_OF_TENSORS: Final = ("layout", "through")
"""The options of writers of tensors, which no other writer has."""
_ON_TYPES: Final = ("written.types", "written.encoding", "written.rows")
"""Clauses on the types of the given batches, and on values in the units of those types."""
_UNREAD: Final = frozenset({Ended.REFUSED, Ended.DIED, Ended.HUNG, Ended.EXHAUSTED})
"""The outcomes of a library that does not read what it wrote. One that lacks a feature may say so."""
_OUTCOMES: Final = {
    Ended.DIED: Outcome.CRASH,
    Ended.HUNG: Outcome.HANG,
    Ended.EXHAUSTED: Outcome.HANG,
    Ended.REFUSED: Outcome.UNSUPPORTED,
    Ended.UNSUPPORTED: Outcome.UNSUPPORTED,
    Ended.UNAVAILABLE: Outcome.UNTESTABLE,
}
"""The outcome of a case without bytes: no text obliges a writer to support a type or an option."""


@dataclasses.dataclass(frozen=True, slots=True)
class WriteTask:
    """One row of the covering array: the sample, the kind of output, and the options."""

    sample: str
    kind: Kind
    options: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The sample, the kind, and the options that differ from the first value of their factor."""
        reported = "".join(f"+{key}={json.dumps(value)}" for key, value in self.options.items())
        return f"{self.kind}.{self.sample}{reported}"


def sample_ids() -> list[str]:
    """The ids of all samples: those of record batches, then those of tensors."""
    return [*SAMPLES, *TENSORS]


def factors(hello: Hello, samples: Sequence[str]) -> Factors:
    """The option space of the streams and files that a writer declares."""
    exposed = {key: tuple(values) or _ANY[key] for key, values in hello.write_options.items() if key not in _OF_TENSORS}
    kinds = tuple(kind for kind in hello.writes if kind != Kind.TENSOR)
    return {"sample": tuple(name for name in samples if name not in TENSORS), "kind": kinds, **exposed}


def tensor_factors(hello: Hello, samples: Sequence[str]) -> Factors:
    """The option space of the tensors that a writer declares: each sample, laid out and made sparse in each way."""
    kinds = tuple(kind for kind in hello.writes if kind == Kind.TENSOR)
    options = {key: tuple(hello.write_options.get(key, ("",))) for key in _OF_TENSORS}
    return {"sample": tuple(name for name in samples if name in TENSORS), "kind": kinds, **options}


def _plainly(space: Factors) -> Iterator[Row]:
    """Each sample in each kind under each value of the options :data:`_ALONE`, with every other option at its first
    value: a fault of one shows where no other option hides it.
    """
    plain = {name: values[0] for name, values in space.items()}
    alone: list[Row] = [{}, *({name: value} for name in _ALONE for value in space.get(name, ())[1:])]
    for sample, kind, chosen in itertools.product(space["sample"], space["kind"], alone):
        row = {**plain, "sample": sample, "kind": kind, **chosen}
        if _go_together(tuple(row.items())):
            yield row


def _spaces(hello: Hello, samples: Sequence[str]) -> list[Factors]:
    """The option spaces of a writer that have samples and kinds."""
    spaces = (factors(hello, samples), tensor_factors(hello, samples))
    return [space for space in spaces if space["sample"] and space["kind"]]


def _go_together(pair: Combination) -> bool:
    """False for pairs that the format rules out: savings or a level without a codec, metadata of a stream's file; and
    metadata of batches that the writer itself makes of a table.

    A file cannot replace a dictionary. A writer that gets a stream which does may unify the dictionaries or refuse.
    """
    values = dict(pair)
    if values.get("codec") == "" and values.get("level"):
        return False
    of_file = values.get("metadata") == "file" and values.get("kind") == Kind.STREAM
    of_table = values.get("metadata") == "batches" and (values.get("given") == "chunked" or values.get("unify") is True)
    if of_file or of_table:
        return False
    return not (values.get("codec") == "" and values.get("min_space_savings") is not None)


@dataclasses.dataclass(frozen=True, slots=True)
class WriterTask:
    """A writer, its samples, and the clauses under which its bytes are judged.

    ``readers`` give, under the writer's name, the types that its library is documented to change.
    """

    pool: IpcPool
    writer: str
    clauses: Sequence[Clause]
    select: tuple[str, ...] = ()
    level: Level = Level.MAY
    readers: Mapping[str, IpcReaderInfo] = dataclasses.field(default_factory=lambda: IPC_READERS)
    left_out: tuple[LeftOut, ...] = ()
    putting: Putting = ONCE

    def samples(self) -> list[str]:
        """The samples that match the selection (globs)."""
        globs: Patterns = Patterns(self.select)
        return [name for name in sample_ids() if not self.select or globs.match(name)]

    def rows(self) -> list[WriteTask]:
        """The covering array, always the same for the same writer.

        Raises:
            Unavailable: the writer is not installed.
        """
        made = []
        for space in _spaces(self.pool.hello(self.writer), self.samples()):
            for row in covering(space, _go_together, threes=_THREES, first=_plainly(space)):
                chosen = {key: row[key] for key in space if row[key] != space[key][0]}
                options = {key: value for key, value in chosen.items() if key not in ("sample", "kind")}
                made.append(WriteTask(str(row["sample"]), Kind(str(row["kind"])), options))
        return made

    def find(self, name: str) -> WriteTask:
        """The case with that id, whether or not the selection and the covering array contain it.

        Raises:
            ValueError: it is not the id of a sample, a kind and options that the writer has.
            Unavailable: the writer is not installed.
        """
        kind, _, rest = name.partition(".")
        sample, *reported = rest.split("+")
        options = dict(_option(text) for text in reported)
        space = next(iter(_spaces(self.pool.hello(self.writer), [sample])), None)
        if sample not in sample_ids() or space is None or kind not in space["kind"]:
            raise ValueError(f"expected the id of a case that {self.writer} is given, got {name!r}")
        if strange := [key for key, value in options.items() if value not in space.get(key, ())]:
            raise ValueError(f"expected options that {self.writer} has in the id of a case, got {strange[0]!r}")
        return WriteTask(sample, Kind(kind), options)

    def events(self, rows: Sequence[WriteTask] | None = None, *, whole: bool = True) -> Iterator[Event]:
        """Write, judge, and yield the events; ``rows`` are those of :meth:`rows` unless given.

        If they are the ``whole`` of the rows to write, a remark reports how much of the option space they cover.

        Raises:
            Unavailable: the writer is not installed; the text says what is missing.
        """
        hello = self.pool.hello(self.writer)
        return answerer_events(_Writing(self, hello, self.rows() if rows is None else rows, whole=whole), self.putting)

    def answers(self, rows: Sequence[WriteTask], hello: Hello) -> Iterator[tuple[JobAnswer, str | None]]:
        """Each answer of the writer, with the error of its own library that reads what it wrote: empty if it reads it,
        None if it has no reader of the kind.
        """
        jobs = [Job(str(place), row.kind, _source(row.sample), options=row.options) for place, row in enumerate(rows)]
        for window in _windows(jobs):
            answers = list(self.pool.write(window, [self.writer]))
            again = [
                Job(answer.id, rows[int(answer.id)].kind, answer.data)
                for answer in answers
                if answer.outcome is Ended.WRITTEN and rows[int(answer.id)].kind in hello.reads
            ]
            back = {one.id: _unread(one) for one in self.pool.read(again, [self.writer])}
            for answer in answers:
                yield answer, back.get(answer.id)

    def verdicts(self, row: WriteTask, answer: JobAnswer, read_back: str | None = None) -> list[Verdict]:
        """The verdicts on the written bytes; one verdict on the whole case if nothing was written."""
        if answer.outcome is not Ended.WRITTEN:
            return [Verdict(row.id, WHOLE_CASE, _OUTCOMES[answer.outcome], reason=_said(answer))]
        known = {clause.id for clause in self._asked}
        if row.kind is Kind.TENSOR:
            permitted = expected_tensors(TENSORS[row.sample], row.options.get("through", ""))
            # Of several, the one counts that the bytes are nearest to.
            judged = min((judge_ipc(answer.data, row.kind, given=one) for one in permitted), key=_failures)
        else:
            place = row.options.get("metadata")
            attached = Attached(place, METADATA) if place else None
            form = row.options.get(_GIVEN, "")
            batches = expected_of(SAMPLES[row.sample].batches, form)
            judged = judge_ipc(answer.data, row.kind, expected=batches, attached=attached, read_back=read_back)
            known -= not_asked(form)
        return [dataclasses.replace(verdict, case_id=row.id) for verdict in judged if verdict.clause in known]

    @property
    def _asked(self) -> list[Clause]:
        """The clauses, without those on types if the library is documented to have other types."""
        reader = self.readers.get(self.writer)
        left = _ON_TYPES if reader is not None and reader.rewrites else ()
        return [clause for clause in self.clauses if clause.id not in left]

    @property
    def _title(self) -> str:
        """The writer's own title; empty if the writer is named after its library's reader."""
        return IPC_WRITERS[self.writer].title if self.writer in IPC_WRITERS else ""

    def covered(self, hello: Hello, written: Sequence[WriteTask]) -> Iterator[str]:
        """How much of the option space the written rows cover, in words."""
        found = [self.coverage(space, written) for space in _spaces(hello, self.samples())]
        reached, possible = (
            sum(counts) for counts in zip(*((one.reached, one.possible) for one in found), strict=True)
        )
        yield f"combinations of sample and options written: {reached} of {possible}"
        if missing := possible - reached:
            yield f"{missing} combinations are not written, because the library refuses or lacks what they need"

    def remarks(self, hello: Hello) -> Iterator[str]:
        """What was not judged, or does not apply."""
        if len(self._asked) < len(self.clauses):
            yield f"not judged, because the library documents that it changes types: {', '.join(_ON_TYPES)}"
        absent = [name for name in WRITE_OPTIONS if name not in hello.write_options]
        if absent:
            yield f"not applicable, because its interface has no such option: {', '.join(absent)}"
        yield f"written in {hello.language}"

    @staticmethod
    def coverage(space: Factors, written: Sequence[WriteTask]) -> Coverage:
        """The coverage of one of the writer's option spaces by the rows that were written."""
        first = {key: values[0] for key, values in space.items()}
        known = (row for row in written if row.sample in space["sample"])
        full = [{**first, "sample": row.sample, "kind": str(row.kind), **row.options} for row in known]
        return coverage(full, space, _go_together, threes=_THREES)

    def started(self, hello: Hello, rows: Sequence[WriteTask]) -> RunStarted:
        """The first event of a run that writes each of the rows once."""
        return implementation_started(
            WRITE_PROFILE,
            name=self.writer,
            title=self._title or hello.title,
            version=hello.version,
            select=self.select,
            level=self.level,
            cases=[row.id for row in rows],
            all_cases=len(rows),
            clauses=self._asked,
            left_out=self.left_out,
        )


class _Writing:
    """One run of a writer over ``rows``."""

    def __init__(self, task: WriterTask, hello: Hello, rows: Sequence[WriteTask], *, whole: bool) -> None:
        self._task = task
        self._hello = hello
        self._rows = rows
        self._whole = whole
        self._written: list[WriteTask] = []

    def started(self) -> RunStarted:
        return self._task.started(self._hello, self._rows)

    @property
    def whole(self) -> bool:
        return self._whole and not self._task.select

    def plain(self) -> Iterator[str]:
        return (row.id for row in self._rows if self._whole and row.sample in _PLAIN and not row.options)

    def judged(self, chosen: Chosen) -> Iterator[CaseJudged]:
        rows = [row for row in self._rows if chosen(row.id)]
        for answer, read_back in self._task.answers(rows, self._hello):
            row = rows[int(answer.id)]
            if answer.outcome is Ended.WRITTEN:
                self._written.append(row)
            yield CaseJudged(
                case_id=row.id,
                title=(TENSORS if row.kind is Kind.TENSOR else SAMPLES)[row.sample].title,
                replay=row.id,
                verdicts=tuple(self._task.verdicts(row, answer, read_back)),
                calls=1,
                received=len(answer.data),
                seconds=answer.seconds,
            )

    def remarks(self) -> Iterator[str]:
        if self._whole:
            yield from self._task.covered(self._hello, self._written)
        yield from self._task.remarks(self._hello)


def _failures(judged: Sequence[Verdict]) -> int:
    return sum(verdict.outcome is Outcome.FAIL for verdict in judged)


def _unread(answer: JobAnswer) -> str:
    """The error of a library that does not read what it wrote; that of pyarrow, which takes its rows, is another's."""
    return _said(answer) if answer.outcome in _UNREAD and answer.stage is JobStage.LIBRARY else ""


def _windows(jobs: Sequence[Job]) -> Iterator[Sequence[Job]]:
    """The jobs in the groups that are written, and then read: a pool does one of the two at a time."""
    return (jobs[start : start + WINDOW] for start in range(0, len(jobs), WINDOW))


def _option(text: str) -> tuple[str, Hashable]:
    """``codec="lz4"`` as name and value; text that is not JSON is returned whole and matches no value of an option."""
    key, _, value = text.partition("=")
    try:
        made: Hashable = json.loads(value)
    except ValueError:
        return key, text
    return key, made


def _source(sample: str) -> bytes:
    """What a writer is given: the reference's stream, uncompressed, or its message of a tensor."""
    return TENSORS[sample].model().encode() if sample in TENSORS else SAMPLES[sample].stream().encode()


def _said(answer: JobAnswer) -> str:
    text = " ".join(answer.error_text.split())
    return f"{answer.outcome}{f': {text[:160]}' if text else ''}"
