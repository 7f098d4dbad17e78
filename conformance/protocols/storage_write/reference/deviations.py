"""The class of the reference's service by the name of a mutant or legal variation."""

from __future__ import annotations

from typing import Final

from conformance.protocols.storage_write.reference import mutants, variations
from conformance.protocols.storage_write.reference.register import WRITE_MUTANTS, WRITE_VARIATIONS
from conformance.protocols.storage_write.reference.service import WriteService

__all__ = ["service_class"]

_FILLED: Final = (mutants, variations)
"""The modules that fill the registers."""


def service_class(name: str | None) -> type[WriteService]:
    """The class of a deviation, or of the reference for None.

    Raises:
        KeyError: there is no such deviation.
    """
    if name is None:
        return WriteService
    found = WRITE_VARIATIONS[name].service if name in WRITE_VARIATIONS else WRITE_MUTANTS[name].service
    assert found is not None, "its mutants are services"
    return found
