"""Decide which of N shards a case belongs to.

A hash of its id decides, so that every machine decides alike without communication, and adding a case to the corpus
moves no other case.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from typing import Self

__all__ = ["Shard", "ShardError"]


class ShardError(ValueError):
    """A text does not name a shard; the message says what form is expected."""


@dataclasses.dataclass(frozen=True, slots=True)
class Shard:
    """Part ``index`` (from 1) of ``count``.

    >>> str(Shard.parse("2/4"))
    '2/4'
    """

    index: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """The shard that ``text`` names.

        Raises:
            ShardError: it is not ``I/N`` with 1 <= I <= N.
        """
        match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise ShardError(f"expected a shard I/N with I from 1 to N, as in 2/4, but got {text!r}")
        return cls(int(match[1]), int(match[2]))

    @classmethod
    def of(cls, case_id: str, count: int) -> Self:
        """The shard, out of ``count``, that the case ``case_id`` belongs to."""
        digest = hashlib.blake2b(case_id.encode(), digest_size=8).digest()
        return cls(int.from_bytes(digest, "big") % count + 1, count)

    def holds(self, case_id: str) -> bool:
        """True if the case ``case_id`` belongs to this shard."""
        return self == Shard.of(case_id, self.count)

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"
