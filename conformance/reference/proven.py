"""Every mutant that ``conformance prove`` tries, of all protocols."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType

from conformance.protocol import merged, plugins
from conformance.reference.plugin import ReferencePlugin
from conformance.reference.register import Mutant

__all__ = ["proven_mutants"]


@functools.cache
def proven_mutants() -> Mapping[str, Mutant]:
    """Every mutant by name, in the order of the protocols.

    Raises:
        ValueError: mutants of two protocols have one name.
    """
    brought = {name: one.mutants().items() for name, one in plugins(ReferencePlugin).items()}
    return MappingProxyType(merged("mutant", brought))
