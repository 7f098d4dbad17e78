"""The effect of ``selected_fields``: the columns, their order, and the values under their names.

One clause judges whether a request is served, chosen by the distinctive feature of its paths (:class:`Paths`). This
chapter does not judge types and modes of the columns, nor rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final

import pyarrow as pa

from conformance.contract.clause import Violation, clause
from conformance.contract.closed import Feature, Paths
from conformance.contract.comparing.columnlists import names_differ
from conformance.contract.comparing.declarations import SECOND_FIELD
from conformance.contract.comparing.expected import expected_columns
from conformance.contract.comparing.matching import row_hashes, shape
from conformance.contract.sources import (
    JAVA_LIVE_TEST,
    LIVE_TESTS,
    NESTED_PRUNING,
    NODE_LIVE_TEST,
    RECORDED,
    RUST_CLIENT,
    SELECTED_NAMES,
    STREAM_PROTO,
    Inferred,
    Sources,
)
from conformance.contract.subjects import answered
from conformance.contract.view import once_per_view
from conformance.protocols.storage_read.contract.endings import refuses
from conformance.protocols.storage_read.contract.expected import has_columns
from conformance.protocols.storage_read.contract.restrictions import calls_function
from conformance.protocols.storage_read.contract.sessions import (
    SessionRead,
    restriction_of,
    whole_or_refused,
    whole_sessions,
)
from conformance.protocols.storage_read.contract.subjects import created, feature, isolates, refused_as, served
from conformance.protocols.storage_read.contract.view import SessionView, StorageCall, StorageView
from conformance.protocols.storage_read.contract.violations import selection_differs
from conformance.records import Column, Level
from conformance.wire import Field

PRUNED: Final = (STREAM_PROTO, NESTED_PRUNING)
PRUNING: Final = "Spark's pruning of nested schemas (from its source)"


def paths_of(session: SessionView) -> Paths:
    """Return the distinctive feature of the fields that a session selects."""
    selected = session.step.selected_fields
    columns = session.columns
    parts = [path.casefold().split(".") for path in selected]
    parents = [tuple(part[:-1]) for part in parts if len(part) > 1]
    applies = (
        (Paths.REPEATED, len({tuple(part) for part in parts}) < len(parts)),
        (Paths.OTHER_CASE, not all(_spelt(columns, path.split(".")) for path in selected)),
        (Paths.INSIDE, any(part[:size] in parts for part in parts for size in range(1, len(part)))),
        (Paths.MERGED, len(set(parents)) < len(parents)),
        (Paths.NESTED, bool(parents)),
        (Paths.RECORD, any(column.fields and column.name in selected for column in columns)),
        (Paths.PLAIN, True),
    )
    return next(kind for kind, applicable in applies if applicable)


def _spelt(columns: Sequence[Column], path: Sequence[str]) -> bool:
    """True if the path is in the table's own spelling."""
    found = next((column for column in columns if column.name == path[0]), None)
    return found is not None and (len(path) == 1 or _spelt(found.fields, path[1:]))


@once_per_view
def _projected(view: StorageView) -> list[SessionView]:
    """Return answered requests for known columns that may be served and whose distinctive feature is a projection."""
    return [
        session
        for session in view.sessions
        if answered(session)
        and "OK" in session.expected_codes
        and session.step.selected_fields
        and feature(session) in (Feature.PROJECTION, Feature.LARGE)
        and (session.ok or isolates(session, Feature.PROJECTION))
    ]


def _selecting(*kinds: Paths) -> Callable[[StorageView], list[SessionView]]:
    return lambda view: [session for session in _projected(view) if paths_of(session) in kinds]


def _made(*kinds: Paths) -> Callable[[StorageView], list[SessionView]]:
    """Return a selector of the sessions with a readable schema that select such fields, whatever else they ask for."""
    return lambda view: [
        session
        for session in created(view)
        if session.step.selected_fields and has_columns(session) and paths_of(session) in kinds
        if _fields(session) is not None
    ]


def _fields(session: SessionView) -> tuple[Field, ...] | None:
    schema = session.schema.message.schema if session.schema is not None else None
    return None if schema is None else schema.fields


def _names(session: SessionView) -> tuple[list[str], list[str]]:
    """Return the names of the expected columns, and the names in the session's schema."""
    wanted = expected_columns(session.columns, session.step.selected_fields)
    assert wanted is not None
    return [column.name for column in wanted], [field.name for field in _fields(session) or ()]


_BY_NAME: Final = (Paths.MERGED, Paths.NESTED, Paths.RECORD, Paths.PLAIN)


def _whole_by_name(view: StorageView) -> list[SessionRead]:
    made = {session.index for session in _made(*_BY_NAME)(view)}
    return [whole for whole in whole_sessions(view) if whole.session.index in made]


