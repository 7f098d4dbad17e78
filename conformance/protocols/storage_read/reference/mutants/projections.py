"""Mutants of selected fields: too many or too few columns, another order, records with other fields."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from conformance.protocols.storage_read.reference import projection
from conformance.protocols.storage_read.reference.catalogue import Snapshot
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.records import Column
from conformance.reference.register import decorator
from conformance.reference.statuses import Reason

_NESTED = "https://github.com/GoogleCloudDataproc/spark-bigquery-connector/pull/1512"


class _Asked(NamedTuple):
    """From the columns of the table, the selected paths and the right columns to the columns that are sent."""

    table: tuple[Column, ...]
    selected: tuple[str, ...]
    right: tuple[Column, ...]


def _choosing(choose: Callable[[_Asked], tuple[Column, ...]]) -> dict[str, Any]:
    class Choosing(ReadService):
        def resolve_columns(self, snapshot: Snapshot, selected: Sequence[str]) -> tuple[Column, ...]:
            right = super().resolve_columns(snapshot, selected)
            return choose(_Asked(snapshot.columns, tuple(selected), right)) if selected else right

    return {"service": Choosing}


_choice_mutant: Final = decorator(_choosing)
"""Register a function that chooses wrong columns; a request without selected fields is served correctly."""


@behaviour_mutant("projection.refused", kills="projection.known-columns-are-served")
class ProjectionRefused(ReadService):
    """Selecting columns by their names is refused; nested paths are served, and so are selections with a filter."""

    restricted = False

    def check_request(self, request: Any) -> None:
        super().check_request(request)
        self.restricted = bool(request.read_session.read_options.row_restriction)

    def resolve_columns(self, snapshot: Snapshot, selected: Sequence[str]) -> tuple[Column, ...]:
        right = super().resolve_columns(snapshot, selected)
        known = {column.name for column in snapshot.columns if not column.fields}
        if selected and known.issuperset(selected) and len(set(selected)) == len(selected) and not self.restricted:
            self.refuse(Reason.UNKNOWN_FIELDS, fields=selected[0])
        return right


@_choice_mutant(
    "projection.ignored",
    kills="session.projection-is-not-ignored",
    also={"projection.*": "every column is sent, whatever is selected"},
)
def every_column(asked: _Asked) -> tuple[Column, ...]:
    """Selected fields are ignored without a word, as by a server without projections."""
    return asked.table


@_choice_mutant(
    "projection.one-more",
    kills="projection.only-the-selected",
    also={
        "projection.case-does-not-matter": "a column too many is so in any spelling",
        "session.projection-is-not-ignored": "a column too many is so whether projections are offered or not",
    },
)
def one_column_more(asked: _Asked) -> tuple[Column, ...]:
    """The first column of the table that was not selected is sent as well."""
    chosen = {column.name for column in asked.right}
    names = {name.lower() for name in asked.selected}
    if any("." in name for name in names) or len(names) < len(asked.selected):
        return asked.right
    other = [column for column in asked.table if column.name not in chosen][:1]
    return tuple(column for column in asked.table if column in asked.right or column in other)


@_choice_mutant(
    "projection.last-dropped",
    kills="projection.all-the-selected",
    also={
        "projection.case-does-not-matter": "a column too few is so in any spelling",
        "projection.path-inside-a-selected-record": "the record is the last column",
    },
)
def last_column_dropped(asked: _Asked) -> tuple[Column, ...]:
    """If several columns are selected, the last is missing."""
    return asked.right[:-1] if len(asked.right) > 1 else asked.right


@_choice_mutant(
    "projection.order-of-request",
    kills="projection.order-is-the-tables",
    also={"projection.path-inside-a-selected-record": "the record comes before a column that is before it"},
)
def order_of_request(asked: _Asked) -> tuple[Column, ...]:
    """Columns, with their values, are in the order in which they were selected."""
    order = [path.lower().split(".")[0] for path in asked.selected]
    return tuple(sorted(asked.right, key=lambda column: order.index(column.name.lower())))


@_choice_mutant(
    "projection.path-gives-record",
    kills="projection.nested-path-keeps-its-record",
    also={"projection.path-inside-a-selected-record": "the record around the selected one comes whole"},
    source=_NESTED,
)
def path_gives_record(asked: _Asked) -> tuple[Column, ...]:
    """A path into a record gives the whole record."""
    parents = [path.rpartition(".")[0] for path in asked.selected]
    if len(set(parents)) < len(parents):
        return asked.right
    return projection.prune(asked.table, [path.split(".")[0] for path in asked.selected])


@_choice_mutant(
    "projection.last-path-wins",
    kills="projection.paths-into-one-record-merge",
    also={"projection.path-inside-a-selected-record": "the path is the last one"},
    source=_NESTED,
)
def last_path_wins(asked: _Asked) -> tuple[Column, ...]:
    """If several paths lead into one record, only the last counts."""
    last = {path.lower().split(".")[0]: path for path in asked.selected}
    return projection.prune(asked.table, list(last.values()))


@_choice_mutant("projection.path-narrows-its-record", kills="projection.path-inside-a-selected-record")
def path_narrows_its_record(asked: _Asked) -> tuple[Column, ...]:
    """A record that is selected together with a path into it has only the field of the path."""
    parents = {path.split(".")[0].lower() for path in asked.selected if "." in path}
    return projection.prune(asked.table, [path for path in asked.selected if path.lower() not in parents])


@_choice_mutant(
    "projection.record-beside-its-path",
    kills="projection.path-inside-a-selected-record",
)
def record_beside_its_path(asked: _Asked) -> tuple[Column, ...]:
    """A record that is selected together with a path into it comes twice: whole, and with the field of the path."""
    names = {path.lower() for path in asked.selected}
    inside = [path for path in asked.selected if "." in path and path.split(".")[0].lower() in names]
    narrow = {column.name: column for column in (projection.prune(asked.table, inside) if inside else ())}
    return tuple(one for column in asked.right for one in (column, narrow.get(column.name)) if one is not None)


@_choice_mutant(
    "projection.record-cut",
    kills="projection.record-comes-whole",
    also={"projection.path-inside-a-selected-record": "the record is cut beside a path into it too"},
)
def record_cut(asked: _Asked) -> tuple[Column, ...]:
    """A record that is selected by its name comes with its first field only."""
    names = {name.lower() for name in asked.selected}
    return tuple(
        dataclasses.replace(column, fields=column.fields[:1]) if column.name.lower() in names else column
        for column in asked.right
    )


@behaviour_mutant("projection.case-matters", kills="projection.case-does-not-matter")
class CaseMatters(ReadService):
    """A selected field in another spelling than the table's does not exist."""

    def resolve_columns(self, snapshot: Snapshot, selected: Sequence[str]) -> tuple[Column, ...]:
        known = {column.name for column in snapshot.columns}
        unknown = [path for path in selected if path.split(".")[0] not in known]
        if unknown:
            self.refuse(Reason.UNKNOWN_FIELDS, fields=", ".join(unknown))
        return super().resolve_columns(snapshot, selected)


@_choice_mutant("projection.name-counted-twice", kills="projection.a-name-twice-gives-no-column-twice")
def name_counted_twice(asked: _Asked) -> tuple[Column, ...]:
    """A name that is selected twice gives its column twice."""
    names = [name.lower() for name in asked.selected]
    return tuple(column for column in asked.right for _ in range(max(names.count(column.name.lower()), 1)))


@behaviour_mutant("projection.filter-on-selected-only", kills="projection.filter-may-use-other-columns")
class FilterOnSelectedOnly(ReadService):
    """A restriction on a column that is not selected is refused."""

    def check_request(self, request: Any) -> None:
        super().check_request(request)
        options = request.read_session.read_options
        text = options.row_restriction
        if text and options.selected_fields and not any(name in text for name in options.selected_fields):
            self.refuse(Reason.BAD_RESTRICTION, table=request.read_session.table, restriction=text)
