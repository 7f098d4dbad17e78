"""Services whose correct answers are changed in one thing: the base classes of many mutants of behaviour."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, NoReturn

import grpc
import pyarrow as pa

from conformance.reference.refusals import REFUSALS, Reason, Refusal
from conformance.reference.register import decorator
from conformance.reference.service import Service
from conformance.reference.session import Session, Stream

__all__ = [
    "IN_AVRO",
    "IN_EVERY_SESSION",
    "IN_PARTS",
    "IN_READS",
    "IN_RESULTS",
    "Accepted",
    "ChangedResponse",
    "Lenient",
    "coded",
    "session_mutant",
]


IN_AVRO: Final = {"avro.*": "the fault shows in sessions in AVRO too"}
"""The clauses on AVRO, for which a service serves the same rows, offsets and counts."""

IN_RESULTS: Final = {"query-results.*": "the fault shows in the pages and streams of queries' jobs too"}
"""The clauses on query results, for which a service uses the same batches, and reads of streams."""

IN_READS: Final = {**IN_AVRO, **IN_RESULTS}
"""Both."""

IN_PARTS: Final = {
    **IN_READS,
    "history.*": "the fault shows in sessions that are read in parts, resumed and split too",
    "rows.query-result-is-the-table": "the fault shows in sessions on the result of a query too",
    "snapshot.table-made-again-is-new": "the fault shows in a table that was made again too",
}
"""The clauses on features in combination, which fail with a fault of one feature."""

IN_EVERY_SESSION: Final = {
    **IN_PARTS,
    "abandon.later-read-is-whole": "the rows are wrong after abandoned reads too",
    "compression.*rows-are-the-same": "the rows are wrong in sessions with compression too",
    "offsets.*": "the rows are wrong in resumed reads too, which count on the end of the whole read",
    "projection.filter-may-use-other-columns": "the rows are wrong in filtered projections too",
    "responses.*-arrive": "the rows are wrong in large tables too",
    "restriction.*": "the rows are wrong in restricted sessions too",
    "snapshot.*": "the rows are wrong in sessions around an append too",
}
"""The clauses that fail if the rows of every session are wrong: each kind of session has its own clauses on rows."""


def _of_sessions(change: Callable[[Any, Session], None]) -> dict[str, Any]:
    class ChangedSession(Service):
        def describe_session(self, session: Session, streams: Sequence[Stream]) -> Any:
            answer = super().describe_session(session, streams)
            change(answer, session)
            return answer

    return {"service": ChangedSession}


session_mutant: Final = decorator(_of_sessions)
"""Register a function that changes a ReadSession in place once it is made."""


class ChangedResponse(Service, abc.ABC):
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


class Lenient(Service):
    """A service that never refuses for one reason: the step that checks it catches :class:`Accepted`."""

    accepted: ClassVar[Reason]

    def refuse(self, reason: Reason, **facts: object) -> NoReturn:
        if reason is self.accepted:
            raise Accepted
        super().refuse(reason, **facts)


def coded(code: grpc.StatusCode, reason: Reason, **facts: object) -> Refusal:
    """The refusal for a reason, with its text and another code."""
    return Refusal(code, REFUSALS[reason][1].format(**facts))
