"""Faults of sessions: snapshots, caches, limits, and what one session does to another."""

# ruff: noqa: D102  # a step means what the docstring of the same step of the service says

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa

from conformance.protocols.storage_read.reference.catalogue import Catalogue, MissingError, Snapshot
from conformance.protocols.storage_read.reference.service import SESSION_LIFETIME, ReadService
from conformance.protocols.storage_read.reference.session import Sessions, Stream
from tests.faults.register import fault

_SECOND: Final = 1_000_000
MAX_SESSIONS: Final = 64


@fault(
    "sessions.snapshot-nanos-dropped",
    why="The proto Timestamp is turned into a time by its `seconds` alone; tests with whole seconds pass.",
    source="https://protobuf.dev/reference/protobuf/google.protobuf/#timestamp",
    needs="snapshot, append",
)
class SnapshotNanosDropped(ReadService):
    """A snapshot time is rounded down to the second."""

    def snapshot_instant(self, asked: Any) -> int | None:
        at = super().snapshot_instant(asked)
        return None if at is None else at // _SECOND * _SECOND


@fault(
    "sessions.open-ended-last-stream",
    why="Streams are ranges over the live table, and the last range has no upper end.",
    source="",
    needs="append, stream",
)
class OpenEndedLastStream(ReadService):
    """The last stream of a session without a snapshot time also returns rows that were appended after its creation."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self._open: dict[str, int] = {}

    def create_read_session(self, request: Any) -> Any:
        answer = super().create_read_session(request)
        if answer.streams and not request.read_session.table_modifiers.HasField("snapshot_time"):
            last = self.find_stream(answer.streams[-1].name)
            self._open[last.name] = self.plan_streams(last.session.snapshot, request)[-1][0]
        return answer

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        session = stream.session
        try:
            now = self.catalogue.snapshot(session.snapshot.table)
        except MissingError:
            return stream.rows.slice(offset)
        if stream.name not in self._open or now.created != session.snapshot.created:
            return stream.rows.slice(offset)
        mask = self.restrict(now, session.request.read_session.read_options.row_restriction)
        return self.rows_of_run(now.rows, mask, self._open[stream.name], now.rows.num_rows).slice(offset)


@fault(
    "sessions.one-stream-per-append",
    why="Each append is a file, and files are the smallest unit of the planner.",
    source="https://github.com/goccy/bigquery-emulator/issues/29",
    needs="append, stream limit",
)
class OneStreamPerAppend(ReadService):
    """A table that was appended to more often than there would be streams gets one stream for each append, whatever the
    maximum.
    """

    def plan_streams(self, snapshot: Snapshot, request: Any) -> list[tuple[int, int]]:
        plan = super().plan_streams(snapshot, request)
        if not plan or not snapshot.rows.num_columns:
            return plan
        sizes = [len(chunk) for chunk in snapshot.rows.column(0).chunks if len(chunk)]
        edges = [0, *itertools.accumulate(sizes)]
        return list(itertools.pairwise(edges)) if len(sizes) > len(plan) else plan


@fault(
    "sessions.time-travel-lost-under-restriction",
    why="Filtered reads go through the query engine, and the path to it passes the table but not the snapshot time.",
    source="",
    needs="restriction, snapshot, append",
)
class TimeTravelLostUnderRestriction(ReadService):
    """A session with a restriction and a snapshot time reads the table as it is now."""

    def take_snapshot(self, asked: Any) -> Snapshot:
        snapshot = super().take_snapshot(asked)
        return self.catalogue.snapshot(snapshot.table) if asked.read_options.row_restriction else snapshot


@fault(
    "sessions.mask-cache-folds-case",
    why="Keywords and names have no case, so the key of the cache of filters is the text in lower case.",
    source="https://cloud.google.com/bigquery/docs/reference/standard-sql/lexical#case_sensitivity",
    needs="restriction, second session",
)
class MaskCacheFoldsCase(ReadService):
    """Two restrictions on one table that differ only in case, also inside of string literals, select the same rows."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self._masks: dict[Any, Any] = {}

    def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
        key = (snapshot.table, snapshot.created, snapshot.rows.num_rows, text.lower())
        if key not in self._masks:
            self._masks[key] = super().restrict(snapshot, text)
        return self._masks[key]


