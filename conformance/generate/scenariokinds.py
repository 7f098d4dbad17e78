"""The scenarios of each kind of server: :mod:`.scenarios` of Storage Read, :mod:`.flighthistories` of Flight."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection
from typing import Final

from conformance.generate import scenarios
from conformance.generate.flighthistories import HISTORY, draw_history
from conformance.records import Case

__all__ = ["DrawnFrom", "draw_scenario", "parse_scenario_id", "scenario_id"]

_WORDS: Final = {"flight": HISTORY}
"""The first words of ids by the profile of the server, where it is not that of Storage Read."""
_ID: Final = re.compile(rf"({scenarios.SCENARIO}|{HISTORY})\.s(\d{{1,19}})\.i(\d{{1,19}})")


@dataclasses.dataclass(frozen=True, slots=True)
class DrawnFrom:
    """Everything that is needed to draw a scenario again."""

    seed: int
    index: int
    profile: str = "server"


def scenario_id(seed: int, index: int, *, profile: str = "server") -> str:
    """Return the id of a scenario for servers of a profile."""
    return f"{_WORDS.get(profile, scenarios.SCENARIO)}.s{seed}.i{index}"


def parse_scenario_id(name: str) -> DrawnFrom | None:
    """Return what a scenario's id says; None if the text is no such id."""
    found = _ID.fullmatch(name)
    if found is None:
        return None
    return DrawnFrom(int(found[2]), int(found[3]), "flight" if found[1] == HISTORY else "server")


def draw_scenario(seed: int, index: int, *, profile: str = "server", not_offered: Collection[str] = ()) -> Case:
    """Return the ``index``-th scenario of a seed for servers of a profile, without what is ``not_offered``."""
    draw = draw_history if profile == "flight" else scenarios.draw_scenario
    return draw(seed, index, not_offered=not_offered)
