"""What generation knows of a protocol: which steps fit each other, and the scenarios of its servers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from typing import ClassVar, Final, Protocol

from conformance.generate.choices import Choices
from conformance.generate.factors import Meeting, Pairs
from conformance.generate.profile import Profile
from conformance.records import Case, Table

__all__ = ["BASE", "DrawsScenario", "GeneratePlugin"]

BASE: Final = "arrow"
"""The form in which cases are written and drawn."""


def _fits(_case: Case) -> None:
    return


def _no_scenario(seed: int, index: int, *, not_offered: Collection[str] = ()) -> Case:  # noqa: ARG001  # as others
    raise LookupError(f"the protocol has no scenarios, so none with the seed {seed} and the index {index}")


def _table_alone(_choices: Choices, table: Table, case_id: str) -> Case:
    raise LookupError(f"{case_id}: the protocol draws no requests about a table of {len(table.columns)} columns")


def _as_it_is(_choices: Choices, case: Case) -> Case:
    return case


def _names_none(_case: Case) -> bool:
    return False


def _none_special(_seed: int, _index: int, _case_id: str) -> Case | None:
    return None


def _no_meetings(_case: Case, _skipped: Collection[int]) -> tuple[Meeting, ...]:
    return ()


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
    ``run_profile`` is the word for runs on its servers in logs. ``profile`` says which tables are
    drawn, if any are, and ``draw`` makes the case of a drawn table, with drawn
    requests, from choices, the table and the id of the case. ``simpler`` gives the case with fewer steps, plainer
    requests, fewer columns, plainer modes and types, and the same rows, for shrinking. ``names_rows`` tells whether a
    case has steps that name its rows by their numbers, so that it has to keep all of them. ``draw_special`` draws the
    case of a seed, an index and an id in another way than from a drawn table, or None.

    Its scenarios combine values of ``factors``, of which no scenario has the ``impossible`` pairs; ``meetings`` gives
    the values that met in each session of a scenario, without those of skipped steps, and nothing for any other case.

    ``forms`` makes of a case the same case with rows in another data format, by the name of that form; None if the case
    has no such form. A drawn case and a scenario have each of them.

    A protocol without a ``scenario_word`` has no scenarios: its mutants have to die on cases alone.
    """

    LAYER: ClassVar[str] = "generate"

    run_profile: str
    profile: Profile | None = None
    check: Callable[[Case], None] = _fits
    scenario_word: str = ""
    scenario_chapter: str = ""
    draw_scenario: DrawsScenario = _no_scenario
    proven_scenarios: int = 0
    draw: Callable[[Choices, Table, str], Case] = _table_alone
    simpler: Callable[[Choices, Case], Case] = _as_it_is
    names_rows: Callable[[Case], bool] = _names_none
    draw_special: Callable[[int, int, str], Case | None] = _none_special
    factors: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    impossible: Pairs = frozenset()
    meetings: Callable[[Case, Collection[int]], tuple[Meeting, ...]] = _no_meetings
    forms: Mapping[str, Callable[[Case], Case | None]] = dataclasses.field(default_factory=dict)

    @property
    def draws(self) -> bool:
        """True if cases of the protocol can be drawn."""
        return self.profile is not None
