"""Verdicts on the reference's exchanges, which hold for every other server that gives the same exchange.

The judge is a function of the case, the exchange and the table, and the table follows from the case. So where all
fields of case and exchange are equal, the verdicts are, and a fault that a case does not meet costs no judging.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import pyarrow as pa

from conformance.contract.clause import Clause
from conformance.contract.judge import judge_view
from conformance.contract.viewing import profile_of, view_of
from conformance.records import Case, Exchange, Verdict

__all__ = ["Reuse"]

MOST_BYTES: Final = 1 << 20
"""The largest exchange, by the bytes of its responses, that is kept."""


class Reuse:
    """A judge of servers under ``clauses``, which judges each of the reference's exchanges once.

    ``answered`` gives the exchange of the reference on a case. It is asked about a case once.
    """

    def __init__(self, clauses: Iterable[Clause], answered: Callable[[Case, pa.Table], Exchange]) -> None:
        self._clauses: Final = tuple(clauses)
        self._answered: Final = answered
        self._known: Final[dict[str, tuple[Case, Exchange, list[Verdict]] | None]] = {}

    def judge(self, case: Case, exchange: Exchange, table: pa.Table) -> list[Verdict]:
        """The verdicts on an exchange; ``table`` has the rows of the case."""
        if case.id not in self._known:
            self._known[case.id] = self._learnt(case, table)
        known = self._known[case.id]
        if known is not None and known[1] == exchange and known[0] == case:
            return known[2]
        return self._judged(case, exchange, table)

    def _learnt(self, case: Case, table: pa.Table) -> tuple[Case, Exchange, list[Verdict]] | None:
        exchange = self._answered(case, table)
        if exchange.received > MOST_BYTES:
            return None
        return case, exchange, self._judged(case, exchange, table)

    def _judged(self, case: Case, exchange: Exchange, table: pa.Table) -> list[Verdict]:
        profile = profile_of(exchange.protocol)
        binding = [clause for clause in self._clauses if profile in clause.profiles]
        return judge_view(view_of(case, exchange, table), binding)
