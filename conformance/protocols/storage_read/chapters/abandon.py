"""The effects of abandoned reads: a server must keep none.

Clients often take a response and cancel: LIMIT queries, closed notebooks and failed tasks do it. A case of this
chapter opens and abandons many reads and then reads a full stream, in a server process of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.contain.text import many
from conformance.contract.clause import Violation, clause
from conformance.contract.closed import Feature
from conformance.contract.sources import JAVA_LIVE_TEST, STORAGE_PROTO, Inferred
from conformance.contract.subjects import after_abandoned
from conformance.contract.view import once_per_view
from conformance.protocols.storage_read.contract.sessions import SessionRead, whole_sessions
from conformance.protocols.storage_read.contract.subjects import is_child, read_feature, served, valid_reads
from conformance.protocols.storage_read.contract.view import ReadView, StorageCall, StorageView
from conformance.protocols.storage_read.contract.violations import exactly
from conformance.records import CallEnd

SOURCES: Final = (Inferred(STORAGE_PROTO), JAVA_LIVE_TEST)
"""The test leaves a read of the service after some responses, and then reads the rest of the stream."""
BREAKS: Final = "every client of a server that others use: its capacity is used up by reads that nobody waits for"


@once_per_view
def _later(view: StorageView) -> list[StorageCall]:
    return [call for call in view.calls if after_abandoned(call) and call.raw.end is not CallEnd.CANCELLED]


@clause("abandon.later-calls-end-in-time", over=_later, source=SOURCES, breaks=BREAKS)
def later_calls_end_in_time(call: StorageCall) -> Iterator[Violation]:
    """After reads were abandoned, calls end within their deadline: no thread, slot or lock stays occupied."""
    if call.raw.end is CallEnd.DEADLINE:
        yield Violation("a status", f"no status by the deadline, after {many(len(call.raw.responses), 'response')}")


@clause("abandon.server-lives-on", over=_later, source=SOURCES, breaks=BREAKS)
def server_lives_on(call: StorageCall) -> Iterator[Violation]:
    """After reads were abandoned, the server still runs: a cancelled call does not end the process."""
    if call.raw.end is CallEnd.CRASH:
        yield Violation("a status", f"the server died or hung up: {call.raw.details}")


@clause(
    "abandon.later-read-is-served",
    over=lambda view: [
        read
        for read in valid_reads(view)
        if read.offset == 0 and not is_child(read) and read_feature(read) is Feature.ABANDONED
    ],
    source=SOURCES,
    breaks=BREAKS,
)
def later_read_is_served(read: ReadView) -> Iterator[Violation]:
    """After reads were abandoned, a read ends in OK: a limit on concurrent readers does not count abandoned ones."""
    yield from served(read, "a read after others were abandoned")


@clause(
    "abandon.later-read-is-whole",
    over=lambda view: [whole for whole in whole_sessions(view) if whole.feature is Feature.ABANDONED],
    source=SOURCES,
    breaks=BREAKS,
)
def later_read_is_whole(whole: SessionRead) -> Iterator[Violation]:
    """After reads were abandoned, a read from the start delivers the table: it does not resume where they stopped."""
    yield from exactly(whole)
