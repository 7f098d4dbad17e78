"""The nouns of the suite: Case, Exchange, Clause facts, Finding, Reading, Verdict.

Each is a small immutable record with a JSON form and an Arrow row (see :mod:`conformance._codec`),
so that a file in ``cases/``, a Parquet row of a campaign and an object in memory are the same thing.
What a target or a reader chose to say is made safe in the constructors (:mod:`conformance.contain.text`): no record
holds a text that could not be printed, stored or put into XML. Foreign bytes stay as they came.
This module decides what a noun holds; it knows nothing of bytes, servers or reports.
It is longer than others because it is the vocabulary: every room reads it, and it is read as one page.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import ClassVar, Final, TypeAlias, TypeVar, dataclass_transform

from conformance._codec import Json, RecordError, arrow_schema, from_json, from_row, to_json, to_row
from conformance.contain.text import keep_safe

__all__ = [
    "AppendRows",
    "BqType",
    "Call",
    "CallEnd",
    "Case",
    "Column",
    "CreateSession",
    "Exchange",
    "Expect",
    "Finding",
    "Json",
    "Level",
    "Mode",
    "NullPattern",
    "Outcome",
    "ReadRows",
    "Reading",
    "ReadingOutcome",
    "Recipe",
    "RecordError",
    "SplitStream",
    "Step",
    "Table",
    "Trailer",
    "ValueProfile",
    "Verdict",
    "arrow_schema",
    "from_json",
    "from_row",
    "to_json",
    "to_row",
]


T = TypeVar("T")

DETAILS: Final = 16384
"""Characters of a status's message that are kept: gRPC takes 16 KiB of metadata by default."""
PATH: Final = 6000
"""Characters of a path in a schema that are kept: fifteen levels of names of 300 characters, as BigQuery permits."""


@dataclass_transform(frozen_default=True)
def _record(kind: type[T]) -> type[T]:
    return dataclasses.dataclass(frozen=True, slots=True)(kind)


# --- closed sets ----------------------------------------------------------------------------------


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


# --- the case -------------------------------------------------------------------------------------


@_record
class Column:
    """A column of a BigQuery table, or a field of a RECORD.

    ``precision`` and ``scale`` are those of ``NUMERIC(P, S)`` and ``BIGNUMERIC(P, S)``, absent where not declared.
    ``max_length`` is the L of ``STRING(L)`` and ``BYTES(L)``.
    ``fields`` belong to a RECORD, ``range_of`` (DATE, DATETIME or TIMESTAMP) to a RANGE.
    """

    name: str
    type: BqType
    mode: Mode = Mode.NULLABLE
    fields: tuple[Column, ...] = ()
    precision: int | None = None
    scale: int | None = None
    max_length: int | None = None
    range_of: BqType | None = None

    def __post_init__(self) -> None:
        if bool(self.fields) != (self.type is BqType.RECORD):
            raise RecordError(f"column {self.name!r}", "sub-fields on a RECORD and only there", self.fields)
        if (self.range_of is not None) != (self.type is BqType.RANGE):
            raise RecordError(f"column {self.name!r}", "range_of on a RANGE and only there", self.range_of)


@_record
class Recipe:
    """How to make the rows of a table: the same recipe gives the same values on every machine.

    ``rows`` is the row count; ``max_items`` bounds each REPEATED value; ``seed`` decides every random choice.
    ``cell_bytes``, where above 0, is the size of every STRING and BYTES value under the WIDE profile.
    """

    rows: int
    seed: int = 0
    nulls: NullPattern = NullPattern.SOME
    values: ValueProfile = ValueProfile.SMALL
    max_items: int = 3
    cell_bytes: int = 0


