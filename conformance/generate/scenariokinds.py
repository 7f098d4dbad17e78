"""The scenarios of all protocols, by the profile of the runs on their servers."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection
from typing import Final

from conformance.generate.factors import Covered, Meeting, covered
from conformance.generate.plugin import GeneratePlugin
from conformance.protocol import plugins
from conformance.records import Case

__all__ = ["DrawnFrom", "coverage", "draw_scenario", "parse_scenario_id", "scenario_id"]

_ID: Final = re.compile(r"([a-z-]+)\.s(\d{1,19})\.i(\d{1,19})")


@dataclasses.dataclass(frozen=True, slots=True)
class DrawnFrom:
    """Everything that is needed to draw a scenario again."""

    seed: int
    index: int
    profile: str = "server"


def scenario_id(seed: int, index: int, *, profile: str = "server") -> str:
    """Return the id of a scenario for servers of a profile."""
    return f"{_of_profile(profile).scenario_word}.s{seed}.i{index}"


def parse_scenario_id(name: str) -> DrawnFrom | None:
    """Return what a scenario's id says; None if the text is no such id."""
    found = _ID.fullmatch(name)
    if found is None:
        return None
    profiles = (one.run_profile for one in plugins(GeneratePlugin).values() if found[1] == one.scenario_word)
    return next((DrawnFrom(int(found[2]), int(found[3]), profile) for profile in profiles), None)


def draw_scenario(seed: int, index: int, *, profile: str = "server", not_offered: Collection[str] = ()) -> Case:
    """Return the ``index``-th scenario of a seed for servers of a profile, without what is ``not_offered``."""
    return _of_profile(profile).draw_scenario(seed, index, not_offered=not_offered)


def coverage(meetings: Collection[Meeting], *, profile: str) -> tuple[Covered, ...]:
    """The coverage of pairs and triples of factors by the sessions of scenarios for servers of a profile."""
    brought = _of_profile(profile)
    return tuple(covered(meetings, brought.factors, brought.impossible, size) for size in (2, 3))


def _of_profile(profile: str) -> GeneratePlugin:
    """The protocol of a profile; the profile of a serializer has no scenarios, and counts as one of Storage Read."""
    known = {one.run_profile: one for one in plugins(GeneratePlugin).values()}
    return known.get(profile, known["server"])
