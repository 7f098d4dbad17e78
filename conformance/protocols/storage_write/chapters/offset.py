"""Offsets: that of the first row in an answer, and an append at another place than the end of its stream."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from conformance.contract.clause import Violation, clause
from conformance.contract.sources import GO_WRITE_TEST, JAVA_WRITE_TEST, STORAGE_PROTO, WRITE_GUIDE
from conformance.protocols.storage_write.contract import WRITE
from conformance.protocols.storage_write.contract.subjects import ALREADY_EXISTS, AppendView, Why
from conformance.protocols.storage_write.contract.view import WriteView
from conformance.records import Level

_clause = functools.partial(clause, profiles=WRITE)

OUT_OF_RANGE: Final = 11
"""The number of a status."""
TEXT: Final = re.compile(r"expected offset (\d+), received (\d+)")
"""What the Java client looks for in the text of an error."""


def _only(*reasons: Why) -> Callable[[WriteView], Sequence[AppendView]]:
    """Selects the appends that have to be refused for one of these reasons and for no other, and have an answer."""
    wanted = [frozenset({why}) for why in reasons]
    return lambda view: [one for one in view.appends if one.why in wanted and (one.acknowledged or one.refused)]


def _in_band(*reasons: Why) -> Callable[[WriteView], Sequence[AppendView]]:
    """Selects those of them that were refused by an error in an answer."""
    return lambda view: [one for one in _only(*reasons)(view) if one.in_band]


@_clause(
    "storage-write-offset.is-that-of-the-first-row",
    over=lambda view: [
        one
        for one in view.appends
        if one.acknowledged and not one.why and one.stream is not None and one.stream.end is not None
    ],
    source=JAVA_WRITE_TEST,
    breaks="clients that check where their rows are, or go on at the next offset",
)
def is_that_of_the_first_row(one: AppendView) -> Iterator[Violation]:
    """The answer to an append on a created stream has the offset of its first row: the end of the stream before.

    The live test of the Java client appends one row, two rows and one, and gets 0, 1 and 3.
    """
    assert one.stream is not None
    if one.offset != one.stream.end:
        came = "no offset" if one.offset is None else f"offset {one.offset}"
        yield Violation(f"offset {one.stream.end}", came, field="append_result.offset")


@_clause(
    "storage-write-offset.none-on-default",
    over=lambda view: [
        one for one in view.appends if one.acknowledged and one.stream is not None and one.stream.is_default
    ],
    source=STORAGE_PROTO,
    level=Level.SHOULD,
)
def none_on_default(one: AppendView) -> Iterator[Violation]:
    """The answer to an append on the default stream has no offset.

    storage.proto: "The offset will not be set if appending using default streams."
    """
    if one.offset is not None:
        yield Violation("no offset", f"offset {one.offset}", field="append_result.offset")


@_clause(
    "storage-write-offset.behind-the-end-is-refused",
    over=_only(Why.BEHIND),
    source=(JAVA_WRITE_TEST, GO_WRITE_TEST, STORAGE_PROTO),
    breaks="clients that send a request again: rows are written twice",
)
def behind_the_end_is_refused(one: AppendView) -> Iterator[Violation]:
    """An append at an offset that the stream has already is refused with ALREADY_EXISTS."""
    yield from _coded(one, ALREADY_EXISTS, "ALREADY_EXISTS")


@_clause(
    "storage-write-offset.past-the-end-is-refused",
    over=_only(Why.PAST),
    source=(JAVA_WRITE_TEST, GO_WRITE_TEST, STORAGE_PROTO),
    breaks="clients that send requests ahead: rows are written out of order",
)
def past_the_end_is_refused(one: AppendView) -> Iterator[Violation]:
    """An append at an offset beyond the end of the stream is refused with OUT_OF_RANGE."""
    yield from _coded(one, OUT_OF_RANGE, "OUT_OF_RANGE")


def _coded(one: AppendView, code: int, name: str) -> Iterator[Violation]:
    if one.acknowledged:
        yield Violation(name, "append_result")
    elif one.in_band and one.answer.error.code != code:
        yield Violation(f"code {code}, {name}", f"code {one.answer.error.code}", field="error.code")
    elif not one.in_band and one.status != name:
        yield Violation(name, one.status)


@_clause(
    "storage-write-offset.error-is-in-an-answer",
    over=lambda view: [one for one in _only(Why.BEHIND, Why.PAST)(view) if one.refused],
    source=(JAVA_WRITE_TEST, GO_WRITE_TEST, STORAGE_PROTO),
    breaks="clients lose the connection, and the answers to all other requests on it",
)
def error_is_in_an_answer(one: AppendView) -> Iterator[Violation]:
    """A wrong offset is refused in an answer; it does not end the connection.

    storage.proto: "User can retry with adjusted offset within the same RPC connection."
    """
    if not one.in_band:
        yield Violation("an answer with an error", f"the connection ended in {one.status}")


@_clause(
    "storage-write-offset.error-has-its-detail",
    over=_in_band(Why.BEHIND, Why.PAST),
    source=(GO_WRITE_TEST, JAVA_WRITE_TEST),
    breaks="clients that tell these errors by their StorageError",
)
def error_has_its_detail(one: AppendView) -> Iterator[Violation]:
    """The error of a wrong offset has a StorageError in its details, with OFFSET_ALREADY_EXISTS or
    OFFSET_OUT_OF_RANGE.
    """
    wanted = "OFFSET_ALREADY_EXISTS" if Why.BEHIND in one.why else "OFFSET_OUT_OF_RANGE"
    if wanted not in one.storage_errors:
        yield Violation(wanted, ", ".join(one.storage_errors) or "no StorageError", field="error.details")


@_clause(
    "storage-write-offset.error-says-both-offsets",
    over=_in_band(Why.BEHIND, Why.PAST),
    source=JAVA_WRITE_TEST,
    breaks="the Java client, whose exceptions have both offsets by this text (from its source)",
)
def error_says_both_offsets(one: AppendView) -> Iterator[Violation]:
    """The text of the error of a wrong offset has ``expected offset N, received M``: the end of the stream, and the
    offset of the request.
    """
    assert one.stream is not None
    text = one.answer.error.message
    found = TEXT.search(text)
    wanted = f"expected offset {one.stream.end}, received {one.append.offset}"
    if found is None or found[0] != wanted:
        yield Violation(repr(wanted), repr(text), field="error.message")


@_clause(
    "storage-write-offset.connection-goes-on",
    over=lambda view: [
        one for one in view.appends if one.after_error and not one.why and (one.acknowledged or one.refused)
    ],
    source=(JAVA_WRITE_TEST, STORAGE_PROTO),
    breaks="clients that go on where the error says",
)
def connection_goes_on(one: AppendView) -> Iterator[Violation]:
    """After an error in an answer, a lawful append on the same connection is acknowledged."""
    if not one.acknowledged:
        yield Violation("append_result", f"code {one.answer.error.code}" if one.in_band else one.status)


@_clause(
    "storage-write-offset.retry-is-taken-or-known",
    over=_only(Why.RETRIED),
    source=(WRITE_GUIDE, STORAGE_PROTO),
    level=Level.SHOULD,
    breaks="clients that write exactly once: after a lost connection they cannot go on",
)
def retry_is_taken_or_known(one: AppendView) -> Iterator[Violation]:
    """A client that lost its connection before an answer sends the same rows at the same offset again: they are
    acknowledged, or the error is ALREADY_EXISTS.
    """
    wanted = "append_result or ALREADY_EXISTS"
    if one.refused and not one.is_known_already:
        yield Violation(wanted, f"code {one.answer.error.code}" if one.in_band else one.status)


@_clause(
    "storage-write-offset.on-default-is-refused", over=_only(Why.ON_DEFAULT), source=STORAGE_PROTO, level=Level.SHOULD
)
def on_default_is_refused(one: AppendView) -> Iterator[Violation]:
    """An append with an offset on the default stream is refused.

    storage.proto: "Specifying a value for this field is not allowed when calling AppendRows for the '_default' stream."
    """
    if one.acknowledged:
        yield Violation("a refusal", "append_result")