@_record
class Table:
    """The table of a case: columns, and rows either written out (JSON objects by column name) or as a recipe.

    The JSON form of a value: INT64 an integer; FLOAT64 a number or ``"NaN"``, ``"Infinity"``, ``"-Infinity"``;
    BOOL; STRING, GEOGRAPHY (WKT) and JSON (its text) strings; BYTES base64; NUMERIC and BIGNUMERIC decimal strings;
    DATE ``YYYY-MM-DD``; TIME ``HH:MM:SS[.ffffff]``; DATETIME ``DATETtime``; TIMESTAMP the same with ``Z``;
    INTERVAL ``{"months", "days", "micros"}``; RANGE ``{"start", "end"}`` with null for unbounded; RECORD an object.
    NULL is null (or an absent key); a REPEATED value is a list, and never null.
    """

    columns: tuple[Column, ...]
    rows: tuple[Json, ...] | None = None
    recipe: Recipe | None = None

    def __post_init__(self) -> None:
        if (self.rows is None) == (self.recipe is None):
            raise RecordError("table", "either rows or a recipe", self.rows)


@_record
class Expect:
    """What a step has to end in: permitted statuses, and for a success the rows.

    ``codes`` is the set of permitted gRPC status names; the contract's latitude is written here, never in prose.
    ``reason`` is the reason class of an expected refusal (``unknown-column``, ``malformed-restriction`` …):
    a refusal counts only for its reason.
    ``rows`` are indices into the case's table, in no order; absent means every row that the session can see.
    """

    codes: tuple[str, ...] = ("OK",)
    reason: str = ""
    rows: tuple[int, ...] | None = None


@_record
class CreateSession:
    """Call CreateReadSession and remember the session as ``label``.

    Empty strings and zeros mean "leave the field unset". ``omit_options`` leaves out the ``read_options`` message.
    ``restriction_bytes`` pads ``row_restriction`` with blanks at its end up to so many bytes.
    ``parent`` and ``table`` replace the right resource names (``{project}``, ``{dataset}``, ``{table}`` are filled in).
    ``snapshot`` is ``""`` (unset), ``"before-append"`` (an instant after the seed and before the first AppendRows),
    ``"past"`` (outside any time-travel window) or ``"future"``.
    """

    TAG: ClassVar[str] = "create-session"

    label: str = "s"
    data_format: str = "ARROW"
    selected_fields: tuple[str, ...] = ()
    row_restriction: str = ""
    restriction_bytes: int = 0
    max_stream_count: int = 0
    preferred_min_stream_count: int = 0
    buffer_compression: str = ""
    response_compression: str = ""
    snapshot: str = ""
    parent: str = ""
    table: str = ""
    trace_id: str = ""
    omit_options: bool = False
    expect: Expect = Expect()


@_record
class ReadRows:
    """Call ReadRows on streams of a session (or on a literal ``name``).

    ``stream`` is ``"*"`` (each stream, one call each), a stream's index, or a split's child: ``"x.primary"``,
    ``"x.remainder"``.
    ``offset`` is a number, or a place that the driver works out from an earlier whole read of the same stream
    in the same case: ``"inside"`` (a row inside a response), ``"boundary"`` (first row of the second response),
    ``"last"``, ``"end"``, ``"end+1"``, ``"end+100"``. A place that the stream does not have skips the step.
    ``take`` cancels after that many responses; ``times`` repeats the call; ``together`` makes the repeats concurrent.
    """

    TAG: ClassVar[str] = "read-rows"

    session: str = "s"
    stream: str = "*"
    offset: str = "0"
    take: int | None = None
    times: int = 1
    together: bool = False
    name: str = ""
    expect: Expect = Expect()


@_record
class SplitStream:
    """Call SplitReadStream on stream ``stream`` of a session and remember the children as ``label``."""

    TAG: ClassVar[str] = "split-stream"

    label: str = "x"
    session: str = "s"
    stream: str = "0"
    fraction: float = 0.5
    name: str = ""
    expect: Expect = Expect()


@_record
class AppendRows:
    """Insert ``count`` further rows of the table now: the seed leaves out the rows that AppendRows steps bring."""

    TAG: ClassVar[str] = "append-rows"

    count: int


Step: TypeAlias = CreateSession | ReadRows | SplitStream | AppendRows


