"""Independent decoders and real client libraries behind one small interface, run in processes that may crash.

An exchange that was recorded from a target is replayed: decoders get its Arrow bytes, and the calls of clients are
answered with exactly the recorded response bytes. The result of a reader is a :class:`~conformance.records.Reading`.
A protocol decodes the rows that the bytes contain (:mod:`conformance.readers.plugin`), and
:mod:`conformance.readers.agreement` compares readings with them and with each other. This package applies no clauses
and never talks to a target.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from conformance.readers.fullread import FullRead, full_reads
    from conformance.readers.info import ReaderInfo, Takes
    from conformance.readers.pool import ReaderPool
    from conformance.readers.registry import READERS
    from conformance.readers.rewrite import Rewrite

__all__ = ["READERS", "FullRead", "ReaderInfo", "ReaderPool", "Rewrite", "Takes", "full_reads"]

_MODULES: Final = {
    "fullread": ("FullRead", "full_reads"),
    "info": ("ReaderInfo", "Takes"),
    "pool": ("ReaderPool",),
    "registry": ("READERS",),
    "rewrite": ("Rewrite",),
}


def __getattr__(name: str) -> object:
    """Import a module when one of its names is first used: every worker process imports this package, and those of
    Arrow libraries need none of it.
    """
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
