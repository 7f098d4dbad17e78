"""The clauses on every call, whatever it requests: it ends, in time, and the server survives it.

The chapter on abandoned reads judges the calls after these.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contain.text import many
from conformance.contract.clause import ANY_SERVER, Violation, clause
from conformance.contract.sources import ENDLESS_READ, GRPC, RECORDED, STORAGE_PROTO, Inferred
from conformance.contract.subjects import after_abandoned, every_call
from conformance.contract.view import CallView, once_per_view
from conformance.protocols.storage_read.contract.view import StorageView
from conformance.records import CallEnd


@once_per_view
def _calls(view: StorageView) -> list[CallView]:
    return [call for call in every_call(view) if not after_abandoned(call)]


@clause(
    "calls.end-in-time",
    over=_calls,
    source=ENDLESS_READ,
    breaks="a client without a deadline waits for ever",
    profiles=ANY_SERVER,
)
def end_in_time(call: CallView) -> Iterator[Violation]:
    """A call ends with a status, OK or not, within its deadline: it never hangs."""
    if call.raw.end is CallEnd.DEADLINE:
        yield Violation("a status", f"no status by the deadline, after {many(len(call.raw.responses), 'response')}")


@clause(
    "calls.leave-the-server-alive",
    over=_calls,
    source=GRPC,
    breaks=(
        "every client of the server: Google's retry for ten minutes, and ReadRows for a day (from their source);"
        " a server that died: https://github.com/goccy/bigquery-emulator/issues/382"
    ),
    profiles=ANY_SERVER,
)
def leave_the_server_alive(call: CallView) -> Iterator[Violation]:
    """No call, whatever it requests, ends the server's process or the connection."""
    if call.raw.end is CallEnd.CRASH:
        yield Violation("a status", f"the server died or hung up: {call.raw.details}")


@clause(
    "calls.stay-within-reason",
    over=lambda view: list(every_call(view)),
    source=(Inferred(STORAGE_PROTO), RECORDED),
    breaks="every client",
    profiles=ANY_SERVER,
)
def stay_within_reason(call: CallView) -> Iterator[Violation]:
    """A call sends no more than any correct answer could contain: no stream continues after the last row."""
    if call.raw.end is CallEnd.OVER_BUDGET:
        size = sum(map(len, call.raw.responses))
        yield Violation(
            "an answer of the size of the table",
            f"{many(len(call.raw.responses), 'response')} of {many(size, 'byte')} together",
        )
    elif (excess := call.view.excess) is not None and excess.call == call.index:
        yield Violation("an answer of the size of the table", excess.observed)
