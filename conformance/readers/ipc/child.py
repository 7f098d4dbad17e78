"""The fork that does a job with a library, and tells how far it got: any part of it may be the last.

It answers each job with frames (:mod:`conformance.contain.channel`): ``{"at": stage}`` where a stage begins that is
not the first, and then the answer with the bytes that were written and the table as JSON. An end without an answer is
told by the exit status.
"""

from __future__ import annotations

import contextlib
import json
import signal
import time
from typing import Any, Final

from conformance.contain.channel import Channel, Closed, Frame
from conformance.contain.limits import limit_cpu, limit_memory, mapped_bytes, unlimit_memory
from conformance.readers.ipc.info import Decoded, Library, Unsupported
from conformance.readers.ipc.job import JobOutcome, Stage
from conformance.wire.plain import PlainError, PlainTable, plain_table

__all__ = ["MAX_ERROR_TEXT", "serve"]

MAX_TABLE: Final = 128 << 20
"""Bound in bytes on a table as JSON; the limit of values keeps honest ones below."""
MAX_ERROR_TEXT: Final = 4096
"""Bound in characters on an error's text; a library may quote its input."""


def serve(library: Library, first: Frame, channel: Channel) -> None:
    """Do the first job, then what the channel asks for until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    job = first
    began_with = mapped_bytes()
    with contextlib.suppress(Closed):
        while True:
            _do(library, job, channel, began_with)
            job = channel.receive()


def _do(library: Library, job: Frame, channel: Channel, began_with: int) -> None:
    limit_memory(job.header["memory"])
    limit_cpu(job.header["cpu"])
    began = time.monotonic()
    answer, written, table = _outcome(library, job, channel)
    seconds = time.monotonic() - began
    unlimit_memory()  # sending is ours, and no longer the library's memory
    text = b"" if table is None else json.dumps(table.to_json(), separators=(",", ":")).encode()
    if len(text) > MAX_TABLE:
        answer["error_text"], text = f"the table is larger than {MAX_TABLE} bytes as JSON; not brought back", b""
    # Memory that one job leaves behind must not be added to what another may use.
    answer["retiring"] = mapped_bytes() - began_with > job.header["memory"] // 2
    channel.send({**answer, "seconds": seconds}, [written, text])


def _outcome(library: Library, job: Frame, channel: Channel) -> tuple[dict[str, Any], bytes, PlainTable | None]:
    asked = job.header
    data, schema = job.blobs
    stage = Stage.SOURCE if asked["op"] == "write" else Stage.LIBRARY
    try:
        if asked["op"] == "write":
            source = library.source(data)
            channel.send({"at": Stage.LIBRARY})
            stage = Stage.LIBRARY
            written = library.encode(asked["kind"], source, asked["options"])
            return {"outcome": JobOutcome.WRITTEN, "stage": stage}, written, None
        made = library.decode(asked["kind"], data, schema, asked["options"])
        channel.send({"at": Stage.VALUES})
        stage = Stage.VALUES
        reported, table = _rows(library.hand_over(made), asked["values"])
    except Unsupported as error:
        return {"outcome": JobOutcome.UNSUPPORTED, "stage": stage, "error_text": str(error)}, b"", None
    except BaseException as error:  # noqa: BLE001  # a Rust panic arrives as a BaseException
        text = str(error)[:MAX_ERROR_TEXT]
        kind = type(error).__qualname__
        return {"outcome": JobOutcome.REFUSED, "stage": stage, "error_class": kind, "error_text": text}, b"", None
    return reported, b"", table


def _rows(decoded: Decoded, most: int) -> tuple[dict[str, Any], PlainTable | None]:
    """The answer of a library that has read, and the table, where it is not too large to be made."""
    rows = sum(batch.num_rows for batch in decoded.batches)
    answer: dict[str, Any] = {"outcome": JobOutcome.ROWS, "stage": Stage.VALUES, "rows": rows}
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
