"""The columns of a scenario's table: a row counter, scalars, and a column of one nesting."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection
from typing import Final

from conformance.generate.choices import Choices, one_in
from conformance.generate.drawing import draw_columns, offering, profiles
from conformance.generate.outline import ROW_ID
from conformance.generate.profile import Profile
from conformance.records import BqType, Column, Mode

__all__ = ["nested_columns", "shallow_profile"]

_WIDE: Final = 60
"""The columns of a wide table."""


@functools.cache
def shallow_profile() -> Profile:
    """Few columns without children; a column of the nesting comes in addition."""
    return dataclasses.replace(profiles()["server"], depth=0, leaves=4)


def nested_columns(choices: Choices, nesting: str, not_offered: Collection[str] = ()) -> tuple[Column, ...]:
    """Return the columns of a table: a row counter nine times out of ten, scalars, and a column of the nesting; none
    of a type in ``not_offered``.
    """
    shallow = offering(shallow_profile(), not_offered)
    profile = dataclasses.replace(shallow, leaves=_WIDE if one_in(choices, 40) else choices.integer(1, 5))
    flat = tuple(column for column in draw_columns(choices, profile) if column.mode is not Mode.REPEATED)
    others = [*flat, *_nested(choices, nesting, profile)]
    if not (one_in(choices, 10) and flat):  # often first, so that rows are in the order of their first column, or not
        others.insert(choices.pick((0, 0, len(flat))), Column(ROW_ID, BqType.INT64, Mode.REQUIRED))
    return tuple(others)


def _nested(choices: Choices, nesting: str, profile: Profile) -> tuple[Column, ...]:
    if nesting == "flat":
        return ()
    if nesting == "array":
        kinds = (BqType.INT64, BqType.STRING, BqType.FLOAT64, BqType.DATE)
        kind = choices.pick(tuple(one for one in kinds if one in profile.types) or kinds)
        return (Column("items", kind, Mode.REPEATED),)
    inside = draw_columns(choices, dataclasses.replace(profile, depth=choices.integer(0, 2), leaves=3))
    mode = Mode.REPEATED if nesting == "records" else choices.pick((Mode.NULLABLE, Mode.NULLABLE, Mode.REQUIRED))
    return (Column("record", BqType.RECORD, mode, inside),)
