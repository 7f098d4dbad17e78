"""Restrictions that tell dialects of SQL apart: text, rows that BigQuery selects, and rows that other engines select.

:func:`draw_restriction` draws one for given rows, :func:`draw_restricted_case` a case with a table made for it. Both
follow from their arguments alone. Expected rows come from plain Python values and from the documented rules of
BigQuery: no Arrow, no SQL parser and no database takes part. ``docs/restrictions.md`` explains the method.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.generate.choices import Choices, Seeded, one_in
from conformance.generate.outline import ROW_ID
from conformance.protocols.storage_read.generate.dialects.grammar import (
    KINDS,
    ColumnPlace,
    PredicateKind,
    condition,
    predicate,
    predicate_of,
    shaped,
)
from conformance.protocols.storage_read.generate.dialects.readings import (
    ENGINES,
    LOCAL_ZONE_HOURS,
    READINGS,
    DialectReading,
)
from conformance.protocols.storage_read.generate.dialects.tables import draw_rows, plain_rows
from conformance.protocols.storage_read.generate.dialects.terms import ReadingRefusedError, ReadingUnknownError, Term
from conformance.protocols.storage_read.generate.requests import draw_selection
from conformance.protocols.storage_read.generate.restrictions import expected
from conformance.records import BqType, Case, Column, CreateSession, Json, Mode, ReadRows, Table

__all__ = [
    "ENGINES",
    "LOCAL_ZONE_HOURS",
    "READINGS",
    "DialectReading",
    "DrawnRestriction",
    "draw_restricted_case",
    "draw_restriction",
]

SESSIONS: Final = 4
"""The restrictions of a case: a session costs less than another table."""
WALKED: Final = 16
"""The kinds of predicates of a case: the cases of a default run have every kind on every type."""
SHAPED: Final = 3
"""The restrictions of a case that have a shape of AND, OR and NOT; the cases take the shapes in turn."""
_TABLES: Final = 8
"""How often a table is drawn until restrictions on it tell all wanted readings apart."""
_WALKS: Final = 20
"""How often a restriction of a kind or a shape is drawn until it selects some rows and not others."""
_TRIES: Final = 60
"""How often a restriction is drawn until one tells the wanted reading apart; most readings need fewer than ten."""


@dataclasses.dataclass(frozen=True, slots=True)
class DrawnRestriction:
    """A restriction: its text, the rows that it selects, and what wrong readings make of it.

    ``apart`` maps each reading that selects other rows to these, or to None if it refuses the restriction.
    """

    sql: str
    rows: tuple[int, ...]
    apart: Mapping[str, tuple[int, ...] | None]

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that select other rows or refuse, for a reading measured on them."""
        return tuple(name for name in ENGINES if any(name in READINGS[reading].engines for reading in self.apart))


def draw_restriction(
    columns: Sequence[Column], rows: Sequence[Mapping[str, Any]], seed: int, *, index: int = 0, wanted: str = ""
) -> DrawnRestriction | None:
    """Return a restriction on rows in their JSON form that tells at least one reading apart, or None.

    ``wanted`` names the reading to tell apart. If no restriction on these rows does, another reading serves.
    """
    values = plain_rows(columns, rows)
    return _draw(Seeded(seed, index, "restriction"), places(columns, values), values, wanted)


def _draw(
    choices: Choices, on: Sequence[ColumnPlace], rows: Sequence[Mapping[str, Any]], wanted: str
) -> DrawnRestriction | None:
    if not on or not rows:
        return None
    first = _telling(choices, on, rows, wanted) or _telling(choices, on, rows, "")
    if first is None:
        return None
    drawn = _judged(first, rows)
    if one_in(choices, 2):
        joined = _judged(condition(choices, on, first), rows)
        if (wanted if wanted in drawn.apart else next(iter(drawn.apart))) in joined.apart:
            return joined
    return drawn


def _telling(
    choices: Choices, on: Sequence[ColumnPlace], rows: Sequence[Mapping[str, Any]], wanted: str
) -> Term | None:
    """Return a predicate that tells ``wanted`` apart, or without it any reading; None if none is found."""
    for _ in range(_TRIES):
        term = predicate(choices, on, wanted)
        right = _selected(term, rows, "", ())
        if any(_selected(term, rows, reading, right or ()) != right for reading in ((wanted,) if wanted else READINGS)):
            return term
    return None


def _selected(
    term: Term, rows: Sequence[Mapping[str, Any]], reading: str, right: tuple[int, ...]
) -> tuple[int, ...] | None:
    """The rows that a reading selects; None if it refuses. Where that is not known, the row counts as in ``right``."""
    selected = []
    for index, row in enumerate(rows):
        try:
            held = term.meaning(row, reading) is True
        except ReadingRefusedError:
            return None
        except ReadingUnknownError:
            held = index in right
        if held:
            selected.append(index)
    return tuple(selected)


def _judged(term: Term, rows: Sequence[Mapping[str, Any]]) -> DrawnRestriction:
    right = _selected(term, rows, "", ())
    assert right is not None
    others = {reading: _selected(term, rows, reading, right) for reading in READINGS}
    return DrawnRestriction(
        term.sql.strip(), right, {reading: found for reading, found in others.items() if found != right}
    )


