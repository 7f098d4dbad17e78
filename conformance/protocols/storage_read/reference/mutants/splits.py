"""Mutants of SplitReadStream: incomplete answers, children that are not streams, a parent that no longer exists."""

from __future__ import annotations

import math
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any

import grpc
import pyarrow as pa

from conformance.contract import proto
from conformance.protocols.storage_read.reference.mutants.changed import coded
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import Stream
from conformance.reference.mutants.reasons import IN_PARTS
from conformance.reference.statuses import Reason

_FEW = 100
_ENDLESS = "https://github.com/apache/beam/issues/20155"


class Splitting(ReadService):
    """A service that knows which streams were split, and which are children."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.parents: set[str] = set()
        self.children: set[str] = set()

    def split_read_stream(self, request: Any) -> Any:
        answer = super().split_read_stream(request)
        if answer.primary_stream.name:
            self.parents.add(request.name)
            self.children.update((answer.primary_stream.name, answer.remainder_stream.name))
        return answer

    def forgotten(self) -> AbstractSet[str]:
        """The names of the streams that no longer exist."""
        return frozenset()

    def find_stream(self, name: str) -> Stream:
        if name in self.forgotten():
            self.refuse(Reason.UNKNOWN_STREAM, stream=name)
        return super().find_stream(name)


@behaviour_mutant("split.primary-only", kills="split.answer-has-two-children-or-none")
class PrimaryOnly(ReadService):
    """A split names the primary stream and no remainder."""

    def split_read_stream(self, request: Any) -> Any:
        answer = super().split_read_stream(request)
        answer.ClearField("remainder_stream")
        return answer


@behaviour_mutant(
    "split.primary-is-the-parent",
    kills="split.children-have-names-of-their-own",
    also={
        **IN_PARTS,
        "split.splitting-ends": "a stream that is its own child can be split for ever",
        "split.children-are-the-parent": "a child that has its parent's name has its parent's rows",
        "split.request-is-not-ignored": "the rows of that child come twice",
    },
)
class PrimaryIsParent(ReadService):
    """The primary stream of a split of less than a hundred rows keeps the parent's name."""

    def split_read_stream(self, request: Any) -> Any:
        answer = super().split_read_stream(request)
        stream = self.sessions.find(request.name)
        if answer.primary_stream.name and stream is not None and stream.rows.num_rows < _FEW:
            answer.primary_stream.name = request.name
        return answer


@behaviour_mutant(
    "split.whole-twice",
    kills="split.request-is-not-ignored",
    also={
        **IN_PARTS,
        "combination.*": "the children have each row twice in sessions with other options too",
        "split.splitting-ends": "children with all rows can be split for ever",
        "split.child-resumes": "the second child begins with the first row of its parent",
        "split.children-are-the-parent": "the children have each row twice",
    },
)
class WholeTwice(ReadService):
    """A split names two new streams, each with all rows of the parent, as by a server that cannot divide a stream."""

    def split(self, stream: Stream, fraction: float) -> tuple[pa.Table, pa.Table]:
        del fraction
        return stream.rows, stream.rows


@behaviour_mutant("split.children-elsewhere", kills="split.children-are-below-the-session")
class ChildrenElsewhere(Splitting):
    """The children of a split are below another session."""

    def split_read_stream(self, request: Any) -> Any:
        answer = super().split_read_stream(request)
        moved = []
        for child in (answer.primary_stream, answer.remainder_stream):
            stream = self.sessions.find(child.name)
            if stream is not None:
                session, name = self.catalogue.token(), self.catalogue.token()
                child.name = f"{stream.session.name.rpartition('/')[0]}/{session}/streams/{name}"
                moved.append(Stream(child.name, stream.session, stream.rows))
        self.sessions.add(moved)
        return answer


@behaviour_mutant("split.parent-gone", kills="split.parent-is-still-served")
class ParentGone(Splitting):
    """A stream that was split no longer exists."""

    def forgotten(self) -> AbstractSet[str]:
        return self.parents