@clause(
    "projection.known-columns-are-served",
    over=_selecting(Paths.PLAIN),
    source=(STREAM_PROTO, RECORDED),
    breaks="every client",
)
def known_columns_are_served(session: SessionView) -> Iterator[Violation]:
    """A request that selects columns of the table by their names ends in OK."""
    yield from served(session, f"selected_fields {list(session.step.selected_fields)}")


@clause(
    "projection.only-the-selected",
    over=_made(*_BY_NAME),
    source=(STREAM_PROTO, LIVE_TESTS),
    breaks="clients that map by position",
)
def only_the_selected(session: SessionView) -> Iterator[Violation]:
    """The schema of a session has no column that was not selected: clients rely on the number of columns."""
    wanted, came = _names(session)
    known = frozenset(wanted)
    if surplus := [name for name in came if name not in known]:
        yield Violation(f"no columns but {wanted}", f"the columns {surplus} too", field="arrow_schema")


@clause("projection.all-the-selected", over=_made(*_BY_NAME), source=(STREAM_PROTO, LIVE_TESTS), breaks="every client")
def all_the_selected(session: SessionView) -> Iterator[Violation]:
    """The schema of a session has every selected column, each under its own name."""
    wanted, came = _names(session)
    there = frozenset(came)
    if missing := [name for name in wanted if name not in there]:
        yield Violation(f"the columns {wanted}", f"the columns {missing} missing", field="arrow_schema")


@clause(
    "projection.order-is-the-tables",
    over=_made(*_BY_NAME),
    source=(STREAM_PROTO, LIVE_TESTS),
    breaks="duckdb-bigquery and others that map columns by position (from their source)",
)
def order_is_the_tables(session: SessionView) -> Iterator[Violation]:
    """The columns are in the order of the table, whatever the order of ``selected_fields``."""
    wanted, came = _names(session)
    known, there = frozenset(wanted), frozenset(came)
    if [name for name in came if name in known] != [name for name in wanted if name in there]:
        yield Violation(f"the columns in the order {wanted}", f"the order {came}{_again(came)}", field="arrow_schema")


def _again(names: Sequence[str]) -> str:
    """What a finding adds where a name comes twice."""
    return f", with {SECOND_FIELD} of one name" if len({*names}) < len(names) else ""


# --- nested paths ---------------------------------------------------------------------------------


def _children_differ(columns: Sequence[Column], fields: Sequence[Field], path: str = "") -> Iterator[Violation]:
    """Yield a violation for each of the records among ``columns`` whose children differ from those of its field."""
    by_name = {field.name: field for field in fields}
    for column in columns:
        field = by_name.get(column.name)
        if field is None or not column.fields:
            continue
        children = _record_children(field)
        wanted, came, where = [child.name for child in column.fields], [f.name for f in children], path + column.name
        if wanted != came:
            said = "the fields in another order:" if sorted(wanted) == sorted(came) else "the fields"
            yield Violation(f"the record {where!r} with the fields {wanted}", f"{said} {came}", field=where)
        else:
            yield from _children_differ(column.fields, children, where + ".")


def _record_children(field: Field) -> tuple[Field, ...]:
    """Return the children of a record, or of the records in a list."""
    return field.children[0].children if str(field.type) == "list" and field.children else field.children


def _keeps_records(
    clause_id: str, paths: Paths, source: Sources, what: str, says: str, *, breaks: str = "", level: Level = Level.MUST
) -> None:
    """Register the clause that a session which selects inside records is served, and has these children."""

    def check(session: SessionView) -> Iterator[Violation]:
        if not session.ok:
            yield from served(session, f"{what} {list(session.step.selected_fields)}")
        elif (fields := _fields(session)) is not None:
            wanted = expected_columns(session.columns, session.step.selected_fields)
            yield from _children_differ(wanted or (), fields)

    clause(clause_id, over=_selecting(paths), source=source, level=level, breaks=breaks, says=says)(check)


# A table, one row per clause: id, paths, source, the request as findings name it, explanation, affected software.
# fmt: off
_keeps_records("projection.nested-path-keeps-its-record", Paths.NESTED, PRUNED, "the nested path in",
  "A dotted path is served, and yields the record with only the named field, at every level.", breaks=PRUNING)
_keeps_records("projection.paths-into-one-record-merge", Paths.MERGED, PRUNED, "the paths",
  "Two dotted paths into one record are served, and yield one record with both fields in the table's order.",
  breaks=PRUNING, level=Level.SHOULD)
_keeps_records("projection.record-comes-whole", Paths.RECORD, (STREAM_PROTO, SELECTED_NAMES), "the records in",
  "The name of a RECORD is served, and yields the RECORD with all its fields at every level of nesting.",
  breaks="clients that name selected RECORDs without a path: other values, without an error")
# fmt: on


