"""Run a job with a library in a fork, and report each stage before it begins, because any stage may end the process.

The fork answers each job with frames (:mod:`conformance.contain.channel`): ``{"at": stage}`` at the beginning of
each stage but the first, and then the answer with the written bytes and the table as JSON. If the fork ends without
an answer, its exit status describes the end.
"""

from __future__ import annotations

import contextlib
import functools
import json
import signal
import time
from collections.abc import Callable
from typing import Any, Final

from conformance.contain.channel import Channel, ChannelMessage, Closed
from conformance.contain.limits import limit_cpu, limit_memory, mapped_bytes, unlimit_memory
from conformance.readers.ipc.implementation import Decoded, Library, Tensors, Unsupported
from conformance.readers.ipc.job import JobOutcome, JobStage
from conformance.readers.ipc.own import Afterwards, Objects, OwnWay, Ways, compared, compared_after
from conformance.wire.plain import PlainError, PlainTable, plain_table

__all__ = ["MAX_ERROR_TEXT", "serve"]

MAX_TABLE: Final = 128 << 20
"""The largest table in bytes as JSON; the limit of values keeps tables of well-behaved libraries below it."""
MAX_ERROR_TEXT: Final = 4096
"""The longest error text in characters; a library may quote its input."""


def serve(library: Library, first: ChannelMessage, channel: Channel) -> None:
    """Do the first job, then each job from the channel until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    job = first
    began_with = mapped_bytes()
    with contextlib.suppress(Closed):
        while True:
            _do(library, job, channel, began_with)
            job = channel.receive()


def _do(library: Library, job: ChannelMessage, channel: Channel, began_with: int) -> None:
    limit_memory(job.header["memory"])
    limit_cpu(job.header["cpu"])
    began = time.monotonic()
    answer, written, table = _outcome(library, job, channel)
    seconds = time.monotonic() - began
    unlimit_memory()  # sending uses the suite's memory, not the library's
    text = b"" if table is None else json.dumps(table.to_json(), separators=(",", ":")).encode()
    if len(text) > MAX_TABLE:
        answer["error_text"], text = f"the table is larger than {MAX_TABLE} bytes as JSON; not brought back", b""
    # The memory that one job leaves allocated must not count against the limit of another.
    answer["retiring"] = mapped_bytes() - began_with > job.header["memory"] // 2
    channel.send({**answer, "seconds": seconds}, [written, text])


def _outcome(
    library: Library, job: ChannelMessage, channel: Channel
) -> tuple[dict[str, Any], bytes, PlainTable | None]:
    asked = job.header
    data, schema = job.blobs
    stage = JobStage.SOURCE if asked["op"] == "write" else JobStage.LIBRARY
    try:
        if asked["op"] == "write":
            source = _source(library, asked["kind"], data)
            channel.send({"at": JobStage.LIBRARY})
            stage = JobStage.LIBRARY
            written = library.encode(asked["kind"], source, asked["options"])
            return {"outcome": JobOutcome.WRITTEN, "stage": stage}, written, None
        made = library.decode(asked["kind"], data, schema, asked["options"])
        channel.send({"at": JobStage.VALUES})
        stage = JobStage.VALUES
        decoded = library.hand_over(made)
        reported, table = _rows(decoded, asked["values"])
        if table is not None and (comparison := _comparison(library, asked["options"].get("after", ""))):
            channel.send({"at": JobStage.OWN})
            stage = JobStage.OWN
            ways = comparison(made, decoded, table)
            reported |= {"ways": list(ways.differences)} if ways is not None and ways.columns else {}
    except Unsupported as error:
        return {"outcome": JobOutcome.UNSUPPORTED, "stage": stage, "error_text": str(error)}, b"", None
    except BaseException as error:  # noqa: BLE001  # a Rust panic arrives as a BaseException
        text = str(error)[:MAX_ERROR_TEXT]
        kind = type(error).__qualname__
        return {"outcome": JobOutcome.REFUSED, "stage": stage, "error_class": kind, "error_text": text}, b"", None
    return reported, b"", table


def _source(library: Library, kind: str, data: bytes) -> Any:
    """The input of a write, read by the library itself."""
    if kind != "tensor":
        return library.source(data)
    if not isinstance(library, Tensors):
        raise Unsupported("the library has no tensors")
    return library.tensor(data)


def _comparison(library: Library, after: str) -> Callable[[Any, Decoded, PlainTable], Ways | None] | None:
    """The comparison of another way out of the library with the table; None if there is no other way."""
    if after == "objects" and isinstance(library, Objects):
        return functools.partial(compared, library.objects)
    if after and isinstance(library, Afterwards):
        return lambda made, _decoded, table: compared_after(library, made, after, table)
    if isinstance(library, OwnWay):
        own = library
        return lambda made, decoded, table: compared(own, made, decoded, table) if table.rows else None
    return None


def _rows(decoded: Decoded, most: int) -> tuple[dict[str, Any], PlainTable | None]:
    """The answer of a library that has read the bytes, and the table unless it is too large."""
    rows = sum(batch.num_rows for batch in decoded.batches)
    answer: dict[str, Any] = {"outcome": JobOutcome.ROWS, "stage": JobStage.VALUES, "rows": rows}
    answer["types"] = list(decoded.types)
    answer["statistics"] = dict(decoded.statistics)
    names = tuple(decoded.schema.names)
    if rows * max(1, len(names)) > most:
        answer["error_text"] = f"{rows} rows of {len(names)} columns are more than {most} values; not brought back"
        return answer, None
    if not decoded.batches:
        return answer, PlainTable(names, tuple([] for _ in names), 0)
    table = plain_table(decoded.batches, limit=most)
    for name, column in zip(table.names, table.columns, strict=True):
        if len(column) != rows:
            raise PlainError(f"column {name!r} has {len(column)} values in a table of {rows} rows")
    return answer, table
