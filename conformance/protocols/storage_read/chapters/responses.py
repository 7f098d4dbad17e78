"""Large rows and large tables: they arrive completely, in responses that a client can accept.

The server decides how to divide a table into responses, within 128 MB per response.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.contain.text import many
from conformance.contract.clause import Selector, Violation, clause
from conformance.contract.closed import Feature
from conformance.contract.sources import LARGE_RESPONSES, STORAGE_PROTO, Inferred, Sources
from conformance.contract.view import once_per_view
from conformance.protocols.storage_read.contract.endings import serves
from conformance.protocols.storage_read.contract.sessions import SessionRead, whole_sessions
from conformance.protocols.storage_read.contract.subjects import is_child, read_feature, valid_reads
from conformance.protocols.storage_read.contract.view import ReadView, ResponseView, StorageView
from conformance.protocols.storage_read.contract.violations import exactly
from conformance.records import Level

MAX_RESPONSE: Final = 128 << 20
"""The limit of the rows in one response, in bytes, from the comment on ReadRows."""
WIDE_ROW: Final = 1 << 20
"""The mean size of a row, in bytes, from which a table has wide rows rather than many rows."""
ONE_RESPONSE: Final = 16 << 20
"""The size of a table of small rows, in bytes, above which it should be divided: no known response of the service
comes near it.
"""
LARGE: Final = (STORAGE_PROTO, LARGE_RESPONSES)
"""A row and a response may have 128 MB, says the proto; a response of 6.3 MB was reported."""


def _is_wide(view: StorageView) -> bool:
    return bool(view.table.num_rows and view.table.nbytes / view.table.num_rows >= WIDE_ROW)


@once_per_view
def _large_reads(view: StorageView) -> list[ReadView]:
    reads = (read for read in valid_reads(view) if read.offset == 0 and not is_child(read))
    return [read for read in reads if read_feature(read) is Feature.LARGE]


@once_per_view
def _large_sessions(view: StorageView) -> list[SessionRead]:
    return [whole for whole in whole_sessions(view) if whole.feature is Feature.LARGE]


def _arrive(clause_id: str, over: Selector[SessionRead], source: Sources, says: str) -> None:
    """Register the clause that the rows of large sessions all arrive, once each."""
    clause(clause_id, over=over, source=source, breaks="every client", says=says)(exactly)


# A table, one row per clause: id, calls, source, the request as findings name it, explanation, affected software.
# fmt: off
serves("responses.wide-rows-are-served", lambda view: _large_reads(view) if _is_wide(view) else [], LARGE,
  lambda read: f"rows of {many(read.view.table.nbytes // read.view.table.num_rows, 'byte')}",
  "A read of rows of several MiB each ends in OK: a row may have up to 128 MB.",
  breaks="every client: rows of several MiB are legal up to 128 MB")
_arrive("responses.wide-rows-arrive", lambda view: _large_sessions(view) if _is_wide(view) else [], LARGE,
  "Rows of several MiB all arrive, once each: none is left out because of its size.")
serves("responses.many-rows-are-served", lambda view: [] if _is_wide(view) else _large_reads(view), LARGE,
  lambda read: f"a table of {many(read.view.table.nbytes, 'byte')}",
  "A read of a table that is larger than every default limit on message size ends in OK.", breaks="every client")
_arrive("responses.many-rows-arrive", lambda view: [] if _is_wide(view) else _large_sessions(view), LARGE,
  "The rows of a table that is larger than every default limit on message size all arrive, once each.")
# fmt: on


@once_per_view
def _payloads(view: StorageView) -> list[ResponseView]:
    return [response for read in view.reads for response in read.responses if response.message is not None]


@clause(
    "responses.stay-within-128-mb",
    over=_payloads,
    source=STORAGE_PROTO,
    breaks="Go and Polars, which receive no larger messages (from their source)",
)
def stay_within_128_mb(response: ResponseView) -> Iterator[Violation]:
    """The rows of a response take at most 128 MB, the limit that clients set on their channels."""
    size = len(response.sent)
    if size > MAX_RESPONSE:
        yield Violation(f"at most {MAX_RESPONSE} bytes", many(size, "byte"), field="arrow_record_batch")


@once_per_view
def _divisible(view: StorageView) -> list[ReadView]:
    """Return the reads of small rows whose responses together exceed ``ONE_RESPONSE``."""
    reads = (read for read in _large_reads(view) if read.ok and not _is_wide(view))
    return [read for read in reads if sum(map(len, read.raw.responses)) > ONE_RESPONSE]


@clause(
    "responses.large-table-is-divided",
    over=_divisible,
    source=(Inferred(STORAGE_PROTO), LARGE_RESPONSES),
    level=Level.MAY,  # one response may have 128 MB: a server that needs no second one is within the contract
    breaks="clients with a limit on message size; after a lost connection a client has to read the whole table again",
)
def large_table_is_divided(read: ReadView) -> Iterator[Violation]:
    """A large table of small rows arrives in several responses, not in a single one."""
    if len(read.raw.responses) == 1:
        size = len(read.raw.responses[0])
        yield Violation(f"several responses for {many(size, 'byte')}", f"one response of {many(read.rows_came, 'row')}")
