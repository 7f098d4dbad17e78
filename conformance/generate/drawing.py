"""Drawing cases: columns, recipes and tables by choice, for serializers and for servers.

This module decides which shapes are drawn, how often, and how large they are; the protocol of a server draws the
requests of its cases. A case here is small in text and may be large in values: it has a recipe.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from conformance.generate.choices import Choices, Seeded, one_in
from conformance.generate.outline import ROW_ID
from conformance.generate.plugin import GeneratePlugin
from conformance.generate.profile import BLOCKS, FLEXIBLE_NAMES, KEYWORD_NAMES, PLAIN_NAMES, Profile
from conformance.generate.weight import bounded
from conformance.protocol import plugin, plugins
from conformance.records import (
    BqType,
    Case,
    Column,
    Mode,
    NullPattern,
    Recipe,
    Table,
    ValueProfile,
    types_in,
)

__all__ = [
    "draw_case",
    "draw_case_by",
    "draw_columns",
    "draw_recipe",
    "draw_table",
    "draw_table_columns",
    "finished",
    "generated_id",
    "offering",
    "profiles",
]


_ARROW: Final = Profile(
    types=(*(kind for kind in BqType if kind is not BqType.RECORD), BqType.STRING, BqType.INT64),
    names=PLAIN_NAMES * 2 + KEYWORD_NAMES + FLEXIBLE_NAMES,
    rows=(0, 1, 2, 3, 7, 8, 9, 10, 15, 16, 17, 31, 33, *BLOCKS, 1000, 4097),
    depth=5,
    leaves=20,
    requests=False,
)


@functools.cache
def profiles() -> Mapping[str, Profile]:
    """The profiles of drawn cases: ``arrow`` and, by the word for runs on its servers, that of each protocol.

    ``arrow`` has every type, deeply nested, for programs that turn rows into bytes.
    """
    drawn = {one.run_profile: one.profile for one in plugins(GeneratePlugin).values()}
    return MappingProxyType({"arrow": _ARROW, **{name: one for name, one in drawn.items() if one is not None}})


_RANGES: Final = (BqType.DATE, BqType.DATETIME, BqType.TIMESTAMP)
_MODES: Final = (Mode.NULLABLE, Mode.NULLABLE, Mode.REQUIRED, Mode.REPEATED)
_RECORD_SIZES: Final = (1, 1, 2, 2, 3, 4)
_LARGE: Final = 129
"""Above this many rows, lists are short and no cell has kilobytes."""
_RARELY: Final = 8
"""Of the drawn WIDE tables above a profile's ``wide`` rows, one in this many keeps its cells of kilobytes."""


def generated_id(seed: int, index: int, *, profile: str) -> str:
    """Return the id of the ``index``-th case of a seed: enough to draw the case again."""
    return f"generated.{profile}.s{seed}.i{index}"


def offering(profile: Profile, not_offered: Collection[str]) -> Profile:
    """Return the profile without the types in ``not_offered``; unchanged if none would be left."""
    types = tuple(kind for kind in profile.types if kind not in not_offered)
    return dataclasses.replace(profile, types=types) if types and len(types) < len(profile.types) else profile


def draw_case(seed: int, index: int, *, profile: str, not_offered: Collection[str] = ()) -> Case:
    """Return the ``index``-th case of a seed, independent of other cases that are drawn and of their order.

    Its table has no column of a type in ``not_offered``, and it needs no capability in it.

    Raises:
        KeyError: :func:`profiles` has no such profile.
    """
    case_id = generated_id(seed, index, profile=profile)
    found = profiles()[profile]
    special = plugin(GeneratePlugin, found.protocol).draw_special(seed, index, case_id) if found.requests else None
    if special is not None and {*types_in(special.table.columns), *special.needs}.isdisjoint(not_offered):
        return special
    return draw_case_by(Seeded(seed, index, profile), offering(profiles()[profile], not_offered), case_id=case_id)


def draw_case_by(choices: Choices, profile: Profile, *, case_id: str) -> Case:
    """Return the case that ``choices`` and ``profile`` determine."""
    return finished(choices, profile, draw_table(choices, profile), case_id=case_id)


def finished(choices: Choices, profile: Profile, table: Table, *, case_id: str) -> Case:
    """Return the case of a drawn table, with drawn requests if the profile has them."""
    if not profile.requests:
        return Case(case_id, "A drawn table comes back with its own schema and values", table)
    return plugin(GeneratePlugin, profile.protocol).draw(choices, table, case_id)


