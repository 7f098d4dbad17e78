"""Clients of a Storage Read server: the truth of rows, errors that stay errors, broken bytes, and interrupted reads.

The requirement depends on what the server does (:class:`conformance.contract.clientjudging.Situation`), never on other
clients. Losses that a client documents for its types are applied to the expected rows. A path that cannot express a
request, such as a restriction, is not judged on it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Final

from conformance.contract.clause import CLIENTS, Role, Violation, clause
from conformance.contract.clientjudging import ClientRead, In, Situation
from conformance.contract.sources import (
    ARROW_SECURITY,
    CAPTURED,
    GRPC_CANCELLATION,
    GRPC_STREAM_ENDS,
    GUIDE,
    JAVA_LIVE_TEST,
    NODE_LIVE_TEST,
    PYTHON_CLIENT,
    RECORDED,
    RETRIED_CODES,
    ROWS_LOST,
    RPC_CODES,
    STORAGE_PROTO,
)
from conformance.records import Level, ReadingOutcome

SERVED: Final = (Situation.HEALTHY, Situation.EMPTY)
SILENT: Final = "programs that use the rows: these are wrong, without an error"
TABLE: Final = (ReadingOutcome.TABLE,)
ANSWERED: Final = (ReadingOutcome.TABLE, ReadingOutcome.ERROR)

_clause = functools.partial(clause, profiles=CLIENTS, role=Role.CLIENT)


@_clause(
    "client.survives",
    over=In(),
    source=ARROW_SECURITY,
    breaks="programs that read tables: what a server sends ends the process or blocks a thread",
)
def survives(read: ClientRead) -> Iterator[Violation]:
    """A client answers in every situation, with rows or an error: its process neither dies nor hangs."""
    if read.answer.outcome not in ANSWERED:
        yield Violation("rows or an error", f"{read.summary}, where {read.title}", read.answer.client)


@_clause(
    "client.reads",
    over=In(*SERVED, ended=ANSWERED),
    source=(GUIDE, CAPTURED),
    breaks="users of the client: a table of the types and modes of the service cannot be read",
)
def reads(read: ClientRead) -> Iterator[Violation]:
    """A client reads what a correct server sends; it documents the types that it cannot read."""
    if read.answer.outcome is ReadingOutcome.ERROR:
        yield Violation("rows", f"{read.summary}, where {read.title}", read.answer.client)


@_clause("client.rows-true", over=In(*SERVED, ended=TABLE), source=(GUIDE, CAPTURED), breaks=SILENT)
def rows_true(read: ClientRead) -> Iterator[Violation]:
    """The rows of a client are those of the table: none lost, repeated, added or changed, but for documented losses."""
    for difference in read.answer.differences:
        yield Violation("the rows of the table", difference, read.answer.client)


@_clause(
    "client.columns",
    over=In(*SERVED, ended=TABLE),
    source=(GUIDE, RECORDED),
    breaks="programs that read columns by name or place",
)
def columns(read: ClientRead) -> Iterator[Violation]:
    """The columns have the names and the order of the session's schema, in a table without rows too.

    A client whose interface gives rows alone has no columns where there are no rows; its ``client.toml`` says so.
    """
    if read.answer.columns:
        yield Violation("the columns of the session", read.answer.columns, read.answer.client)


@_clause(
    "client.order-in-stream",
    over=In(Situation.HEALTHY, ended=TABLE),
    source=(STORAGE_PROTO, JAVA_LIVE_TEST),
    breaks="programs that rely on the order of a table that one stream serves",
)
def order_in_stream(read: ClientRead) -> Iterator[Violation]:
    """The rows of one stream keep their order; between streams there is none."""
    if read.answer.order:
        yield Violation("the rows in the order of their stream", read.answer.order, read.answer.client)


@_clause(
    "client.refusal-is-error",
    over=In(Situation.REFUSED, ended=ANSWERED),
    source=(RPC_CODES, NODE_LIVE_TEST),
    breaks=SILENT,
)
def refusal_is_error(read: ClientRead) -> Iterator[Violation]:
    """A call that the server refuses for good makes an error, and never fewer rows."""
    if read.answer.outcome is ReadingOutcome.TABLE:
        yield Violation("an error", f"a table, where {read.title}", read.answer.client)


@_clause(
    "client.broken-is-error",
    over=In(Situation.BROKEN, Situation.ABANDONED, ended=ANSWERED),
    source=ARROW_SECURITY,
    breaks=SILENT,
)
def broken_is_error(read: ClientRead) -> Iterator[Violation]:
    """Bytes that are no Arrow message of the schema make an error, and never silence or other rows.

    Only bytes whose structure is invalid are sent: a client need not check the content of valid messages.
    """
    if read.answer.outcome is ReadingOutcome.TABLE:
        yield Violation("an error", f"a table, where {read.title}", read.answer.client)


@_clause(
    "client.cancels-what-it-abandons",
    over=In(Situation.ABANDONED, ended=(ReadingOutcome.ERROR,)),
    source=(GRPC_CANCELLATION, GRPC_STREAM_ENDS),
    level=Level.SHOULD,
    breaks="programs that go on after an error: each read that failed keeps a call and what is on its way in it",
)
def cancels_what_it_abandons(read: ClientRead) -> Iterator[Violation]:
    """A client that reports an error in the middle of a stream cancels the call: it asks for nothing more."""
    for call in read.answer.left_open:
        yield Violation("no call that goes on", f"{call}, where {read.title}", read.answer.client)


@_clause(
    "client.interrupted-is-whole-or-error",
    over=In(Situation.INTERRUPTED, ended=ANSWERED),
    source=(STORAGE_PROTO, ROWS_LOST),
    breaks=SILENT,
)
def interrupted_is_whole_or_error(read: ClientRead) -> Iterator[Violation]:
    """After an interruption, a client gives every row once, or an error: never fewer rows, and never one twice."""
    if read.answer.outcome is ReadingOutcome.TABLE:
        for difference in read.answer.differences:
            yield Violation("every row once, or an error", f"{difference}, where {read.title}", read.answer.client)


@_clause(
    "client.resumes",
    over=In(Situation.INTERRUPTED, ended=ANSWERED),
    source=RETRIED_CODES,
    level=Level.SHOULD,
    breaks="users of long reads: one lost connection costs the whole read",
)
def resumes(read: ClientRead) -> Iterator[Violation]:
    """A client resumes a read that ended with UNAVAILABLE or with its connection, and gives the rest of the rows."""
    if read.answer.outcome is ReadingOutcome.ERROR:
        yield Violation("the rest of the rows", f"{read.summary}, where {read.title}", read.answer.client)


@_clause(
    "client.resumes-at-its-offset",
    over=In(Situation.INTERRUPTED, ended=ANSWERED),
    source=(STORAGE_PROTO, PYTHON_CLIENT),
    breaks="programs that use the rows: rows are missing or come twice behind an interruption",
)
def resumes_at_its_offset(read: ClientRead) -> Iterator[Violation]:
    """A client resumes at an offset that it has reached: behind a response that it got, and not beyond."""
    for complaint in read.answer.offsets:
        yield Violation("an offset that the client has reached", f"{complaint}, where {read.title}", read.answer.client)
