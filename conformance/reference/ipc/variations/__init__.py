"""Legal forms of streams, files and tensors: what writers do differently from the reference, none of it wrong.

A judge that calls one of these a violation has raised a false alarm; a reader owes each what its grade says.
"""

from __future__ import annotations

from conformance.reference.ipc.register import IPC_VARIATIONS, IpcVariation
from conformance.reference.ipc.variations import (  # noqa: F401  # each registers its variations
    bodies,
    compression,
    dictionaries,
    files,
    messages,
    schemas,
    streams,
    tensors,
)

__all__ = ["IPC_VARIATIONS", "IpcVariation"]
