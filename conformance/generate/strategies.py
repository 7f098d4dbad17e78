"""Hypothesis strategies for columns, recipes, tables and cases: the same drawing, with Hypothesis as the source.

Hypothesis draws and shrinks recipes, never single values: a failing example is a few numbers and a schema.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from conformance.generate.drawing import draw_case_by, draw_columns, draw_recipe, draw_table, profiles
from conformance.records import Case, Column, Recipe, Table

__all__ = ["Drawn", "cases", "columns", "recipes", "tables"]

T = TypeVar("T")


class Drawn:
    """Choices made by Hypothesis."""

    __slots__ = ("_draw",)

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        """Return an integer from ``low`` to ``high``, both included."""
        return int(self._draw(st.integers(low, high)))

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        picked: T = self._draw(st.sampled_from(options))
        return picked


@st.composite
def columns(draw: st.DrawFn, profile: str = "arrow") -> tuple[Column, ...]:
    """Draw the columns of a table."""
    return draw_columns(Drawn(draw), profiles()[profile])


@st.composite
def recipes(draw: st.DrawFn, profile: str = "arrow") -> Recipe:
    """Draw recipes for the rows of a table, independent of its columns."""
    return draw_recipe(Drawn(draw), profiles()[profile], ())


@st.composite
def tables(draw: st.DrawFn, profile: str = "arrow") -> Table:
    """Draw tables whose rows are a recipe."""
    return draw_table(Drawn(draw), profiles()[profile])


@st.composite
def cases(draw: st.DrawFn, profile: str = "arrow") -> Case:
    """Draw cases of a profile (``arrow`` or ``server``, see :data:`conformance.generate.drawing.profiles()`)."""
    return draw_case_by(Drawn(draw), profiles()[profile], case_id=f"generated.{profile}.drawn")
