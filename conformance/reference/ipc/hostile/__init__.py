"""Inputs that are known to harm readers: they cost memory, time or the process, or decode to rows that nobody wrote.

This package names no rules: some inputs are wrong in many ways at once, and a few are legal. For each input, a reader
must give a clear answer in little time and memory: rows if the input is legal, an error if it is not.
"""

from __future__ import annotations

from conformance.reference.ipc.hostile import (  # noqa: F401  # each registers its bytes
    bombs,
    lengths,
    nesting,
    pointers,
    tables,
    truncated,
    wholes,
)
from conformance.reference.ipc.hostile.register import HOSTILE, Hostile

__all__ = ["HOSTILE", "Hostile"]
