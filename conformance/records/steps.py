"""The steps of a Storage Read case, and what happens between calls."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from conformance._codec import RecordError
from conformance.records.base import record
from conformance.records.closed import FaultKind, Happening, QueryStatement
from conformance.records.faultplan import PlannedFault
from conformance.records.step import CallStep, Expect, Step
from conformance.records.table import Column

__all__ = [
    "AlteredColumn",
    "AppendRows",
    "ChangeColumns",
    "CreateSession",
    "Meanwhile",
    "QueryStatement",
    "ReadResult",
    "ReadRows",
    "RunQuery",
    "SplitStream",
    "StorageReadStep",
]


@record
class CreateSession(CallStep):
    """Call CreateReadSession and remember the session as ``label``.

    Empty strings and zeros mean "leave the field unset". ``omit_options`` leaves out the ``read_options`` message.
    ``sample_percentage`` is unset if it is None.
    ``restriction_bytes`` is the length to which ``row_restriction`` is padded with blanks at its end.
    ``timestamps`` is the precision that the options of the session's format name: ``"MICROS"``, ``"NANOS"`` or
    ``"PICOS"``.
    ``parent`` and ``table`` replace the correct resource names; ``{project}``, ``{dataset}`` and ``{table}`` in them
    are filled in. ``snapshot`` is ``""`` (unset), ``"before-append"`` (an instant after the seed and before the
    first AppendRows), ``"past"`` (outside any time-travel window) or ``"future"``.
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
    timestamps: str = ""
    sample_percentage: float | None = None
    snapshot: str = ""
    parent: str = ""
    table: str = ""
    trace_id: str = ""
    omit_options: bool = False
    expect: Expect = Expect()


@record
class ReadRows(CallStep):
    """Call ReadRows on streams of a session (or on a literal ``name``).

    ``stream`` is ``"*"`` (each stream, one call each), a stream's index, or a split's child: ``"x.primary"``,
    ``"x.remainder"``.
    ``offset`` is a number, or a place that the driver computes from an earlier read of the same full stream in the
    same case: ``"inside"`` (a row inside a response), ``"boundary"`` (first row of the second response),
    ``"last"``, ``"end"``, ``"end+1"``, ``"end+100"``; or ``"resume"``, the row after the last one that the latest read
    of the stream delivered. If the stream has no such place, the step is skipped.
    ``take`` is the number of responses after which the driver cancels; ``times`` repeats the call; ``together``
    makes the repeated calls concurrent. ``alongside`` makes the calls at the same time as those of the step before,
    which has to be a ReadRows too. ``handed`` lets another process make them, a worker that knows the names of the
    streams alone.
    ``faults`` is a plan for the calls of this step. As clients do, the driver reads on after a fault, from the row
    after the last one that came, until a read ends without a fault. A call that a STATUS of the plan ends is cancelled
    by the driver. A DELAY lasts until the calls made alongside have ended, or until the time of the case has; a read of
    fewer responses has none.
    ``during`` is a number of steps after this one: they are carried out while the read of one stream is held open at
    the DELAY of its plan, and it goes on when they have ended.
    """

    TAG: ClassVar[str] = "read-rows"
    PLACES: ClassVar[tuple[str, ...]] = ("inside", "boundary", "last", "end", "end+1", "end+100", "resume")
    """The offsets that are no numbers."""

    session: str = "s"
    stream: str = "*"
    offset: str = "0"
    take: int | None = None
    times: int = 1
    together: bool = False
    alongside: bool = False
    handed: bool = False
    faults: tuple[PlannedFault, ...] = ()
    during: int = 0
    name: str = ""
    expect: Expect = Expect()

    def __post_init__(self) -> None:
        if self.during and not any(fault.kind is FaultKind.DELAY for fault in self.faults):
            raise RecordError("during", "none in a read without a DELAY", self.during)
        if self.faults and self.take is not None:
            raise RecordError("take", "none in a read with faults", self.take)
        for fault in self.faults:
            if fault.stream is not None:
                raise RecordError("faults", "faults without a stream, which the read names", str(fault))
            if fault.method != "ReadRows" or fault.kind is FaultKind.GOAWAY:
                raise RecordError("faults", "faults of ReadRows that a server can see, so not goaway", str(fault))
            if fault.kind is FaultKind.DEADLINE and not fault.seconds:
                raise RecordError("faults", "a deadline with seconds", str(fault))


@record
class SplitStream(CallStep):
    """Call SplitReadStream on stream ``stream`` of a session and remember the children as ``label``."""

    TAG: ClassVar[str] = "split-stream"

    label: str = "x"
    session: str = "s"
    stream: str = "0"
    fraction: float = 0.5
    name: str = ""
    expect: Expect = Expect()


@record
class RunQuery(CallStep):
    """Call ``jobs.query`` and remember its job as ``label``.

    ``results`` is the ``queryResultsFormat`` (unset if empty), ``max_results`` the size of a page (unset if None),
    ``buffer_compression`` the codec of the batches, and ``timestamps`` the form of times: ``""`` (unset), ``"MICROS"``,
    ``"NANOS"`` or ``"PICOS"``. Without ``optional_job``, the server has to make a job. ``cached`` permits an answer
    from the cache, and a ``dry_run`` runs nothing. ``in_full`` sends what Google's client for Python sends with each
    query: options of no value by their names, and the form of times in JSON. Queries with the same text in
    ``request_id`` have the same ``requestId``, as one that a client sends again. ``wait`` is the time in milliseconds
    after which the answer may say that the query still runs; unset if None, for much longer than a query takes.
    ``location`` is where the query is to run; unset if empty, and for ``"answered"`` the place that the latest answer
    named, without which the step is skipped.
    """

    TAG: ClassVar[str] = "run-query"
    METHOD: ClassVar[str] = "jobs.query"
    ANSWERED: ClassVar[str] = "answered"
    """The method of its call, which is none of gRPC."""

    label: str = "q"
    statement: QueryStatement = QueryStatement.SELECT
    results: str = "ARROW"
    max_results: int | None = None
    buffer_compression: str = ""
    timestamps: str = ""
    optional_job: bool = False
    cached: bool = False
    dry_run: bool = False
    in_full: bool = False
    request_id: str = ""
    wait: int | None = None
    location: str = ""
    expect: Expect = Expect()


