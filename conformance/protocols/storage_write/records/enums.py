"""The closed sets of the steps of the Storage Write API."""

from __future__ import annotations

import enum

__all__ = ["Framing", "StreamType", "StreamView"]


class StreamType(enum.StrEnum):
    """The type of a write stream, which decides when its rows become visible."""

    COMMITTED = "COMMITTED"
    PENDING = "PENDING"
    BUFFERED = "BUFFERED"


class StreamView(enum.StrEnum):
    """How much of a write stream GetWriteStream is asked for; ``UNSET`` leaves the field unset."""

    UNSET = ""
    BASIC = "BASIC"
    FULL = "FULL"


class Framing(enum.StrEnum):
    """What a request has in its two fields with Arrow data."""

    BARE = "bare"
    """One bare message in each: the right form."""
    SCHEMA_WITH_END = "schema-with-end"
    """Behind the schema message, the marker that ends a stream."""
    BATCH_WITH_END = "batch-with-end"
    """Behind the batch message, the marker that ends a stream."""
    STREAM_AS_BATCH = "stream-as-batch"
    """A full stream in place of the batch, as Arrow's stream writers make it."""
    STREAMS = "streams"
    """A full stream in place of the batch, and one without batches in place of the schema."""
    TWO_BATCHES = "two-batches"
    """Two batch messages in the field for one, each with half of the rows."""
    CUT = "cut"
    """The first half of the batch message."""
    SCHEMA_AS_BATCH = "schema-as-batch"
    """The schema message again in place of the batch."""
    NO_SCHEMA = "no-schema"
    """The batch message, and no schema."""
