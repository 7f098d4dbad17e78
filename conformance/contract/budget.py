"""The limits on an exchange that is judged: counts that no permitted answer reaches, checked before anything is parsed.

The cost of a clause is linear in its subjects, so a case costs in proportion to the bytes received. A hostile target
may send a great deal; the only verdict is then that it did, and the case ends at once.

The budget counts work and reads no clock: judging is pure, and equal bytes have to give equal verdicts on a laptop,
in a cluster and under a debugger. For the same reason nothing is interrupted: between two clauses the work so far is
compared with the budget, and the remaining clauses are reported as not judged. Callers that need a deadline in
seconds judge in a process that they can kill.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Final

from conformance.contain.text import many
from conformance.records import Exchange, RunQuery

__all__ = ["EXCESS_CLAUSE", "STANDARD", "Budget", "Excess"]

EXCESS_CLAUSE: Final = "calls.stay-within-reason"
"""The clause that reports an exchange beyond its budget."""


_WITH_ROWS: Final = frozenset({"ReadRows", "SerializeBatch", RunQuery.METHOD})
"""The calls that deliver rows."""
_INFLATED: Final = 16
"""Permitted decompressed bytes for each byte of the table."""
_SLOTS: Final = 8
"""Permitted values in Avro for each value of the table."""


@dataclasses.dataclass(frozen=True, slots=True)
class Excess:
    """An observation that goes beyond a budget, and the index of the call at which it does."""

    call: int
    observed: str


@dataclasses.dataclass(frozen=True, slots=True)
class Budget:
    """The most that one exchange may contain, and the most work that clauses may do on it.

    ``responses`` is the number of responses permitted beyond ``spare`` and two per row for each read: the contract
    has no response without rows, and the suite's own driver stops reading earlier.
    ``schemas`` bounds the bytes of the distinct schema messages: 10,000 columns, the most that a table may have
    (https://cloud.google.com/bigquery/quotas#standard_tables), with names of 300 letters take a third of it.
    ``messages`` is the number of messages permitted in a stream or file beyond one per KiB.
    ``rows`` is the number of rows that each call may deliver beyond two for each row of the table.
    ``inflated`` is the number of bytes to which an exchange may decompress beyond 16 for each byte of the table and
    call: a row alone in its batch takes 64 bytes per buffer. ``received`` is the same for the bytes of reads as they
    are received: a response above the 128 MB that the proto permits has a finding of its own.
    ``slots`` is the number of values that the rows in Avro of an exchange may have beyond 8 for each value of the table
    and call: a value takes up to 32 bytes of memory and a part of a microsecond, and an INTERVAL counts as 4.
    ``work`` is the number of subjects that clauses may check.
    """

    responses: int = 10_000
    spare: int = 1_000
    schemas: int = 16 << 20
    messages: int = 10_000
    rows: int = 1_000
    inflated: int = 64 << 20
    received: int = 160 << 20
    slots: int = 4 << 20
    work: int = 50_000_000

    def of_responses(self, exchange: Exchange, rows: int) -> Excess | None:
        """Return the excess of responses in the reads of a table of ``rows`` rows, None if there is no excess."""
        reads = [(len(call.responses), index) for index, call in enumerate(exchange.calls) if call.method == "ReadRows"]
        permitted = self.responses + len(reads) * (self.spare + 2 * rows)
        came = sum([count for count, _ in reads])
        if came <= permitted:
            return None
        return Excess(
            max(reads)[1], f"{many(came, 'response')} for {many(rows, 'row')}, of which at most {permitted} are judged"
        )

    def of_received(self, exchange: Exchange, table: int) -> Excess | None:
        """Return the excess of bytes in the reads of a table of ``table`` bytes, None if there is no excess."""
        permitted = self.received + _INFLATED * table * _calls_with_rows(exchange)
        sizes = [
            (sum(map(len, call.responses)), index)
            for index, call in enumerate(exchange.calls)
            if call.method == "ReadRows"
        ]
        came = sum([size for size, _ in sizes])
        if came <= permitted:
            return None
        observed = f"{many(came, 'byte')} for a table of {table}, of which at most {permitted} are judged"
        return Excess(max(sizes)[1], observed)

    def of_schemas(self, exchange: Exchange, schemas: Iterable[tuple[int, bytes]]) -> Excess | None:
        """Return the excess of bytes in schema messages, None if there is no excess.

        ``schemas`` yields each message with its call. It is read only if the exchange is large enough for an excess.
        """
        if exchange.received <= self.schemas:
            return None
        distinct: set[bytes] = set()
        size = 0
        for call, data in schemas:
            size += 0 if data in distinct else len(data)
            distinct.add(data)
            if size > self.schemas:
                return Excess(
                    call, f"{many(size, 'byte')} of schemas or more, of which at most {self.schemas} are judged"
                )
        return None

    def of_rows(self, exchange: Exchange, decoded: Iterable[tuple[int, int]], rows: int) -> Excess | None:
        """Return the excess of rows, None if there is no excess.

        ``decoded`` yields the call and the row count of each batch; ``rows`` is the row count of the table.
        """
        permitted = _calls_with_rows(exchange) * (self.rows + 2 * rows)
        came = 0
        for call, count in decoded:
            came += count
            if came > permitted:
                observed = f"{many(came, 'row')} or more of a table of {rows}, of which at most {permitted} are judged"
                return Excess(call, observed)
        return None

    def of_bytes(self, exchange: Exchange, table: int) -> int:
        """Return the number of bytes to which the batches of an exchange may decompress, for a table of ``table``
        bytes.
        """
        return self.inflated + _INFLATED * table * _calls_with_rows(exchange)

    def of_slots(self, exchange: Exchange, table: int) -> int:
        """Return the number of values that rows in Avro may have in an exchange about a table of ``table`` values."""
        return self.slots + _SLOTS * table * _calls_with_rows(exchange)

    def of_inflated(self, declared: Iterable[tuple[int, int]], permitted: int) -> Excess | None:
        """Return the excess of decompressed bytes of compressed responses, None if there is no excess.

        ``declared`` yields the call and the declared size of each response.
        """
        came = 0
        for call, size in declared:
            came += size
            if came > permitted:
                return Excess(
                    call, f"{many(came, 'decompressed byte')} or more, of which at most {permitted} are judged"
                )
        return None

    def of_messages(self, data: bytes) -> int:
        """Return the number of messages of a stream or file that are read."""
        return self.messages + (len(data) >> 10)


def _calls_with_rows(exchange: Exchange) -> int:
    return sum([call.method in _WITH_ROWS for call in exchange.calls])


STANDARD: Final = Budget()
"""The budget of every exchange."""
