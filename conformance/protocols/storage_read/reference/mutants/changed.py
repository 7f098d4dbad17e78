"""Services whose correct answers are changed in one thing: the base classes of many mutants of behaviour."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, NoReturn

import grpc
import pyarrow as pa

from conformance.protocols.storage_read.reference.register import SERVICE_MUTANTS
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import OpenedSession, Stream
from conformance.reference.register import decorator
from conformance.reference.statuses import REFUSALS, Reason, Refusal

__all__ = [
    "Accepted",
    "ChangedResponse",
    "Lenient",
    "coded",
    "session_mutant",
]


def _of_sessions(change: Callable[[Any, OpenedSession], None]) -> dict[str, Any]:
    class ChangedSession(ReadService):
        def describe_session(self, session: OpenedSession, streams: Sequence[Stream]) -> Any:
            answer = super().describe_session(session, streams)
            change(answer, session)
            return answer

    return {"service": ChangedSession}


session_mutant: Final = decorator(_of_sessions, SERVICE_MUTANTS)
"""Register a function that changes a ReadSession in place once it is made."""


class ChangedResponse(ReadService, abc.ABC):
    """A service that changes each ReadRowsResponse of an ARROW session after the reference has made it."""

    @abc.abstractmethod
    def change(self, answer: Any, *, first: bool, start: int) -> None:
        """Change the answer in place."""

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        answer = super().describe_rows(stream, part, start=start, first=first)
        if not answer.HasField("avro_rows"):
            self.change(answer, first=first, start=start)
        return answer


class Accepted(Exception):  # noqa: N818  # an answer of the service, not a failure of it
    """Raised in place of a refusal: the step that was to refuse goes on."""


class Lenient(ReadService):
    """A service that never refuses for one reason: the step that checks it catches :class:`Accepted`."""

    accepted: ClassVar[Reason]

    def refuse(self, reason: Reason, **facts: object) -> NoReturn:
        if reason is self.accepted:
            raise Accepted
        super().refuse(reason, **facts)


def coded(code: grpc.StatusCode, reason: Reason, **facts: object) -> Refusal:
    """The refusal for a reason, with its text and another code."""
    return Refusal(code, REFUSALS[reason][1].format(**facts))
