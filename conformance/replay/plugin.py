"""What a replay server knows of a protocol: how a call finds its recording, and what of it is logged."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Protocol

from conformance.readers.restanswers import RecordedQueries, RestTable
from conformance.readers.tape import Answer
from conformance.records import Call, Case, Exchange

__all__ = ["RecordedAnswers", "ReplayPlugin"]


class RecordedAnswers(Protocol):
    """The answers of one recording. Threads may share it."""

    @property
    def table(self) -> str:
        """The name of the first table in it; empty if the protocol has no tables."""

    def names(self) -> set[str]:
        """The keys by which calls find this recording."""

    def answer(self, method: str, key: str, request: bytes) -> Answer:
        """The answer to a call of this key; raises :class:`~conformance.readers.tape.NotRecordedError`."""

    def state(self) -> Mapping[str, Any]:
        """What it holds, as members of a JSON object."""

    def described(self, project: str, dataset: str, table: str) -> RestTable | None:
        """The table as ``tables.get`` shows it, if it is in this recording."""

    @property
    def queries(self) -> RecordedQueries | None:
        """The recorded queries; None if the protocol has none."""

    def renamed(self, table: str, number: str) -> RecordedAnswers:
        """The same answers with another table, and with names of sessions that no other recording has."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ReplayPlugin:
    """A protocol for a replay server.

    ``key`` names by the bare method and the first message of a call the recording that it asks for, ``described`` does
    so in words if there is none, and ``facts`` gives what the call asks for, for the log. ``recorded`` gives the
    answers of one exchange. ``together`` gives those of all calls that a proxy recorded, if they are one recording, so
    that they are answered in their order. In the methods ``streamed``, the client sends several messages.
    """

    LAYER: ClassVar[str] = "replay"

    key: Callable[[str, bytes], str]
    described: Callable[[str, str], str]
    facts: Callable[[str, bytes], Mapping[str, Any]]
    recorded: Callable[[Case, Exchange], RecordedAnswers]
    together: Callable[[Iterable[Call]], RecordedAnswers] | None = None
    streamed: frozenset[str] = frozenset()
