"""Families of drawn cases, and cases drawn with other weights, for campaigns of millions of cases.

A *family* is a number of consecutive cases that share their columns and nothing else: each has rows, values and
NULLs of its own. A writer gets the same schema repeatedly, as in production, and values derived from a schema alone
are computed once. *Weights* set how often each type is among the types to draw from; guided cases are drawn with
weights.

:func:`redraw` makes every case again from its id alone, without the campaign and its directory.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Mapping, Sequence
from typing import Final

from conformance.generate.choices import Seeded
from conformance.generate.drawing import (
    draw_case,
    draw_recipe,
    draw_table_columns,
    finished,
    generated_id,
    offering,
    profiles,
)
from conformance.generate.profile import Profile
from conformance.records import BqType, Case, Column, Table

__all__ = ["MOST", "draw_guided", "draw_member", "redraw", "weighted", "weights_text"]

MOST: Final = 12
"""The most repetitions of a type: a favoured type still leaves enough probability for the others."""

_LONG: Final = 1000
"""The row count from which a table counts as long: it costs twice as much as others."""
_RARER: Final = 4
"""The factor by which long tables are rarer in families than elsewhere: a million cases have more than enough of
them.
"""
_WIDE: Final = 33
"""The row count above which cells of kilobytes are rare in families: such tables would take a fifth of a campaign's
time.
"""

_TYPES: Final[tuple[BqType, ...]] = tuple(kind for kind in BqType if kind is not BqType.RECORD)
_DIGITS: Final = "0123456789abcdef"


@functools.cache
def _id() -> re.Pattern[str]:
    """The ids of drawn cases."""
    return re.compile(
        rf"(?:generated|(guided))\.({'|'.join(profiles())})\.s(\d{{1,19}})(?:\.f([1-9]\d{{0,18}}))?(?(1)\.w([0-9a-c]{{{len(_TYPES)}}}))\.i(\d{{1,19}})"
    )


def draw_member(seed: int, index: int, *, profile: str, family: int, not_offered: Sequence[str] = ()) -> Case:
    """Return the ``index``-th case of a seed in families of ``family`` cases; with 1, the case of :func:`draw_case`.

    Raises:
        KeyError: there is no such profile.
    """
    if family == 1:
        return draw_case(seed, index, profile=profile, not_offered=not_offered)
    head, _, tail = generated_id(seed, index, profile=profile).rpartition(".")
    return _drawn((seed, index), profile, family, "", not_offered, case_id=f"{head}{_shared(family)}.{tail}")


def draw_guided(
    seed: int, index: int, *, profile: str, family: int, weights: str, not_offered: Sequence[str] = ()
) -> Case:
    """Return the ``index``-th case of a seed under ``weights`` as :func:`weights_text` writes them.

    Raises:
        KeyError: there is no such profile.
    """
    case_id = f"guided.{profile}.s{seed}{_shared(family)}.w{weights}.i{index}"
    return _drawn((seed, index), profile, family, weights, not_offered, case_id=case_id)


def redraw(case_id: str, *, not_offered: Sequence[str] = ()) -> Case | None:
    """Return the drawn case of this id, for a target that does not offer some types; None if no drawn case has such an
    id.
    """
    match = _id().fullmatch(case_id)
    if match is None:
        return None
    guided, profile, seed, family, weights, index = match.groups()
    reported = int(seed), int(index)
    if guided:
        return draw_guided(
            *reported, profile=profile, family=int(family or 1), weights=weights, not_offered=not_offered
        )
    return draw_member(*reported, profile=profile, family=int(family or 1), not_offered=not_offered)


def weights_text(weights: Mapping[BqType, int]) -> str:
    """Return weights as a word: a hexadecimal digit per type, in their order, with the number of repetitions.

    A type that is not named occurs once. The word is a part of the ids of guided cases.

    Raises:
        ValueError: a type has more than :data:`MOST` repetitions, or fewer than 0.
    """
    if wrong := {str(kind): often for kind, often in weights.items() if not 0 <= often <= MOST}:
        raise ValueError(f"expected types repeated 0 to {MOST} times but got {wrong}")
    return "".join(_DIGITS[weights.get(kind, 1)] for kind in _TYPES)


@functools.lru_cache(maxsize=16)
def weighted(profile: str, weights: str) -> Profile:
    """Return the named profile, with each of its types repeated by its weight; unchanged without weights."""
    base = profiles()[profile]
    if not weights:
        return base
    often = dict(zip(_TYPES, (_DIGITS.index(digit) for digit in weights), strict=True))
    types = tuple(kind for kind in base.types for _ in range(often[kind]))
    return dataclasses.replace(base, types=types or base.types)


def _shared(family: int) -> str:
    return f".f{family}" if family > 1 else ""


def _drawn(
    place: tuple[int, int], profile: str, family: int, weights: str, not_offered: Sequence[str], *, case_id: str
) -> Case:
    seed, index = place
    made = _with_fewer_large(weighted(profile, weights))
    columns = _columns((seed, index // family), profile, family, weights, tuple(not_offered))
    choices = Seeded(seed, index, f"{profile}/f{family}/w{weights}")
    return finished(choices, made, Table(columns, recipe=draw_recipe(choices, made, columns)), case_id=case_id)


@functools.lru_cache(maxsize=16)
def _with_fewer_large(profile: Profile) -> Profile:
    short = tuple(rows for rows in profile.rows if rows < _LONG)
    long = tuple(rows for rows in profile.rows if rows >= _LONG)
    return dataclasses.replace(profile, rows=short * _RARER + long, wide=_WIDE)


@functools.lru_cache(maxsize=16)
def _columns(
    place: tuple[int, int], profile: str, family: int, weights: str, not_offered: Sequence[str]
) -> tuple[Column, ...]:
    """Return the columns of a family, as one object for all its cases: caches are keyed by its identity."""
    return draw_table_columns(
        Seeded(*place, f"{profile}/f{family}/w{weights}/columns"),
        offering(weighted(profile, weights), not_offered),
    )
