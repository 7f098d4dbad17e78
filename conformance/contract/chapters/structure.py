"""The metadata of a message: FlatBuffers that can be followed safely, and a message with a known version and header.

The layout of the metadata is free (any order of tables, shared or own vtables, written or omitted defaults); every
reference has to lead to a valid place.
"""

from __future__ import annotations

from typing import Final

from conformance.contract.clause import ANY_BATCH, ANY_MESSAGE
from conformance.contract.messages import bodies, written, written_schemas
from conformance.contract.rules import ANY_VIOLATION, must, rule_clauses, should
from conformance.contract.sources import FORWARD_COMPATIBILITY, MESSAGE_FBS, SCHEMA_FBS
from conformance.wire import Rule

VERIFIER: Final = "readers with a verifier refuse the message; readers without one read memory outside of the metadata"

# A table, one row per clause: id, rules, affected software, and an explanation if it says more than the rules.
# fmt: off
rule_clauses(written, ANY_MESSAGE,
    # --- FlatBuffers --------------------------------------------------------------------------------
    must("structure.root-in-range", Rule.FLATBUF_ROOT, VERIFIER),
    must("structure.references-not-null", Rule.FLATBUF_OFFSET_NULL, VERIFIER,
      "A reference has a target: a missing value is a missing slot, not an offset of zero."),
    must("structure.references-in-range", Rule.FLATBUF_OFFSET_OUT_OF_RANGE, VERIFIER),
    must("structure.aligned", Rule.FLATBUF_UNALIGNED,
      "of a number or a name: pyarrow 26.0.1, nanoarrow 0.9.0 and arro3 0.9.1 refuse it, and Polars 2.1.0 reads it; of"
      " a vector of structs: nanoarrow 0.9.0 refuses it, and the other three read it; compiled readers without a"
      " verifier may trap on some machines"),
    must("structure.vtable-in-range", Rule.FLATBUF_VTABLE_OUT_OF_RANGE, VERIFIER),
    must("structure.vtable-size", Rule.FLATBUF_VTABLE_SIZE, VERIFIER),
    must("structure.table-size", Rule.FLATBUF_TABLE_SIZE, VERIFIER),
    must("structure.slots-in-table", Rule.FLATBUF_SLOT_OUT_OF_TABLE, VERIFIER),
    must("structure.vectors-in-range", Rule.FLATBUF_VECTOR_OUT_OF_RANGE, VERIFIER),
    must("structure.strings-in-range", Rule.FLATBUF_STRING_OUT_OF_RANGE, VERIFIER),
    must("structure.strings-terminated", Rule.FLATBUF_STRING_NOT_TERMINATED,
      "pyarrow 26.0.1, nanoarrow 0.9.0 and arro3 0.9.1 refuse it; readers in C without a verifier read past its end",
      "A string is followed by a zero byte, which its length does not include."),
    must("structure.strings-utf8", Rule.FLATBUF_STRING_NOT_UTF8,
      "pyarrow 26.0.1 and nanoarrow 0.9.0: `UnicodeDecodeError`; arro3 0.9.1 refuses the schema",
      "Names, time zones and metadata are UTF-8.", source=SCHEMA_FBS),
    should("structure.booleans", Rule.FLATBUF_BOOL_NOT_0_OR_1,
      says="A boolean is written as 0 or 1: readers differ in how they read other bytes."),
    must("structure.enums-known", Rule.FLATBUF_ENUM_UNKNOWN,
      "a reader has to refuse unknown values: a reader that guesses uses other units or byte orders",
      "Units, precisions, modes and byte orders are members of their enumeration."),
    must("structure.unions-known", Rule.FLATBUF_UNION_TYPE_UNKNOWN,
      "pyarrow 26.0.1, nanoarrow 0.9.0, arro3 0.9.1 and Polars 2.1.0 refuse a type that they do not know",
      "The kinds of headers and types are those that the format defines.", source=FORWARD_COMPATIBILITY),
    must("structure.unions-complete", (Rule.FLATBUF_UNION_VALUE_MISSING, Rule.FLATBUF_UNION_TYPE_MISSING),
      "readers that trust the kind follow a missing reference",
      "A header or type has both its kind and its table, or neither."),
    must("structure.required-slots", Rule.FLATBUF_REQUIRED_MISSING, VERIFIER,
      "A table has the values that its definition requires; in Arrow's metadata only tensors have such values.",
      source=MESSAGE_FBS),
    should("structure.nesting", Rule.FLATBUF_DEPTH,
      "pyarrow 26.0.1 and arro3 0.9.1 refuse it; recursive readers overflow their stack",
      """Tables nest at most 128 deep.

      The format sets no limit, and each reader may choose its own; this one is that of the Arrow C++ verifier.
      """),
    must("structure.table-count", Rule.FLATBUF_TABLES,
      "readers without a limit: they copy a shared table once per reference to it",
      "The metadata has no more tables than fit into its length: no table is referred to again and again."),
    should("structure.no-stale-bytes", Rule.FLATBUF_UNACCOUNTED_BYTES, unless=ANY_VIOLATION,
      says="Bytes of the metadata that belong to no value are zero, so that they leak no stale memory."),
    # --- the Message and Schema tables --------------------------------------------------------------
    must("structure.header-present", Rule.MESSAGE_HEADER_MISSING, "every client", "The `Message` table has a header."),
    must("structure.version-known", Rule.MESSAGE_VERSION_UNKNOWN,
      "pyarrow 26.0.1 and nanoarrow 0.9.0 refuse the message; arro3 0.9.1 and Polars 2.1.0 read it as if they knew the"
      " version",
      source=FORWARD_COMPATIBILITY),
    must("structure.version-supported", Rule.MESSAGE_VERSION_BEFORE_V4,
      "pyarrow 26.0.1 and nanoarrow 0.9.0 refuse the message; arro3 0.9.1 and Polars 2.1.0 read it as one of today",
      """The metadata version is V4 or V5, and is written out: a missing version means V1.

      V1 to V3 have other tables and layouts. Of a message that says one of these, nothing else is judged.
      """),
    should("structure.versions-agree", Rule.MESSAGE_VERSION_DIFFERS, over=bodies, profiles=ANY_BATCH,
      unless=ANY_VIOLATION,
      says="A batch has the metadata version of its schema: the two lay out unions differently."),
    should("structure.metadata-pairs", (Rule.KEY_VALUE_KEY_MISSING, Rule.KEY_VALUE_VALUE_MISSING),
      says="A pair of custom metadata has a key and a value: readers differ in how they read half a pair."),
)
rule_clauses(written_schemas, ANY_BATCH,
    should("structure.fields-listed", Rule.SCHEMA_FIELDS_MISSING,
      "pyarrow 26.0.1: `Unexpected null field Schema.fields`; Polars 2.1.0 refuses it; arro3 0.9.1 panics",
      """A schema has a vector of fields, which is empty if there are no columns.

      The format's definition does not mark the vector as required, so a reader may also take its absence for no
      columns, as nanoarrow 0.9.0 does.
      """),
    must("structure.field-type", Rule.SCHEMA_FIELD_WITHOUT_TYPE, "every client",
      "A field has a type: both its kind and its table.", unless=[Rule.FLATBUF_UNION_TYPE_MISSING]),
    must("structure.child-count", Rule.SCHEMA_CHILD_COUNT,
      "readers that use a list's only child without a check",
      "A field has as many children as its type requires: a list one, a map one, a plain type none."),
    must("structure.type-parameters", (Rule.SCHEMA_INT_WIDTH, Rule.SCHEMA_DECIMAL_WIDTH,
      Rule.SCHEMA_DECIMAL_PRECISION, Rule.SCHEMA_TIME_WIDTH, Rule.SCHEMA_SIZE_NEGATIVE),
      "readers compute the layout of the body from these numbers",
      """Widths, precisions and sizes of types are those that the format has.

      Integers have 8, 16, 32 or 64 bits, decimals 32 to 256 and no more digits than fit, times 32 or 64 by their unit.
      """, profiles=ANY_MESSAGE),
)
# fmt: on
