"""Arrow Flight RPC as the clauses see it: messages read and written by hand, calls, infos and streams of data."""

from typing import Final

__all__ = ["FLIGHT"]

FLIGHT: Final = ("flight",)
"""The profile of the clauses on servers of Arrow Flight."""
