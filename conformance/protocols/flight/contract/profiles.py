"""The profiles of an Arrow Flight server beside its core, which is flights, infos, tickets, DoGet and refusals.

No text obliges a server to have any method but those that its clients call. So each group of methods that a client
needs for one purpose is a profile, and so is each group of messages of Flight SQL.
"""

from __future__ import annotations

from typing import Final

from conformance.contract.profilerow import ProfileRow
from conformance.protocols.flight.records import (
    DoAction,
    DoExchange,
    DoPut,
    FlightLogin,
    FlightToken,
    Handshake,
    ListActions,
    PollFlightInfo,
    SqlBegin,
    SqlCancel,
    SqlIngest,
    SqlMetadata,
    SqlPrepare,
    SqlQuery,
    SqlSavepoint,
    SqlUpdate,
)
from conformance.records import Step

__all__ = ["FLIGHT_ROWS"]

_OF_SESSIONS: Final = frozenset({"SetSessionOptions", "GetSessionOptions", "CloseSession"})


def _acts(step: Step) -> bool:
    return isinstance(step, ListActions) or (isinstance(step, DoAction) and step.type not in _OF_SESSIONS)


def _logs_in(step: Step) -> bool:
    if isinstance(step, Handshake):
        return step.login is not FlightLogin.NONE
    return getattr(step, "token", FlightToken.OWN) is not FlightToken.OWN


FLIGHT_ROWS: Final = (
    ProfileRow(
        "put",
        "DoPut stores a table under a descriptor, and GetFlightInfo and DoGet give it back",
        ("flight-put.*", "flight-history.puts-*", "flight-history.earlier-put-*"),
        lambda step: isinstance(step, DoPut),
    ),
    ProfileRow(
        "exchange",
        "DoExchange sends back what it gets under one command",
        ("flight-exchange.*", "flight-history.exchanges-*"),
        lambda step: isinstance(step, DoExchange),
    ),
    ProfileRow(
        "actions",
        "DoAction and ListActions: infos are cancelled and endpoints renewed",
        (
            "flight-actions.*",
            "flight-errors.unknown-action-*",
            "flight-expiry.renewed-*",
            *(f"flight-history.{name}-*" for name in ("cancel", "cancelled", "renewed")),
        ),
        _acts,
    ),
    ProfileRow(
        "sessions",
        "the three actions on the options of a session",
        ("flight-session.*", "flight-history.options-*", "flight-history.session-*"),
        lambda step: isinstance(step, DoAction) and step.type in _OF_SESSIONS,
    ),
    ProfileRow(
        "polling",
        "PollFlightInfo: the state of a long query",
        ("flight-poll.*", "flight-history.poll-*"),
        lambda step: isinstance(step, PollFlightInfo),
    ),
    ProfileRow(
        "login", "Handshake gives a token to those who know the password", ("flight-handshake.*",), _logs_in
    ),
    ProfileRow(
        "sql",
        "Flight SQL: statements are executed, and cancelled",
        ("flight-sql.*", "flight-sql-features.*"),
        lambda step: isinstance(step, SqlQuery | SqlUpdate | SqlCancel),
        unless=("flight-sql.handle-*", "flight-sql.dataset-*", "flight-sql.actions-*", "flight-sql.end-*",
                "flight-sql.ingestion-*"),
    ),
    ProfileRow(
        "sql-metadata",
        "Flight SQL: catalogs, schemas, tables, keys, types, and what the server says of itself",
        ("flight-sql-metadata.*",),
        lambda step: isinstance(step, SqlMetadata),
    ),
    ProfileRow(
        "sql-handles",
        "Flight SQL: prepared statements, transactions and savepoints, which a client makes and ends by a handle",
        ("flight-sql.handle-*", "flight-sql.dataset-*", "flight-sql.actions-*", "flight-sql.end-*"),
        lambda step: isinstance(step, SqlPrepare | SqlBegin | SqlSavepoint),
    ),
    ProfileRow(
        "sql-ingestion",
        "Flight SQL: CommandStatementIngest puts rows into a table that the server makes",
        ("flight-sql.ingestion-*",),
        lambda step: isinstance(step, SqlIngest),
    ),
)  # fmt: skip
"""The profiles that a Flight server may leave out."""
