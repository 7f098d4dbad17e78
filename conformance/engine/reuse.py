"""Verdicts on the reference's exchanges, which hold for every other server that gives the same exchange.

The judge is a function of the case, the exchange and the table, and the table follows from the case. So where all
fields of case and exchange are equal, the verdicts are, and a fault that a case does not meet costs no judging. Where
it is known what of the reference a case uses, a service that differs in nothing of it need not be asked either.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

import pyarrow as pa

from conformance.contract.clause import Clause
from conformance.contract.judge import Judge
from conformance.contract.viewing import profile_of, view_of
from conformance.engine.outcomes import refine
from conformance.records import Case, Exchange, Verdict

__all__ = ["Answered", "Reuse"]

Answered: TypeAlias = tuple[Exchange, frozenset[str] | None]
"""The exchange of the reference on a case, and the attributes of its service that were used; None if that is a matter
of chance.
"""

MOST_BYTES: Final = 1 << 20
"""The largest exchange, by the bytes of its responses, that is kept as it is: of a larger one, the digest of each
response is kept in its place.
"""


@dataclasses.dataclass(frozen=True, slots=True)
class _Judged:
    case: Case
    exchange: Exchange
    verdicts: list[Verdict]
    used: frozenset[str] | None
    in_digests: bool

    def is_of(self, exchange: Exchange) -> bool:
        """True if the exchange is the one that was judged."""
        return self.exchange == (_in_digests(exchange) if self.in_digests else exchange)


class Reuse:
    """A judge of servers under ``clauses``, which judges each of the reference's exchanges once.

    ``answered`` asks the reference about a case, each case once; if it is None, every exchange is judged. With
    ``refined``, a refusal or a death that no clause reports fails the case, as in a run. Else only the verdicts that
    are no passes are returned.
    """

    def __init__(
        self,
        clauses: Iterable[Clause],
        answered: Callable[[Case, pa.Table], Answered] | None,
        *,
        refined: bool = False,
    ) -> None:
        self._clauses: Final = tuple(clauses)
        self._refined: Final = refined
        self._answered: Final = answered
        self._known: Final[dict[str, _Judged]] = {}
        self._judges: Final[dict[str, Judge]] = {}

    def judge(self, case: Case, exchange: Exchange, table: pa.Table) -> list[Verdict]:
        """The verdicts on an exchange; ``table`` has the rows of the case."""
        known = self._learnt(case, table)
        if known is not None and known.is_of(exchange) and known.case == case:
            return known.verdicts
        return self._judged(case, exchange, table)

    def untouched(self, case: Case, table: pa.Table, differences: frozenset[str]) -> list[Verdict] | None:
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

    def _judged(self, case: Case, exchange: Exchange, table: pa.Table) -> list[Verdict]:
        """The verdicts on an exchange; passes are among them only where they are refined."""
        judging = self._judge_of(profile_of(exchange.protocol))
        view = view_of(case, exchange, table)
        judged = judging(view)
        if not self._refined:
            return list(judged.others)
        verdicts = judging.in_order(case, judged)
        return list(refine(case, exchange, verdicts, view.reason_not_judged, passed=True))

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
