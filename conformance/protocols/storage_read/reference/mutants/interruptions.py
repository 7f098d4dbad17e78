"""Mutants of reads that are broken off or paused: each is right while connections hold and clients take what comes.

The cases of ``cases/interrupted`` and scenarios with fault plans kill them. A read counts as broken off if the service
was not yet asked for its last response: a server knows no more of what its client got.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import Stream
from conformance.reference.mutants.reasons import IN_PARTS
from conformance.reference.statuses import Reason

_EVERYWHERE: Final = {
    **IN_PARTS,
    "offsets.*": "a read in part is broken off too, if its stream is long",
    "abandon.*": "an abandoned read is broken off",
    "combination.*": "a row that is lost is missing, at other places, or ends its stream early",
}
_WAIT_SECONDS: Final = 0.2
"""How long a read waits until the service has noticed the end of the one before."""


class _Interrupted(ReadService):
    """A service that notices how each read of a stream ends."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.changed = threading.Condition()
        self.reading: Counter[str] = Counter()
        self.finished: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        """How often reads of a stream were broken off."""
        self.sent: dict[str, int] = {}
        """The row after the last one that was sent when a read of a stream was broken off."""

    def read_rows(self, request: Any) -> Iterator[Any]:
        name, sent, ended = request.read_stream, request.offset, False
        with self.changed:
            if request.offset:
                self.changed.wait_for(lambda: not self.reading[name], _WAIT_SECONDS)
            self.reading[name] += 1
        try:
            for answer in self.answers(request):
                sent += answer.row_count
                yield answer
            ended = True
        finally:
            with self.changed:
                self.reading[name] -= 1
                self.finished[name] += ended
                if not ended and sent > request.offset:
                    self.broken[name] += 1
                    self.sent[name] = sent
                self.changed.notify_all()

    def answers(self, request: Any) -> Iterator[Any]:
        """The responses of a read."""
        return super().read_rows(request)


@behaviour_mutant(
    "interruptions.rows-on-their-way-are-lost", kills="combination.rows-keep-their-place", also=_EVERYWHERE
)
class RowsOnTheirWayAreLost(_Interrupted):
    """A read that was broken off is resumed after the last row that was sent, whatever offset the client asks for."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        sent = self.sent.get(stream.name, 0)
        return super().rows_at_offset(stream, max(offset, sent) if offset else offset)


@behaviour_mutant("interruptions.given-up", kills="combination.permitted-request-is-served", also=_EVERYWHERE)
class GivenUp(_Interrupted):
    """A stream whose reads were broken off twice is not resumed any more."""

    def check_offset(self, stream: Stream, offset: int) -> None:
        super().check_offset(stream, offset)
        if offset and self.broken[stream.name] > 1:
            self.refuse(Reason.UNKNOWN_STREAM, stream=stream.name)


@behaviour_mutant(
    "interruptions.pause-loses-a-response",
    kills="combination.readers-together-agree",
    also={
        **_EVERYWHERE,
        **dict.fromkeys(("rows.*", "snapshot.*", "split.*", "restriction.*"), "reads overtake others"),
    },
)
class PauseLosesResponse(_Interrupted):
    """A client that does not take a response until another read of the stream is complete loses the next one."""

    def answers(self, request: Any) -> Iterator[Any]:
        name, overtaken = request.read_stream, False
        for answer in super().answers(request):
            if not overtaken:
                before = self.finished[name]
                yield answer
                overtaken = self.finished[name] > before
            else:
                overtaken = False
