"""Which passing exchanges are kept: a sample that follows from the seed, the same on every partitioning."""

from __future__ import annotations

import hashlib
from typing import Final

from conformance.campaign.job import Job

__all__ = ["sampled"]

_MILLION: Final = 1_000_000


def sampled(job: Job, index: int) -> bool:
    """Whether the exchange of this case is kept though nothing is wrong with it."""
    if job.sample >= _MILLION:
        return True
    digest = hashlib.blake2b(f"{job.seed}/{index}/sample".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") % _MILLION < job.sample
