"""Convert a judged case to the rows that a campaign stores, as plain values.

A passing case takes one short row: bits record the clauses that passed, and the readers that agree.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from conformance.campaign.plugin import CampaignPlugin
from conformance.contract.comparing.matching import row_hashes
from conformance.contract.judge import Judged
from conformance.contract.view import View
from conformance.engine.outcomes import reason_classes
from conformance.protocol import plugin
from conformance.records import Outcome, Reading, ReadingOutcome, Verdict, to_row

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
    messages = plugin(CampaignPlugin, view.exchange.protocol).messages(view)
    if not messages:
        return None
    digest = hashlib.sha1(usedforsecurity=False)  # enough to detect a change, and processors have it built in
    for data in messages:
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return int.from_bytes(digest.digest()[:8], "little", signed=True)


def values_digest(view: View) -> int | None:
    """A digest of the rows that arrived, in any order; 0 if they equal the case's rows."""
    spoken = plugin(CampaignPlugin, view.exchange.protocol)
    held = spoken.tables(view)
    if not held:
        return None
    if all(table is view.table for table in held.values()) or spoken.has_exact_rows(view):
        return 0
    own = _table_digest(view.table)
    digests = {label: _table_digest(table) for label, table in sorted(held.items())}
    total = sum(digest * _number(label) for label, digest in digests.items() if digest != own) & _MASK
    return total - (1 << 64 if total >> 63 else 0)


_MASK: Final = (1 << 64) - 1


def _table_digest(table: pa.Table) -> int:
    """A digest of names, types and rows that does not depend on the order of rows."""
    total = _number(str(table.schema.remove_metadata())) + table.num_rows
    if table.num_columns:
        total += int(row_hashes(table).sum(dtype=np.uint64))
    return int(total & _MASK)


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") | 1
