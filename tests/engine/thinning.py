"""How many of the cases the sampled proof puts to servers: faulty ones, mutants, the reference and legal variations."""

from __future__ import annotations

from typing import Final

THIN: Final = 6
"""Each sixth case, other ones to each legal variation; a mutant gets all cases that are made for it, besides. The full
proof puts all cases to all of them.
"""
