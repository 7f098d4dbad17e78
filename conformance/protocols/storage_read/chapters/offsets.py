"""Reads from an offset: they deliver the rows of the full stream from there on, and nothing beyond its end.

The places of rows and responses are known only from a read of the full stream in the same exchange. The chapter on
splits judges reads of a split's children.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from conformance.contain.text import many
from conformance.contract.clause import AtCall, Violation, clause
from conformance.contract.closed import OffsetPlace
from conformance.contract.sources import (
    JAVA_LIVE_TEST,
    MEASURED,
    PYTHON_CLIENT,
    SERVICE_TESTS,
    STORAGE_PROTO,
    Inferred,
    Sources,
)
from conformance.contract.subjects import answered
from conformance.contract.view import once_per_view
from conformance.protocols.storage_read.contract.endings import beyond_its_end
from conformance.protocols.storage_read.contract.sessions import rows_of
from conformance.protocols.storage_read.contract.subjects import (
    full_reads,
    is_child,
    outlived,
    refused,
    refused_as,
    served,
)
from conformance.protocols.storage_read.contract.view import ReadView, ResponseView, StorageCall, StorageView
from conformance.protocols.storage_read.contract.violations import first_read, responses_with_schema, schema_differs
from conformance.records import Level

REPEATS: Final = (
    "every client that resumes after a lost connection repeats or loses rows:"
    " https://github.com/goccy/bigquery-emulator/issues/507"
)


@dataclasses.dataclass(frozen=True, slots=True)
class Resumed(AtCall):
    """A read from an offset above zero, with the read of its full stream."""

    read: ReadView
    whole: ReadView
    rows: int
    place: OffsetPlace


@once_per_view
def resumed(view: StorageView) -> list[Resumed]:
    """Return every answered read of a session's stream from an offset above zero whose full stream was read too.

    A refusal after what may have ended the session says nothing of the offset.
    """
    streams = {read.stream for read in full_reads(view)}
    found = []
    for read in view.reads:
        ended = not read.ok and read.session is not None and outlived(read.session, read)
        if read.offset > 0 and answered(read) and read.stream in streams and not is_child(read) and not ended:
            whole = first_read(read)
            rows = rows_of(whole)
            assert rows is not None
            found.append(Resumed(read.index, read, whole, len(rows), _place(read.offset, whole, len(rows))))
    return found


def _place(offset: int, whole: ReadView, rows: int) -> OffsetPlace:
    if offset >= rows:
        return OffsetPlace.END if offset == rows else OffsetPlace.BEYOND
    if offset == rows - 1:
        return OffsetPlace.LAST
    boundaries = np.cumsum([batch.num_rows for batch in whole.batches or ()])
    return OffsetPlace.BOUNDARY if offset in boundaries else OffsetPlace.INSIDE


def _at(*places: OffsetPlace) -> Callable[[StorageView], list[Resumed]]:
    return lambda view: [resume for resume in resumed(view) if resume.place in places]


def _reached_at(*places: OffsetPlace) -> Callable[[StorageView], list[Resumed]]:
    return lambda view: [resume for resume in _at(*places)(view) if resume.read.ok or resume.read.reached]


def _ok_at(*places: OffsetPlace) -> Callable[[StorageView], list[Resumed]]:
    return lambda view: [resume for resume in _at(*places)(view) if resume.read.ok]


def _is_suffix(resume: Resumed) -> Iterator[Violation]:
    whole, rest = rows_of(resume.whole), rows_of(resume.read)
    if whole is None or rest is None or np.array_equal(whole[resume.read.offset :], rest):
        return
    left = resume.rows - resume.read.offset
    required = f"rows {resume.read.offset} to {resume.rows} of call {resume.whole.index}: {many(left, 'row')}"
    if np.array_equal(whole, rest):
        yield Violation(required, f"all {many(len(rest), 'row')}: the offset was ignored", field="offset")
    else:
        yield Violation(required, f"{many(len(rest), 'row')} that are others", field="offset")


@clause(
    "offsets.resumed-read-is-served",
    over=_reached_at(OffsetPlace.INSIDE, OffsetPlace.BOUNDARY, OffsetPlace.LAST),
    source=JAVA_LIVE_TEST,
    breaks="every client that resumes: its read fails permanently",
)
def resumed_read_is_served(resume: Resumed) -> Iterator[Violation]:
    """A read from a row that earlier reads of the stream have reached ends in OK, until the session expires.

    The proto calls an offset undefined that no read has reached: it may be served or refused.
    """
    yield from served(resume.read, f"offset {resume.read.offset} of {many(resume.rows, 'row')}")


def _continues(clause_id: str, place: OffsetPlace, source: Sources, says: str) -> None:
    """Register the clause that a read from such a place delivers exactly the rows from there on."""
    clause(clause_id, over=_ok_at(place), source=source, breaks=REPEATS, says=inspect.cleandoc(says))(_is_suffix)


# A table, one row per clause: id, place, source, explanation.
# fmt: off
_continues("offsets.inside-a-response", OffsetPlace.INSIDE, (JAVA_LIVE_TEST, MEASURED),
  """A read from a row inside a response of the full read delivers exactly the rows from there on, in order.

  The server may divide them into other responses, but does not send any row before the offset again.
  """)
_continues("offsets.between-responses", OffsetPlace.BOUNDARY, (SERVICE_TESTS, MEASURED),
  """A read from the first row of a later response delivers exactly the rows from there on, in order.

  A client that lost its connection after a response resumes here.
  """)
_continues("offsets.last-row", OffsetPlace.LAST, (SERVICE_TESTS, MEASURED),
  "A read from the last row of the stream delivers that row and no other.")
# fmt: on


@clause(
    "offsets.end-is-served",
    over=_reached_at(OffsetPlace.END),
    source=(SERVICE_TESTS, MEASURED),
    breaks="clients that lose the connection after the last response: they resume at exactly this offset",
)
def end_is_served(resume: Resumed) -> Iterator[Violation]:
    """A read from the offset that is the number of rows ends in OK, once the stream was read to its end."""
    yield from served(resume.read, f"offset {resume.read.offset}, the number of rows")


@clause("offsets.end-yields-nothing", over=_ok_at(OffsetPlace.END), source=(SERVICE_TESTS, MEASURED), breaks=REPEATS)
def end_yields_nothing(resume: Resumed) -> Iterator[Violation]:
    """A read from the offset that is the number of rows delivers no response."""
    if resume.read.raw.responses:
        rows = rows_of(resume.read)
        of_rows = "that cannot be read" if rows is None else f"of {many(len(rows), 'row')}"
        observed = f"{many(len(resume.read.raw.responses), 'response')} {of_rows}"
        yield Violation("no responses", observed, field="offset")


@clause(
    "offsets.beyond-the-end-is-refused",
    over=_at(OffsetPlace.BEYOND),
    source=MEASURED,
    breaks="Beam, which learns from the refusal that a split had no effect (from its source)",
)
def beyond_the_end_is_refused(resume: Resumed) -> Iterator[Violation]:
    """A read from an offset beyond the number of rows is refused.

    The proto calls such an offset undefined; the service refuses it, and a server that answers it hides a client's
    miscounting.
    """
    yield from refused(resume.read, f"offset {resume.read.offset} of {many(resume.rows, 'row')}")


@clause(
    "offsets.beyond-the-end-has-its-code",
    over=lambda view: [resume for resume in _at(OffsetPlace.BEYOND)(view) if not resume.read.ok],
    source=MEASURED,
    level=Level.SHOULD,
    breaks="Beam, which expects exactly this code: with another one it fails the read (from its source)",
)
def beyond_the_end_has_its_code(resume: Resumed) -> Iterator[Violation]:
    """A read from an offset beyond the number of rows ends in FAILED_PRECONDITION, and not in OUT_OF_RANGE."""
    yield from beyond_its_end(resume.read)


@clause(
    "offsets.negative-is-refused",
    over=refused_as("negative-offset"),
    source=Inferred(STORAGE_PROTO),
    level=Level.SHOULD,
)
def negative_is_refused(call: StorageCall) -> Iterator[Violation]:
    """A read from a negative offset is refused.

    The answer of the service is not recorded, and no client is known that sends one. A server that treats the offset
    as 0 repeats rows to a client that has miscounted.
    """
    yield from refused(call, "a negative offset")


@clause(
    "offsets.resumed-schema-is-the-sessions",
    over=lambda view: responses_with_schema(view, resumed=True),
    source=(STORAGE_PROTO, PYTHON_CLIENT),
    breaks="clients that decode a resumed read by its own schema, or rows by the schema that came first",
)
def resumed_schema_is_the_sessions(response: ResponseView) -> Iterator[Violation]:
    """A schema in a response of a resumed read is equal to the session's; such a read may also have no schema."""
    yield from schema_differs(response)
