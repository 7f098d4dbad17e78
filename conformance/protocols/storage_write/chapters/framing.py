"""The Arrow data of requests: one bare message in each of the two fields, and the schema once for a connection.

Only full streams are known to be refused. For all other data of a wrong form, a server may refuse it, or may write all
of its rows: what no server may do is to acknowledge rows that it does not write.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import ClassVar

from conformance.contain.text import many
from conformance.contract.clause import Violation, clause
from conformance.contract.sources import (
    FULL_STREAM_REFUSED,
    JAVA_WRITE_TEST,
    PYTHON_WRITE_SAMPLE,
    RUST_CLIENT,
    STORAGE_PROTO,
    WRITE_GUIDE,
    Inferred,
)
from conformance.protocols.storage_write.contract import WRITE
from conformance.protocols.storage_write.contract.subjects import AppendView, ReadBack
from conformance.protocols.storage_write.contract.view import WriteView
from conformance.protocols.storage_write.records import Framing, WriteRows

_clause = functools.partial(clause, profiles=WRITE)
_STREAMS = (Framing.STREAM_AS_BATCH, Framing.STREAMS)


@_clause(
    "storage-write-framing.full-stream-is-refused",
    over=lambda view: [
        one for one in view.appends if one.append.framing in _STREAMS and (one.acknowledged or one.refused)
    ],
    source=FULL_STREAM_REFUSED,
    breaks="programs that pass their tests and fail: https://github.com/googleapis/google-cloud-go/issues/12478",
)
def full_stream_is_refused(one: AppendView) -> Iterator[Violation]:
    """A request with a full IPC stream in the field for a record batch is refused.

    Arrow's stream writers put the schema before the batch. The service takes the batch message alone.
    """
    if one.acknowledged:
        rows = many(one.append.count, "row") if one.append.count else "the rows"
        yield Violation("a refusal", f"append_result for {rows} in a full stream")


@dataclasses.dataclass(frozen=True, slots=True)
class _Odd:
    """An answered append whose Arrow data is of another form, and the read after it."""

    one: AppendView
    read: ReadBack
    response: ClassVar[int | None] = None

    @property
    def call(self) -> int:
        """The call of the append."""
        return self.one.call


def _odd(view: WriteView) -> Sequence[_Odd]:
    found = [_Odd(one, read) for read in (*view.reads, *view.undecoded) for one in read.odd]
    found = [odd for odd in found if odd.read.is_decoded or odd.one.acknowledged]
    return [odd for odd in found if odd.one.stream is not None and odd.one.stream.is_default]


@_clause(
    "storage-write-framing.refused-or-stored",
    over=_odd,
    source=(Inferred(STORAGE_PROTO), FULL_STREAM_REFUSED),
    breaks="programs that lose their rows without an error: https://github.com/googleapis/google-cloud-go/issues/12478",
)
def refused_or_stored(odd: _Odd) -> Iterator[Violation]:
    """Arrow data of a wrong form is refused, or all of its rows are in the table.

    The proto file says of an error that "it indicates rows were not accepted into the system"; a result says the
    opposite.
    """
    missing = [row for row in odd.one.rows if not odd.read.counts.get(row)]
    if odd.one.acknowledged and missing:
        seen = f"{many(len(missing), 'row')} of {odd.one.append.count} are not in the table ({odd.one.append.framing})"
        yield Violation("a refusal, or every row in the table", seen)


def _later(view: WriteView, *, named: bool) -> Sequence[AppendView]:
    """The lawful appends behind the first of their connection, without a schema, that were answered."""
    found = [one for one in view.appends if one.at and not one.why and not one.step.schemas and not one.after_error]
    found = [one for one in found if not one.is_behind_pause]
    return [one for one in found if one.step.names is named and (one.acknowledged or one.refused)]


@_clause(
    "storage-write-framing.schema-comes-once",
    over=lambda view: _later(view, named=True),
    source=(STORAGE_PROTO, PYTHON_WRITE_SAMPLE, JAVA_WRITE_TEST),
    breaks="google-cloud-bigquery-storage 2.43.0 (Python), which sends the schema in the first request alone",
)
def schema_comes_once(one: AppendView) -> Iterator[Violation]:
    """A request behind the first of its connection is acknowledged without the schema."""
    yield from _refused(one)


@_clause(
    "storage-write-framing.stream-is-named-once",
    over=lambda view: _later(view, named=False),
    source=(STORAGE_PROTO, WRITE_GUIDE, PYTHON_WRITE_SAMPLE),
    breaks="google-cloud-bigquery-storage 2.43.0 (Python), which names the stream in the first request alone",
)
def stream_is_named_once(one: AppendView) -> Iterator[Violation]:
    """A request behind the first of its connection is acknowledged without the name of the stream."""
    yield from _refused(one)


def _behind_another(view: WriteView) -> Sequence[AppendView]:
    """The answered lawful appends without a schema behind a pause in which a connection with another schema wrote.

    Before the pause, one without a schema was acknowledged: a server that takes none fails another clause.
    """
    taken = {one.call for one in view.appends if one.at and not one.is_behind_pause and one.acknowledged}
    found = [one for one in view.appends if one.is_behind_pause and not one.why and not one.after_error]
    return [
        one
        for one in found
        if (one.acknowledged or one.refused)
        and one.call in taken
        and not one.step.schemas
        and any(_columns(other.step) != _columns(one.step) for other in _within(view, one))
    ]


def _within(view: WriteView, one: AppendView) -> Sequence[AppendView]:
    """The acknowledged appends in the pause of the connection of an append."""
    first = view.served[one.call].raw.step + 1
    pause = range(first, first + one.step.during)
    return [other for other in view.appends if other.acknowledged and view.served[other.call].raw.step in pause]


def _columns(step: WriteRows) -> tuple[object, ...]:
    return step.omit, step.extra, step.backwards


@_clause(
    "storage-write-framing.schema-is-of-its-connection",
    over=_behind_another,
    source=(STORAGE_PROTO, RUST_CLIENT),
    breaks="programs that write two tables at the same time, each over a connection of its own",
)
def schema_is_of_its_connection(one: AppendView) -> Iterator[Violation]:
    """A request without a schema is read by that of its own connection, also if another connection has sent another.

    The schema comes in the first request of a connection, and a client that changes it opens another connection.
    """
    yield from _refused(one)


def _refused(one: AppendView) -> Iterator[Violation]:
    if one.refused:
        yield Violation("append_result", f"code {one.answer.error.code}" if one.in_band else one.status)
