"""How much of an exchange is judged: counts that no permitted answer reaches, checked before anything is parsed.

Clauses are linear in what they are asked about, so a case costs in proportion to what came. A hostile target sends a
great deal; then that is the one thing said about it, and the case ends at once.

Work is counted, and no clock is read: judging is pure, and the same bytes have to give the same verdicts on a laptop,
in a cluster and under a debugger. For the same reason nothing is interrupted: between two clauses the work so far is
compared with the budget, and what is left is said not to have been judged. A deadline in seconds is for whoever judges
in a process that may be ended.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Final

from conformance.records import Exchange

__all__ = ["STANDARD", "TELLS", "Budget", "Excess"]

TELLS: Final = "calls.stay-within-reason"
"""The clause that tells of an exchange beyond its budget."""


_INFLATED: Final = 16
"""Decompressed bytes for each byte of the table."""


@dataclasses.dataclass(frozen=True, slots=True)
class Excess:
    """What goes beyond a budget, as an observation, and the call with which it does."""

    call: int
    observed: str


@dataclasses.dataclass(frozen=True, slots=True)
class Budget:
    """What one exchange may hold, and how much work clauses may make of it.

    ``responses`` is how many may come beyond ``spare`` and two a row for each read: the contract has no response
    without rows, and the suite's own driver stops reading earlier. ``schemas`` bounds the bytes of the distinct schema
    messages: 10,000 columns, the most that a table may have (https://cloud.google.com/bigquery/quotas#standard_tables),
    with names of 300 letters take a third of it. ``messages`` is how many a stream or file may hold beyond
    one for each KiB of it. ``rows`` is how many each call may bring beyond two for each row of the table.
    ``inflated`` is how many bytes an exchange may decompress to beyond 16 for each byte of the table and call: a row
    alone in its batch takes 64 bytes a buffer. ``work`` is counted in subjects that clauses are asked about.
    """

    responses: int = 10_000
    spare: int = 1_000
    schemas: int = 16 << 20
    messages: int = 10_000
    rows: int = 1_000
    inflated: int = 64 << 20
    work: int = 50_000_000

    def of_responses(self, exchange: Exchange, rows: int) -> Excess | None:
        """The excess of responses in the reads of a table with so many rows."""
        reads = [(len(call.responses), index) for index, call in enumerate(exchange.calls) if call.method == "ReadRows"]
        permitted = self.responses + len(reads) * (self.spare + 2 * rows)
        came = sum(count for count, _ in reads)
        if came <= permitted:
            return None
        return Excess(max(reads)[1], f"{came} responses for {rows} rows, of which at most {permitted} are judged")

    def of_schemas(self, exchange: Exchange, schemas: Iterable[tuple[int, bytes]]) -> Excess | None:
        """The excess of bytes in schema messages, each with its call; they are looked at only if there may be one."""
        if exchange.received <= self.schemas:
            return None
        distinct: set[bytes] = set()
        size = 0
        for call, data in schemas:
            size += 0 if data in distinct else len(data)
            distinct.add(data)
            if size > self.schemas:
                return Excess(call, f"{size} bytes of schemas or more, of which at most {self.schemas} are judged")
        return None

    def of_rows(self, exchange: Exchange, decoded: Iterable[tuple[int, int]], rows: int) -> Excess | None:
        """The excess of rows, given how many each batch holds, with its call, and how many the table has."""
        permitted = _calls_with_rows(exchange) * (self.rows + 2 * rows)
        came = 0
        for call, count in decoded:
            came += count
            if came > permitted:
                observed = f"{came} rows or more of a table of {rows}, of which at most {permitted} are judged"
                return Excess(call, observed)
        return None

    def of_bytes(self, exchange: Exchange, table: int) -> int:
        """How many bytes the batches of an exchange may decompress to, of a table of so many."""
        return self.inflated + _INFLATED * table * _calls_with_rows(exchange)

    def of_inflated(self, declared: Iterable[tuple[int, int]], permitted: int) -> Excess | None:
        """The excess of bytes that responses as a whole decompress to, given what each announces, with its call."""
        came = 0
        for call, size in declared:
            came += size
            if came > permitted:
                return Excess(call, f"{came} decompressed bytes or more, of which at most {permitted} are judged")
        return None

    def of_messages(self, data: bytes) -> int:
        """How many messages of a stream or file are read."""
        return self.messages + (len(data) >> 10)


def _calls_with_rows(exchange: Exchange) -> int:
    return sum(call.method in ("ReadRows", "SerializeBatch") for call in exchange.calls)


STANDARD: Final = Budget()
"""The budget of every exchange."""
