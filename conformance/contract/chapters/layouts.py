"""Layouts that no BigQuery type has: views, unions, run ends, maps, fixed-size lists and others.

A Storage Read server has no use for them, and the chapter on types tells it so. These clauses hold for any other
writer of bare Arrow messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from conformance.contract.clause import ANY_BATCH, Violation, clause
from conformance.contract.messages import bodies, broken, untidy, written_schemas
from conformance.contract.view import BatchBytes, SchemaBytes
from conformance.records import Level
from conformance.wire import Rule

COLUMNAR: Final = "https://arrow.apache.org/docs/format/Columnar.html"
SCHEMA_FBS: Final = "https://github.com/apache/arrow/blob/main/format/Schema.fbs"
FOREIGN: Final = ANY_BATCH[1:]
"""Whatever is not a Storage Read server."""


@clause(
    "layouts.view-buffer-counts",
    over=bodies,
    source=f"{COLUMNAR}#variadic-buffers",
    breaks="arrow-rs refuses the batch; others take later buffers for data of this field",
    profiles=FOREIGN,
)
def view_buffer_counts(batch: BatchBytes) -> Iterable[Violation]:
    """`variadicBufferCounts` has one entry for every view field, in order, and none is negative."""
    return broken(batch, Rule.BATCH_VARIADIC_COUNT)


@clause(
    "layouts.views-inside",
    over=bodies,
    source=f"{COLUMNAR}#variable-size-binary-view-layout",
    breaks="readers that do not check read memory elsewhere",
    profiles=FOREIGN,
)
def views_inside(batch: BatchBytes) -> Iterable[Violation]:
    """A view's length is not negative, and its bytes lie inside one of its field's data buffers."""
    return broken(batch, Rule.VIEW_LENGTH_NEGATIVE, Rule.VIEW_BUFFER_INDEX, Rule.VIEW_RANGE)


@clause(
    "layouts.view-prefix",
    over=bodies,
    source=f"{COLUMNAR}#variable-size-binary-view-layout",
    breaks="comparisons by prefix give other answers than comparisons by value",
    profiles=FOREIGN,
)
def view_prefix(batch: BatchBytes) -> Iterable[Violation]:
    """The prefix in a long view is the first four bytes of its value, and the bytes after a short value are zero."""
    return broken(batch, Rule.VIEW_PREFIX, Rule.VIEW_INLINE_PADDING)


@clause(
    "layouts.list-views-inside",
    over=bodies,
    source=f"{COLUMNAR}#listview-layout",
    breaks="readers that do not check",
    profiles=FOREIGN,
)
def list_views_inside(batch: BatchBytes) -> Iterable[Violation]:
    """Offset and size of a list-view, of null slots too, lie inside the child."""
    return broken(batch, Rule.LIST_VIEW_RANGE)


@clause(
    "layouts.fixed-size-lists",
    over=bodies,
    source=f"{COLUMNAR}#fixed-size-list-layout",
    breaks="readers run past the end of the child",
    profiles=FOREIGN,
)
def fixed_size_lists(batch: BatchBytes) -> Iterable[Violation]:
    """The child of a fixed-size list holds the list's size for every slot, nulls included."""
    return broken(batch, Rule.FIXED_SIZE_LIST_CHILD_LENGTH)


@clause(
    "layouts.map-fields",
    over=written_schemas,
    source=SCHEMA_FBS,
    breaks="readers that take key and value without looking",
    profiles=FOREIGN,
)
def map_fields(schema: SchemaBytes) -> Iterable[Violation]:
    """A map has one child, a struct of a key and a value; neither the struct nor the key is nullable."""
    return broken(schema, Rule.SCHEMA_MAP_ENTRIES, Rule.SCHEMA_MAP_NULLABLE)


@clause(
    "layouts.map-entries", over=bodies, source=SCHEMA_FBS, breaks="readers that build a dictionary", profiles=FOREIGN
)
def map_entries(batch: BatchBytes) -> Iterable[Violation]:
    """Entries and keys of a map are never null."""
    return broken(batch, Rule.MAP_NULL_ENTRY, Rule.MAP_NULL_KEY)


