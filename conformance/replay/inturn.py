"""Recorded calls of one recording, each answered as it was: nothing is answered that was not recorded.

A call is found by a key that its protocol makes of its first message. The first call of a key gets the first recorded
answer, the second the second, and each call after the last recorded one gets the last. It does no I/O.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any, TypeAlias

from conformance.readers.tape import Answer, NotRecordedError, RecordedEnding
from conformance.records import Call, CallEnd
from conformance.replay.plugin import ReplayPlugin

__all__ = ["CallsInTurn", "Facts", "Key", "in_turn"]

Key: TypeAlias = Callable[[str, bytes], str]
Facts: TypeAlias = Callable[[str, bytes], Mapping[str, Any]]


class CallsInTurn:
    """The calls of one recording in their order. Threads may share it: it counts the calls that were answered.

    ``key`` names a call by its bare method and its first message, and ``facts`` gives what it asks for.
    """

    def __init__(self, calls: Iterable[Call], key: Key, facts: Facts) -> None:
        self._answers: dict[str, list[Call]] = {}
        self._facts = facts
        self._lock = threading.Lock()
        self._asked: Counter[str] = Counter()
        for call in calls:
            # What the client, its deadline or a lost connection ended is no answer.
            if call.end is CallEnd.COMPLETE and call.status:
                self._answers.setdefault(key(call.method, call.request), []).append(call)

    def names(self) -> set[str]:
        """The names by which calls find this recording."""
        return set(self._answers)

    def answer(self, _method: str, key: str, _request: bytes) -> Answer:
        """The answer to the next call of this name; raises :class:`NotRecordedError`."""
        calls = self._answers.get(key)
        if calls is None:
            raise NotRecordedError(key)
        with self._lock:
            number = self._asked[key]
            self._asked[key] += 1
        call = calls[min(number, len(calls) - 1)]
        order = "".join(turn for turn, _ in call.turns)
        ending = RecordedEnding(call.status, call.details, call.trailers, call.initial_metadata, order, call.requests)
        return call.responses, ending

    def state(self) -> Mapping[str, Any]:
        """What it holds, as JSON."""
        calls = [
            {
                "method": calls[0].method,
                **self._facts(calls[0].method, calls[0].request),
                "statuses": [one.status for one in calls],
            }
            for calls in self._answers.values()
        ]
        return {"calls": calls} if calls else {}

    @property
    def table(self) -> str:
        """No table: what calls name is in their messages."""
        return ""

    def described(self, project: str, dataset: str, table: str) -> None:  # of the interface
        """No table is described."""

    @property
    def queries(self) -> None:
        """No queries of REST."""

    def renamed(self, table: str, number: str) -> CallsInTurn:  # noqa: ARG002  # of the interface
        """The same calls: messages are answered byte by byte."""
        return self


def in_turn(methods: Container[str], key: Key, facts: Facts, *, streamed: frozenset[str]) -> ReplayPlugin:
    """The plugin of a protocol with these methods, whose calls are answered in their turn; the key of a call is also
    what describes it in words.
    """

    def together(calls: Iterable[Call]) -> CallsInTurn:
        return CallsInTurn((call for call in calls if call.method in methods), key, facts)

    return ReplayPlugin(
        key=key,
        described=lambda _method, key: key,
        facts=facts,
        recorded=lambda _case, exchange: together(exchange.calls),
        together=together,
        streamed=streamed,
    )
