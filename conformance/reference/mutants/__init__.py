"""The mutants of bytes: named single deviations from the reference's serializer.

:mod:`conformance.reference.register` defines how a mutant is made and found; this module gathers those of bytes. The
mutants of a service are in the folder of its protocol.
"""

from __future__ import annotations

from conformance.reference.mutants import (  # noqa: F401  # each registers its mutants
    body,
    buffers,
    framing,
    layouts,
    limits,
    metadata,
    modes,
    readings,
    reported,
    structure,
    types,
    values,
)
from conformance.reference.register import BYTE_MUTANTS

__all__ = ["BYTE_MUTANTS"]
