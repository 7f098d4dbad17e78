"""The mutants of the Flight reference, one module for each chapter: each replaces one step of the service.

The docstring of a mutant states its fault.
"""

from conformance.protocols.flight.reference.mutants import (  # noqa: F401  # each registers its mutants
    actions,
    damage,
    descriptors,
    encodings,
    errors,
    exchanges,
    expiry,
    histories,
    infos,
    lapses,
    listed,
    locations,
    logins,
    puts,
    queries,
    requests,
    rows,
    scenarios,
    service,
    sessions,
    sql,
    sql_features,
    sql_metadata,
    streams,
    uploads,
)
from conformance.protocols.flight.reference.register import FLIGHT_MUTANTS

__all__ = ["FLIGHT_MUTANTS"]
