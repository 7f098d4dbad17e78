"""The steps of a case of the Storage Write API."""

from __future__ import annotations

from typing import ClassVar, Final, TypeAlias

from conformance._codec import RecordError
from conformance.protocols.storage_write.records.enums import Framing, StreamType, StreamView
from conformance.records.base import record
from conformance.records.step import CallStep, Expect

__all__ = [
    "DEFAULT",
    "SHORT_DEFAULT",
    "CommitStreams",
    "CreateWriteStream",
    "FinalizeStream",
    "FlushStream",
    "GetWriteStream",
    "ReadWritten",
    "RowsAppend",
    "StorageWriteStep",
    "WriteRows",
]

DEFAULT: Final = "default"
"""The label of the default stream of the case's table, by its full name."""
SHORT_DEFAULT: Final = "default-short"
"""The label of the default stream by its name without ``/streams``."""


@record
class CreateWriteStream(CallStep):
    """Call CreateWriteStream and remember the stream as ``label``.

    ``parent`` replaces the name of the case's table; ``{project}``, ``{dataset}`` and ``{table}`` in it are filled in.
    """

    TAG: ClassVar[str] = "create-write-stream"

    label: str = "w"
    type: StreamType = StreamType.COMMITTED
    parent: str = ""
    expect: Expect = Expect()


@record
class GetWriteStream(CallStep):
    """Call GetWriteStream for the stream of a label, or for the literal ``name``."""

    TAG: ClassVar[str] = "get-write-stream"

    stream: str = "w"
    view: StreamView = StreamView.UNSET
    name: str = ""
    expect: Expect = Expect()


@record
class RowsAppend:
    """One request of AppendRows: ``count`` rows of the case's table from number ``first``.

    ``offset`` is unset if it is None. ``bad`` are the indices, in the request, of rows that get a TIMESTAMP out of
    range, in the first column of that type.
    """

    first: int
    count: int = 1
    offset: int | None = None
    framing: Framing = Framing.BARE
    bad: tuple[int, ...] = ()


@record
class WriteRows(CallStep):
    """Call AppendRows on one connection, with one request for each of ``appends``.

    ``stream`` is a label, or the literal ``name`` of a stream. The first request alone has the name of the stream and
    the schema of the rows; with ``names`` and ``schemas``, each request has them. The client waits for an answer before
    the next request, unless it sends all of them ``ahead``. ``omit`` are columns of the table that the rows do not
    have; with ``extra``, they have one that the table does not have; with
    ``backwards``, those behind the first come in reverse.
    ``plain_times`` writes TIMESTAMP without a time zone. ``during`` is a number of steps after this one: they are
    carried out while the connection is open, behind the answer to the request of number ``pause``, or to the last if
    that is 0. If the client ``leaves``, it cancels the call behind its last request, and does not wait for the answer.
    """

    TAG: ClassVar[str] = "write-rows"

    appends: tuple[RowsAppend, ...]
    stream: str = "w"
    names: bool = False
    schemas: bool = False
    ahead: bool = False
    omit: tuple[str, ...] = ()
    extra: bool = False
    backwards: bool = False
    plain_times: bool = False
    during: int = 0
    pause: int = 0
    leaves: bool = False
    name: str = ""
    expect: Expect = Expect()

    def __post_init__(self) -> None:
        if self.during and (self.ahead or self.leaves):
            raise RecordError("during", "none where the client does not wait for an answer", self.during)
        if not 0 <= self.pause <= (len(self.appends) if self.during else 0):
            raise RecordError("pause", "the number of a request, if steps follow during it", self.pause)

    @property
    def before_pause(self) -> int:
        """The number of requests before the steps of :attr:`during`; all of them without such steps."""
        return self.pause or len(self.appends)


@record
class FinalizeStream(CallStep):
    """Call FinalizeWriteStream."""

    TAG: ClassVar[str] = "finalize-write-stream"

    stream: str = "w"
    expect: Expect = Expect()


@record
class CommitStreams(CallStep):
    """Call BatchCommitWriteStreams for the streams of these labels."""

    TAG: ClassVar[str] = "commit-write-streams"

    streams: tuple[str, ...] = ("w",)
    expect: Expect = Expect()


@record
class FlushStream(CallStep):
    """Call FlushRows: the rows up to ``offset``, and this one, become visible."""

    TAG: ClassVar[str] = "flush-rows"

    offset: int
    stream: str = "w"
    expect: Expect = Expect()


@record
class ReadWritten(CallStep):
    """Read the case's table by the Storage Read API: one session, and all of its streams to their ends."""

    TAG: ClassVar[str] = "read-table"

    expect: Expect = Expect()


StorageWriteStep: TypeAlias = (
    CreateWriteStream | GetWriteStream | WriteRows | FinalizeStream | CommitStreams | FlushStream | ReadWritten
)