@clause(
    "layouts.null-columns",
    over=bodies,
    source=f"{COLUMNAR}#null-layout",
    breaks="readers that trust the count show values that do not exist",
    profiles=FOREIGN,
)
def null_columns(batch: BatchBytes) -> Iterable[Violation]:
    """Every slot of a Null field is null, and its null count says so."""
    return broken(batch, Rule.NULL_NULL_COUNT)


@clause(
    "layouts.whole-days", over=bodies, source=SCHEMA_FBS, breaks="readers that divide lose the rest", profiles=FOREIGN
)
def whole_days(batch: BatchBytes) -> Iterable[Violation]:
    """A date in milliseconds is a whole number of days."""
    return broken(batch, Rule.DATE64_WHOLE_DAYS)


@clause(
    "layouts.run-ends",
    over=bodies,
    source=f"{COLUMNAR}#run-end-encoded-layout",
    breaks="readers that search the run ends find other values",
    profiles=FOREIGN,
)
def run_ends(batch: BatchBytes) -> Iterable[Violation]:
    """Run ends are not null, positive, strictly increasing, cover the field, and have a value each.

    The field itself has no nulls: its null count is 0.
    """
    return broken(
        batch,
        Rule.RUN_ENDS_NULLS,
        Rule.RUN_ENDS_PARENT_NULL_COUNT,
        Rule.RUN_ENDS_NOT_INCREASING,
        Rule.RUN_ENDS_SHORT,
        Rule.RUN_ENDS_CHILD_LENGTH,
    )


@clause(
    "layouts.run-end-type",
    over=written_schemas,
    source=f"{COLUMNAR}#run-end-encoded-layout",
    breaks="readers know no other",
    profiles=FOREIGN,
)
def run_end_type(schema: SchemaBytes) -> Iterable[Violation]:
    """Run ends are signed integers of 16, 32 or 64 bits."""
    return broken(schema, Rule.SCHEMA_RUN_ENDS_TYPE)


@clause(
    "layouts.union-type-ids",
    over=written_schemas,
    source=SCHEMA_FBS,
    breaks="readers choose another child",
    profiles=FOREIGN,
)
def union_type_ids(schema: SchemaBytes) -> Iterable[Violation]:
    """A union names one type id per child, each once and between 0 and 127."""
    return broken(schema, Rule.SCHEMA_UNION_TYPE_IDS)


@clause(
    "layouts.union-slots",
    over=bodies,
    source=f"{COLUMNAR}#union-layout",
    breaks="readers choose a child that is not there, or a slot beyond its end",
    profiles=FOREIGN,
)
def union_slots(batch: BatchBytes) -> Iterable[Violation]:
    """Every slot of a union has a declared type id, and a place inside the child that it names.

    The children of a sparse union are as long as the union; the offsets of a dense one never decrease for a
    child.
    """
    return broken(batch, Rule.UNION_TYPE_ID, Rule.UNION_CHILD_LENGTH, Rule.UNION_OFFSET_RANGE, Rule.UNION_OFFSET_ORDER)


@clause(
    "layouts.union-nulls",
    over=bodies,
    source=f"{COLUMNAR}#union-layout",
    level=Level.SHOULD,
    breaks="most readers refuse a union with a validity bitmap",
    profiles=FOREIGN,
)
def union_nulls(batch: BatchBytes) -> Iterable[Violation]:
    """A union has no nulls of its own: its null count is 0 and, under V4, its bitmap empty."""
    return untidy(batch, Rule.UNION_NULL_COUNT, Rule.UNION_VALIDITY_V4)


@clause(
    "layouts.dictionary-indices",
    over=bodies,
    source=f"{COLUMNAR}#dictionary-encoded-layout",
    breaks="readers that do not check read memory before the dictionary",
    profiles=FOREIGN,
)
def dictionary_indices(batch: BatchBytes) -> Iterable[Violation]:
    """A dictionary index is not negative in a slot that is not null."""
    return broken(batch, Rule.DICTIONARY_INDEX_NEGATIVE)
