"""The closed sets of the steps of Arrow Flight RPC: the forms in which the driver sends the same thing."""

from __future__ import annotations

import enum

__all__ = ["Damage", "FlightLogin", "FlightToken", "FlightWriting", "NameForm", "Naming", "Spelling"]


class Spelling(enum.StrEnum):
    """The forms of a protobuf message that mean the same (https://protobuf.dev/programming-guides/encoding/)."""

    PLAIN = "plain"
    REVERSED = "reversed"
    """The fields come from the last to the first."""
    UNKNOWN_FIELDS = "unknown-fields"
    """Fields of no known number come before and after the others."""
    REPEATED = "repeated"
    """Each scalar field comes twice, first with another value: the last one counts."""
    HALVES = "halves"
    """Each embedded message comes in two parts, which are merged: a descriptor is its type with half of its path, and
    the rest."""


class Naming(enum.StrEnum):
    """The messages of a DoPut that have the descriptor."""

    FIRST = "first"
    EVERY = "every"
    """Each message has it."""
    LATE = "late"
    """The message after the schema has it, and the schema has none."""
    CHANGED = "changed"
    """The messages after the schema name another flight."""


class FlightWriting(enum.StrEnum):
    """The ways to write the rows of a DoPut, which IPC streams permit."""

    PLAIN = "plain"
    LZ4 = "lz4"
    ZSTD = "zstd"
    V4 = "v4"
    """The metadata version before V5."""
    REPLACED = "replaced-dictionaries"
    """Texts are dictionary-encoded, and each batch has a dictionary of its own."""
    DELTAS = "dictionary-deltas"
    """The same, and each dictionary is a delta to the one before it."""


class Damage(enum.StrEnum):
    """What is wrong with the messages of a table that a client sends, at one of its three batches.

    What is put in comes before the first batch, before the second, or behind the last one.
    """

    NONE = "none"
    MESSAGE_EMPTY = "message-empty"
    """A message without a field is put between the others."""
    SCHEMA_AGAIN = "schema-again"
    """The schema comes once more."""
    SCHEMA_OTHER = "schema-other"
    """The schema of another table comes between the batches."""
    SCHEMA_MISSING = "schema-missing"
    """There is no schema."""
    SCHEMA_LATE = "schema-late"
    """The schema comes behind a batch."""
    HEADER_TWICE = "header-twice"
    """One message has two headers, and the right one is the last."""
    HEADER_WITH_PREFIX = "header-with-prefix"
    """A header has the eight bytes before it that a message has in a stream."""
    HEADER_CUT = "header-cut"
    """Half of a header comes."""
    HEADER_NOISE = "header-noise"
    """A header is 64 bytes that are no message."""
    END_MARKER = "end-marker"
    """The end marker of a stream comes as a header."""
    OTHER_KIND = "other-kind"
    """A message of the kind Tensor comes between the batches."""
    OTHER_BATCH = "other-batch"
    """A batch of another table comes in the place of a batch."""
    BODY_ALONE = "body-alone"
    """A body of 64 bytes comes without a header."""
    BODY_BEHIND = "body-behind"
    """The body of a batch comes in a message behind its header."""
    BODY_MISSING = "body-missing"
    """A batch has no body."""
    BODY_CUT = "body-cut"
    """Half of a body comes."""
    BODY_SHORT_BY_1 = "body-short-by-1"
    """A body lacks its last byte."""
    BODY_SHORT_BY_8 = "body-short-by-8"
    """A body lacks its last eight bytes."""
    BODY_OF_8 = "body-of-8"
    """The first eight bytes of a body come."""
    BODY_LONGER = "body-longer"
    """A body has eight bytes more than its header declares."""
    NO_PROTOBUF = "no-protobuf"
    """A message is no FlightData."""


class FlightLogin(enum.StrEnum):
    """The name and the password of a Handshake."""

    NONE = "none"
    """None: the payloads of the step are sent."""
    RIGHT = "right"
    WRONG = "wrong"
    """The name with another password."""


class FlightToken(enum.StrEnum):
    """The token that comes with a call."""

    OWN = "own"
    """That of the client's login, if it has one."""
    NONE = "none"
    WRONG = "wrong"
    """One that no server gave out."""


class NameForm(enum.StrEnum):
    """The forms of a path on the server: several descriptors look alike, and none is another one."""

    DOTTED = "dotted"
    """One name, in which dots join the parts."""
    SPLIT = "split"
    """The name of the first part, and each further part as an element of its own."""
    SLASHED = "slashed"
    """One name, in which slashes join the parts."""
    COMMAND = "command"
    """A command whose bytes are those of the path."""
