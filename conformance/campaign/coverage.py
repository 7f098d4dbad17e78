"""The coverage cells of a case, and all cells that can be covered: types by mode and depth, and pairs of options.

A cell is a short text: ``type:STRING/REPEATED/2`` (depth counts the records around a column),
``pair:values=boundary/nulls=all`` (two options of one case), ``with:NUMERIC/nulls=all`` (a type under an option).
The universe is derived from the profile from which cases are drawn, so a cell that is never reached shows a gap of
the campaign, not of this table.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import Final

from conformance.campaign.campaignjob import MUTATED
from conformance.campaign.plugin import CampaignPlugin
from conformance.generate.drawing import profiles
from conformance.generate.plugin import GeneratePlugin
from conformance.protocol import plugin, plugins
from conformance.records import (
    BqType,
    Case,
    Column,
    Mode,
    NullPattern,
    ValueProfile,
)

__all__ = ["covers", "universe"]

_ROWS: Final = ("0", "1", "2-9", "10-63", "64-65", "66-129", "130+")
_LIMITS: Final = (1, 2, 10, 64, 66, 130)


def covers(case: Case) -> list[str]:
    """The cells that a case covers, sorted; of a scenario, the pairs of features that meet in it."""
    met = plugin(CampaignPlugin, case.protocol).pairs_met(case)
    if met is not None:
        return sorted(_pair(*pair) for pair in met)
    columns, options = list(_columns(case.table.columns, 0)), _options(case)
    cells = {f"type:{column.type}/{column.mode}/{depth}" for column, depth in columns}
    cells |= {_pair(one, other) for one, other in itertools.combinations(options, 2)}
    cells |= {f"with:{kind}/{option}" for kind in {column.type for column, _ in columns} for option in options}
    return sorted(cells)


def _columns(columns: Sequence[Column], depth: int) -> Iterator[tuple[Column, int]]:
    for column in columns:
        yield column, depth
        yield from _columns(column.fields, depth + 1)


def _options(case: Case) -> list[str]:
    recipe = case.table.recipe
    options = []
    if recipe is not None:
        size = sum(recipe.rows >= limit for limit in _LIMITS)
        options = [f"values={recipe.values}", f"nulls={recipe.nulls}", f"rows={_ROWS[size]}"]
    return options + plugin(CampaignPlugin, case.protocol).options(case)


@functools.cache
def universe(profile: str) -> frozenset[str]:
    """Every cell that cases of a profile can cover."""
    if profile == MUTATED:
        from conformance.campaign.inputs import cells_of_inputs  # noqa: PLC0415  # builds all samples

        return cells_of_inputs()
    for protocol, drawn in plugins(GeneratePlugin).items():
        if profile == drawn.scenario_word:
            return frozenset(_pair(*pair) for pair in plugin(CampaignPlugin, protocol).every_pair())
    made = profiles()[profile]
    types = (*dict.fromkeys(made.types), BqType.RECORD)
    cells = {
        f"type:{kind}/{mode}/{depth}"
        for kind in types
        for mode in Mode
        for depth in range(made.depth + (kind is not BqType.RECORD))
    }
    options: dict[str, tuple[str, ...]] = {
        "values": tuple(ValueProfile),
        "nulls": tuple(NullPattern),
        "rows": tuple(dict.fromkeys(_ROWS[sum(rows >= limit for limit in _LIMITS)] for rows in made.rows)),
    }
    spoken = plugin(CampaignPlugin, made.protocol)
    if made.requests:
        options |= {name: tuple(values) for name, values in spoken.drawn_options.items()}
    for (name, values), (other, others) in itertools.combinations(options.items(), 2):
        cells |= {_pair(f"{name}={value}", f"{other}={more}") for value in values for more in others}
    cells |= {f"with:{kind}/{name}={value}" for kind in types for name, values in options.items() for value in values}
    return frozenset(cells) - _impossible(made.rows) - {_pair(*pair) for pair in spoken.never_together}


def _pair(one: str, other: str) -> str:
    return f"pair:{one}/{other}"


def _impossible(rows: Sequence[int]) -> frozenset[str]:
    """Cells that drawing excludes: WIDE values are not drawn for large tables."""
    large = {_ROWS[sum(count >= limit for limit in _LIMITS)] for count in rows if count > _LIMITS[-1] - 1}
    return frozenset(f"pair:values={ValueProfile.WIDE}/rows={size}" for size in large)
