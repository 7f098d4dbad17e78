"""Legal forms of streams, files and tensors: writers differ from the reference in them, and none is wrong.

A judge that calls one of these a violation raises a false alarm. The grade says what a reader must do with each.
"""

from __future__ import annotations

from conformance.reference.ipc.register import IPC_VARIATIONS, IpcVariation
from conformance.reference.ipc.variations import (  # noqa: F401  # each registers its variations
    bodies,
    compressedbodies,
    dictionaries,
    files,
    messages,
    pairs,
    schemas,
    streams,
    tensors,
)

__all__ = ["IPC_VARIATIONS", "IpcVariation"]
