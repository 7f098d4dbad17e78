"""Shrinking: a search, by Hypothesis, for the simplest case that still fails.

It simplifies first the shape (steps, columns, modes) and the recipe, then the written-out rows, one by one. It is
deterministic: no clock, no database, one fixed source of randomness; equal cases are sent to the target once.
"""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Callable
from typing import Any, Final

from conformance.generate.materialise import explicit
from conformance.generate.simplify import Simplifier, simpler_recipe, simpler_rows, simpler_shape
from conformance.records import CallStep, Case, to_json

__all__ = ["shrink"]

MAX_WRITTEN: Final = 64
"""The most written-out rows of a counterexample: with more, a recipe is easier to read."""


def shrink(case: Case, still_fails: Callable[[Case], bool], *, budget: int) -> Case:
    """Return a case like ``case``, as simple as ``budget`` tries permit, for which ``still_fails`` is true.

    ``still_fails`` is not called with ``case`` itself; if no simpler case fails, ``case`` is returned.
    """
    search = _Search(case, still_fails, budget)
    search.run(simpler_shape)
    search.run(simpler_recipe)
    if _may_be_written(search.best):
        search.offer(explicit(search.best))
    if search.best.table.rows is not None:
        search.run(simpler_rows)
        search.run(simpler_shape)
        search.run(simpler_rows)
    return search.best


def _may_be_written(case: Case) -> bool:
    recipe = case.table.recipe
    if recipe is None or recipe.cell_bytes:
        return False
    # Only written-out rows can be left out of a case with known answers.
    answers = any(isinstance(step, CallStep) and step.expect.rows is not None for step in case.steps)
    return recipe.rows <= MAX_WRITTEN or answers


class _Spent(BaseException):
    """The budget is spent. It is not an Exception, because Hypothesis treats those as failures of the searched
    function.
    """


class _Search:
    """The best case so far, and the results of all cases tried."""

    def __init__(self, case: Case, still_fails: Callable[[Case], bool], budget: int) -> None:
        self.best = case
        self._still_fails = still_fails
        self._left = budget
        self._known = {_key(case): True}

    def offer(self, case: Case) -> None:
        """Make this case the best one if it fails and the budget permits a try."""
        if self._left > 0:
            self._fails(case)

    def run(self, simplifier: Simplifier) -> None:
        """Find the simplest simplification of the best case that fails."""
        # Imported here: no other part of a run needs Hypothesis, which takes a while to load.
        from hypothesis import HealthCheck, Phase, Verbosity, find, settings  # noqa: PLC0415
        from hypothesis import strategies as st  # noqa: PLC0415
        from hypothesis.errors import HypothesisWarning, NoSuchExample  # noqa: PLC0415

        from conformance.generate.strategies import Drawn  # noqa: PLC0415

        base = self.best

        @st.composite
        def simpler(draw: Any) -> Case:
            return simplifier(Drawn(draw), base)

        rules = settings(
            max_examples=_TRIES_BEFORE_SHRINKING,
            database=None,
            deadline=None,
            report_multiple_bugs=False,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=tuple(HealthCheck),
            verbosity=Verbosity.quiet,
        )
        try:
            with warnings.catch_warnings():
                # On a large case. The user of a run did not call Hypothesis, and cannot change what it prints.
                warnings.simplefilter("ignore", HypothesisWarning)
                find(simpler(), self._fails, settings=rules, random=random.Random(0))  # noqa: S311
        except (NoSuchExample, _Spent):
            return

    def _fails(self, case: Case) -> bool:
        """True if the case fails. Hypothesis tries ever simpler cases, so the last failing case is the best."""
        key = _key(case)
        if key not in self._known:
            if self._left <= 0:
                raise _Spent
            self._left -= 1
            self._known[key] = self._still_fails(case)
        if self._known[key]:
            self.best = case
        return self._known[key]


_TRIES_BEFORE_SHRINKING: Final = 100
"""Random simplifications to try until one fails; most of them keep most of the case, so one of the first few fails."""


def _key(case: Case) -> str:
    return json.dumps(to_json(case), sort_keys=True)
