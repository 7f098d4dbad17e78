"""What generation knows of a protocol: which steps fit each other, and the scenarios of its servers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from typing import ClassVar, Protocol

from conformance.generate.choices import Choices
from conformance.records import Case, Table

__all__ = ["DrawsScenario", "GeneratePlugin"]


class DrawsScenario(Protocol):
    """Draws the scenario of an index: independent of others that are drawn, and of their order."""

    def __call__(self, seed: int, index: int, *, not_offered: Collection[str] = ()) -> Case:
        """The ``index``-th scenario of a seed, without what is ``not_offered``."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GeneratePlugin:
    """A protocol in generation.

    ``check`` raises a RecordError if the steps of a case do not fit each other or its table. ``scenario_word`` begins
    the ids of its scenarios, which ``draw_scenario`` draws; ``scenario_chapter`` is the chapter of the clauses that
    they exist to observe, and ``proven_scenarios`` the number of them on which each mutant of these clauses has to die.
    ``run_profile`` is the word for runs on its servers in logs. ``draw`` makes the case of a drawn table, with drawn
    requests, from choices, the table and the id of the case. ``simpler`` gives the case with fewer steps, plainer
    requests, fewer columns, plainer modes and types, and the same rows, for shrinking.
    """

    LAYER: ClassVar[str] = "generate"

    run_profile: str
    check: Callable[[Case], None]
    scenario_word: str
    scenario_chapter: str
    draw_scenario: DrawsScenario
    proven_scenarios: int
    draw: Callable[[Choices, Table, str], Case]
    simpler: Callable[[Choices, Case], Case]
