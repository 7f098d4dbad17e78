"""The closed sets: every word that a record may hold in a field with few permitted values."""

from __future__ import annotations

import enum

__all__ = [
    "AskerKind",
    "BqType",
    "CallEnd",
    "FaultKind",
    "GivingUp",
    "Happening",
    "Level",
    "Mode",
    "NullPattern",
    "Outcome",
    "QueryStatement",
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
    """The mode of a BigQuery column; a schema without a mode means NULLABLE."""

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
    """The places where a recipe puts NULL in nullable columns, at every level of nesting."""

    NONE = "none"
    SOME = "some"
    MOST = "most"
    ALL = "all"
    FIRST = "first"
    LAST = "last"
    ALTERNATE = "alternate"


class ValueProfile(enum.StrEnum):
    """The kinds of values that a recipe draws; a table gives the values of each profile, one row per type."""

    SMALL = "small"
    BOUNDARY = "boundary"
    RANDOM = "random"
    CONSTANT = "constant"
    WIDE = "wide"


class Outcome(enum.StrEnum):
    """The outcome of one clause on one case. The set is closed, and each member has one rule for the exit status."""

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
        """True if a single verdict with this outcome makes the run exit with status 1.

        ``fail`` of a MAY clause does not: nothing promises what it asks for.
        ``error`` does: a suite that failed has not judged.
        ``unsupported`` and ``untestable`` do not: the target never declared the capability, or could not be seeded,
        so nothing was judged; both are counted and listed.
        ``dependency-failed`` does not: the clause that it depends on has failed the run already.
        """
        return self in _FAILS_RUN


_FAILS_RUN = frozenset(
    {Outcome.FAIL, Outcome.ERROR, Outcome.CRASH, Outcome.HANG, Outcome.REFUSED, Outcome.UNEXPECTED_PASS}
)


class CallEnd(enum.StrEnum):
    """How a call ended, as the driver saw it."""

    COMPLETE = "complete"
    """The target sent a status."""
    CANCELLED = "cancelled"
    """The driver received as much as the case asks for, and ended the call on purpose: it cancelled, or a fault plan
    broke the call off.
    """
    DEADLINE = "deadline"
    """The target had not finished at the deadline: a hang."""
    OVER_BUDGET = "over-budget"
    """The target sent more than any correct answer to this case can hold; the driver stopped reading."""
    CRASH = "crash"
    """The connection broke or the target's process died during the call."""


class FaultKind(enum.StrEnum):
    """What a fault plan does to a call between a client and a server."""

    STATUS = "status"
    """The client gets a status of the plan; the server sees that the call was cancelled."""
    RESET = "reset"
    """The connection breaks, on both sides."""
    GOAWAY = "goaway"
    """The client is told by GOAWAY (RFC 9113, section 6.8) to make its further calls over another connection."""
    DELAY = "delay"
    """Nothing is passed on for a while; then the call goes on."""
    DEADLINE = "deadline"
    """The client's own deadline passes; before that it takes no further response."""


class Happening(enum.StrEnum):
    """What happens to a server between two calls of a case, without a call of the Storage API."""

    RESTART = "restart"
    """The server is stopped and started again. Whether its sessions survive is not recorded."""
    EXPIRY = "expiry"
    """The server's clock passes the end of every session that was made so far, or of
    everything that an earlier step asked for and that has an end.
    """
    HALFWAY = "halfway"
    """The clock passes half of the time that is left until something that an earlier step asked for ends."""
    QUERY = "query"
    """A query selects every row and column of the table. Later sessions are on its result, an anonymous table."""
    QUERY_INTO = "query-into"
    """The same query writes to a table of its own. Later sessions are on that table."""
    QUERY_ORDERED = "query-ordered"
    """A query like QUERY, with ORDER BY on the numbers of its rows, the highest first."""
    VIEW = "view"
    """A view of the table is made, by ``tables.insert``. Later sessions are on the view."""
    PARTITIONED = "partitioned"
    """A table with the rows of the table is made, by ``tables.insert``. It is partitioned by the day in its first
    column of type DATE, and requires a filter on it. Later sessions are on that table.
    """
    INGESTION_TIME = "ingestion-time"
    """A table with the rows of the table is made, by ``tables.insert``: it is partitioned by the day of the insertion.
    Later sessions are on that table.
    """
    RESULT = "result"
    """Nothing but the choice of a table: later sessions are on the one that the latest answer of ``jobs.get`` names as
    the ``destinationTable`` of its query. The step is skipped, and all later ones, if the answer names none.
    """
    REMOVED = "removed"
    """The table is removed. Only results of queries are read from then on."""

    @classmethod
    def queries(cls) -> tuple[Happening, ...]:
        """Those that make the result of a query."""
        return cls.QUERY, cls.QUERY_INTO, cls.QUERY_ORDERED, cls.RESULT

    @property
    def makes_table(self) -> bool:
        """True if later sessions are on another table."""
        return self not in (Happening.RESTART, Happening.EXPIRY, Happening.HALFWAY, Happening.REMOVED)


class GivingUp(enum.StrEnum):
    """The ways in which a client ends a call before it has sent or received everything."""

    CANCEL = "cancel"
    """It cancels the call."""
    HALF_CLOSE = "half-close"
    """It says that it sends nothing more, and waits for the status: what it sent is everything."""
    DEADLINE = "deadline"
    """It does nothing more, and the deadline that came with the call passes."""


class QueryStatement(enum.StrEnum):
    """The statement that a query runs on the table of its case."""

    SELECT = "select"
    """Every row and column."""
    ORDERED = "ordered"
    """The same, from the last to the first by the column ``row_id``."""
    NOTHING = "nothing"
    """Every column of no row."""
    PARAMETER = "parameter"
    """Every row and column, by a condition that is a parameter of the query."""
    UNMET = "unmet"
    """The same text, with a parameter by which no row is wanted."""
    UNNAMED = "unnamed"
    """Every row and column, and the sum of ``row_id`` and 0 as a last column, which it gives no name."""
    UNQUALIFIED = "unqualified"
    """Every row and column, of the table by its mere name in the query's default dataset."""
    FAILING = "failing"
    """Every row and column, but that a row with the number 0 in the column ``row_id`` is an error."""
    CREATE = "create"
    """It makes an empty table with one column, so that there are no rows to answer with."""
    INSERT = "insert"
    """It inserts none of the table's own rows, so that there are no rows to answer with."""
    COPY = "copy"
    """It inserts the numbers in the column ``row_id`` into the table that ``create`` makes."""
    CLEAR = "clear"
    """It removes every row of that table."""
    WRONG = "wrong"
    """No statement of SQL."""


class ReadingOutcome(enum.StrEnum):
    """The outcome of a reader on an exchange."""

    TABLE = "table"
    ERROR = "error"
    CRASH = "crash"
    HANG = "hang"
    UNAVAILABLE = "unavailable"
    """The reader is not installed here, or reports that it does not support this type."""


class AskerKind(enum.StrEnum):
    """The party that makes the calls of an exchange."""

    DRIVER = "driver"
    """The suite itself, by the steps of the case."""
    REPLAY_SERVER = "replay-server"
    """A client that was given recorded answers; the client chooses its calls."""
    PROXY = "proxy"
    """A client of a live server, recorded by a proxy; the client chooses its calls."""


class Turn(enum.StrEnum):
    """The next event of a call, as one character of :attr:`~conformance.records.Call.order`."""

    REQUEST = ">"
    """The client sends a message."""
    RESPONSE = "<"
    """The server's next message arrives."""
    HALF_CLOSE = "|"
    """The client declares that it sends no more messages."""
