"""What the answers of a server say of its streams: which rows of the case are in each, and which a reader has to see.

It follows the answers, not the requests: a row that was not acknowledged is in no stream. Where an answer leaves open
what is in a stream, the stream is not ``known`` from then on, and no clause asks for its rows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from conformance.protocols.storage_write.records import StreamType

__all__ = ["StreamState"]


@dataclasses.dataclass(slots=True)
class StreamState:
    """A stream after some calls: ``rows`` are the numbers of its rows in the case's table, by their offsets.

    ``flushed`` is the number of rows that a flush has made visible. ``committed`` is True after a commit that
    succeeded, ``failed`` after one that did not; ``failing`` is True after a lawful append that was not acknowledged.
    ``connections`` are those to it that stay open while other steps are carried out. ``is_shared`` is True once one of
    them was open while another appended. ``unsure`` are the rows of an append at its end for whose answer the client
    did not wait. ``is_retried`` is True once they were sent again, and are in the stream.
    """

    name: str
    type: StreamType
    is_default: bool = False
    rows: list[int] = dataclasses.field(default_factory=list)
    known: bool = True
    finalized: bool = False
    committed: bool = False
    failed: bool = False
    failing: bool = False
    flushed: int = 0
    connections: int = 0
    is_shared: bool = False
    unsure: tuple[int, ...] = ()
    is_retried: bool = False

    @property
    def may_be_committed(self) -> bool:
        """True if a commit of the stream is lawful."""
        return self.type is StreamType.PENDING and self.finalized and not self.committed

    @property
    def may_be_flushed(self) -> bool:
        """True if a flush of rows of the stream is lawful."""
        return self.type is StreamType.BUFFERED and not self.finalized

    @property
    def end(self) -> int | None:
        """The offset of the next row; None if it is not known."""
        return len(self.rows) if self.known and not self.is_default else None

    @property
    def visible(self) -> Sequence[int]:
        """The rows that a reader has to see."""
        match self.type:
            case StreamType.COMMITTED:
                return tuple(self.rows)
            case StreamType.PENDING:
                return tuple(self.rows) if self.committed else ()
            case StreamType.BUFFERED:
                return tuple(self.rows[: self.flushed])

    @property
    def hidden(self) -> Sequence[int]:
        """The rows that no reader may see yet."""
        return tuple(self.rows[len(self.visible) :])

    def copy(self) -> StreamState:
        """The stream as it is now."""
        return dataclasses.replace(self, rows=list(self.rows))
