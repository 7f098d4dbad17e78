"""A history: the calls that clients made of a server, when each began and ended, and the ids of the rows that came.

Times are numbers on any one clock. Of two calls, one was first only if it ended before the other began; otherwise they
were concurrent, and their order is not known.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Iterable, Mapping
from typing import ClassVar, Final, TypeAlias

__all__ = ["Append", "Create", "End", "History", "HistoryCall", "HistoryError", "RowsRead", "Split"]

MOST_TIME: Final = 2.0**63
"""The latest time of a call: nanoseconds from 1970 on, until the year 2262. Any clock may be used, so the limit of the
seconds of logs would be too low.
"""


class HistoryError(ValueError):
    """The calls are no history; the text is one sentence: which call, what was expected, what was found."""


class End(enum.StrEnum):
    """How a call ended, as its client saw it."""

    OK = "ok"
    """With success; a read reached the end of its stream."""
    CUT = "cut"
    """A read that delivered its rows and was then cancelled, or failed."""
    REFUSED = "refused"
    """With an error: the call had no effect."""
    UNKNOWN = "unknown"
    """Without an answer: an insertion may have happened, or may still happen. The rows of a read came."""


@dataclasses.dataclass(frozen=True, slots=True)
class Append:
    """The insertion of ``rows`` into ``table``; each row may become visible alone, at an instant within the call.

    ``late`` says that the rows may become visible at any time after the call, as those of a streaming buffer may.
    """

    TAG: ClassVar[str] = "append"

    begin: float
    end: float
    rows: tuple[int, ...]
    table: str = "table"
    late: bool = False
    ended: End = End.OK


@dataclasses.dataclass(frozen=True, slots=True)
class Create:
    """The creation of ``session`` over ``table``, with the names of its ``streams``.

    The session shows the table as of one instant within the call, or as of the requested snapshot time, which lies
    between ``after`` and ``before``. A ``partial`` session selects rows, by a restriction or a sample: which rows it
    leaves out is not known.
    """

    TAG: ClassVar[str] = "create"

    begin: float
    end: float
    session: str
    streams: tuple[str, ...] = ()
    table: str = "table"
    after: float | None = None
    before: float | None = None
    partial: bool = False
    ended: End = End.OK

    @property
    def earliest(self) -> float:
        """The earliest instant that the session may show."""
        return self.begin if self.after is None else self.after

    @property
    def latest(self) -> float:
        """The latest instant that the session may show."""
        return self.end if self.before is None else self.before


@dataclasses.dataclass(frozen=True, slots=True)
class RowsRead:
    """A read of ``stream`` from row ``offset`` on, with the ids of the ``rows`` that came, in order."""

    TAG: ClassVar[str] = "read"

    begin: float
    end: float
    stream: str
    rows: tuple[int, ...] = ()
    offset: int = 0
    ended: End = End.OK


@dataclasses.dataclass(frozen=True, slots=True)
class Split:
    """A split of ``stream`` into two children; both names are empty if the stream cannot be split."""

    TAG: ClassVar[str] = "split"

    begin: float
    end: float
    stream: str
    primary: str = ""
    remainder: str = ""
    ended: End = End.OK

    @property
    def divided(self) -> bool:
        """True if there are two children."""
        return bool(self.primary and self.remainder)


HistoryCall: TypeAlias = Append | Create | RowsRead | Split


@dataclasses.dataclass(frozen=True)
class History:
    """Calls in any order; findings name a call by its index.

    Raises:
        HistoryError: a time is negative or after :data:`MOST_TIME`, a call ends before it begins, a row is inserted
            twice, a stream has two origins or none, or an offset is negative.
    """

    calls: tuple[HistoryCall, ...]

    def __post_init__(self) -> None:
        for index, call in enumerate(self.calls):
            asked = (call.after, call.before) if isinstance(call, Create) else ()
            for at in (call.begin, call.end, *asked):
                if at is not None and not 0 <= at <= MOST_TIME:
                    raise HistoryError(f"call {index}: expected times from 0 to {MOST_TIME:g}, got {at:g}")
            if not call.begin <= call.end:
                raise HistoryError(f"call {index}: expected an end at or after {call.begin}, got {call.end}")
        known = self.origins
        for index, call in enumerate(self.calls):
            if isinstance(call, RowsRead | Split) and call.stream not in known:
                raise HistoryError(f"call {index}: expected a stream that another call names, got {call.stream!r}")
            if isinstance(call, RowsRead) and call.offset < 0:
                raise HistoryError(f"call {index}: expected an offset of at least 0, got {call.offset}")
        self._check_descent()
        _ = self.inserted

    def _check_descent(self) -> None:
        """Check that every stream goes back to a session; splits of one another's children would be a circle."""
        sound: set[str] = set()
        for first in self.origins:
            name, path = first, dict[str, None]()
            while name not in sound and isinstance(call := self.calls[self.origins[name]], Split):
                if name in path:
                    raise HistoryError(f"call {self.origins[name]}: expected a stream of a session, got a circle")
                path[name] = None
                name = call.stream
            sound.update(path)

    @functools.cached_property
    def origins(self) -> Mapping[str, int]:
        """The call that named each stream."""
        found: dict[str, int] = {}
        for index, call in enumerate(self.calls):
            if isinstance(call, Create):
                names = call.streams
            elif isinstance(call, Split) and call.divided:
                names = (call.primary, call.remainder)
            else:
                continue
            for name in names:
                if name in found:
                    raise HistoryError(f"call {index}: expected new streams, but call {found[name]} has {name!r} too")
                found[name] = index
        return found

    @functools.cached_property
    def inserted(self) -> Mapping[int, int]:
        """The call that inserted each row, also if it was refused or has no answer."""
        found: dict[int, int] = {}
        for index, call in enumerate(self.calls):
            if isinstance(call, Append):
                before = len(found)
                found.update(dict.fromkeys(call.rows, index))
                if len(found) - before != len(call.rows):
                    raise HistoryError(f"call {index}: expected rows with new ids, got an id for the second time")
        return found

    @functools.cached_property
    def _descent(self) -> Mapping[str, tuple[int, int]]:
        """The session of each stream, and how many splits are between them."""
        found: dict[str, tuple[int, int]] = {}
        for stream in self.origins:
            path = []
            name, origin = stream, self.origins[stream]
            while name not in found and isinstance(call := self.calls[origin], Split):
                path.append(name)
                name, origin = call.stream, self.origins[call.stream]
            session, depth = found.setdefault(name, (origin, 0))
            for child in reversed(path):
                depth += 1
                found[child] = session, depth
        return found

    def session_of(self, stream: str) -> int:
        """Return the index of the call that created the session of a stream."""
        return self._descent[stream][0]

    def depth(self, stream: str) -> int:
        """Return how many splits a stream comes from."""
        return self._descent[stream][1]

    def paths(self, streams: Iterable[str]) -> set[int]:
        """Return the calls that streams come from: their splits and their sessions."""
        found: set[int] = set()
        for stream in streams:
            origin = self.origins[stream]
            while origin not in found:
                found.add(origin)
                if isinstance(call := self.calls[origin], Split):
                    origin = self.origins[call.stream]
        return found
