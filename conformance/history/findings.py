"""Collects findings: of each kind of anomaly and each session the smallest proof, and every row concerned."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable
from typing import Final

from conformance.history.anomalies import Anomaly, AnomalyKind
from conformance.history.calls import Create, History, HistoryCall, RowsRead
from conformance.history.effort import Effort

__all__ = ["Findings"]

SHOWN: Final = 10
"""The most rows that an anomaly lists."""


@dataclasses.dataclass(slots=True)
class _Finding:
    witness: tuple[int, ...]
    observed: Callable[[], str]
    rows: dict[int, None]


class Findings:
    """The findings so far in ``history``."""

    def __init__(self, history: History, effort: Effort) -> None:
        self._history = history
        self._effort = effort
        self._found: dict[tuple[AnomalyKind, int], _Finding] = {}
        self._sessions: set[int] = set()

    def add(
        self, kind: AnomalyKind, session: int, rows: Collection[int], calls: Iterable[int], observed: Callable[[], str]
    ) -> None:
        """Add a finding in a session, which ``calls`` prove; with them come the calls that named their streams."""
        self._effort.spend(len(rows))
        witness = self._complete(session, calls)
        self._sessions.add(session)
        old = self._found.get((kind, session))
        if old is None:
            self._found[kind, session] = _Finding(witness, observed, dict.fromkeys(rows))
            return
        old.rows.update(dict.fromkeys(rows))
        if len(witness) < len(old.witness):
            old.witness, old.observed = witness, observed

    def __contains__(self, kind: object) -> bool:
        """True if an anomaly of this kind was found in some session."""
        return any(found is kind for found, _ in self._found)

    def clean(self, session: int) -> bool:
        """True if nothing was found in a session so far."""
        return session not in self._sessions

    def anomalies(self) -> tuple[Anomaly, ...]:
        """Return the anomalies; of one kind those with the fewest calls first."""
        kinds = list(AnomalyKind)
        return tuple(
            Anomaly(kind, self._label(session), one.witness, tuple(one.rows)[:SHOWN], len(one.rows), one.observed())
            for (kind, session), one in sorted(
                self._found.items(), key=lambda item: (kinds.index(item[0][0]), len(item[1].witness), item[0][1])
            )
        )

    def _complete(self, session: int, calls: Iterable[int]) -> tuple[int, ...]:
        found = {session, *calls}
        made = self._history.calls
        found |= self._history.paths(call.stream for index in found if isinstance(call := made[index], RowsRead))
        self._effort.spend(len(found))
        return tuple(sorted(found, key=lambda index: order(made[index], index)))

    def _label(self, session: int) -> str:
        call = self._history.calls[session]
        assert isinstance(call, Create)
        return call.session


def order(call: HistoryCall, index: int) -> tuple[float, float, int]:
    """Return the key by which calls are listed: as they began."""
    return call.begin, call.end, index
