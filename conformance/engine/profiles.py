"""The profiles of runs that judge implementations of Arrow IPC and no target."""

from __future__ import annotations

from typing import Final

__all__ = ["READ_PROFILE", "WRITE_PROFILE"]

READ_PROFILE: Final = "ipc-read"
"""A run in which a reader was judged."""
WRITE_PROFILE: Final = "ipc-write"
"""A run in which a writer was judged."""
