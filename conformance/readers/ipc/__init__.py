"""Readers and writers of Arrow IPC data in many languages, each run where its crash does no harm.

Python libraries run in forks of a warm worker; libraries of other languages run in programs that speak JSON lines
(``protocol.schema.json``). The result of a job is a :class:`JobAnswer`: rows, an error, a death, a hang, or an
exhausted limit. Nothing is judged here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.readers.ipc.implementation import (
    Decoded,
    Hello,
    IpcReaderInfo,
    IpcWriterInfo,
    Library,
    LibraryModule,
    Unavailable,
    Unsupported,
)
from conformance.readers.ipc.job import Job, JobAnswer, JobLimits, JobOutcome, JobStage

if TYPE_CHECKING:
    from conformance.readers.ipc.implementations import IPC_READERS, IPC_WRITERS
    from conformance.readers.ipc.jobpool import IpcPool

__all__ = [
    "IPC_READERS",
    "IPC_WRITERS",
    "Decoded",
    "Hello",
    "IpcPool",
    "IpcReaderInfo",
    "IpcWriterInfo",
    "Job",
    "JobAnswer",
    "JobLimits",
    "JobOutcome",
    "JobStage",
    "Library",
    "LibraryModule",
    "Unavailable",
    "Unsupported",
]


def __getattr__(name: str) -> object:
    """Import the pool and the registry when they are first used: every worker imports this package and needs
    neither.
    """
    if name == "IpcPool":
        from conformance.readers.ipc import jobpool  # noqa: PLC0415

        return jobpool.IpcPool
    if name in ("IPC_READERS", "IPC_WRITERS"):
        from conformance.readers.ipc import implementations  # noqa: PLC0415

        return getattr(implementations, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