@_record
class Case:
    """A table and the requests to make of it; a generated case, a counterexample and a hand-written file alike.

    ``clauses`` are the ids (or globs) that the case exists to observe: a run in which none of them could be observed
    is *untestable* for them, not a pass. ``needs`` are capabilities a target has to declare, else *unsupported*.
    ``isolated`` asks for a server process of its own. ``source`` is the URL of the public defect or text behind it.
    """

    id: str
    title: str
    table: Table
    steps: tuple[Step, ...] = (CreateSession(), ReadRows())
    clauses: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    isolated: bool = False
    source: str = ""

    def __post_init__(self) -> None:
        keep_safe(self, "id", "title", "source")


# --- what was seen --------------------------------------------------------------------------------


@_record
class Trailer:
    """One entry of a call's trailing metadata; text values are UTF-8 encoded."""

    key: str
    value: bytes


@_record
class Call:
    """One call as it was: request bytes, response bytes in order, and how it ended.

    ``step`` indexes ``Case.steps``; ``label`` names the session, stream or split asked for.
    ``method`` is ``CreateReadSession``, ``ReadRows``, ``SplitReadStream``, ``SerializeSchema`` or ``SerializeBatch``
    (for a serializer target the one response is the message itself and ``request`` is empty).
    ``status`` is a gRPC status name, empty where the target sent none; ``details`` is its message, made safe, without
    blanks around it. ``started`` and ``seconds`` are seconds
    on the driver's clock since the exchange began; no clause reads them.
    """

    step: int
    label: str
    method: str
    request: bytes
    responses: tuple[bytes, ...] = ()
    status: str = "OK"
    details: str = ""
    trailers: tuple[Trailer, ...] = ()
    end: CallEnd = CallEnd.COMPLETE
    started: float = 0.0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.details:
            object.__setattr__(self, "details", self.details.strip())
            keep_safe(self, "details", limit=DETAILS)


@_record
class Exchange:
    """Every call made for a case, in order; nothing in it was interpreted before it was stored.

    ``target`` names the target, ``project``, ``dataset`` and ``table`` what the case's table was seeded as.
    ``untestable`` says why the case could not be put to the target (``cannot seed: …``); then there are no calls.
    ``skipped_steps`` are indices of steps that did not apply (an offset place that the stream does not have).
    ``now`` is the driver's wall clock at the start, in microseconds since the Unix epoch.
    """

    case_id: str
    target: str
    calls: tuple[Call, ...] = ()
    project: str = ""
    dataset: str = ""
    table: str = ""
    untestable: str = ""
    skipped_steps: tuple[int, ...] = ()
    now: int = 0

    def __post_init__(self) -> None:
        keep_safe(self, "untestable")


@_record
class Finding:
    """One violation: which clause, where, what was required, what was there.

    ``call`` indexes ``Exchange.calls`` and ``response`` its responses; ``field`` is a path in the schema or message;
    ``start`` and ``end`` are byte offsets into that response's Arrow bytes (or into the response where it has none).
    """

    clause: str
    required: str
    observed: str
    call: int | None = None
    response: int | None = None
    field: str = ""
    start: int | None = None
    end: int | None = None

    def __post_init__(self) -> None:
        keep_safe(self, "required", "observed")
        keep_safe(self, "field", limit=PATH)


@_record
class Reading:
    """What one reader made of one whole read: a table (as an Arrow IPC stream), or an error, crash or hang.

    ``differences`` say, a sentence each, how the table differs from what the bytes hold: first the reader and the kind
    of difference, then, behind a colon, what it was this time. ``camp`` names the first of the readers that made the
    same of this read, and is empty where nothing was compared. Both are worked out by the readers' room, which knows
    what each library documents to rewrite.
    """

    reader: str
    case_id: str
    label: str
    outcome: ReadingOutcome
    table: bytes = b""
    error_class: str = ""
    error_text: str = ""
    differences: tuple[str, ...] = ()
    camp: str = ""

    def __post_init__(self) -> None:
        if self.error_text:
            object.__setattr__(self, "error_text", self.error_text.strip())
        keep_safe(self, "error_class", "error_text", "differences")


@_record
class Verdict:
    """What became of one clause on one case, with its findings, or the reason why there is none."""

    case_id: str
    clause: str
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    reason: str = ""

    def __post_init__(self) -> None:
        if self.reason:  # passes have none, and there are very many of them
            keep_safe(self, "reason")
