"""How many of the cases the sampled proof puts to the faulty servers, to the reference and to legal variations."""

from __future__ import annotations

from typing import Final

THIN: Final = 6
"""Each sixth case, other ones to each legal variation. The full proof puts all cases to all of them."""
