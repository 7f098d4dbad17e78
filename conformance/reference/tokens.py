"""Tokens for the names that a reference gives out: they are opaque to clients, and carry nothing."""

from __future__ import annotations

import hashlib
import itertools
import secrets
from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Tokens", "numbered", "opaque"]

Tokens: TypeAlias = Callable[[], str]
"""Gives a fresh token at each call."""


def opaque() -> str:
    """A fresh token that nobody can guess."""
    return secrets.token_urlsafe(24)


def numbered() -> Tokens:
    """Fresh tokens that are the same in the same order, so that equal servers answer equally."""
    numbers = itertools.count()
    return lambda: hashlib.blake2b(b"%d" % next(numbers), digest_size=16).hexdigest()
