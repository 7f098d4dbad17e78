"""The options of cases of Flight, and the features that meet in its histories."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Final

from conformance.campaign.plugin import Pair
from conformance.protocols.flight.generate.drawing import SPELLINGS
from conformance.protocols.flight.generate.histories import FACTORS, features, is_drawn_history
from conformance.protocols.flight.records import DoExchange, DoGet, DoPut, FlightWriting, Naming, PollFlightInfo
from conformance.records import Case

__all__ = ["DRAWN", "NEVER_TOGETHER", "every_pair", "options", "pairs_met"]

_PUT: Final[Mapping[str, tuple[str, ...]]] = {
    "written": tuple(FlightWriting),
    "spelled": SPELLINGS,
    "named": (Naming.FIRST, Naming.EVERY),
    "get": ("nothing", "again", "abandon"),
}
DRAWN: Final[Mapping[str, tuple[str, ...]]] = {**_PUT, "asked": ("info", "poll", "exchange")}
"""The values of each option that are drawn."""
NEVER_TOGETHER: Final = frozenset(
    (f"{name}={value}", "asked=exchange") for name, values in _PUT.items() for value in values
)
"""Pairs that no case has, because an exchange puts nothing."""


def options(case: Case) -> list[str]:
    """How the rows of a DoPut are written, in which form its messages are, and how its flight is asked for and read."""
    put = next((step for step in case.steps if isinstance(step, DoPut)), None)
    if put is None:
        return ["asked=exchange"] if any(isinstance(step, DoExchange) for step in case.steps) else []
    asked = "poll" if any(isinstance(step, PollFlightInfo) for step in case.steps) else "info"
    gets = [step for step in case.steps if isinstance(step, DoGet)]
    then = "abandon" if any(get.take is not None for get in gets) else "again" if len(gets) > 1 else "nothing"
    return [f"written={put.written}", f"spelled={put.spelled}", f"named={put.named}", f"get={then}", f"asked={asked}"]


def pairs_met(case: Case) -> Iterable[Pair] | None:
    """The pairs of features that meet in the first flight of a drawn history; None of any other case."""
    return itertools.combinations(features(case), 2) if is_drawn_history(case) else None


def every_pair() -> Iterable[Pair]:
    """All pairs of features that can meet in a history."""
    factors = ([f"{name}={value}" for value in values] for name, values in FACTORS.items())
    for one, other in itertools.combinations(factors, 2):
        yield from itertools.product(one, other)
