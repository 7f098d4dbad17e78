"""The closed sets of the steps of Arrow Flight RPC: the forms in which the driver sends the same thing."""

from __future__ import annotations

import enum

__all__ = ["FlightLogin", "FlightToken", "FlightWriting", "NameForm", "Naming", "Spelling"]


class Spelling(enum.StrEnum):
    """The forms of a protobuf message that mean the same (https://protobuf.dev/programming-guides/encoding/)."""

    PLAIN = "plain"
    REVERSED = "reversed"
    """The fields come from the last to the first."""
    UNKNOWN_FIELDS = "unknown-fields"
    """Fields of no known number come before and after the others."""
    REPEATED = "repeated"
    """Each scalar field comes twice, first with another value: the last one counts."""


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
