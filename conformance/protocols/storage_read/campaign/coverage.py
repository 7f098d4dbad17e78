"""The options of cases of the Storage Read API, and the features that meet in its scenarios."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Final

from conformance.campaign.plugin import Pair
from conformance.generate.factors import permitted
from conformance.protocols.storage_read.generate.combinations import meetings
from conformance.protocols.storage_read.generate.factors import FACTORS, IMPOSSIBLE
from conformance.protocols.storage_read.generate.scenarios import is_scenario
from conformance.records import Case, CreateSession, ReadRows, SplitStream

__all__ = ["DRAWN", "every_pair", "options", "pairs_met"]

DRAWN: Final[Mapping[str, tuple[str, ...]]] = {
    "codec": ("none", "LZ4_FRAME", "ZSTD"),
    "streams": ("0", "1", "2", "5"),
    "fields": ("all", "some"),
    "restriction": ("none", "some"),
    "then": ("nothing", "offset", "again", "abandon", "split"),
}
"""The values of each option that are drawn."""


def options(case: Case) -> list[str]:
    """The options of the first session of a case; none if it has only defaults."""
    session = next((step for step in case.steps if isinstance(step, CreateSession)), None)
    if session is None or session == CreateSession():
        return []
    return [
        f"codec={session.buffer_compression or 'none'}",
        f"streams={session.max_stream_count}",
        f"fields={'some' if session.selected_fields else 'all'}",
        f"restriction={'some' if session.row_restriction else 'none'}",
        f"then={_then(case)}",
    ]


def _then(case: Case) -> str:
    """The steps of the case in addition to reading one full stream, as one word."""
    more = case.steps[2:]
    if any(isinstance(step, SplitStream) for step in more):
        return "split"
    reads = [step for step in case.steps if isinstance(step, ReadRows)]
    if any(read.take is not None for read in reads):
        return "abandon"
    if any(read.times > 1 for read in reads):
        return "again"
    if any(read.offset != "0" for read in reads):
        return "offset"
    return "nothing"


def pairs_met(case: Case) -> Iterable[Pair] | None:
    """The pairs of features that meet in a session of a scenario; None of any other case."""
    if not is_scenario(case):
        return None
    known = set(every_pair())
    met = (itertools.combinations(meeting, 2) for meeting in meetings(case))
    return {pair for pairs in met for pair in pairs} & known


def every_pair() -> Iterable[Pair]:
    """All pairs of features that can meet in a session."""
    return [(one, other) for one, other in permitted(FACTORS, IMPOSSIBLE, 2)]
