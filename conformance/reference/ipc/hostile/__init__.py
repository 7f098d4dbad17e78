"""Bytes that are known to hurt readers: they cost memory, time or the process, or come back as rows that nobody wrote.

Nothing is said here about rules: some of these are wrong in many ways at once, and a few are perfectly legal. A reader
owes every one of them a clear answer in little time and memory: rows where they are legal, an error where they are not.
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
