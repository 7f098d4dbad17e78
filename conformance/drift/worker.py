"""The process that writes and reads with one version of pyarrow; a crash costs only one job.

It is run by its path in that version's interpreter: ``python -P worker.py JOBS ANSWERS``. Both are files of JSON lines,
with one answer per job, in order. A job has an ``id`` and an ``op``:

``{"op": "values", "recipe": …}``
    Builds the recipe, and answers with the digest of its plain values.
``{"op": "write", "recipe": …, "container": "stream", "options": {…}}``
    Writes it: ``{"status": "written", "data": BASE64, "spilled": false}``. ``spilled`` is true if the bytes depend on
    the memory around the buffers.
``{"op": "read", "container": "stream", "data": BASE64}``
    Reads the bytes: ``{"status": "rows", "digest": …, "types": […], "rows": …}``.

A recipe is built, or is ``{"data": BASE64, "container": "stream"}``: a user's own data, which this version reads. With
``"whole": true``, all values are in the digest, however many they are.

Other statuses: ``refused`` (``class`` and ``text`` of the error, ``stage``), ``unsound`` (read without an error, then
refused by full validation), ``lacking`` (this version lacks the type or option), ``died`` (``signal``; ``alone``
is true if the job kills a fresh process, too) and ``hung``.

The keeper imports pyarrow once and forks a child for each block of jobs, so that a child starts with a clean heap
within milliseconds. The module needs the standard library, numpy, pyarrow 14 or newer, and this package as a directory.
"""

from __future__ import annotations

import base64
import hashlib
import json
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

# At the end of the path: next to an installed package are the packages of its environment, including another pyarrow.
sys.path.append(str(Path(__file__).resolve().parents[2]))

import pyarrow as pa
import pyarrow.ipc

from conformance.contain.channel import Channel, FrameError
from conformance.contain.forks import Fork
from conformance.contain.limits import limit_cpu, limit_memory, no_core_dump
from conformance.contain.supervised import signal_name
from conformance.drift.building import LackingError, build_batches, build_schema
from conformance.wire.plain import PlainError, plain_table

BLOCK: Final = 64
"""Jobs per child: enough to make the fork cheap, few enough that earlier jobs hardly affect a later one."""
SECONDS: Final = 20.0
"""Processor time of a job in seconds. Hardly any job takes more than milliseconds."""
PATIENCE: Final = 6
"""The factor from a job's processor time to its time by the clock: the machine may be busy."""
MEMORY: Final = 1 << 30
"""Bytes that a child may map beyond its initial ones: hostile lengths have to fail instead of filling the memory."""
VALUES: Final = 1 << 16
"""Values of a column that are converted to plain values; a few bytes of a run can declare billions."""
ROWS: Final = 4096
"""Rows that are converted at a time where all values are."""
CHUNK: Final = 5
"""Rows per batch of a table, so that every batch but the first is a slice."""
POISON: Final = 0xAA
"""The byte around the buffers when a recipe is written for the second time; the first time it is zero."""
TEXT: Final = 2000
"""Characters kept of an error."""

Job = Mapping[str, Any]


# --- jobs -------------------------------------------------------------------------------------------


def do(job: Job) -> dict[str, Any]:
    """The answer to a job, without its id; an exception becomes an answer, too."""
    try:
        return _OPERATIONS[job["op"]](job)
    except LackingError as error:
        return {"status": "lacking", "text": str(error)}
    except _Refused as refused:
        return {"status": refused.status, "stage": refused.stage, **_reported(refused.error)}
    except Exception as error:  # noqa: BLE001  # any exception of a library is an answer
        return {"status": "refused", "stage": "build", **_reported(error)}


class _Refused(Exception):  # noqa: N818  # only carries another exception to the function that answers
    def __init__(self, error: Exception, stage: str, status: str = "refused") -> None:
        super().__init__(stage)
        self.error = error
        self.stage = stage
        self.status = status


def _reported(error: Exception) -> dict[str, str]:
    return {"class": type(error).__qualname__, "text": str(error)[:TEXT]}


def _built(recipe: Job, *, around: int = 0) -> tuple[pa.Schema, Sequence[pa.RecordBatch]]:
    """Schema and batches of a recipe; ``around`` is the byte that fills the memory around the buffers that it makes."""
    if "data" in recipe:
        return _opened(recipe)
    schema = build_schema(recipe)
    return schema, build_batches(recipe, schema, around=around)


def _values(job: Job) -> dict[str, Any]:
    schema, batches = _built(job["recipe"])
    for batch in batches:
        batch.validate(full=True)
    return {"status": "rows", "digest": _digest(job, schema, batches), "rows": sum(map(len, batches))}


def _write(job: Job) -> dict[str, Any]:
    data = _written(job, *_built(job["recipe"]))
    again = _written(job, *_built(job["recipe"], around=POISON))
    return {"status": "written", "data": base64.b64encode(data).decode(), "spilled": data != again}


def _written(job: Job, schema: pa.Schema, batches: Sequence[pa.RecordBatch]) -> bytes:
    wanted = job["options"]
    try:
        options = pa.ipc.IpcWriteOptions(
            metadata_version=getattr(pa.ipc.MetadataVersion, wanted.get("version", "V5")),
            allow_64bit=wanted.get("allow_64bit", False),
            use_legacy_format=wanted.get("legacy", False),
            compression=wanted.get("codec") or None,
            use_threads=False,
            emit_dictionary_deltas=wanted.get("deltas", False),
            unify_dictionaries=wanted.get("unify", False),
        )
        sink = pa.BufferOutputStream()
        new = pa.ipc.new_stream if job["container"] == "stream" else pa.ipc.new_file
        with new(sink, schema, options=options) as writer:
            if wanted.get("table"):
                writer.write_table(pa.Table.from_batches(batches, schema), max_chunksize=CHUNK)
            else:
                for batch in batches:
                    writer.write_batch(batch)
    except Exception as error:
        raise _Refused(error, "write") from error
    return bytes(sink.getvalue())


