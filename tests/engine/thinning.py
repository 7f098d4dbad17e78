"""How many of the cases the sampled proof puts to the faulty servers and to the reference."""

from __future__ import annotations

from typing import Final

THIN: Final = 2
"""Each second case. All cases took half of the processor time of the sampled proof; the full proof puts them all."""
