"""What a run lets a server read: an estimate before it, and a count while it runs.

The estimate takes the sizes of values that the service publishes
(https://cloud.google.com/bigquery/pricing#data, "Data size calculation") and assumes that each ReadRows reads its whole
table. The count takes the greater of what the server reports for a session and of what arrives. What is billed is the
server's own decision; free allowances are not subtracted.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from google.protobuf.message import DecodeError

from conformance.contract import proto
from conformance.generate.materialise import materialise
from conformance.records import Call, Case, CreateSession, Exchange, ReadRows
from conformance.targets.service import Service, sized

__all__ = ["Estimate", "Meter", "estimate", "logical_bytes"]

TIB: Final = 1 << 40
CENT: Final = 0.01


@dataclasses.dataclass(frozen=True, slots=True)
class Estimate:
    """The tables that are loaded, their bytes, and how often and how much is read of them."""

    tables: int
    loaded: int
    reads: int
    read: int

    def text(self, service: Service) -> str:
        """The estimate in one line, with the price that the target file names."""
        line = (
            f"estimate: {self.tables} tables with {sized(self.loaded)} are loaded,"
            f" and about {sized(self.read)} are read by {self.reads} reads"
        )
        if service.price is not None:
            dollars = self.read / TIB * service.price.dollars_per_tib
            cost = f"about ${dollars:.2f}" if dollars >= CENT else "less than $0.01"
            line += (
                f": {cost} at ${service.price.dollars_per_tib:.2f} per TiB"
                f" ({service.price.source}, {service.price.date}; your price may differ)"
            )
        return f"{line}; the run stops at {sized(service.max_bytes)} read"


def estimate(cases: Iterable[Case], *, repeat: int = 1) -> Estimate:
    """The estimate for putting each of ``cases`` to a server ``repeat`` times."""
    tables = loaded = reads = read = 0
    for case in cases:
        size = logical_bytes(materialise(case.table))
        sessions = sum(isinstance(step, CreateSession) for step in case.steps)
        # A step may read each stream of its session: together they are the table once.
        rounds = max(sessions, sum(step.times for step in case.steps if isinstance(step, ReadRows)))
        tables, loaded = tables + repeat, loaded + repeat * size
        reads, read = reads + repeat * rounds, read + repeat * rounds * size
    return Estimate(tables, loaded, reads, read)


def logical_bytes(table: pa.Table) -> int:
    """The size of a table's values in the service's own counting, to which a NULL adds nothing."""
    return sum(_bytes(chunk) for column in table.columns for chunk in column.chunks)


def _bytes(array: pa.Array) -> int:
    count: int = len(array) - array.null_count
    kind = array.type
    if pa.types.is_struct(kind):
        return sum(map(_bytes, array.flatten()))
    if pa.types.is_list(kind):
        return _bytes(array.flatten())
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return 2 * count + int(pc.sum(pc.binary_length(array)).as_py() or 0)
    return count * _width(kind)


def _width(kind: pa.DataType) -> int:
    """The bytes of one value of a type whose values all have the same size."""
    if pa.types.is_boolean(kind):
        return 1
    if pa.types.is_decimal(kind) or pa.types.is_interval(kind):
        return 32 if pa.types.is_decimal256(kind) else 16
    return 8


class Meter:
    """Counts the bytes that a server reads for a run; ``most`` is where the run stops, None if nowhere."""

    def __init__(self, most: int | None) -> None:
        self.most = most
        self.read = 0

    def count(self, exchange: Exchange) -> None:
        """Add what an exchange read."""
        sessions: dict[str, float] = {}
        for call in exchange.calls:
            if call.method == "CreateReadSession" and call.status == "OK" and call.responses:
                session = _session(call)
                if session is not None:
                    sessions[session.name] = session.estimated_total_bytes_scanned / max(1, len(session.streams))
            elif call.method == "ReadRows":
                received = sum(map(len, call.responses))
                self.read += max(received, math.ceil(_reported(call, sessions)))

    def add(self, scanned: int) -> None:
        """Add bytes that the server reports for something else, a statement for example."""
        self.read += scanned

    @property
    def stopped(self) -> str:
        """Why nothing further is read; empty while something may be."""
        if self.most is None or self.read < self.most:
            return ""
        return f"the run has read {sized(self.read)}, and its limit is {sized(self.most)} (--max-bytes)"

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a report says about it."""
        if self.most is None:
            return ()
        return (f"the run read {sized(self.read)}, by the server's own estimates and by what arrived",)


def _session(call: Call) -> Any:
    """The session in the answer; None if the bytes are none."""
    try:
        return proto.ReadSession.FromString(call.responses[0])
    except DecodeError:
        return None


def _reported(call: Call, sessions: dict[str, float]) -> float:
    """The share of a stream in what its session scans, as the server reported it."""
    try:
        stream = proto.REQUESTS["ReadRows"].FromString(call.request).read_stream
    except DecodeError:
        return 0.0
    return max((share for name, share in sessions.items() if stream.startswith(f"{name}/")), default=0.0)
