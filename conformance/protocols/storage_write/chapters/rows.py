"""The rows of an append: all are written or none, columns are found by their names, errors name the rows."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import pyarrow as pa

from conformance.contain.text import many
from conformance.contract.clause import Violation, clause
from conformance.contract.sources import GO_WRITE_TEST, JAVA_WRITE_TEST, RUST_CLIENT, STORAGE_PROTO, Inferred
from conformance.protocols.storage_write.contract import WRITE
from conformance.protocols.storage_write.contract.subjects import AppendView, ReadBack, Why
from conformance.protocols.storage_write.contract.view import WriteView
from conformance.records import ROW_ID, Column, Level, Mode

_clause = functools.partial(clause, profiles=WRITE)


def _only(view: WriteView, why: Why) -> Sequence[AppendView]:
    """The appends that have to be refused for this reason alone, and have an answer."""
    return [one for one in view.appends if one.why == {why} and (one.acknowledged or one.refused)]


@_clause(
    "storage-write-rows.bad-row-is-refused",
    over=lambda view: _only(view, Why.BAD_ROW),
    source=Inferred(JAVA_WRITE_TEST),
    level=Level.SHOULD,
    breaks="every client: a value is changed or lost without an error",
)
def bad_row_is_refused(one: AppendView) -> Iterator[Violation]:
    """An append with a TIMESTAMP outside of the years 1 to 9999 is refused.

    It was recorded of rows in protobuf; of rows in Arrow it is inferred.
    """
    if one.acknowledged:
        yield Violation("an error", "append_result")


@_clause(
    "storage-write-rows.error-names-the-rows",
    over=lambda view: [one for one in _only(view, Why.BAD_ROW) if one.in_band],
    source=(STORAGE_PROTO, Inferred(JAVA_WRITE_TEST)),
    level=Level.SHOULD,
    breaks="clients that leave out the bad rows and send the others again",
)
def error_names_the_rows(one: AppendView) -> Iterator[Violation]:
    """The answer to an append with bad rows has a row error for each of them, with its index in the request.

    storage.proto: "The API will return row level error info, so that the caller can remove the bad rows and retry the
    request."
    """
    wanted, came = sorted(one.append.bad), sorted({error.index for error in one.answer.row_errors})
    if wanted != came:
        yield Violation(f"row_errors for {wanted}", f"row_errors for {came}", field="row_errors")


@_clause(
    "storage-write-rows.refused-are-not-written",
    over=lambda view: [read for read in view.reads if any(one.refused for one in view.appends if one.call < read.call)],
    source=(JAVA_WRITE_TEST, STORAGE_PROTO),
    breaks="clients that send the request again: rows are there twice",
)
def refused_are_not_written(read: ReadBack) -> Iterator[Violation]:
    """Of an append that was refused, no row is in the table: rows are written all or none.

    storage.proto: "If a request failed due to corrupted rows, no rows in the batch will be appended."
    """
    if written := [row for row in sorted(read.refused) if read.counts.get(row)]:
        yield Violation("none of their rows", f"{many(len(written), 'row')} of refused appends, the first {written[0]}")


@_clause(
    "storage-write-rows.extra-column-is-refused",
    over=lambda view: _only(view, Why.EXTRA),
    source=(RUST_CLIENT, Inferred(JAVA_WRITE_TEST)),
    breaks="every client: a column is dropped without an error: https://github.com/apache/beam/issues/33238",
)
def extra_column_is_refused(one: AppendView) -> Iterator[Violation]:
    """An append whose schema has a column that the table does not have is refused."""
    if one.acknowledged:
        yield Violation("an error", "append_result")


@_clause(
    "storage-write-rows.extra-column-has-its-code",
    over=lambda view: [one for one in _only(view, Why.EXTRA) if one.in_band],
    source=Inferred(JAVA_WRITE_TEST),
    level=Level.SHOULD,
    breaks="clients that make the column and send the rows again",
)
def extra_column_has_its_code(one: AppendView) -> Iterator[Violation]:
    """The error for a column that the table does not have has a StorageError with SCHEMA_MISMATCH_EXTRA_FIELDS.

    It was recorded of rows in protobuf; of rows in Arrow it is inferred.
    """
    if "SCHEMA_MISMATCH_EXTRA_FIELDS" not in one.storage_errors:
        came = ", ".join(one.storage_errors) or "no StorageError"
        yield Violation("SCHEMA_MISMATCH_EXTRA_FIELDS", came, field="error.details")


def _leaves_out(read: ReadBack, name: str) -> list[int]:
    """The places of rows that were written without a column."""
    ids = read.rows.column(ROW_ID).to_pylist() if read.rows.num_columns else []
    return [at for at, row in enumerate(ids) if name in read.omitted.get(row, ())]


def _nullable(view: WriteView) -> Sequence[Column]:
    return [column for column in view.case.table.columns if column.mode is Mode.NULLABLE]


@_clause(
    "storage-write-rows.omitted-column-is-null",
    over=lambda view: [
        read
        for read in view.reads
        if any(_leaves_out(read, column.name) and column.name in read.rows.schema.names for column in _nullable(view))
    ],
    source=Inferred(GO_WRITE_TEST),
    level=Level.SHOULD,
    breaks="clients whose programs are older than a column of the table",
)
def omitted_column_is_null(read: ReadBack) -> Iterator[Violation]:
    """A column without a default that the rows of an append do not have is NULL in them.

    It was recorded of rows in protobuf; of rows in Arrow it is inferred.
    """
    for name in read.rows.schema.names:
        places = _leaves_out(read, name)
        column = read.rows.column(name)
        if not places or pa.types.is_list(column.type):
            continue
        valid = [at for at in places if column[at].is_valid]
        if valid:
            yield Violation("NULL", f"another value in {many(len(valid), 'row')}", field=name)
