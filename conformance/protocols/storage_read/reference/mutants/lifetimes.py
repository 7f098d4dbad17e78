"""Mutants of the end of a session: of its expiry, and of restarts of its server.

A case sets the clock of the reference ahead, or restarts its process, which the proof then starts with a state.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final

from conformance.protocols.storage_read.reference.register import behaviour_mutant, process_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import Stream
from conformance.reference.mutants.reasons import IN_PARTS
from conformance.reference.statuses import Reason

_AFTER_RESTART: Final = {
    **IN_PARTS,
    "combination.*": "the rows that come are at the places of the session's",
    "snapshot.later-rows-stay-out": "the rows that come were inserted after the session was made",
}


@behaviour_mutant("errors.expired-session-goes-on", kills="errors.expired-session-is-refused")
class ExpiredSessionGoesOn(ReadService):
    """A stream that was read before its session expired is served after that too."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.begun: set[str] = set()

    def read_rows(self, request: Any) -> Iterator[Any]:
        self.begun.add(request.read_stream)
        yield from super().read_rows(request)

    def find_stream(self, name: str) -> Stream:
        stream = self.sessions.find(name)
        return stream if stream is not None and name in self.begun else super().find_stream(name)


@behaviour_mutant("errors.expired-session-is-forgotten", kills="errors.expired-session-has-its-code")
class ExpiredSessionIsForgotten(ReadService):
    """A stream of a session that has expired does not exist any more."""

    def find_stream(self, name: str) -> Stream:
        stream = self.sessions.find(name)
        if stream is not None and self.catalogue.clock() > stream.session.expires:
            self.refuse(Reason.UNKNOWN_STREAM, stream=name)
        return super().find_stream(name)


@process_mutant(
    "restart.names-come-again",
    kills="combination.rows-are-the-sessions",
    also={**_AFTER_RESTART, "session.names-differ": "two sessions of the exchange share a name"},
)
class NamesComeAgain(ReadService):
    """Sessions are numbered from 1 at each start, and forgotten at its end: a name of before means a new session."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.number = itertools.count(1)

    def name_session(self, parent: str) -> str:
        return f"{parent}/locations/us/sessions/session-{next(self.number)}"

    def name_stream(self, session: str) -> str:
        return f"{session}/streams/{next(self.number)}"

    def restore(self, streams: Sequence[Stream]) -> None:
        """Forget the sessions of before."""


@process_mutant("restart.sessions-are-made-again", kills="combination.rows-are-the-sessions", also=_AFTER_RESTART)
class SessionsAreMadeAgain(ReadService):
    """After a restart a session is made again of its request, so that it shows the table as of then."""

    def restore(self, streams: Sequence[Stream]) -> None:
        now = [self.catalogue.snapshot(stream.session.snapshot.table) for stream in streams]
        super().restore(
            [dataclasses.replace(stream, rows=table.rows) for stream, table in zip(streams, now, strict=True)]
        )
