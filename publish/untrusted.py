"""Makes ``reports/untrusted.json``: how much malformed input gets through each call that reads Arrow data.

Every input of the corpus of invalid Arrow that permits only an error is given to every call. The result is a count of
answers; ``python -m publish.refresh`` makes the table in ``docs/untrusted.md`` from it.

With ``--reader``, the other counts of the file stay, if they are of the same corpus.

    python -m publish.untrusted [--out FILE] [--changed N] [--select GLOB] [--reader NAME]...
"""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import conformance
from conformance.disk.files import data_file, write_whole
from conformance.engine.invalidarchive import CHANGED, Permitted, invalid_inputs
from conformance.generate.vectors import VectorSet
from conformance.readers.ipc import IPC_READERS, IpcPool, IpcReaderInfo, Job, JobAnswer, JobLimits, JobOutcome, JobStage
from conformance.records import from_json, to_json
from publish.structure import STRUCTURE

__all__ = ["CALLS", "CallCount", "Untrusted", "answer_of", "counted", "joined"]

READERS: Final[Mapping[str, IpcReaderInfo]] = {**IPC_READERS, STRUCTURE.name: STRUCTURE}
CALLS: Final[Mapping[str, str]] = {
    "pyarrow": "`ipc.open_stream`, `ipc.open_file`: every batch",
    "pyarrow-structure": "the same, and `RecordBatch.validate()`",
    "pyarrow-validated": "the same, and `RecordBatch.validate(full=True)`",
    "arro3": "`arro3.io.read_ipc_stream`, `read_ipc`: `read_all()`",
    "nanoarrow": "`ipc.InputStream`, `ArrayStream.read_all()`",
    "polars": "`read_ipc_stream`, `read_ipc`",
    "arrow-cpp": "`ipc::RecordBatchStreamReader`, `ipc::RecordBatchFileReader`",
    "arrow-go": "`ipc.NewReader`, `ipc.NewFileReader`",
    "arrow-java": "`ArrowStreamReader`, `ArrowFileReader`",
    "arrow-js": "`RecordBatchReader.from`",
    "arrow-rs": "`StreamReader::try_new`, `FileReader::try_new`: every batch",
    "flechette": "`tableFromIPC`",
}
"""The call behind each reader."""
SECONDS: Final = 5.0
GROUPS: Final = ("refused", "through", "panicked", "ended")
"""The answers: an error that callers can handle; rows; a failed assertion; a crash, a hang, a limit."""


@dataclasses.dataclass(frozen=True, slots=True)
class CallCount:
    """One call: the inputs that it was given, and its answers (:data:`GROUPS`)."""

    reader: str
    library: str
    call: str
    inputs: int
    answers: Mapping[str, int]


@dataclasses.dataclass(frozen=True, slots=True)
class Untrusted:
    """The counts of every call that could run."""

    corpus: str
    inputs: int
    calls: tuple[CallCount, ...]


def answer_of(answer: JobAnswer) -> str:
    """The group of an answer; that values could not be looked at afterwards is no refusal."""
    if answer.outcome in (JobOutcome.DIED, JobOutcome.HUNG):
        return "through" if answer.stage is JobStage.VALUES else "ended"
    if answer.outcome is JobOutcome.EXHAUSTED and answer.error_class in ("limit", "memory", "SIGKILL", "SIGXCPU"):
        return "ended"
    if answer.stage in (JobStage.VALUES, JobStage.OWN):
        return "through"
    return "panicked" if answer.panicked else "refused"


def counted(jobs: Mapping[str, Sequence[Job]], names: Sequence[str]) -> tuple[CallCount, ...]:
    """The counts of the readers ``names`` that are here; ``jobs`` are the inputs by kind."""
    with IpcPool(names, limits=JobLimits.of_work(SECONDS, reuse=64), readers=READERS, writers={}) as pool:
        absent, made = pool.absent(), []
        for name in names:
            if name in absent:
                print(f"{name}: not here, {absent[name]}", flush=True)
                continue
            hello = pool.hello(name)
            asked = [job for kind in hello.reads for job in jobs.get(kind, ())]
            groups = Counter(map(answer_of, pool.read(asked, [name])))
            library = f"{'Arrow C++ through pyarrow' if name.startswith('pyarrow') else hello.title} {hello.version}"
            answers = {group: groups[group] for group in GROUPS}
            made.append(CallCount(name, library, CALLS[name], len(asked), answers))
            print(name, answers, flush=True)
    return tuple(made)


def joined(before: Untrusted | None, made: Untrusted) -> Untrusted:
    """The new counts with those of ``before`` that were not made again, in the order of :data:`CALLS`.

    Counts of another corpus are dropped.
    """
    same = before is not None and (before.corpus, before.inputs) == (made.corpus, made.inputs)
    known = {call.reader: call for call in (*(before.calls if before is not None and same else ()), *made.calls)}
    return dataclasses.replace(made, calls=tuple(known[name] for name in CALLS if name in known))


def _before(path: Path) -> Untrusted | None:
    return from_json(Untrusted, json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def main() -> None:
    """Give the corpus to every call, and write the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("reports/untrusted.json"), help="where the counts go")
    parser.add_argument("--changed", type=int, default=CHANGED, help="copies of valid vectors with one change")
    parser.add_argument("--select", default="*", help="only inputs whose id matches")
    parser.add_argument("--reader", action="append", choices=[*CALLS], help="only this reader; may be repeated")
    options = parser.parse_args()
    jobs: dict[str, list[Job]] = {}
    for one, data in invalid_inputs(VectorSet.load(data_file("golden") / "ipc"), changed=options.changed):
        if one.outcomes == (Permitted.ERROR,) and fnmatch.fnmatchcase(one.id, options.select) and one.kind != "tensor":
            jobs.setdefault(one.kind.value, []).append(Job(one.id, one.kind.value, data))
    made = Untrusted(
        conformance.__version__, sum(map(len, jobs.values())), counted(jobs, options.reader or list(CALLS))
    )
    made = joined(_before(options.out) if options.reader else None, made)
    write_whole(options.out, json.dumps(to_json(made), indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