@fault(
    "sessions.mask-cache-survives-recreate",
    why="A table is append-only, so its name and its number of rows seem to identify its content.",
    source="",
    needs="restriction, second session, reused table name",
)
class MaskCacheSurvivesRecreate(ReadService):
    """A restriction on a table that was dropped and made again with as many rows selects the old table's places."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self._masks: dict[Any, Any] = {}

    def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
        key = (snapshot.table, snapshot.rows.num_rows, text)
        if key not in self._masks:
            self._masks[key] = super().restrict(snapshot, text)
        return self._masks[key]


@fault(
    "sessions.identical-request-from-cache",
    why="Clients retry CreateReadSession, so the server makes it idempotent: the same request gets the same answer.",
    source="https://google.aip.dev/155",
    needs="second session, append",
)
class IdenticalRequestFromCache(ReadService):
    """A request that equals an earlier one of the last ten minutes gets the earlier session, with its older rows."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self._answers: dict[bytes, tuple[int, Any]] = {}

    def create_read_session(self, request: Any) -> Any:
        key, now = request.SerializeToString(deterministic=True), self.catalogue.clock()
        made, answer = self._answers.get(key, (0, None))
        if answer is None or now - made > 600 * _SECOND:
            answer = super().create_read_session(request)
            self._answers[key] = (now, answer)
        return answer


@fault(
    "sessions.newest-session-codec",
    why="The writer of batches is one object of the server, and each new session sets its options.",
    source="",
    needs="buffer compression, second session",
)
class NewestSessionCodec(ReadService):
    """Batches of every session have the buffer compression that the newest session asked for."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self._codec = ""

    def resolve_compression(self, options: Any) -> tuple[str, bool]:
        self._codec, lz4 = super().resolve_compression(options)
        return self._codec, lz4

    def encode_batch(self, part: pa.RecordBatch, codec: str) -> bytes:
        return super().encode_batch(part, self._codec)


class _Bounded(Sessions):
    """The streams of the newest sessions."""

    def __init__(self) -> None:
        super().__init__()
        self._names: list[str] = []

    def add(self, streams: Sequence[Stream]) -> None:
        """Remember streams, and forget those of the oldest session if there are too many."""
        super().add(streams)
        with self._lock:
            for stream in streams:
                if stream.session.name not in self._names:
                    self._names.append(stream.session.name)
            self._names = self._names[-MAX_SESSIONS:]
            self._streams = OrderedDict(
                (name, it) for name, it in self._streams.items() if it.session.name in self._names
            )


@fault(
    "sessions.only-newest-64",
    why="The table of sessions must not grow for ever, so it is an LRU cache of a size that seemed generous.",
    source="https://github.com/GoogleCloudDataproc/spark-bigquery-connector/pull/1311",
    needs="many sessions, late read",
)
class OnlyNewest64(ReadService):
    """The 65th session makes the streams of the first one unknown, long before they expire."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self.sessions = _Bounded()


@fault(
    "sessions.expiry-from-last-read",
    why="Sessions are kept in a cache whose entries expire a time after their last access.",
    source="https://github.com/GoogleCloudDataproc/spark-bigquery-connector/pull/1311",
    needs="expiry, repeated read",
    inexpressible="a client cannot move the clock of a server, and no run takes six hours",
)
class ExpiryFromLastRead(ReadService):
    """A session whose streams are read goes on for six hours after the last read, whatever its expire_time says."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self._used: dict[str, int] = {}

    def find_stream(self, name: str) -> Stream:
        stream, now = self.sessions.find(name), self.catalogue.clock()
        if stream is not None and now - self._used.get(stream.session.name, stream.session.expires) < SESSION_LIFETIME:
            self._used[stream.session.name] = now
            return stream
        found = super().find_stream(name)
        self._used[found.session.name] = now
        return found
