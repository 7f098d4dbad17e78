"""Legal input that writers seldom make and no golden vector has: long, with extreme values, one type inside another.

It is made when it is read, because the longest would make the golden vectors large. The format limits none of it: "A
schema consists of an ordered sequence of fields", and a stream is "a sequence of encapsulated messages". What a reader
may refuse all the same says why (:attr:`~conformance.reference.ipc.rare.register.Rare.open`).
"""

from __future__ import annotations

from conformance.reference.ipc.rare import ends, inside, long, nulls, values  # noqa: F401  # each registers its input
from conformance.reference.ipc.rare.register import PREFIX, RARE, WAYS, Rare, RareBytes

__all__ = ["PREFIX", "RARE", "WAYS", "Rare", "RareBytes"]
