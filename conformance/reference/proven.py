"""Every mutant that ``conformance prove`` tries, of all protocols."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType

from conformance.protocol import plugins, protocol_names
from conformance.reference.plugin import ReferencePlugin
from conformance.reference.register import Mutant

__all__ = ["proven_mutants"]


@functools.cache
def proven_mutants() -> Mapping[str, Mutant]:
    """Every mutant by name, in the order of the protocols.

    Raises:
        ValueError: mutants of two protocols have one name.
    """
    made = plugins(ReferencePlugin)
    found: dict[str, Mutant] = {}
    for protocol in protocol_names():
        mutants = made[protocol].mutants()
        if taken := found.keys() & mutants.keys():
            raise ValueError(f"expected one mutant of each name, got several called {', '.join(sorted(taken))}")
        found.update(mutants)
    return MappingProxyType(found)
