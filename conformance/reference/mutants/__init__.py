"""The mutants: named single deviations from the reference, in its serializer or in its service.

``conformance serve --mutant NAME`` serves one. :mod:`.register` defines how a mutant is made and found; this module
gathers all of them and chooses the service that runs each.
"""

from __future__ import annotations

import pyarrow as pa

from conformance.reference.mutants import (  # noqa: F401  # each registers its mutants
    behaviour,
    body,
    buffers,
    compressions,
    endings,
    framing,
    layouts,
    limits,
    metadata,
    modes,
    projections,
    readings,
    reads,
    refused,
    reported,
    restrictions,
    sessions,
    splits,
    structure,
    types,
    values,
)
from conformance.reference.mutants.faulty_servers import FAULTY_SERVERS
from conformance.reference.mutants.register import MUTANTS, Mutant
from conformance.reference.serializer import Serializer
from conformance.reference.service import Service

__all__ = ["FAULTY_SERVERS", "MUTANTS", "Mutant", "service_class"]


def service_class(name: str | None) -> type[Service]:
    """The service to run: the reference itself for None, otherwise the one with the mutant's deviation.

    Raises:
        KeyError: no mutant has that name.
    """
    if name is None:
        return Service
    if name in FAULTY_SERVERS:
        return FAULTY_SERVERS[name]
    if name not in MUTANTS:
        raise KeyError(f"no mutant is called {name!r}; `conformance serve --mutants` lists them all")
    mutant = MUTANTS[name]
    if mutant.service is not None:
        return mutant.service
    assert mutant.serializer is not None, "a mutant lies in its service or in its serializer"
    return _written_by(mutant.serializer)


def _written_by(serializer: Serializer) -> type[Service]:
    """The service with its messages written by the given serializer."""

    class Written(Service):
        def encode_schema(self, schema: pa.Schema) -> bytes:
            return serializer.schema(schema)

        def encode_batch(self, part: pa.RecordBatch, codec: str) -> bytes:
            return serializer.batch(part, codec)

    return Written