def draw_table(choices: Choices, profile: Profile) -> Table:
    """Return a table: drawn columns and a drawn recipe."""
    columns = draw_table_columns(choices, profile)
    return Table(columns, recipe=draw_recipe(choices, profile, columns))


def draw_table_columns(choices: Choices, profile: Profile) -> tuple[Column, ...]:
    """Return the columns of a whole table; a server's begin with ``row_id`` nine times out of ten."""
    columns = draw_columns(choices, profile)
    if profile.requests and not one_in(choices, 10):
        columns = (Column(ROW_ID, BqType.INT64, Mode.REQUIRED), *columns)
    return columns


def draw_recipe(choices: Choices, profile: Profile, columns: tuple[Column, ...]) -> Recipe:
    """Return a recipe for a table with ``columns``: row count, values and NULLs; its weight is bounded."""
    rows = choices.pick(profile.rows)
    values = choices.pick(tuple(ValueProfile))
    if values is ValueProfile.WIDE and rows > profile.wide and (rows > _LARGE or not one_in(choices, _RARELY)):
        values = ValueProfile.RANDOM
    recipe = Recipe(
        rows,
        seed=choices.integer(0, (1 << 32) - 1),
        nulls=choices.pick(tuple(NullPattern)),
        values=values,
        max_items=choices.pick((1, 2, 3, 3, 8 if rows < _LARGE else 2)),
    )
    return bounded(columns, recipe)


def draw_columns(choices: Choices, profile: Profile) -> tuple[Column, ...]:
    """Return one to seven columns; one in three is a record, down to the profile's depth, and so on inside it."""
    return _Columns(choices, profile).draw(choices.integer(1, 7), profile.depth)


class _Columns:
    """Draws the columns of a table; all of them, at every depth, share one budget of leaves."""

    __slots__ = ("choices", "leaves", "profile")

    def __init__(self, choices: Choices, profile: Profile) -> None:
        self.choices = choices
        self.profile = profile
        self.leaves = profile.leaves

    def draw(self, count: int, depth: int) -> tuple[Column, ...]:
        """Return ``count`` columns (fewer if leaves run out, at least one), with at most ``depth`` levels of
        records.
        """
        columns: list[Column] = []
        taken = {ROW_ID}
        while len(columns) < count and (self.leaves > 0 or not columns):
            name = self._name(taken)
            columns.append(self._record(name, depth) if depth and one_in(self.choices, 3) else self._leaf(name))
        return tuple(columns)

    def _name(self, taken: set[str]) -> str:
        """Return a name that no sibling has: BigQuery compares names without case."""
        name = self.choices.pick(self.profile.names)
        if name.casefold() in taken:
            name = f"{name[:100]}_{len(taken)}"
        taken.add(name.casefold())
        return name

    def _record(self, name: str, depth: int) -> Column:
        fields = self.draw(self.choices.pick(_RECORD_SIZES), depth - 1)
        return Column(name, BqType.RECORD, self.choices.pick(_MODES), fields)

    def _leaf(self, name: str) -> Column:
        choices = self.choices
        self.leaves -= 1
        kind = choices.pick(self.profile.types)
        mode = choices.pick(_MODES)
        if kind in _PARAMETERS and one_in(choices, 4):
            precision, scale, max_length = choices.pick(_PARAMETERS[kind])
            return Column(name, kind, mode, precision=precision, scale=scale, max_length=max_length)
        return Column(name, kind, mode, range_of=choices.pick(_RANGES) if kind is BqType.RANGE else None)


_Parameters = tuple[int | None, int | None, int | None]

_PARAMETERS: Final[Mapping[BqType, Sequence[_Parameters]]] = MappingProxyType(
    {
        BqType.NUMERIC: tuple((p, s, None) for p, s in ((10, 2), (1, None), (29, None), (9, 9), (38, 9), (18, 0))),
        BqType.BIGNUMERIC: tuple(
            (p, s, None) for p, s in ((40, 10), (1, None), (38, None), (38, 38), (76, 38), (20, 5), (39, 1))
        ),
        BqType.STRING: ((None, None, 1), (None, None, 10), (None, None, 1000)),
        BqType.BYTES: ((None, None, 1), (None, None, 10), (None, None, 1000)),
    }
)
"""Declared (precision, scale, length), including the least and the most that BigQuery accepts
(https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types#parameterized_decimal_type).
"""
