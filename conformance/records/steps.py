"""The steps of a Storage Read case, and what any step has to end in."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from conformance.records.base import record

__all__ = ["AppendRows", "CreateSession", "Expect", "ReadRows", "SplitStream", "StorageReadStep"]


@record
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


@record
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


@record
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


@record
class SplitStream:
    """Call SplitReadStream on stream ``stream`` of a session and remember the children as ``label``."""

    TAG: ClassVar[str] = "split-stream"

    label: str = "x"
    session: str = "s"
    stream: str = "0"
    fraction: float = 0.5
    name: str = ""
    expect: Expect = Expect()


@record
class AppendRows:
    """Insert ``count`` further rows of the table now: the seed leaves out the rows that AppendRows steps bring."""

    TAG: ClassVar[str] = "append-rows"

    count: int


StorageReadStep: TypeAlias = CreateSession | ReadRows | SplitStream | AppendRows
