"""The subjects of clauses on writes: an append with its answer, and what a read shows of a stream."""

from __future__ import annotations

import dataclasses
import enum
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import pyarrow as pa

from conformance.contract.clause import AtCall
from conformance.protocols.storage_write.contract.state import StreamState
from conformance.protocols.storage_write.records import Framing, RowsAppend, WriteRows
from conformance.protocols.storage_write.wire.messages import ERRORS, STORAGE_ERROR

__all__ = ["ALREADY_EXISTS", "LARGE", "LARGEST_TAKEN", "TOO_LARGE", "AppendView", "ReadBack", "SeenStream", "Why"]

LARGE: Final = 4 << 20
"""The most bytes of a message that gRPC takes by default; a request of more is large."""
LARGEST_TAKEN: Final = 7_000_000
"""Bytes of a request that the service is known to take: Google's sample for Python puts so many rows into each."""
TOO_LARGE: Final = 20 << 20
"""A request of more bytes is refused: storage.proto says 20 MB, and does not say which."""

ALREADY_EXISTS: Final = 6
"""The number of the status (https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto)."""


class Why(enum.StrEnum):
    """Why a server may or has to refuse an append."""

    FRAMING = "framing"
    BEHIND = "behind"
    PAST = "past"
    ON_DEFAULT = "on-default"
    FINALIZED = "finalized"
    EXTRA = "extra"
    BAD_ROW = "bad-row"
    NO_STREAM = "no-stream"
    TOO_LARGE = "too-large"
    RETRIED = "retried"
    """It repeats one whose answer the client did not wait for: its rows may be in the stream."""
    UNKNOWN_END = "unknown-end"
    """It has an offset, and an answer before left open where the stream ends."""
    AFTER_FAILURE = "after-failure"
    """A lawful append before it on the same connection failed, or, if its offset is wrong, one to the same stream: what
    becomes of it is open.
    """


@dataclasses.dataclass(frozen=True, slots=True)
class AppendView:
    """One request of AppendRows and its answer, None if none came or it is no message.

    ``stream`` is the stream as the answers before say it; None if the case names one that was not created. ``why`` are
    the reasons for a refusal, none of a lawful append. ``after_error`` is True if an answer on the same connection was
    an error before. ``size`` is the bytes of the request.
    """

    call: int
    response: int | None
    step: WriteRows
    at: int
    append: RowsAppend
    request: Any
    answer: Any
    stream: StreamState | None
    why: frozenset[Why]
    after_error: bool
    status: str
    size: int

    @property
    def acknowledged(self) -> bool:
        """True if the answer says that the rows are written."""
        return self.answer is not None and self.answer.WhichOneof("response") == "append_result"

    @property
    def in_band(self) -> bool:
        """True if the answer has an error."""
        return self.answer is not None and self.answer.WhichOneof("response") == "error"

    @property
    def refused(self) -> bool:
        """True if an answer, or the end of the call in place of one, says that nothing is written."""
        return self.in_band or (self.answer is None and self.response is None and self.status not in ("", "OK"))

    @property
    def rows(self) -> Sequence[int]:
        """The numbers of the rows in the case's table."""
        return range(self.append.first, self.append.first + self.append.count)

    @property
    def offset(self) -> int | None:
        """The offset in the answer; None if there is none."""
        if not self.acknowledged or not self.answer.append_result.HasField("offset"):
            return None
        return int(self.answer.append_result.offset.value)

    @property
    def storage_errors(self) -> Sequence[str]:
        """The codes of the StorageErrors in the details of the error, by name, or by number if they have none here."""
        from conformance.protocols.storage_write.contract.classes import CLASSES  # noqa: PLC0415  # see there

        names = {number: name for name, number in ERRORS.items()}
        details = self.answer.error.details if self.in_band else ()
        codes = [CLASSES["StorageError"].FromString(one.value).code for one in details if one.type_url == STORAGE_ERROR]
        return [names.get(code, str(code)) for code in codes]

    @property
    def is_left(self) -> bool:
        """True if the client did not wait for its answer."""
        return self.step.leaves and self.answer is None and self.response is None and not self.status

    @property
    def is_known_already(self) -> bool:
        """True if it was refused because the stream has its offset, in an answer or by the end of the call."""
        if self.in_band:
            return bool(self.answer.error.code == ALREADY_EXISTS)
        return self.refused and self.status == "ALREADY_EXISTS"

    @property
    def is_behind_pause(self) -> bool:
        """True if other steps were carried out on its connection before it."""
        return self.at >= self.step.before_pause

    @property
    def has_another_open(self) -> bool:
        """True if another connection to the same stream is open."""
        return self.stream is not None and self.stream.connections > 0

    @property
    def is_bare(self) -> bool:
        """True if both fields with Arrow data have the right form."""
        return self.append.framing is Framing.BARE


@dataclasses.dataclass(frozen=True, slots=True)
class ReadBack(AtCall):
    """A read of the whole table: the rows that came, and the streams as the answers before say them.

    ``counts`` are the numbers of the rows in the case's table, by the column that counts them, each with how often it
    came. ``refused`` are rows that were sent and acknowledged nowhere; ``odd`` are the answered appends whose Arrow
    data is not of the right form. ``omitted`` are the columns that each row of a lawful append was written without;
    ``moved`` are the rows that were written without some, or with the columns in another order than the table.
    ``is_decoded`` is False if batches came of which no row can be read.
    """

    rows: pa.Table
    counts: Mapping[int, int]
    streams: Sequence[StreamState]
    refused: frozenset[int]
    odd: Sequence[AppendView]
    omitted: Mapping[int, frozenset[str]]
    moved: frozenset[int]
    is_decoded: bool = True

    @property
    def due(self) -> Counter[int]:
        """How often each row has to come, of the streams whose rows are known."""
        return Counter(row for stream in self.streams if stream.known for row in stream.visible)

    @property
    def is_known(self) -> bool:
        """True if the rows of all streams are known."""
        return all(stream.known for stream in self.streams)


@dataclasses.dataclass(frozen=True, slots=True)
class SeenStream:
    """A stream as a read shows it."""

    read: ReadBack
    stream: StreamState
    response: ClassVar[int | None] = None

    @property
    def call(self) -> int:
        """The call that began the read."""
        return self.read.call

    @property
    def missing(self) -> Sequence[int]:
        """The rows that have to be visible and did not come."""
        return [row for row in self.stream.visible if not self.read.counts.get(row)]

    @property
    def early(self) -> Sequence[int]:
        """The rows that came and may not be visible yet; rows that another stream shows do not count."""
        due = self.read.due
        return [row for row in self.stream.hidden if self.read.counts.get(row, 0) > due[row]]
