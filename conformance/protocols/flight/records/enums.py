"""The closed sets of the steps of Arrow Flight RPC and Flight SQL."""

from __future__ import annotations

import enum

__all__ = ["EndOfSavepoint", "EndOfTransaction", "FlightMethod", "IfExists", "IfNotExist"]


class FlightMethod(enum.StrEnum):
    """The methods of Arrow Flight RPC (https://github.com/apache/arrow/blob/main/format/Flight.proto)."""

    HANDSHAKE = "Handshake"
    LIST_FLIGHTS = "ListFlights"
    GET_FLIGHT_INFO = "GetFlightInfo"
    POLL_FLIGHT_INFO = "PollFlightInfo"
    GET_SCHEMA = "GetSchema"
    DO_GET = "DoGet"
    DO_PUT = "DoPut"
    DO_EXCHANGE = "DoExchange"
    DO_ACTION = "DoAction"
    LIST_ACTIONS = "ListActions"


class EndOfTransaction(enum.StrEnum):
    """How a transaction of Flight SQL ends."""

    COMMIT = "commit"
    """What it changed stays."""
    ROLLBACK = "rollback"
    """What it changed is undone."""


class EndOfSavepoint(enum.StrEnum):
    """How a savepoint of Flight SQL ends."""

    RELEASE = "release"
    """It is forgotten; what was changed after it stays."""
    ROLLBACK = "rollback"
    """What was changed after it is undone."""


class IfExists(enum.StrEnum):
    """What an ingestion does if its table exists."""

    FAIL = "fail"
    """It fails."""
    APPEND = "append"
    """The rows are added."""
    REPLACE = "replace"
    """The table is dropped and made again."""


class IfNotExist(enum.StrEnum):
    """What an ingestion does if its table does not exist."""

    CREATE = "create"
    """The table is made."""
    FAIL = "fail"
    """It fails."""