def places(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> list[ColumnPlace]:
    """Return what a restriction can compare: columns, and fields of STRUCTs, but no arrays."""
    found = (_places_in(column, (column.name,), [row[column.name] for row in rows]) for column in columns)
    return [place for each in found for place in each]


def _places_in(column: Column, names: tuple[str, ...], values: Sequence[Any]) -> Iterator[ColumnPlace]:
    if column.mode is Mode.REPEATED:
        return
    if column.type is not BqType.RECORD:  # whether one is NULL, the service was seen to refuse
        yield ColumnPlace(names, column.type, tuple(values))
    for field in column.fields:
        inner = [None if value is None else value[field.name] for value in values]
        yield from _places_in(field, (*names, field.name), inner)


def draw_restricted_case(seed: int, index: int, *, case_id: str) -> Case:
    """Return a case with a table made for restrictions, and sessions each of which tells a reading apart.

    Consecutive indices take the readings in turn, so that any few dozen cases tell all of them apart.
    """
    choices = Seeded(seed, index, "dialects")
    names = list(READINGS)
    wanted = [names[(index * SESSIONS + number) % len(names)] for number in range(SESSIONS)]
    kinds = [KINDS[(index * WALKED + number) % len(KINDS)] for number in range(WALKED)]
    tries = [_draw_table(choices, wanted, kinds)]
    while tries[-1].missed and len(tries) < _TABLES:
        tries.append(_draw_table(choices, wanted, kinds))
    best = min(tries, key=lambda one: one.missed)
    values = plain_rows(best.table.columns, best.rows)
    on = places(best.table.columns, values)[1:]
    drawn = [(one.sql, one.rows) for one in best.restrictions]
    for number, kind in enumerate(kinds):
        drawn += _walked(functools.partial(Seeded, seed, index * WALKED + number), on, values, kind)
    drawn += [_shaped(choices, on, values, index * SHAPED + number) for number in range(SHAPED)]
    steps: list[CreateSession | ReadRows] = []
    for number, (sql, rows) in enumerate(drawn):
        label, expect = f"s{number}", expected(sql, rows)
        selected: tuple[str, ...] = ()
        if number >= SESSIONS and one_in(choices, 2):
            selected = (ROW_ID, *draw_selection(choices, best.table.columns[1:]))
        steps.append(CreateSession(label=label, selected_fields=selected, row_restriction=sql, expect=expect))
        steps.append(ReadRows(session=label))
    return Case(case_id, "Drawn restrictions select the rows for which they are TRUE", best.table, tuple(steps))


Written = tuple[str, tuple[int, ...]]
"""The text of a restriction, and the rows that it selects."""


def _walked(
    seeded: Callable[[str], Choices], on: Sequence[ColumnPlace], rows: Sequence[Mapping[str, Any]], kind: PredicateKind
) -> list[Written]:
    """Return a restriction of a kind, and if its texts in the other case select other rows, the one with these too.

    Of the first ones that are drawn, that one is taken that selects some rows and not others or, half of the time, one
    that selects other rows if a comparison with NULL is FALSE.
    """
    unknown = one_in(seeded("dialects/unknown"), 2)
    found: list[Written] = []
    for tried in range(_WALKS):
        term = predicate_of(seeded(f"dialects/{tried}"), on, kind)
        if term is None:
            continue
        held = _selected(term, rows, "", ()) or ()
        found.append((term.sql.strip(), held))
        if not (_selected(term, rows, "null-compares-false", held) != held if unknown else 0 < len(held) < len(rows)):
            continue
        other = predicate_of(seeded(f"dialects/{tried}"), [_in_other_case(place) for place in on], kind)
        if kind.type is BqType.STRING and other is not None:
            swapped = _selected(other, rows, "", ()) or ()
            return [found[-1], (other.sql.strip(), swapped)] if swapped != held else found[-1:]
        return found[-1:]
    return found[-1:]


def _in_other_case(place: ColumnPlace) -> ColumnPlace:
    """Return the place with texts in the other case, which literals are made of."""
    texts = (value.swapcase() if isinstance(value, str) else value for value in place.values)
    return dataclasses.replace(place, values=tuple(texts))


def _shaped(choices: Choices, on: Sequence[ColumnPlace], rows: Sequence[Mapping[str, Any]], number: int) -> Written:
    for _ in range(_WALKS):
        term = shaped(choices, on, number)
        held = _selected(term, rows, "", ()) or ()
        if 0 < len(held) < len(rows):
            break
    return term.sql.strip(), held


@dataclasses.dataclass(frozen=True, slots=True)
class _Try:
    """A drawn table with its restrictions; ``missed`` counts the wanted readings that none of them tells apart."""

    table: Table
    rows: Sequence[Mapping[str, Any]]
    restrictions: tuple[DrawnRestriction, ...]
    missed: int


def _draw_table(choices: Choices, wanted: Sequence[str], kinds: Sequence[PredicateKind]) -> _Try:
    columns, rows = draw_rows(choices, wanted, [kind.type for kind in kinds])
    values = plain_rows(columns, rows)
    on = places(columns, values)[1:]
    drawn = [found for reading in wanted if (found := _draw(choices, on, values, reading)) is not None]
    missed = sum(not any(reading in one.apart for one in drawn) for reading in wanted)
    return _Try(Table(columns, rows=tuple(map(Json, rows))), rows, tuple(drawn), missed)
