"""Mutants of row restrictions: wrong rows, and bad restrictions that are not refused."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from conformance.protocols.storage_read.reference import restriction
from conformance.protocols.storage_read.reference.catalogue import Snapshot
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.restriction import column_value
from conformance.protocols.storage_read.reference.service import MAX_RESTRICTION_BYTES, ReadService
from conformance.protocols.storage_read.reference.sql import (
    NODES,
    Interpreter,
    SqlError,
    Value,
    evaluate,
    parse_expression,
)
from conformance.records import BqType, Column
from conformance.reference.statuses import Reason, Refusal

_LONG = "https://github.com/GoogleCloudDataproc/spark-bigquery-connector/issues/1301"


_BOUND = re.compile(r"^(\w+) >= (-?\d+)$")


def _none(rows: pa.Table) -> pa.BooleanArray:
    return pa.array([False] * rows.num_rows, pa.bool_())


@behaviour_mutant("restriction.bound-excluded", kills="restriction.comparison")
class BoundExcluded(ReadService):
    """``>=`` is evaluated as ``>``."""

    def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
        return super().restrict(snapshot, _BOUND.sub(r"\1 > \2", text))


@behaviour_mutant(
    "restriction.ignored",
    kills="session.restriction-is-not-ignored",
    also={
        "restriction.*": "every row is sent, whatever the restriction is",
        "rows.partitions-are-the-table": "a restriction on partitions is ignored, too",
        "projection.filter-*": "a restriction is ignored next to a projection, too",
        "errors.*-restriction-*": "no restriction is looked at",
    },
)
class Ignored(ReadService):
    """Every restriction is ignored without a word, as by a server without filters."""

    def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
        del snapshot, text
        return None


@behaviour_mutant(
    "restriction.empty-is-all",
    kills="restriction.nothing-selected",
    also={"restriction.comparison": "the restrictions that select no row are comparisons, and their rows are wrong"},
)
class EmptyIsAll(ReadService):
    """A restriction that selects no row is ignored: every row is sent."""

    def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
        mask = super().restrict(snapshot, text)
        return mask if mask is None or mask.true_count else None


@behaviour_mutant(
    "restriction.null-is-true",
    kills="restriction.null-is-not-true",
    also={
        "projection.filter-may-use-other-columns": "one case asks for everything at once",
        "restriction.nested-field": "a field of a record is NULL in a row of its own kind",
        "rows.partitions-are-the-table": "the day of a row may be NULL",
        "restriction.function": "a cast that fails safely is NULL, and so is what compares it",
    },
)
class NullIsTrue(ReadService):
    """A row for which the restriction is NULL is sent."""

    def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
        mask = super().restrict(snapshot, text)
        if mask is None:
            return None
        value = evaluate(parse_expression(text), lambda path: column_value(path, snapshot.columns, snapshot.rows))
        # A literal NULL is NULL for every row; that it selects no row is another requirement.
        if value.constant or not mask.true_count:
            return mask
        return pc.fill_null(value.data, pa.scalar(True))  # noqa: FBT003  # the fault


@behaviour_mutant("restriction.long-accepted", kills="restriction.too-long-is-refused", source=_LONG)
class LongAccepted(ReadService):
    """A restriction of any length is read, and one above the limit selects nothing."""

    def check_request(self, request: Any) -> None:
        options = request.read_session.read_options
        if len(options.row_restriction.encode()) > MAX_RESTRICTION_BYTES:
            options.row_restriction = "FALSE"
        super().check_request(request)


class _Forgiving(ReadService):
    """A service on which a bad restriction of one kind selects nothing."""

    kind: ClassVar[re.Pattern[str]]

    def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
        try:
            return super().restrict(snapshot, text)
        except Refusal:
            if self.kind.search(text):
                return _none(snapshot.rows)
            raise


@behaviour_mutant("restriction.aggregate-accepted", kills="restriction.aggregate-is-refused")
class AggregateAccepted(_Forgiving):
    """A restriction with an aggregate function is served, and selects nothing."""

    kind = re.compile(r"\b(COUNT|SUM|MIN|MAX|AVG)\s*\(", re.IGNORECASE)


@behaviour_mutant("restriction.subquery-accepted", kills="restriction.subquery-is-refused")
class SubqueryAccepted(_Forgiving):
    """A restriction with a subquery is served, and selects nothing."""

    kind = re.compile(r"\(\s*SELECT\b", re.IGNORECASE)


@behaviour_mutant("restriction.parts-of-a-query-accepted", kills="restriction.malformed-is-refused")
class PartsOfQueryAccepted(_Forgiving):
    """The restriction is written at the end of a query, so LIMIT, GROUP BY and UNION may follow; it selects nothing."""

    kind = re.compile(r"\b(LIMIT|GROUP BY|UNION ALL)\b", re.IGNORECASE)


@behaviour_mutant("restriction.statement-accepted", kills="restriction.second-statement-is-refused")
class StatementAccepted(_Forgiving):
    """The text after a semicolon in a restriction is run as a statement."""

    kind = re.compile(r";|--")


@behaviour_mutant("restriction.not-boolean-accepted", kills="restriction.not-boolean-is-refused")
class NotBooleanAccepted(ReadService):
    """A restriction that is an expression of another type is served, and selects nothing."""

    def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
        try:
            return super().restrict(snapshot, text)
        except Refusal:
            if _is_value(text, snapshot.columns, snapshot.rows):
                return _none(snapshot.rows)
            raise


def _is_value(text: str, columns: Sequence[Column], rows: pa.Table) -> bool:
    try:
        evaluate(parse_expression(text), lambda path: column_value(path, columns, rows))
    except SqlError:
        return False
    return True


@behaviour_mutant("restriction.unknown-column-is-null", kills="restriction.unknown-column-is-refused")
class UnknownColumnIsNull(ReadService):
    """A column that the table does not have is taken for NULL in a restriction."""

    def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
        if not text:
            return None
        try:
            return restriction.keep(text, snapshot.columns, snapshot.rows)
        except restriction.RestrictionError as error:
            if str(error).startswith("Unrecognized name") and re.fullmatch(r"\w+ [<>=]+ \S+", text):
                return _none(snapshot.rows)
            self.refuse(Reason.BAD_RESTRICTION, table=snapshot.table, restriction=text)


def _empty_is_null(interpreter: Interpreter, node: exp.Expression) -> Value:
    """IS NULL as of a row of PostgreSQL: TRUE where every field is NULL."""
    value = interpreter.value(node.this) if isinstance(node.expression, exp.Null) else None
    if value is None or value.type is not BqType.RECORD:
        return NODES[exp.Is](interpreter, node)
    fields = (pc.is_null(pc.struct_field(value.data, [index])) for index in range(value.data.type.num_fields))
    return Value(BqType.BOOL, functools.reduce(pc.and_, fields))


@behaviour_mutant("restriction.record-of-nulls-is-null", kills="restriction.is-null")
class RecordOfNullsIsNull(ReadService):
    """A record whose fields are all NULL counts as NULL, as a row of PostgreSQL does."""

    def restrict(self, snapshot: Snapshot, text: str) -> pa.BooleanArray | None:
        try:
            nodes = {**NODES, exp.Is: _empty_is_null}
            return restriction.keep(text, snapshot.columns, snapshot.rows, nodes=nodes) if text else None
        except restriction.RestrictionError:
            self.refuse(Reason.BAD_RESTRICTION, table=snapshot.table, restriction=text)