@behaviour_mutant("split.parent-is-the-remainder", kills="split.parent-is-unchanged")
class ParentIsRemainder(Splitting):
    """A stream that was split holds the remainder's rows only."""

    def rows_at_offset(self, stream: Stream, offset: int) -> pa.Table:
        rows = super().rows_at_offset(stream, offset)
        split = stream.name in self.parents and not offset
        return rows.slice(rows.num_rows // 2) if split else rows


@behaviour_mutant(
    "split.children-unknown",
    kills="split.child-is-served",
    also={"projection.filter-may-use-other-columns": "one case asks for everything at once"},
)
class ChildrenUnknown(Splitting):
    """The children of a split cannot be read."""

    def forgotten(self) -> AbstractSet[str]:
        return self.children

    def split_read_stream(self, request: Any) -> Any:
        if request.name in self.children:
            return proto.SplitReadStreamResponse()
        return super().split_read_stream(request)


@behaviour_mutant("split.child-offset-ignored", kills="split.child-resumes", also=IN_PARTS)
class ChildOffsetIgnored(Splitting):
    """A read of a child starts at its first row, whatever the offset up to its end."""

    def read_rows(self, request: Any) -> Iterator[Any]:
        stream = self.sessions.find(request.read_stream)
        if request.read_stream in self.children and stream is not None and 0 < request.offset <= stream.rows.num_rows:
            request = proto.ReadRowsRequest(read_stream=request.read_stream)
        return super().read_rows(request)


@behaviour_mutant("split.child-runs-on", kills="split.beyond-the-child-is-refused")
class ChildRunsOn(Splitting):
    """A read from beyond a child's end is answered with OK and nothing."""

    def check_offset(self, stream: Stream, offset: int) -> None:
        child = stream.name in self.children
        super().check_offset(stream, min(offset, stream.rows.num_rows) if child else offset)


@behaviour_mutant("split.beyond-the-child-out-of-range", kills="split.beyond-the-child-has-its-code")
class BeyondChildOutOfRange(Splitting):
    """A read from beyond a child's end is refused with OUT_OF_RANGE."""

    def check_offset(self, stream: Stream, offset: int) -> None:
        if stream.name in self.children and offset > stream.rows.num_rows:
            code = grpc.StatusCode.OUT_OF_RANGE
            raise coded(code, Reason.OFFSET_BEYOND_END, stream=stream.name, offset=offset)
        super().check_offset(stream, offset)


@behaviour_mutant("split.endless", kills="split.splitting-ends", source=_ENDLESS)
class Endless(ReadService):
    """A stream of one row or none is split too, into itself and an empty stream, for ever."""

    def split_read_stream(self, request: Any) -> Any:
        stream = self.sessions.find(request.name)
        if stream is None or stream.rows.num_rows > 1:
            return super().split_read_stream(request)
        session = stream.session
        halves = [Stream(self.name_stream(session.name), session, stream.rows.slice(*at)) for at in ((0,), (0, 0))]
        self.sessions.add(halves)
        primary, remainder = (proto.ReadStream(name=half.name) for half in halves)
        return proto.SplitReadStreamResponse(primary_stream=primary, remainder_stream=remainder)


@behaviour_mutant("split.fraction-clamped", kills="split.fraction-outside-is-refused")
class FractionClamped(ReadService):
    """A fraction outside 0 to 1 is read as one half."""

    def split_read_stream(self, request: Any) -> Any:
        outside = request.fraction <= 0 or request.fraction >= 1  # NaN is neither
        return super().split_read_stream(_half(request) if outside else request)


@behaviour_mutant("split.nan-is-half", kills="split.fraction-that-is-no-number-is-refused")
class NanIsHalf(ReadService):
    """A fraction is refused if it is at most 0 or at least 1, so NaN is not: it splits the stream in the middle."""

    def split_read_stream(self, request: Any) -> Any:
        return super().split_read_stream(_half(request) if math.isnan(request.fraction) else request)


def _half(request: Any) -> Any:
    return proto.SplitReadStreamRequest(name=request.name, fraction=0.5)
