"""The reference's state of a session: its request, its schema, its streams, and their names.

A stream is a run of the session's rows. Names are opaque to clients: they carry nothing but a random token.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from conformance.protocols.storage_read.reference.catalogue import Snapshot
from conformance.records import Column

if TYPE_CHECKING:
    from conformance.protocols.storage_read.reference.avro import (
        AvroWriter,  # fastavro, which a server imports when it writes Avro
    )

__all__ = ["OpenedSession", "Sessions", "Stream"]


MOST: Final = 2000
"""The number of streams from which those of dropped tables are forgotten: a campaign makes and drops many tables."""
LOOKS: Final = 64
"""The streams that are looked at when a session is made: more than most sessions have."""


@dataclasses.dataclass(frozen=True, slots=True)
class OpenedSession:
    """A session as it was opened: the request, the snapshot and the columns that it serves.

    ``expires`` is in microseconds since the Unix epoch. An ARROW session has ``schema_bytes``, which every first
    response repeats; an AVRO session has its writer instead.
    ``buffer_codec`` is the compression inside record batches, ``""``, ``LZ4_FRAME`` or ``ZSTD``; ``lz4_responses``
    says whether whole payloads are compressed.
    """

    name: str
    request: Any
    snapshot: Snapshot
    columns: tuple[Column, ...]
    expires: int
    schema_bytes: bytes = b""
    avro: AvroWriter | None = None
    buffer_codec: str = ""
    lz4_responses: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Stream:
    """A stream of a session: its consecutive rows, in stored form and with every column of the table.

    The offset of a ReadRows request counts these rows, from 0.
    """

    name: str
    session: OpenedSession
    rows: pa.Table


class Sessions:
    """Every stream by name, and every session whose streams are still remembered; safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._streams: OrderedDict[str, Stream] = OrderedDict()

    def add(self, streams: Sequence[Stream]) -> None:
        """Remember streams."""
        with self._lock:
            self._streams.update((stream.name, stream) for stream in streams)

    def find(self, name: str) -> Stream | None:
        """The stream of that name, expired or not; None if it never existed or was dropped."""
        with self._lock:
            return self._streams.get(name)

    def kept(self) -> list[Stream]:
        """The streams of Arrow sessions: the writer of an Avro session has no form in a file."""
        with self._lock:
            return [stream for stream in self._streams.values() if stream.session.avro is None]

    def forget(self, *, expired_before: int, is_dropped: Callable[[Snapshot], bool]) -> None:
        """Drop streams of sessions that expired before an instant in microseconds since the Unix epoch.

        Where there are more than :data:`MOST`, drop those too whose table ``is_dropped``: nothing recorded says whether
        such sessions are served. A call looks at a few streams, whatever their number is, and the next call at others.
        """
        with self._lock:
            for _ in range(min(LOOKS, len(self._streams))):
                name, stream = self._streams.popitem(last=False)
                session = stream.session
                spare = len(self._streams) >= MOST and is_dropped(session.snapshot)
                if session.expires >= expired_before and not spare:
                    self._streams[name] = stream
