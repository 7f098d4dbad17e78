"""A Python library that is not installed."""

from __future__ import annotations

from conformance.readers.ipc import IpcReaderInfo, Library

READER = IpcReaderInfo(name="absent", title="absent", language="Python", module=__name__, kinds=("stream",))
WRITER = None


def load() -> Library:
    """Fails as an import does."""
    raise ModuleNotFoundError("No module named 'absent'")
