"""Writes each call to the log when it has ended, in a thread of its own: passing on never waits for the disk.

A call that was written survives a kill of this process; only calls in progress are lost with it. The thread takes calls
in the order in which they ended. If the disk is full, the log ends there, and passing on continues.
"""

from __future__ import annotations

import dataclasses
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Self

from conformance.contain.text import many, safe
from conformance.contract.clause import CLAUSES, PROFILES
from conformance.disk.files import DiskError
from conformance.engine.conversed import UNKNOWN_TABLE
from conformance.engine.events import ExchangeRecorded, RunEnded, RunStarted
from conformance.engine.log import LogError, LogWriter
from conformance.engine.provenance import Identity
from conformance.engine.selection import all_clauses
from conformance.engine.started import surroundings
from conformance.protocol import DEFAULT_PROTOCOL, plugins
from conformance.recording.keeping import Bounds, KeptMessages, Metadata
from conformance.recording.methods import recorded_methods
from conformance.recording.plugin import RecordingPlugin
from conformance.records import Asker, AskerKind, Call, CallEnd, Case, Exchange, Level, RunQuery

__all__ = ["Ended", "Journal"]


@dataclasses.dataclass(frozen=True, slots=True)
class Ended:
    """How a call ended: the fields of a :class:`~conformance.records.Call`, and the client's name."""

    status: str
    details: str
    end: CallEnd
    initial: Metadata
    trailers: Metadata
    seconds: float


class Journal:
    """The log of a recording at ``path``; use it as a context manager. ``target`` names the server.

    ``seen`` gets each exchange of one call after it was written, in the journal's thread; while calls wait for the
    disk it gets none.

    Raises:
        InUseError: another process writes this log.
        DiskError: the file cannot be written.
    """

    def __init__(
        self, path: Path, *, target: str, bounds: Bounds, seen: Callable[[ExchangeRecorded], None] | None = None
    ) -> None:
        self.path = path
        self.bounds = bounds
        self.failure: DiskError | LogError | None = None
        """The reason why the log ended before the recording did; None if it did not."""
        self.written = 0
        self.in_part = 0
        """The number of calls of which a part was kept."""
        self.passed: Counter[str] = Counter()
        """The number of calls of each method that is passed on and not recorded."""
        self._target = target
        self._seen = seen
        self._began = time.monotonic()
        self._now = time.time_ns() // 1000
        self._writer = LogWriter(path)
        self._labels = {name: one.labels() for name, one in plugins(RecordingPlugin).items()}
        self._queue: queue.SimpleQueue[tuple[KeptMessages, Ended] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write_all, name="journal", daemon=True)

    def __enter__(self) -> Self:
        self._writer.__enter__()
        try:
            self._writer.write(self._started())
        except BaseException:
            self._writer.__exit__(None, None, None)
            raise
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        """Write every call that has ended, then the last event."""
        self._queue.put(None)
        self._thread.join()
        try:
            if self.failure is None:
                self._writer.write(RunEnded(time.monotonic() - self._began, self.remarks()))
        except DiskError as error:
            self.failure = error
        finally:
            self._writer.__exit__(None, None, None)

    def keep(self, method: str, sent: Metadata) -> KeptMessages | None:
        """The place for the messages of a call that begins; None if calls of ``method`` are not recorded."""
        if method not in recorded_methods():
            self.passed[method] += 1
            return None
        protocol, name = recorded_methods()[method]
        return KeptMessages(protocol, name, sent, self.bounds, time.monotonic() - self._began)

    def keep_query(self, sent: Metadata) -> KeptMessages:
        """The place for the messages of a call of jobs.query, which is none of gRPC."""
        return KeptMessages(DEFAULT_PROTOCOL, RunQuery.METHOD, sent, self.bounds, time.monotonic() - self._began)

    def end(self, kept: KeptMessages, ended: Ended) -> None:
        """Let the thread write a call that has ended."""
        self._queue.put((kept, ended))

    def remarks(self) -> tuple[str, ...]:
        """What the log does not contain, in words."""
        said = []
        if self.in_part:
            bound = f"at most {self.bounds.call >> 20} MiB of a call and {self.bounds.together >> 20} MiB together"
            said.append(f"{many(self.in_part, 'call')} kept in part ({bound}); they are not judged as complete")
        for method, count in sorted(self.passed.items()):
            said.append(f"{many(count, 'call')} of {safe(method, limit=200)} passed on and not recorded")
        return tuple(said)

    def _write_all(self) -> None:
        while (item := self._queue.get()) is not None:
            kept, ended = item
            try:
                self._write(kept, ended)
            except (DiskError, LogError) as error:
                self.failure = self.failure or error
            finally:
                kept.release()

    def _write(self, kept: KeptMessages, ended: Ended) -> None:
        if self.failure is not None:
            return
        self.in_part += kept.full
        call = kept.call(**{field.name: getattr(ended, field.name) for field in dataclasses.fields(ended)})
        label = self._labels[kept.protocol](kept, (*ended.initial, *ended.trailers), served=ended.status == "OK")
        call = dataclasses.replace(call, label=label)
        event = self._event(kept, call)
        self._writer.write(event)
        self.written += 1
        if self._seen is not None and self.bounds.used < self.bounds.together // 2:  # else calls would not be kept
            self._seen(event)

    def _event(self, kept: KeptMessages, call: Call) -> ExchangeRecorded:
        """One call as an exchange of its own; calls that belong together are gathered when the log is read."""
        name = f"call.{self.written + 1:06}"
        case = Case(name, "One call of a client, recorded by a proxy", UNKNOWN_TABLE, steps=(), protocol=kept.protocol)
        client = Asker(AskerKind.PROXY, *_client(kept.sent))
        exchange = Exchange(name, self._target, (call,), now=self._now, protocol=kept.protocol, asked_by=client)
        return ExchangeRecorded(case, exchange)

    def _started(self) -> RunStarted:
        all_clauses()
        return RunStarted(
            **surroundings(target=Identity(self._target, "", "server", (self._target,))),
            target=self._target,
            target_file="",
            seed=0,
            generated=0,
            profile=PROFILES[0],
            select=(),
            clause=(),
            level=Level.MAY,
            readers=False,
            deadline_multiplier=1.0,
            cases=(),
            clauses=(),
            all_cases=0,
            all_clauses=len(CLAUSES),
        )


def _client(sent: Metadata) -> tuple[str, str]:
    """The name and version of a client, by the first product of its user agent (RFC 9110, section 10.1.5)."""
    agent = next((value for key, value in sent if key == "user-agent" and isinstance(value, str)), "")
    name, _, version = agent.partition(" ")[0].partition("/")
    return name or "an unnamed client", version if name else ""
