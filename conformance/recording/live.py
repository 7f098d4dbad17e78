"""Judges calls while they are recorded: each with the session that named its stream, and each clause shown once.

The complete judgement comes from the log at the end: it also sees what several calls say together.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from conformance.contract.judge import Judge
from conformance.contract.viewing import view_of
from conformance.engine.conversed import as_driven, conversations, without_table
from conformance.engine.events import ExchangeRecorded
from conformance.engine.selection import clauses_on
from conformance.generate import materialise
from conformance.protocol import protocol_names
from conformance.records import Outcome

__all__ = ["Live"]

SESSIONS: Final = 1000
"""The number of sessions that are remembered: a read of an older one is judged without it, at the end again with it."""


class Live:
    """Judges each recorded call as it is given, and passes the first finding of each clause to ``say`` as a line."""

    def __init__(self, say: Callable[[str], object]) -> None:
        clauses, _ = clauses_on(*protocol_names())
        self._judge = Judge(without_table(clauses)[0])
        self._say = say
        self._said: set[str] = set()
        self._sessions: OrderedDict[str, ExchangeRecorded] = OrderedDict()

    def __call__(self, recorded: ExchangeRecorded) -> None:
        """Judge one call."""
        (alone,) = conversations([recorded])
        name = alone.case.title.rpartition(": ")[2]
        before = self._sessions.get(name)
        if recorded.exchange.calls[0].method == "CreateReadSession":
            self._sessions[name] = recorded
            if len(self._sessions) > SESSIONS:
                self._sessions.popitem(last=False)
        for one in conversations([before, recorded] if before is not None else [recorded]):
            driven = as_driven(one)
            judged = self._judge(view_of(driven.case, driven.exchange, materialise(driven.case.table)))
            for verdict in judged.others:
                if verdict.outcome is Outcome.FAIL and verdict.clause not in self._said:
                    self._said.add(verdict.clause)
                    first = verdict.findings[0]
                    self._say(f"FAIL {verdict.clause}: {first.observed} (required: {first.required})")