def _opened(job: Job) -> tuple[pa.Schema, Sequence[pa.RecordBatch]]:
    """Schema and batches of the bytes of a job."""
    data = pa.py_buffer(base64.b64decode(job["data"]))
    stage = "open"
    try:
        options = pa.ipc.IpcReadOptions(use_threads=False)
        if job["container"] == "stream":
            reader = pa.ipc.open_stream(data, options=options)
            stage = "read"
            batches = list(reader)
        else:
            reader = pa.ipc.open_file(data, options=options)
            stage = "read"
            batches = [reader.get_batch(number) for number in range(reader.num_record_batches)]
    except Exception as error:  # as above
        raise _Refused(error, stage) from error
    return reader.schema, batches


def _read(job: Job) -> dict[str, Any]:
    schema, batches = _opened(job)
    try:
        for batch in batches:
            batch.validate(full=True)
    except Exception as error:  # as above
        raise _Refused(error, "validate", "unsound") from error
    types = [str(made) for made in schema.types]
    return {"status": "rows", "digest": _digest(job, schema, batches), "types": types, "rows": sum(map(len, batches))}


def _digest(job: Job, schema: pa.Schema, batches: Sequence[pa.RecordBatch]) -> str:
    """A digest of the plain values; a text in its place if there are too many values, unless the job asks for all."""
    try:
        if job.get("whole"):
            return _digest_of_all(schema, batches)
        table = plain_table(batches, limit=VALUES)
    except PlainError as error:
        return str(error)[:TEXT]
    columns = list(table.columns) if batches else [[] for _ in schema]
    text = json.dumps([schema.names, table.rows, columns], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _digest_of_all(schema: pa.Schema, batches: Sequence[pa.RecordBatch]) -> str:
    """A digest that depends on the values and their order, and not on the sizes of the batches."""
    digest = hashlib.sha256(json.dumps(schema.names).encode())
    columns = [hashlib.sha256() for _ in schema]
    for batch in batches:
        for start in range(0, batch.num_rows, ROWS):
            for column, values in zip(columns, plain_table([batch.slice(start, ROWS)]).columns, strict=True):
                text = json.dumps(values, sort_keys=True)[1:-1]
                column.update(f"{text}, ".encode("utf-8", "surrogatepass"))
    digest.update(str(sum(map(len, batches))).encode())
    digest.update(b"".join(column.digest() for column in columns))
    return digest.hexdigest()[:32]


_OPERATIONS: Final = {"values": _values, "write": _write, "read": _read}


# --- containment ------------------------------------------------------------------------------------


class _Child(Fork):
    """A fork that answers the jobs of a block, with a limit on the time of each answer."""

    def __init__(self, jobs: Sequence[Job], *, seconds: float, memory: int) -> None:
        super().__init__(lambda channel: _serve(jobs, channel, seconds=seconds, memory=memory))
        self._seconds = seconds

    def answer(self) -> dict[str, Any]:
        """The next answer, or the way in which the child ended instead; the child is gone then."""
        hung = {"status": "hung", "text": f"no answer within {self._seconds:g} s"}
        try:
            return dict(self.channel.receive(seconds=PATIENCE * self._seconds).header)
        except TimeoutError:
            self.kill()
            return hung
        except (FrameError, OSError):
            code = self.kill()
        return hung if code == -signal.SIGXCPU else {"status": "died", "signal": signal_name(code) or f"exit {code}"}


def _serve(jobs: Sequence[Job], channel: Channel, *, seconds: float, memory: int) -> None:
    no_core_dump()
    limit_memory(memory)
    for job in jobs:
        limit_cpu(seconds)
        channel.send({"id": job["id"], **do(job)})


def answers(jobs: Sequence[Job], *, seconds: float = SECONDS, memory: int = MEMORY) -> list[dict[str, Any]]:
    """One answer per job, in order.

    If a job ended its child and other jobs came before it, it is run again in a child of its own: ``alone`` is true if
    that child ended, too.
    """
    found: list[dict[str, Any]] = []
    while len(found) < len(jobs):
        block = jobs[len(found) : len(found) + BLOCK]
        child = _Child(block, seconds=seconds, memory=memory)
        for place, job in enumerate(block):
            answer = child.answer()
            if answer["status"] in ("died", "hung"):
                found.append({"id": job["id"], **_again(job, answer, first=place == 0, seconds=seconds, memory=memory)})
                break
            found.append(answer)
        else:
            child.wait()
    return found


def _again(job: Job, answer: dict[str, Any], *, first: bool, seconds: float, memory: int) -> dict[str, Any]:
    if first:
        return answer | {"alone": True}
    child = _Child([job], seconds=seconds, memory=memory)
    second = child.answer()
    if second["status"] in ("died", "hung"):
        return second | {"alone": True}
    child.wait()
    return answer | {"alone": False}


def main() -> None:
    """Answer the jobs of one file in another file, whose first line names the versions of pyarrow and Python."""
    with open(sys.argv[1], encoding="utf-8") as lines:  # noqa: PTH123  # a script with few imports
        jobs = [json.loads(line) for line in lines]
    with open(sys.argv[2], "w", encoding="utf-8") as out:  # noqa: PTH123
        out.write(json.dumps({"pyarrow": pa.__version__, "python": sys.version.split()[0]}) + "\n")
        out.writelines(json.dumps(answer) + "\n" for answer in answers(jobs))


if __name__ == "__main__":
    main()
