"""Layouts that no BigQuery type has: views, unions, run ends, maps, fixed-size lists and others.

A Storage Read server must not use them, as the chapter on types requires. The clauses here bind every other writer
of Arrow messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.contain.text import representation
from conformance.contract.bytefields import BatchBytes
from conformance.contract.clause import ANY_BATCH, SEQUENCES, Violation, clause
from conformance.contract.ipc.mapkeys import unsorted_maps
from conformance.contract.ipc.selectors import AsData
from conformance.contract.messages import bodies, written_schemas
from conformance.contract.rules import ANY_VIOLATION, must, rule_clauses, should
from conformance.contract.sources import SCHEMA_FBS
from conformance.records import Level
from conformance.wire import Rule

FOREIGN: Final = ANY_BATCH[1:]
"""The profiles of writers other than a Storage Read server."""

# A table, one row per clause: id, rules, affected software, and an explanation if it says more than the rules.
# fmt: off
rule_clauses(bodies, FOREIGN,
    must("layouts.view-buffer-counts", Rule.BATCH_VARIADIC_COUNT,
      "readers read later buffers as data of this field, or refuse the batch",
      "`variadicBufferCounts` has one entry for every view field, in order, and none is negative."),
    must("layouts.views-inside", (Rule.VIEW_LENGTH_NEGATIVE, Rule.VIEW_BUFFER_INDEX, Rule.VIEW_RANGE),
      "readers without bounds checks read memory elsewhere",
      "A view's length is not negative, and its bytes are inside one of its field's data buffers."),
    must("layouts.view-prefix", (Rule.VIEW_PREFIX, Rule.VIEW_INLINE_PADDING),
      "comparisons by prefix give other results than comparisons by value",
      "The prefix in a long view is the first four bytes of its value, and the bytes after a short value are zero."),
    must("layouts.list-views-inside", Rule.LIST_VIEW_RANGE, "readers without bounds checks"),
    must("layouts.fixed-size-lists", Rule.FIXED_SIZE_LIST_CHILD_LENGTH, "readers read past the end of the child"),
    must("layouts.map-fields", (Rule.SCHEMA_MAP_ENTRIES, Rule.SCHEMA_MAP_NULLABLE),
      "readers that use key and value without a check",
      "A map has one child, a struct of a key and a value; neither the struct nor the key is nullable.",
      over=written_schemas),
    must("layouts.map-entries", (Rule.MAP_NULL_ENTRY, Rule.MAP_NULL_KEY), "readers that build a dictionary",
      "Entries and keys of a map are never null."),
    must("layouts.null-columns", Rule.NULL_NULL_COUNT,
      "readers that trust the count show values that do not exist",
      "Every slot of a Null field is null, and its null count is its length."),
    must("layouts.whole-days", Rule.DATE64_WHOLE_DAYS, "readers that divide lose the remainder",
      "A date in milliseconds is a whole number of days."),
    must("layouts.run-ends", (Rule.RUN_ENDS_NULLS, Rule.RUN_ENDS_PARENT_NULL_COUNT, Rule.RUN_ENDS_NOT_INCREASING,
      Rule.RUN_ENDS_SHORT, Rule.RUN_ENDS_CHILD_LENGTH), "readers that search the run ends find wrong values",
      """Run ends are positive, strictly increasing and never null; they cover the field and have a value each.

      The field itself has no nulls: its null count is 0.
      """),
    must("layouts.run-end-type", Rule.SCHEMA_RUN_ENDS_TYPE, "readers support no other type", over=written_schemas),
    must("layouts.union-type-ids", Rule.SCHEMA_UNION_TYPE_IDS, "readers choose the wrong child", over=written_schemas),
    must("layouts.union-slots",
      (Rule.UNION_TYPE_ID, Rule.UNION_CHILD_LENGTH, Rule.UNION_OFFSET_RANGE, Rule.UNION_OFFSET_ORDER),
      "readers choose a child that does not exist, or a slot beyond its end",
      """Every slot of a union has a declared type id, and a place inside the child of this id.

      The children of a sparse union are at least as long as the union; the offsets of a dense one never decrease for
      a child.
      """),
    must("layouts.sparse-union-children", Rule.UNION_CHILD_LONGER,
      "arro3 0.9.1: `Sparse union child arrays must be equal in length to the length of the union`, of what nanoarrow"
      " 0.9.0 writes of an empty slice; pyarrow 26.0.1 and nanoarrow read it"),
    should("layouts.union-nulls", (Rule.UNION_NULL_COUNT, Rule.UNION_VALIDITY_V4),
      "nanoarrow 0.9.0: `Cannot read pre-1.0.0 Union array with top-level validity bitmap`; pyarrow 26.0.1 and arro3"
      " 0.9.1 read it",
      "A union has no nulls of its own: its null count is 0 and, under V4, its bitmap empty.",
      unless=ANY_VIOLATION),
    must("layouts.dictionary-indices", Rule.DICTIONARY_INDEX_NEGATIVE,
      "readers without bounds checks read memory before the dictionary"),
)
# fmt: on


@clause(
    "layouts.map-keys-sorted",
    over=AsData[BatchBytes](lambda view: [one for one in view.batches if one.schema is not None]),
    source=SCHEMA_FBS,
    level=Level.SHOULD,
    breaks="readers that search the keys find nothing",
    profiles=SEQUENCES,
)
def map_keys_sorted(batch: BatchBytes) -> Iterator[Violation]:
    """The keys of each map are in order where the schema says `keysSorted`.

    No text says which order. So any is right in which no key is below the one before it: by value, by UTF-16 code
    units, without case, or by length. Keys that are no integers, texts or bytes are not judged.
    """
    assert batch.schema is not None, "the selector takes only batches under a schema"
    if not any(field.type.keys_sorted for _, field in batch.schema.walk()):
        return
    rows = batch.arrow()
    if rows is None:
        return
    for field, column in zip(rows.schema, rows.columns, strict=True):
        for path, keys in unsorted_maps(column, field.name):
            yield Violation("keys in order", representation(keys), path)
