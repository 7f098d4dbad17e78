"""A model of the read service in plain Python: what a history of calls may deliver, given what it delivered before.

Rows are plain values: no Arrow, no SQL engine, no bytes. :mod:`.predicates` evaluates restrictions, :mod:`.tables`
knows which rows a session sees, and :mod:`.streams` predicts reads from what earlier reads of the session showed.
"""

from conformance.protocols.storage_read.model.predicates import Predicate
from conformance.protocols.storage_read.model.streams import (
    Contradiction,
    DeviationKind,
    ModelSplit,
    SessionHistory,
    StreamRead,
    deviations,
)
from conformance.protocols.storage_read.model.tables import GrowingTable

__all__ = [
    "Contradiction",
    "DeviationKind",
    "GrowingTable",
    "ModelSplit",
    "Predicate",
    "SessionHistory",
    "StreamRead",
    "deviations",
]
