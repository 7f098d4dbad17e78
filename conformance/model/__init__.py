"""A model of the read service in plain Python: what a history of calls may deliver, given what it delivered before.

Rows are plain values: no Arrow, no SQL engine, no bytes. :mod:`.predicates` evaluates restrictions, :mod:`.tables`
knows which rows a session sees, and :mod:`.streams` predicts reads from what earlier reads of the session showed.
:mod:`.flights` says which rows a flight of Arrow Flight may have after what clients put into it.
"""

from conformance.model.flights import (
    FlightDeviation,
    FlightFault,
    FlightHistory,
    FlightPut,
    FlightRead,
    PutEnd,
    flight_deviations,
)
from conformance.model.predicates import Predicate
from conformance.model.streams import Deviation, DeviationKind, SessionHistory, Split, StreamRead, deviations
from conformance.model.tables import GrowingTable

__all__ = [
    "Deviation",
    "DeviationKind",
    "FlightDeviation",
    "FlightFault",
    "FlightHistory",
    "FlightPut",
    "FlightRead",
    "GrowingTable",
    "Predicate",
    "PutEnd",
    "SessionHistory",
    "Split",
    "StreamRead",
    "deviations",
    "flight_deviations",
]
