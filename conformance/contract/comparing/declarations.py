"""Pairs of the columns that a schema has to describe and the fields of the schema that a target declares.

Every column is paired with its field by name, at every depth; columns and fields without a partner are available
too. The chapters on the schema and on types check these pairs.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from conformance import wire
from conformance.contract.clause import MAX_FINDINGS, Violation, clause
from conformance.contract.raised import Raised, attempt, raise_or_give
from conformance.contract.sources import Sources
from conformance.contract.view import DeclaredSchema, View, once_per_view
from conformance.records import BqType, Column, Level, Mode

__all__ = ["SECOND_FIELD", "ColumnPair", "Declared", "Layer", "UnpairedFields", "about_columns", "declared"]

SECOND_FIELD: Final = "a second field"
"""The words in a finding by which it is about a field of a name that another field of its record has."""

LISTS: Final = frozenset(
    {
        wire.TypeKind.LIST,
        wire.TypeKind.LARGE_LIST,
        wire.TypeKind.LIST_VIEW,
        wire.TypeKind.LARGE_LIST_VIEW,
        wire.TypeKind.FIXED_SIZE_LIST,
    }
)
MAX_REMEMBERED: Final = 256
"""The number of schemas kept with their violations: the schema of one session precedes thousands of batches."""


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnPair:
    """A column and its field."""

    path: str
    column: Column
    field: wire.Field

    @property
    def is_list(self) -> bool:
        """True if the field is a list of any layout."""
        return self.field.type.kind in LISTS

    @property
    def element(self) -> wire.Field:
        """The field of one value: the list's child for a REPEATED column, else the field itself."""
        repeated = self.column.mode is Mode.REPEATED and self.is_list and self.field.children
        return self.field.children[0] if repeated else self.field


@dataclasses.dataclass(frozen=True, slots=True)
class Layer:
    """The columns and fields at one level of nesting; ``path`` is "" at the top, else the RECORD's path."""

    path: str
    columns: tuple[Column, ...]
    fields: tuple[wire.Field, ...]

    def partners(self) -> Iterator[tuple[Column, wire.Field]]:
        """Yield each column with its field: the field of the same name, else one whose name differs in case only."""
        free = {field.name: field for field in reversed(self.fields)}
        folded = {name.casefold(): name for name in free}
        own = {column.name for column in self.columns}
        for column in self.columns:
            name = column.name if column.name in free else folded.get(column.name.casefold())
            if name is not None and (name == column.name or name not in own):
                yield column, free[name]


class Pairing:
    """One schema compared with one list of columns; the violations of each check are computed once."""

    def __init__(self, columns: Sequence[Column], schema: wire.Schema, *, selected: bool) -> None:
        self.columns = columns
        self.selected = selected
        self.schema = schema
        self.layers: list[Layer] = []
        self.pairs: list[ColumnPair] = []
        self._clean: bool | None = None
        self._found: dict[Callable[..., object], tuple[Violation, ...] | Raised] = {}
        self._add(Layer("", tuple(columns), schema.fields))

    def _add(self, layer: Layer) -> None:
        self.layers.append(layer)
        for column, field in layer.partners():
            pair = ColumnPair(f"{layer.path}.{column.name}" if layer.path else column.name, column, field)
            self.pairs.append(pair)
            if column.type is BqType.RECORD and pair.element.type.kind is wire.TypeKind.STRUCT:
                self._add(Layer(_below(pair), column.fields, pair.element.children))

    @functools.cached_property
    def by_type(self) -> Mapping[BqType, list[ColumnPair]]:
        """The pairs of each BigQuery type."""
        kinds: dict[BqType, list[ColumnPair]] = {}
        for pair in self.pairs:
            kinds.setdefault(pair.column.type, []).append(pair)
        return kinds

    @functools.cached_property
    def has_lists(self) -> bool:
        """True if a column is REPEATED."""
        return any(pair.column.mode is Mode.REPEATED for pair in self.pairs)

    @functools.cached_property
    def shown(self) -> frozenset[BqType | None]:
        """The BigQuery types of the pairs, and None, which means any schema."""
        return frozenset({None, *self.by_type})

    @functools.cached_property
    def types(self) -> frozenset[BqType]:
        """The BigQuery types of the pairs."""
        return frozenset(self.by_type)

    def clean(self, declared: Declared, checks: Sequence[Check]) -> bool:
        """True if no check finds a violation or raises; computed once, because there are many checks and none
        changes.
        """
        if self._clean is None:
            self._clean = not any(self._attempted(declared, check) for check in checks)
        return self._clean

    def found(self, declared: Declared, check: Check) -> tuple[Violation, ...]:
        """Return the violations that a check finds, at most :data:`~conformance.contract.clause.MAX_FINDINGS`.

        Raises:
            Exception: whatever the check raises.
        """
        return raise_or_give(self._attempted(declared, check))

    def _attempted(self, declared: Declared, check: Check) -> tuple[Violation, ...] | Raised:
        try:
            return self._found[check]
        except KeyError:
            found = attempt(lambda: tuple(itertools.islice(check(declared), MAX_FINDINGS)))
            self._found[check] = found
            return found


