"""The mutants: named single deviations from the reference, in its serializer or in its service.

``conformance serve --mutant NAME`` serves one. This module gathers all of them, those of bytes too, and chooses the
service that runs each.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import pyarrow as pa

from conformance.protocol import merged
from conformance.protocols.storage_read.reference.mutants import (  # noqa: F401  # each registers its mutants
    alike,
    avro,
    avro_rows,
    avro_schemas,
    behaviour,
    changedcolumns,
    combinations,
    compressions,
    dialects,
    encodings,
    endings,
    heldreads,
    heldresults,
    histories,
    interruptions,
    jobstreams,
    kinds,
    lifetimes,
    listedresults,
    projections,
    queries,
    queryfields,
    querymeetings,
    queryruns,
    queryvalues,
    reads,
    refused,
    remade,
    reported,
    restrictions,
    results,
    samples,
    sessions,
    spellings,
    splits,
)
from conformance.protocols.storage_read.reference.mutants.faulty_servers import FAULTY_SERVERS
from conformance.protocols.storage_read.reference.register import SERVICE_MUTANTS
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.servicevariations import SERVICE_VARIATIONS
from conformance.reference.mutants import BYTE_MUTANTS
from conformance.reference.register import STACKED_WITH, Mutant
from conformance.reference.serializer import Serializer

__all__ = ["FAULTY_SERVERS", "MUTANTS", "service_class"]

MUTANTS: Final[Mapping[str, Mutant]] = MappingProxyType(
    merged("mutant", {"bytes": BYTE_MUTANTS.items(), "service": SERVICE_MUTANTS.items()})
)
"""Every mutant by name: those of bytes, then those of the service."""


def service_class(name: str | None) -> type[ReadService]:
    """The service to run: the reference itself for None, otherwise the one with the mutant's deviation, or with the
    legal difference of a variation.

    Several names joined by ``+`` give a service with all of these deviations. Of two that replace the same step, the
    first decides how much the second still does.

    Raises:
        KeyError: nothing has that name.
    """
    if name is None:
        return ReadService
    if name in FAULTY_SERVERS:
        return FAULTY_SERVERS[name]
    if name in SERVICE_VARIATIONS:
        return SERVICE_VARIATIONS[name].service
    stacked = [_mutant(each) for each in name.split(STACKED_WITH)]
    serializers = [mutant.serializer for mutant in stacked if mutant.service is None and mutant.serializer is not None]
    services = [mutant.service for mutant in stacked if mutant.service is not None]
    if serializers:
        services.append(_written_by(functools.reduce(Serializer.then, serializers)))
    return services[0] if len(services) == 1 else type("Stacked", tuple(services), {})


def _mutant(name: str) -> Mutant:
    if name not in MUTANTS:
        raise KeyError(f"no mutant is called {name!r}; `conformance serve --mutants` lists them all")
    mutant = MUTANTS[name]
    if mutant.service is None and mutant.serializer is None:
        raise KeyError(f"the mutant {name!r} is of the readings of an exchange; no server can have it")
    return mutant


def _written_by(serializer: Serializer) -> type[ReadService]:
    """The service with its messages written by the given serializer."""

    class Written(ReadService):
        def encode_schema(self, schema: pa.Schema) -> bytes:
            return serializer.serialize_schema(schema)

        def encode_batch(self, part: pa.RecordBatch, codec: str) -> bytes:
            return serializer.serialize_batch(part, codec)

    return Written
