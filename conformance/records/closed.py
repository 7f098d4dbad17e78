"""The closed sets: every word that a record may hold where only few are meant."""

from __future__ import annotations

import enum

__all__ = [
    "AskerKind",
    "BqType",
    "CallEnd",
    "Level",
    "Mode",
    "NullPattern",
    "Outcome",
    "ProtocolName",
    "ReadingOutcome",
    "Turn",
    "ValueProfile",
]


class Level(enum.StrEnum):
    """How binding a clause is, as in RFC 2119."""

    MUST = "must"
    SHOULD = "should"
    MAY = "may"


class Mode(enum.StrEnum):
    """A BigQuery column's mode; an absent mode in a schema means NULLABLE."""

    NULLABLE = "NULLABLE"
    REQUIRED = "REQUIRED"
    REPEATED = "REPEATED"


class BqType(enum.StrEnum):
    """A BigQuery column type under its standard SQL name."""

    INT64 = "INT64"
    FLOAT64 = "FLOAT64"
    BOOL = "BOOL"
    STRING = "STRING"
    BYTES = "BYTES"
    DATE = "DATE"
    DATETIME = "DATETIME"
    TIME = "TIME"
    TIMESTAMP = "TIMESTAMP"
    NUMERIC = "NUMERIC"
    BIGNUMERIC = "BIGNUMERIC"
    JSON = "JSON"
    GEOGRAPHY = "GEOGRAPHY"
    INTERVAL = "INTERVAL"
    RANGE = "RANGE"
    RECORD = "RECORD"


class NullPattern(enum.StrEnum):
    """Where a recipe puts NULL in nullable columns, at every level of nesting."""

    NONE = "none"
    SOME = "some"
    MOST = "most"
    ALL = "all"
    FIRST = "first"
    LAST = "last"
    ALTERNATE = "alternate"


class ValueProfile(enum.StrEnum):
    """Which values a recipe draws: every type defines each profile in one row of a table."""

    SMALL = "small"
    BOUNDARY = "boundary"
    RANDOM = "random"
    CONSTANT = "constant"
    WIDE = "wide"


class Outcome(enum.StrEnum):
    """What became of one clause on one case; the set is closed and each member has one rule for the exit status."""

    PASS = "pass"  # noqa: S105  # an outcome, not a password
    FAIL = "fail"
    ERROR = "error"
    CRASH = "crash"
    HANG = "hang"
    REFUSED = "refused"
    UNSUPPORTED = "unsupported"
    UNTESTABLE = "untestable"
    DEPENDENCY_FAILED = "dependency-failed"
    EXPECTED_FAIL = "expected-fail"
    UNEXPECTED_PASS = "unexpected-pass"  # noqa: S105  # an outcome, not a password

    @property
    def fails_run(self) -> bool:
        """Whether a single verdict with this outcome makes the run exit with status 1.

        ``error`` does too: a suite that broke has not judged.
        ``unsupported`` and ``untestable`` do not: what was never declared, or could not be seeded, was not judged;
        both are counted and listed.
        ``dependency-failed`` does not: what it depends on has failed the run already.
        """
        return self in _FAILS_RUN


_FAILS_RUN = frozenset(
    {Outcome.FAIL, Outcome.ERROR, Outcome.CRASH, Outcome.HANG, Outcome.REFUSED, Outcome.UNEXPECTED_PASS}
)


class CallEnd(enum.StrEnum):
    """How a call ended, as seen by the driver."""

    COMPLETE = "complete"
    """The target sent a status."""
    CANCELLED = "cancelled"
    """The driver took what the case asked for and cancelled, on purpose."""
    DEADLINE = "deadline"
    """The target had not finished by the deadline: a hang."""
    OVER_BUDGET = "over-budget"
    """The target sent more than any honest answer to this case could hold; the driver stopped reading."""
    CRASH = "crash"
    """The connection or the target's process died under the call."""


class ReadingOutcome(enum.StrEnum):
    """What a reader made of an exchange."""

    TABLE = "table"
    ERROR = "error"
    CRASH = "crash"
    HANG = "hang"
    UNAVAILABLE = "unavailable"
    """The reader is not installed here, or says that it cannot take this type."""


class ProtocolName(enum.StrEnum):
    """The protocol that a case speaks, and in which an exchange was made."""

    STORAGE_READ = "storage-read"
    """The BigQuery Storage Read API; a serializer's messages count as its answers."""
    FLIGHT = "flight"
    """Arrow Flight RPC."""


class AskerKind(enum.StrEnum):
    """Who makes the calls of an exchange."""

    DRIVER = "driver"
    """The suite itself, by the steps of the case."""
    REPLAY_SERVER = "replay-server"
    """A client that was given recorded answers; it decides what it asks."""
    PROXY = "proxy"
    """A client of a live server, recorded on the way; it decides what it asks."""


class Turn(enum.StrEnum):
    """What happens next in a call, as one character of :attr:`~conformance.records.Call.order`."""

    REQUEST = ">"
    """The client sends a message."""
    RESPONSE = "<"
    """The server's next message arrives."""
    HALF_CLOSE = "|"
    """The client says that it sends no more."""
