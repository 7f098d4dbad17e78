"""The message classes of BigQueryWrite: who judges bare messages, or makes a table of clauses, needs none of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.contract.protoclasses import message_classes
from conformance.protocols.storage_write.wire.messages import METHODS, PACKAGE, SPECS

__all__ = ["CLASSES", "REQUESTS", "RESPONSES"]

CLASSES: Final[Mapping[str, Any]] = message_classes(PACKAGE, SPECS)
"""The class of every message by its name."""
REQUESTS: Final[Mapping[str, Any]] = {name: CLASSES[pair[0]] for name, pair in METHODS.items()}
"""The class of each method's requests."""
RESPONSES: Final[Mapping[str, Any]] = {name: CLASSES[pair[1]] for name, pair in METHODS.items()}
"""The class of each method's answers."""
