"""How long the reference takes on purpose: slow jobs, jobs that a quota ends, rows that are seen late.

Counted in questions and not in seconds, so that each run meets the same delays.
"""

from __future__ import annotations

import dataclasses

__all__ = ["Delays"]


@dataclasses.dataclass(frozen=True, slots=True)
class Delays:
    """A load job is done after ``job_polls`` further questions for it. The first ``limited_jobs`` jobs of a server end
    in rateLimitExceeded. The rows of a job appear, in listings and in sessions, after ``hidden_polls`` listings of
    their table.
    """

    job_polls: int = 0
    limited_jobs: int = 0
    hidden_polls: int = 0