def _below(pair: ColumnPair) -> str:
    return f"{pair.path}.{pair.element.name}" if pair.element is not pair.field else pair.path


@dataclasses.dataclass(frozen=True, slots=True)
class Declared:
    """A schema in the exchange that was declared for known columns."""

    call: int
    response: int | None
    pairing: Pairing

    @property
    def schema(self) -> wire.Schema:
        """The schema as the wire parsed it."""
        return self.pairing.schema

    @property
    def layers(self) -> list[Layer]:
        """The levels of nesting, outermost first."""
        return self.pairing.layers

    @property
    def pairs(self) -> list[ColumnPair]:
        """The pairs of all columns that have a field."""
        return self.pairing.pairs

    def unpaired(self) -> Iterator[tuple[str, wire.Field]]:
        """Yield every field that no column explains, and the fields below it, each with its path."""
        for layer in self.layers:
            known = {id(field) for _, field in layer.partners()}
            for field in layer.fields:
                if id(field) not in known:
                    yield from field.walk(layer.path)

    @property
    def unselected(self) -> list[Layer]:
        """The levels of nesting if the request selected no fields, else none; other clauses judge the columns of a
        selection.
        """
        return [] if self.pairing.selected else self.pairing.layers

    def of(self, *types: BqType) -> Iterator[ColumnPair]:
        """Yield the pairs of these BigQuery types."""
        return (pair for kind in types for pair in self.pairing.by_type.get(kind, ()))


Check = Callable[[Declared], Iterable[Violation]]

_PAIRINGS: dict[tuple[int, int, bool], Pairing] = {}


def _pairing(columns: Sequence[Column], schema: wire.Schema, *, selected: bool) -> Pairing:
    """Return the pairing of these very objects; it keeps them alive, so that no other object can get their identity."""
    key = (id(columns), id(schema), selected)
    if key not in _PAIRINGS:
        if len(_PAIRINGS) >= MAX_REMEMBERED:
            _PAIRINGS.clear()
        _PAIRINGS[key] = Pairing(columns, schema, selected=selected)
    return _PAIRINGS[key]


@once_per_view
def declared(view: View) -> list[Declared]:
    """Return every readable schema for known columns."""
    found = map(_declared, view.declared_schemas())
    return [one for one in found if one is not None]


def _declared(one: DeclaredSchema) -> Declared | None:
    schema, fields = one.schema, one.schema.message.schema
    if fields is None:
        return None
    if any(fault.rule.startswith("flatbuf.string") for fault in schema.faults):  # its names could not be read
        return None
    return Declared(schema.call, schema.response, _pairing(one.columns, fields, selected=one.selected))


class DeclaredAspect:
    """The declared schemas of an exchange; clean if no clause about columns finds a violation in them."""

    def __init__(self) -> None:
        self.checks: list[Check] = []

    def state(self, view: View) -> frozenset[BqType | None] | None:
        """Return the set of BigQuery types of the columns, and None in it for any schema; None if one is not clean."""
        return view.once(DeclaredAspect, lambda: self._state(view))

    def _state(self, view: View) -> frozenset[BqType | None] | None:
        found = declared(view)
        if not all(one.pairing.clean(one, self.checks) for one in found):
            return None
        return found[0].pairing.shown if len(found) == 1 else frozenset().union(*(one.pairing.shown for one in found))


class Declarations:
    """A selector of all declared schemas, or of those that have columns of a type at any depth."""

    aspect = DeclaredAspect()

    def __init__(self, kind: BqType | None = None) -> None:
        self._kind = kind

    def __call__(self, view: View) -> Sequence[Declared]:
        """Return these schemas."""
        return [one for one in declared(view) if self._kind in one.pairing.shown]

    def shown_by(self, state: frozenset[BqType | None]) -> bool:
        """True if an exchange with columns of these types has such a schema."""
        return self._kind in state


class UnpairedFields(Declarations):
    """A selector of all declared schemas, for clauses on fields without a column.

    Messages from files are declared for no column, so these clauses judge every field there.
    """


_ANY: Final = Declarations()


def about_columns(
    clause_id: str,
    kind: BqType | None = None,
    *,
    source: Sources,
    breaks: str = "",
    level: Level = Level.MUST,
    says: str = "",
    over: Declarations | None = None,
) -> Callable[[Check], Check]:
    """Register a clause on declared schemas (on those with columns of type ``kind``) whose violations are cached."""
    over = over or (_ANY if kind is None else Declarations(kind))

    def register(check: Check) -> Check:
        Declarations.aspect.checks.append(check)

        @functools.wraps(check)
        def remembered(one: Declared) -> Iterable[Violation]:
            return one.pairing.found(one, check)

        clause(clause_id, over=over, source=source, breaks=breaks, level=level, says=says)(remembered)
        return check

    return register