@clause(
    "projection.path-inside-a-selected-record",
    over=_made(Paths.INSIDE),
    source=STREAM_PROTO,
    level=Level.SHOULD,
    breaks="clients that add paths to the names of whole columns: fields are lost without an error",
)
def path_inside_a_selected_record(session: SessionView) -> Iterator[Violation]:
    """A RECORD that is selected together with a path into it comes once, with all its fields, or is refused.

    All child elements of a selected STRUCT are returned, says the proto. What the service does with a path beside it is
    not recorded.
    """
    wanted, came = _names(session)
    if said := names_differ(wanted, came):
        observed = f"the columns {said}: {came}{_again(came)}"
        yield Violation(f"the columns {wanted}, or a refusal", observed, field="arrow_schema")
    else:
        columns = expected_columns(session.columns, session.step.selected_fields)
        yield from _children_differ(columns or (), _fields(session) or ())


# --- names ----------------------------------------------------------------------------------------


@clause(
    "projection.case-does-not-matter",
    over=_selecting(Paths.OTHER_CASE),
    source=RUST_CLIENT,
    level=Level.SHOULD,
)
def case_does_not_matter(session: SessionView) -> Iterator[Violation]:
    """Names match without regard to case, and the columns have the table's spelling."""
    if not session.ok:
        yield from served(session, f"selected_fields {list(session.step.selected_fields)}")
    elif _fields(session) is not None:
        wanted, came = _names(session)
        if sorted(wanted) != sorted(came):
            said = names_differ(wanted, came)
            yield Violation(f"the columns {wanted}", f"the columns {said}: {came}{_again(came)}", field="arrow_schema")


@clause(
    "projection.a-name-twice-gives-no-column-twice",
    over=_made(Paths.REPEATED),
    source=Inferred(STREAM_PROTO),
    breaks="pyarrow 26.0.1: `KeyError: 'Field \"a\" exists 2 times in schema'`, and `to_pylist` keeps one of the two",
)
def a_name_twice_gives_no_column_twice(session: SessionView) -> Iterator[Violation]:
    """A name that is selected twice yields its column once, unless the request is refused.

    The behaviour of the service is not recorded. A table has no two columns of one name, so its schema must not
    either.
    """
    wanted, came = _names(session)
    if sorted(wanted) != sorted(came):
        observed = f"the columns {names_differ(wanted, came)}: {came}"
        yield Violation(f"the columns {wanted}, or a refusal", observed, field="arrow_schema")


def _selected(call: StorageCall) -> list[str]:
    assert isinstance(call, SessionView)
    return list(call.step.selected_fields)


# fmt: off
refuses("projection.unknown-column-is-refused", refused_as("unknown-column"), NODE_LIVE_TEST,
  lambda call: f"a column that does not exist among {_selected(call)}",
  """A name that the table does not have is not ignored: the request is refused.

  Leaving the name out, or sending all columns if no name is known, hides the mistake.
  """, breaks="clients read other columns than they requested")
# fmt: on


# --- values ---------------------------------------------------------------------------------------


@clause(
    "projection.values-follow-their-names",
    over=_whole_by_name,
    source=(STREAM_PROTO, LIVE_TESTS),
    breaks="every client: values of one column under the name of another, without an error",
)
def values_follow_their_names(whole: SessionRead) -> Iterator[Violation]:
    """The values under the name of a column are its own, not those of another column of the table.

    A server that builds the schema in the table's order and fetches values in the order of the request swaps
    columns.
    """
    table, got = whole.expected, whole.got
    own = {field.name: _values(table, field) for field in table.schema}
    owners: dict[tuple[Hashable, bytes], list[str]] = {}
    for name, values in own.items():
        owners.setdefault(values, []).append(name)
    for name, values in own.items():
        place = got.schema.get_field_index(name)  # below 0, too, if several fields have the name
        if place < 0 or not got.num_rows or shape(got.schema.field(place).type) != values[0]:
            continue
        came = _values(got, got.schema.field(place))
        if came != values:
            for other in owners.get(came, ()):
                yield Violation(f"the values of {name!r}", f"the values of {other!r}", field=name)


def _values(table: pa.Table, field: pa.Field) -> tuple[Hashable, bytes]:
    """Return a key that is equal for columns of comparable types with the same values in any order."""
    hashes = row_hashes(table, [field.name])
    hashes.sort()
    return shape(field.type), hashes.tobytes()


@clause(
    "projection.filter-may-use-other-columns",
    over=lambda view: [
        one for one in whole_or_refused(view, Feature.FILTERED_PROJECTION) if not calls_function(restriction_of(one))
    ],
    source=JAVA_LIVE_TEST,
    breaks="Trino and Spark, which push filters down on columns that they do not select (from their source)",
)
def filter_may_use_other_columns(subject: SessionRead | StorageCall) -> Iterator[Violation]:
    """A restriction may use columns that are not selected: the rows are those that it selects from the table."""
    if isinstance(subject, SessionRead):
        yield from selection_differs(subject)
    else:
        yield from served(subject, "a filter beside selected_fields")
