"""Convert a judged case to the rows that a campaign stores, as plain values.

A passing case takes one short row: bits record the clauses that passed, and the readers that agree.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from conformance.contract.comparing.matching import row_hashes
from conformance.contract.comparing.received import compared
from conformance.contract.flight.decoding import Data
from conformance.contract.flight.subjects import without_dictionaries
from conformance.contract.flight.view import DataView, FlightView
from conformance.contract.judge import Judged
from conformance.contract.view import View
from conformance.engine.outcomes import reason_classes
from conformance.readers.held import held_tables
from conformance.records import DoGet, Outcome, Reading, ReadingOutcome, Verdict, to_row

__all__ = [
    "WEIGHT",
    "bytes_digest",
    "case_outcome",
    "passed_bits",
    "places",
    "read_bits",
    "readings",
    "values_digest",
    "verdicts",
]

WEIGHT: Final[Mapping[Outcome, int]] = {
    outcome: weight
    for weight, outcome in enumerate(
        (
            Outcome.PASS,
            Outcome.UNTESTABLE,
            Outcome.UNSUPPORTED,
            Outcome.EXPECTED_FAIL,
            Outcome.UNEXPECTED_PASS,
            Outcome.DEPENDENCY_FAILED,
            Outcome.REFUSED,
            Outcome.FAIL,
            Outcome.HANG,
            Outcome.CRASH,
            Outcome.ERROR,
        )
    )
}
"""The weight of each outcome for a case as a whole: one error outweighs any number of passes."""


def case_outcome(found: Judged) -> Outcome:
    """The heaviest outcome among a case's verdicts."""
    outcomes = [verdict.outcome for verdict in found.others]
    if found.passed:
        outcomes.append(Outcome.PASS)
    return max(outcomes, key=WEIGHT.__getitem__, default=Outcome.UNTESTABLE)


def places(clauses: Sequence[str]) -> Mapping[str, int]:
    """For each clause of a job, a number in which only the bit of that clause is set."""
    return {clause: 1 << place for place, clause in enumerate(clauses)}


def passed_bits(passed: Iterable[str], bits: Mapping[str, int]) -> bytes:
    """The clauses that passed as bits at their :func:`places`, least significant first; other clauses are ignored."""
    return sum(map(bits.get, passed, itertools.repeat(0))).to_bytes((len(bits) + 7) // 8, "little")


def verdicts(index: int, found: Sequence[Verdict]) -> list[dict[str, Any]]:
    """The rows of verdicts that are not passes."""
    return [
        {"index": index, **to_row(verdict), "classes": list(reason_classes(verdict))}
        for verdict in found
        if verdict.outcome is not Outcome.PASS
    ]


def read_bits(found: Sequence[Reading], readers: Sequence[str]) -> int:
    """The readers that only have readings equal to the table that the bytes contain, as bits at their positions."""
    bits = 0
    for place, reader in enumerate(readers):
        own = [reading for reading in found if reading.reader == reader]
        if own and all(map(_plain, own)):
            bits |= 1 << place
    return bits


def readings(index: int, found: Sequence[Reading]) -> list[dict[str, Any]]:
    """The rows of readings that differ from the table that the bytes contain, or from other readings."""
    rows = [{"index": index, **to_row(reading)} for reading in found if not _plain(reading)]
    for row in rows:
        del row["table"]
    return rows


def _plain(reading: Reading) -> bool:
    return reading.outcome is ReadingOutcome.TABLE and not reading.differences and reading.camp in ("", "all")


def bytes_digest(view: View) -> int | None:
    """A digest of the Arrow messages in an exchange; it leaves out names that a server chooses at random."""
    messages = [schema.data for schema in view.schemas] + [batch.data for batch in view.batches]
    if isinstance(view, FlightView):
        messages = [part for call in _streams(view) for data in call.data for part in _parts(data)]
    if not messages:
        return None
    digest = hashlib.sha1(usedforsecurity=False)  # enough to detect a change, and processors have it built in
    for data in messages:
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return int.from_bytes(digest.digest()[:8], "little", signed=True)


def values_digest(view: View) -> int | None:
    """A digest of the rows that arrived, in any order; 0 if they equal the case's rows."""
    held = _tables(view) if isinstance(view, FlightView) else held_tables(view)
    if not held:
        return None
    if all(table is view.table for table in held.values()):
        return 0
    found = () if isinstance(view, FlightView) else compared(view)
    if found and all(one.clean and one.got.num_columns == view.table.num_columns for one in found):
        return 0
    own = _table_digest(view.table)
    digests = {label: _table_digest(table) for label, table in sorted(held.items())}
    total = sum(digest * _number(label) for label, digest in digests.items() if digest != own) & _MASK
    return total - (1 << 64 if total >> 63 else 0)


def _streams(view: FlightView) -> list[DataView]:
    """The calls that ended in OK and gave data, without reads that a second run may answer differently."""
    return [call for call in view.flight_calls if isinstance(call, DataView) and call.ok and _is_settled(view, call)]


def _is_settled(view: FlightView, call: DataView) -> bool:
    """False for a read at the time of a DoPut of its flight, or after two of them at the same time: their order is
    nobody's choice.
    """
    if not isinstance(call.step, DoGet) or call.step.ticket is not None:
        return True
    descriptor = view.descriptor_of(call.step.info, call.index)
    puts = () if descriptor is None else view.puts.get(descriptor, ())
    return not any(
        put in call.beside or any(other in put.beside for other in puts) for put in puts if put.at <= call.at
    )


def _parts(data: Data | None) -> Iterator[bytes]:
    """The Arrow bytes of a FlightData."""
    return (part for part in (() if data is None else (data.header, data.body)) if part)


def _tables(view: FlightView) -> dict[str, pa.Table]:
    """The rows of each stream, by its place among them."""
    tables = enumerate(call.table for call in _streams(view))
    return {str(at): without_dictionaries(table) for at, table in tables if table is not None}


_MASK: Final = (1 << 64) - 1


def _table_digest(table: pa.Table) -> int:
    """A digest of names, types and rows that does not depend on the order of rows."""
    total = _number(str(table.schema.remove_metadata())) + table.num_rows
    if table.num_columns:
        total += int(row_hashes(table).sum(dtype=np.uint64))
    return int(total & _MASK)


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") | 1