@record
class ReadResult(CallStep):
    """Call ReadRows on the stream of a query's job, with the options of the query.

    ``offset`` is a number, or a place: ``"page"`` (the row behind the page of the answer), ``"inside"`` (a row
    inside of the page), ``"end"`` (the number of all rows, as far as the answer says it) or ``"last"``.
    ``location`` and ``job`` replace those of the job, and ``stream`` the name ``_default``. A step without such a
    job or place is skipped. ``listed`` calls ``jobs.getQueryResults`` in place of ReadRows: for ``most`` rows if
    that is not None, and, if the rows are the ``further`` ones, from the page token of the listing before, or of
    the answer of jobs.query if there is none; a step without such a token is skipped. ``described`` calls
    ``jobs.get``. ``written`` reads the stream of the latest query of a Meanwhile step, which jobs.insert has run.
    ``plain`` reads without options, as a program does that has only the name of the stream; ``buffer_compression``
    and ``timestamps`` are options that are named in place of the query's. ``times`` reads are made at the same
    time.
    ``take`` is the number of responses after which the driver cancels. ``during`` is a number of steps after this one:
    they are carried out while the read is held open behind its first response, and it goes on when they have ended.
    """

    TAG: ClassVar[str] = "read-result"
    LISTING: ClassVar[str] = "jobs.getQueryResults"
    """The method of its call if it is ``listed``, which is none of gRPC."""
    DESCRIBING: ClassVar[str] = "jobs.get"
    """The method of its call if the job is ``described``."""
    PLACES: ClassVar[tuple[str, ...]] = ("page", "inside", "last", "end")
    """The offsets that are no numbers."""

    query: str = "q"
    offset: str = "page"
    location: str = ""
    job: str = ""
    stream: str = ""
    listed: bool = False
    most: int | None = None
    further: bool = False
    described: bool = False
    written: bool = False
    plain: bool = False
    buffer_compression: str = ""
    timestamps: str = ""
    times: int = 1
    take: int | None = None
    during: int = 0
    expect: Expect = Expect()

    def __post_init__(self) -> None:
        if self.take is not None and (self.take < 1 or self.over_rest or self.times != 1):
            raise RecordError("take", "a number of responses from 1, of one read of the stream", self.take)
        if self.during and (self.take is not None or self.over_rest or self.times != 1):
            raise RecordError("during", "none but in one read of the stream to its end", self.during)
        if (self.most is not None or self.further) and not self.listed:
            raise RecordError("most", "none but in a listing", self.most)
        if self.described and self.listed:
            raise RecordError("described", "false in a listing", self.described)

    @property
    def has_own_options(self) -> bool:
        """True if its options may be others than those of the query."""
        return bool(self.plain or self.buffer_compression or self.timestamps)

    @property
    def over_rest(self) -> bool:
        """True unless it reads the stream."""
        return self.listed or self.described


@record
class AppendRows(Step):
    """Insert ``count`` further rows of the table now. Seeding leaves out the rows that AppendRows steps insert.

    ``again`` drops the table first and makes it again under its name, so that these rows are its only ones. If the
    server does not drop it, the driver skips this step and all later ones.
    """

    TAG: ClassVar[str] = "append-rows"

    count: int
    again: bool = False


@record
class AlteredColumn:
    """A column that gets the name and the type of the column ``name`` of the case's table, and ``was`` until then."""

    name: str
    was: Column


@record
class ChangeColumns(Step):
    """Change the columns of the table now: those of ``add`` come, behind all others, those of ``drop`` go, and those of
    ``relax``, which are REQUIRED until then, become NULLABLE. All are top-level columns of the case's table.

    That table has each column in its last form, and in no row a value that the row cannot have: an added column is NULL
    (an array empty) in rows that are inserted before. If the server does not change the columns, the driver skips this
    step and all later ones.

    ``alter`` gives columns other names, or wider types. Their values in the rows of the case are those of the last
    type; in rows that are inserted before, they have to be values of the earlier one as well.

    ``again`` drops the table and makes it again under its name, with its columns of then and without rows: those that
    AppendRows steps insert from then on are its only ones.
    """

    TAG: ClassVar[str] = "change-columns"

    add: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    relax: tuple[str, ...] = ()
    alter: tuple[AlteredColumn, ...] = ()
    again: bool = False


@record
class Meanwhile(Step):
    """Let something happen to the server before the next call: ``what`` says what.

    If the target's file does not say how, or the server runs already and cannot be restarted, the driver skips this
    step and all later ones. A query that fails, or whose result REST does not list with the rows of the table, makes
    the case untestable.

    ``info`` is the label of the answer whose time passes, if an answer has one. The driver skips this step
    alone if no such time lies ahead, or only one that is more than a year away.
    """

    TAG: ClassVar[str] = "meanwhile"

    what: Happening
    info: str = ""


StorageReadStep: TypeAlias = (
    CreateSession | ReadRows | SplitStream | RunQuery | ReadResult | AppendRows | ChangeColumns | Meanwhile
)
