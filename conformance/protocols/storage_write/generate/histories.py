"""Drawn histories of writes: streams of each type, appends in and out of place, and reads between them.

Every step is legal when its turn comes, or has one outcome that the contract knows: an append behind the end or beyond
it, and on a finalized stream, is refused; a flush beyond the end is. What the contract leaves open is not drawn: a
second flush of the same rows, commits that may fail, two connections to one stream at one time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

from conformance.generate.choices import Choices, one_in
from conformance.protocols.storage_write.records import (
    DEFAULT,
    CommitStreams,
    CreateWriteStream,
    FinalizeStream,
    FlushStream,
    GetWriteStream,
    ReadWritten,
    RowsAppend,
    StreamType,
    StreamView,
    WriteRows,
)
from conformance.records import Expect, Step

__all__ = ["draw_history"]

MOST_STREAMS: Final = 3
"""Streams of a history besides the default stream."""
_LONGEST: Final = 12
"""The most steps of a history, besides reads and the creation of streams."""
_BEYOND: Final = Expect(("OUT_OF_RANGE",))


def draw_history(choices: Choices, rows: int) -> tuple[Step, ...]:
    """The steps of a history with the rows of a table, each of which is sent for the first time by one append."""
    return _Drawing(choices, rows).steps()


@dataclasses.dataclass(slots=True)
class _Stream:
    """A stream as the steps so far leave it: ``sent`` are the appends that are in it, in their order."""

    label: str
    type: StreamType
    sent: list[RowsAppend] = dataclasses.field(default_factory=list)
    finalized: bool = False
    committed: bool = False
    flushed: int = 0

    @property
    def end(self) -> int:
        return sum(one.count for one in self.sent)


class _Drawing:
    def __init__(self, choices: Choices, rows: int) -> None:
        self._choices = choices
        self._rows = rows
        self._next = 0
        self._streams: list[_Stream] = []
        self._default = _Stream(DEFAULT, StreamType.COMMITTED)

    def steps(self) -> tuple[Step, ...]:
        found: list[Step] = [self._create() for _ in range(self._choices.integer(0, MOST_STREAMS))]
        for _ in range(self._choices.integer(2, _LONGEST)):
            step = self._about(self._choices.pick((*self._streams, *self._streams, self._default)))
            found += [] if step is None else [step]
            found += [ReadWritten()] if one_in(self._choices, 3) else []
        return (*found, ReadWritten())

    def _about(self, stream: _Stream) -> Step | None:
        """A step on a stream that is possible in its state; None if no row is left for an append."""
        if stream is self._default:
            return self._write(stream)
        kinds: list[Callable[[_Stream], Step | None]] = [self._write, self._get]
        if not stream.finalized:
            kinds += [self._write, self._write, self._finalize]
        if stream.type is StreamType.BUFFERED and not stream.finalized:
            kinds += [self._flush] * (4 if stream.flushed < stream.end else 1)
        if stream.type is StreamType.PENDING and stream.finalized and not stream.committed:
            kinds += [self._commit] * 6
        return self._choices.pick(kinds)(stream)

    def _create(self) -> Step:
        made = _Stream(f"s{len(self._streams)}", self._choices.pick(tuple(StreamType)))
        self._streams.append(made)
        return CreateWriteStream(made.label, made.type)

    def _write(self, stream: _Stream) -> Step | None:
        ahead = one_in(self._choices, 4)
        appends: list[RowsAppend] = []
        for _ in range(self._choices.integer(1, 4)):
            one = self._append(stream, in_place=ahead)
            if one is not None:
                appends.append(one)
        if not appends:
            return None
        names, schemas = one_in(self._choices, 3), one_in(self._choices, 4)
        return WriteRows(tuple(appends), stream.label, names=names, schemas=schemas, ahead=ahead)

    def _append(self, stream: _Stream, *, in_place: bool) -> RowsAppend | None:
        """An append at the end of a stream, or not ``in_place`` behind it or beyond it; None if no row is left."""
        behind = bool(stream.sent) and not in_place and stream is not self._default and one_in(self._choices, 5)
        if behind:
            place = self._choices.integer(0, len(stream.sent) - 1)
            return dataclasses.replace(stream.sent[place], offset=sum(one.count for one in stream.sent[:place]))
        count = min(self._choices.integer(1, 4), self._rows - self._next)
        if count == 0:
            return None
        first, self._next = self._next, self._next + count
        if stream is self._default:
            return RowsAppend(first, count)
        if not in_place and one_in(self._choices, 8):
            return RowsAppend(first, count, stream.end + self._choices.integer(1, 1000))
        made = RowsAppend(first, count, stream.end if one_in(self._choices, 2) else None)
        if not stream.finalized:
            stream.sent.append(made)
        return made

    def _finalize(self, stream: _Stream) -> Step:
        stream.finalized = True
        return FinalizeStream(stream.label)

    def _commit(self, _stream: _Stream) -> Step:
        """A commit of every stream that is ready for one."""
        pending = [one for one in self._streams if one.type is StreamType.PENDING]
        ready = [one for one in pending if one.finalized and not one.committed]
        for one in ready:
            one.committed = True
        return CommitStreams(tuple(one.label for one in ready))

    def _flush(self, stream: _Stream) -> Step:
        if stream.flushed == stream.end or one_in(self._choices, 5):
            return FlushStream(stream.end + self._choices.integer(0, 3), stream.label, _BEYOND)
        offset = self._choices.integer(stream.flushed, stream.end - 1)
        stream.flushed = offset + 1
        return FlushStream(offset, stream.label)

    def _get(self, stream: _Stream) -> Step:
        return GetWriteStream(stream.label, self._choices.pick(tuple(StreamView)))
