"""Which calls of a recording show a feature of which CommandGetSqlInfo speaks: they are judged together with it.

The first call that needs a feature decides, if it ended in OK within a minute after the answer, under the same login.
An action that begins a transaction or a savepoint, or cancels, decides by UNIMPLEMENTED, too. Any other refusal may be
about the statement, its options, its tables or the client. An update need not write, and a temporary table is none that
a server of others has, so that neither says anything about FLIGHT_SQL_SERVER_READ_ONLY.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.engine.parties import party_of
from conformance.protocols.flight.contract.sqlfeatures import needed
from conformance.protocols.flight.engine.sqlrecordings import SECONDS, is_temporary, sql_step
from conformance.protocols.flight.records import FlightMethod, SqlBegin, SqlCancel, SqlMetadata, SqlSavepoint, SqlUpdate
from conformance.records import Call, CallEnd, Expect

__all__ = ["CLAUSES", "told_by"]

CLAUSES: Final = frozenset({"flight-sql-features.served-is-supported", "flight-sql-features.supported-is-served"})
"""The clauses on features that requests and answers alone decide."""

_PLAIN: Final = (SqlBegin, SqlCancel, SqlSavepoint)
"""The steps without a statement and without options, so that UNIMPLEMENTED is about the feature."""


def told_by(calls: Sequence[Call]) -> dict[int, int]:
    """For each call that shows a feature, the number of the GetFlightInfo that asked for it; calls in their order."""
    found: dict[int, int] = {}
    asked: list[tuple[int, frozenset[int]]] = []
    decided: set[tuple[int, int]] = set()
    for number, call in enumerate(calls):
        step = sql_step(call, Expect(), ())
        decides = call.status == "OK" or (call.status == "UNIMPLEMENTED" and isinstance(step, _PLAIN))
        if step is None or call.end is not CallEnd.COMPLETE or not decides or isinstance(step, SqlUpdate):
            continue
        if isinstance(step, SqlMetadata):
            if step.command == "CommandGetSqlInfo" and call.method == FlightMethod.GET_FLIGHT_INFO:
                asked.append((number, frozenset(step.info)))
            continue
        for code in needed(step) if not is_temporary(call) else ():
            said = next((one for one, codes in reversed(asked) if not codes or code in codes), None)
            if said is None or (said, code) in decided or not _is_after(calls[said], call):
                continue
            decided.add((said, code))
            found.setdefault(number, said)
    return found


def _is_after(info: Call, call: Call) -> bool:
    """True if a call is made by the same user, up to a minute after an answer."""
    since = info.started + info.seconds
    return party_of(info.label).login == party_of(call.label).login and since <= call.started <= since + SECONDS
