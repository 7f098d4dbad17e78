"""Services whose answers are right until one thing in them is changed: what many lies about behaviour share."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, NoReturn

import grpc
import pyarrow as pa

from conformance.reference.refusals import REFUSALS, Reason, Refusal
from conformance.reference.service import Service
from conformance.reference.session import Session, Stream

__all__ = ["IN_EVERY_SESSION", "Accepted", "ChangedResponse", "ChangedSession", "Coded", "Lenient", "coded"]


IN_EVERY_SESSION: Final = {
    "abandon.later-read-is-whole": "the rows are wrong after abandoned reads too",
    "compression.*rows-are-the-same": "the rows are wrong in sessions with compression too",
    "offsets.*": "the rows are wrong in resumed reads too, which count on the end of the whole read",
    "projection.filter-may-use-other-columns": "the rows are wrong in filtered projections too",
    "responses.*-arrive": "the rows are wrong in large tables too",
    "restriction.*": "the rows are wrong in restricted sessions too",
    "snapshot.*": "the rows are wrong in sessions around an append too",
}
"""What fails with a lie about the rows of every session: each kind of session has clauses of its own on its rows."""


class ChangedSession(Service, abc.ABC):
    """A service whose ReadSession is changed once it is made."""

    @abc.abstractmethod
    def change(self, answer: Any, session: Session) -> None:
        """Change the answer in place."""

    def describe_session(self, session: Session, streams: Sequence[Stream]) -> Any:
        answer = super().describe_session(session, streams)
        self.change(answer, session)
        return answer


class ChangedResponse(Service, abc.ABC):
    """A service whose ReadRowsResponse is changed once it is made."""

    @abc.abstractmethod
    def change(self, answer: Any, *, first: bool, start: int) -> None:
        """Change the answer in place."""

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        answer = super().describe_rows(stream, part, start=start, first=first)
        self.change(answer, first=first, start=start)
        return answer


class Accepted(Exception):  # noqa: N818  # an answer of the service, not a failure of it
    """What should have been refused is not; the step that looked at it goes on."""


class Lenient(Service):
    """A service that has no objection for one reason: the step that looks catches :class:`Accepted`."""

    accepted: ClassVar[Reason]

    def refuse(self, reason: Reason, **facts: object) -> NoReturn:
        if reason is self.accepted:
            raise Accepted
        super().refuse(reason, **facts)


def coded(code: grpc.StatusCode, reason: Reason, **facts: object) -> Refusal:
    """The refusal for a reason, in its words and under another code."""
    return Refusal(code, REFUSALS[reason][1].format(**facts))


class Coded(Service):
    """A service that refuses for some reasons with another code than it should, and the right words."""

    codes: ClassVar[Mapping[Reason, grpc.StatusCode]]

    def refuse(self, reason: Reason, **facts: object) -> NoReturn:
        if reason in self.codes:
            raise coded(self.codes[reason], reason, **facts)
        super().refuse(reason, **facts)
