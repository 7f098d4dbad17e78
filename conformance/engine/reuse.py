"""Verdicts on the reference's exchanges, which hold for every other server that gives the same exchange.

The judge is a function of the case, the exchange and the table, and the table follows from the case. So where all
fields of case and exchange are equal, the verdicts are, and a fault that a case does not meet costs no judging. Where
it is known what of the reference a case uses, a service that differs in nothing of it need not be asked either.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeAlias

import pyarrow as pa

from conformance.contract.clause import Clause
from conformance.contract.judge import Judge
from conformance.contract.viewing import profile_of, view_of
from conformance.engine.outcomes import refine
from conformance.records import Case, Exchange, Verdict

__all__ = ["Answered", "Reuse", "Verdicts"]

Answered: TypeAlias = tuple[Exchange, frozenset[str] | None]
"""The exchange of the reference on a case, and the attributes of its service that were used; None if that is a matter
of chance.
"""

MOST_BYTES: Final = 1 << 20
"""The largest exchange, by the bytes of its responses, that is kept as it is: of a larger one, the digest of each
response is kept in its place.
"""


class Verdicts(NamedTuple):
    """The verdicts on an exchange that are no passes: as the judge gave them, and ``refined`` as in a run, where a
    refusal or a death that no clause reports fails the case.
    """

    plain: list[Verdict]
    refined: list[Verdict]


@dataclasses.dataclass(frozen=True, slots=True)
class _Judged:
    case: Case
    exchange: Exchange
    verdicts: Verdicts
    used: frozenset[str] | None
    in_digests: bool

    def is_of(self, exchange: Exchange) -> bool:
        """True if the exchange is the one that was judged."""
        return self.exchange == (_in_digests(exchange) if self.in_digests else exchange)


class Reuse:
    """A judge of servers under ``clauses``, which judges each of the reference's exchanges once.

    ``answered`` asks the reference about a case, each case once; if it is None, every exchange is judged.
    """

    def __init__(self, clauses: Iterable[Clause], answered: Callable[[Case, pa.Table], Answered] | None = None) -> None:
        self._clauses: Final = tuple(clauses)
        self._answered: Final = answered
        self._known: Final[dict[str, _Judged]] = {}
        self._judges: Final[dict[str, Judge]] = {}

    def judge(self, case: Case, exchange: Exchange, table: pa.Table) -> Verdicts:
        """The verdicts on an exchange; ``table`` has the rows of the case."""
        known = self._learnt(case, table)
        if known is not None and known.is_of(exchange) and known.case == case:
            return known.verdicts
        return self._judged(case, exchange, table)

    def untouched(self, case: Case, table: pa.Table, differences: frozenset[str]) -> Verdicts | None:
        """The verdicts on a service with these attributes of its own, if the case uses none of them; else None."""
        known = self._learnt(case, table)
        if known is None or known.used is None or known.case != case or not differences.isdisjoint(known.used):
            return None
        return known.verdicts

    def _learnt(self, case: Case, table: pa.Table) -> _Judged | None:
        if self._answered is None:
            return None
        if case.id not in self._known:
            exchange, used = self._answered(case, table)
            large = exchange.received > MOST_BYTES
            kept = _in_digests(exchange) if large else exchange
            self._known[case.id] = _Judged(case, kept, self._judged(case, exchange, table), used, large)
        return self._known[case.id]

    def _judged(self, case: Case, exchange: Exchange, table: pa.Table) -> Verdicts:
        view = view_of(case, exchange, table)
        judged = self._judge_of(profile_of(exchange.protocol))(view)
        plain = list(judged.others)
        return Verdicts(plain, refine(case, exchange, plain, view.reason_not_judged, passed=bool(judged.passed)))

    def _judge_of(self, profile: str) -> Judge:
        if profile not in self._judges:
            self._judges[profile] = Judge(clause for clause in self._clauses if profile in clause.profiles)
        return self._judges[profile]


def _in_digests(exchange: Exchange) -> Exchange:
    """The exchange with the digest of each response in its place; those of no other exchange are alike."""
    calls = (
        dataclasses.replace(call, responses=tuple(hashlib.sha256(data).digest() for data in call.responses))
        for call in exchange.calls
    )
    return dataclasses.replace(exchange, calls=tuple(calls))
