"""A cursor that two reads of one stream share: a fault of two mutants, on streams of sessions and of jobs."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from conformance.contract import proto
from conformance.protocols.storage_read.reference.service import ReadService

__all__ = ["SharedCursor"]

_WAIT_SECONDS: Final = 0.1
"""How long a read waits for another of its stream: long enough for a client that makes both at once."""


class SharedCursor(ReadService):
    """Of two reads at once of one stream, the later one lacks its first row, if it has any."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.lock = threading.Lock()
        self.open: Counter[str] = Counter()
        self.met: dict[str, threading.Event] = {}

    def is_shared(self, request: Any) -> bool:  # noqa: ARG002  # mutants use it
        """Whether reads of the stream that a request names share a cursor: here, those of every stream."""
        return True

    def read_rows(self, request: Any) -> Iterator[Any]:
        if not self.is_shared(request):
            yield from super().read_rows(request)
            return
        name = request.read_stream
        with self.lock:
            self.open[name] += 1
            met = self.met.setdefault(name, threading.Event())
            if later := self.open[name] > 1:
                met.set()
        try:
            met.wait(_WAIT_SECONDS)
            asked = proto.ReadRowsRequest()
            asked.CopyFrom(request)
            asked.offset += later and self.stream_of(request).rows.num_rows > request.offset
            yield from super().read_rows(asked)
        finally:
            with self.lock:
                self.open[name] -= 1
                if not self.open[name]:
                    met.clear()
