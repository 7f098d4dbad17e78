"""The process in which foreign bytes are decoded; if it crashes, loops or is killed, only one reading is lost.

:mod:`conformance.readers.pool` starts it with one end of a socket pair. It takes these frames:

``{"do": "load", "modules": {reader: import path}}``
    Import these readers, then set the limits. Answers ``{"absent": {reader: reason}}``.
``{"do": "read", "readers": [...], "read": {...}}`` with the recorded bytes
    Answers one frame per reader, in that order: a reading, its table as a byte string. Most readers make the same
    bytes of one read: then ``same`` is the number of the earlier answer whose table it is, and none is sent. ``broke``
    is the traceback of an exception that the suite's own code raised after the reader had read.

The memory limit counts from what the process maps when a reading begins: gRPC and polars reserve far more address
space than they use, and a limit on the total would raise false alarms. If readings have left the worker with more
than half the limit in addition to its first mapping, it reports that it is retiring.
"""

from __future__ import annotations

import os
import socket
import sys
import traceback
from typing import Any, Final

import pyarrow as pa

from conformance.contain.channel import Channel, ChannelMessage
from conformance.contain.limits import collect_seldom, limit_cpu, limit_files, limit_memory, mapped_bytes, no_core_dump
from conformance.readers.fullread import FullRead
from conformance.readers.info import Read
from conformance.readers.registry import reader_module
from conformance.readers.tables import InvalidTable, stream_size, to_stream, validate
from conformance.records import ReadingOutcome

MAX_ERROR_TEXT: Final = 4096
"""The longest error text of a reading in characters; a decoder may quote its input."""
TABLE_SHARE: Final = 8
"""A table larger than this part of the memory limit is not returned: kilobytes of input can declare gigabytes."""
STDERR_BYTES: Final = 64 << 20
"""The largest size in bytes of the file behind standard error, which belongs to one read."""


class ReaderLoop:
    """Loads readers and reads with them until the pool closes its end."""

    def __init__(self, channel: Channel, *, memory: int, cpu_seconds: float) -> None:
        self._channel = channel
        self._memory = memory
        self._cpu_seconds = cpu_seconds
        self._loaded: dict[str, Read] = {}
        self._first_mapped = 0

    def serve(self) -> None:
        """Answer frames until the connection closes."""
        for frame in self._channel.frames():
            if frame.header["do"] == "load":
                self._channel.send({"absent": self._load(frame.header["modules"])})
            else:
                self._read(frame)

    def _load(self, modules: dict[str, str]) -> dict[str, str]:
        absent = {}
        for name, path in modules.items():
            try:
                self._loaded[name] = reader_module(path).load()
            except ImportError as error:
                absent[name] = f"not installed here: {error}"
        self._first_mapped = mapped_bytes()
        return absent

    def _read(self, frame: ChannelMessage) -> None:
        whole = FullRead.from_frame(ChannelMessage(frame.header["read"], frame.blobs))
        sent: dict[int, pa.Buffer] = {}
        for number, name in enumerate(frame.header["readers"]):
            limit_memory(self._memory)
            limit_cpu(self._cpu_seconds + 2 * whole.extra_seconds)
            header, table = self._reading(name, whole)
            same = [place for place, other in sent.items() if table is not None and other.equals(table)]
            header["same"] = same[0] if same else None
            header["retiring"] = mapped_bytes() - self._first_mapped > self._memory // 2
            self._channel.send(header, [memoryview(table)] if table is not None and not same else [])
            if (
                table is not None
                and not same
                and sum(other.size for other in sent.values()) + table.size <= self._memory // TABLE_SHARE
            ):
                sent[number] = table

    def _reading(self, name: str, whole: FullRead) -> tuple[dict[str, Any], pa.Buffer | None]:
        try:
            table = self._loaded[name](whole)
        except BaseException as error:  # noqa: BLE001  # a Rust panic arrives as a BaseException
            return _failed(error), None
        try:
            return self._brought_back(table)
        except InvalidTable as error:
            return _failed(error), None
        except Exception as error:  # noqa: BLE001  # the reader has read: what the suite makes of it is not its fault
            broke = "".join(traceback.format_exception(error))[-MAX_ERROR_TEXT:]
            return _header(ReadingOutcome.UNAVAILABLE, broke=broke), None

    def _brought_back(self, table: pa.Table) -> tuple[dict[str, Any], pa.Buffer | None]:
        """The answer with a reader's table, which has to be valid.

        Raises:
            InvalidTable: The table breaks the rules of the Arrow format.
        """
        validate(table)
        most = self._memory // TABLE_SHARE
        size = stream_size(table)  # nbytes reads the offsets of a list without slots, which need not be there
        if size > most:
            text = f"expected a table of at most {most} bytes, got {size}; it was not brought back"
            return _header(ReadingOutcome.UNAVAILABLE, error_text=text), None
        return _header(ReadingOutcome.TABLE), to_stream(table, size)


def _failed(error: BaseException) -> dict[str, Any]:
    return _header(ReadingOutcome.ERROR, type(error).__qualname__, str(error)[:MAX_ERROR_TEXT])


def _header(outcome: ReadingOutcome, error_class: str = "", error_text: str = "", *, broke: str = "") -> dict[str, Any]:
    return {"outcome": outcome, "error_class": error_class, "error_text": error_text, "broke": broke}


def main() -> None:
    """Serve on the socket whose number is the first argument; memory limit and processor seconds follow."""
    number, memory, cpu_seconds = sys.argv[1:]
    no_core_dump()
    collect_seldom()
    limit_files(STDERR_BYTES)
    # If pandas-gbq is installed, google-cloud-bigquery-storage asks it first. It decodes in its own way, which would
    # hide how the client itself handles the bytes.
    sys.modules["pandas_gbq"] = None  # type: ignore[assignment]
    ReaderLoop(Channel(socket.socket(fileno=int(number))), memory=int(memory), cpu_seconds=float(cpu_seconds)).serve()
    sys.stderr.flush()
    os._exit(0)  # threads of client libraries must not keep a finished worker alive


if __name__ == "__main__":
    main()
