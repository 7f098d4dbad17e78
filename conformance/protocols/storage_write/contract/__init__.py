"""The contract of the Storage Write API."""

from typing import Final

WRITE: Final = ("storage-write",)
"""The profiles of the clauses on its servers."""
