"""The mutants of the Flight reference, one module for each chapter: each replaces one step of the service.

The docstring of a mutant states its fault.
"""

from conformance.reference.flight.mutants import (  # noqa: F401  # each registers its mutants
    errors,
    exchanges,
    infos,
    puts,
    queries,
    rows,
    service,
    sql,
    sql_metadata,
    streams,
)
from conformance.reference.flight.register import FLIGHT_MUTANTS

__all__ = ["FLIGHT_MUTANTS"]
