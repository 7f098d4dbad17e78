"""Mutants of streams, files and tensors: each breaks one thing and names the rule."""

from __future__ import annotations

from conformance.reference.ipc.mutants import (  # noqa: F401  # each registers its mutants
    dictionaries,
    files,
    footerblocks,
    messages,
    metadata,
    sparse,
    streams,
    tensors,
    values,
)
from conformance.reference.ipc.register import IPC_MUTANTS, IpcMutant

__all__ = ["IPC_MUTANTS", "IpcMutant"]
