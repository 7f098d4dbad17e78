"""Legal variations of the reference: what the contract leaves open, answered in another way."""

from __future__ import annotations
