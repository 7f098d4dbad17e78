"""The body of a batch against its schema: nodes, buffers, and what the layouts of the types ask of them.

A decoder that succeeds proves little here: pyarrow ignores columns too many, takes nulls in non-nullable fields and
reads beyond a node count, so each of these is judged on the bytes. What the format leaves open is not asked for:
alignment to 8 or 64, padded or true lengths, a validity bitmap or none where nothing is null.
"""

from __future__ import annotations

from conformance.contract.clause import ANY_BATCH, ANY_MESSAGE
from conformance.contract.messages import bodies, written
from conformance.contract.rules import ANY_VIOLATION, must, rule_clauses, should
from conformance.wire import Rule

# A table reads as a table: id, rules and who breaks, then the explanation where it says more than the rules.
# fmt: off
rule_clauses(bodies, ANY_BATCH,
    # --- lengths in the message ---------------------------------------------------------------------
    must("body.length-not-negative", Rule.MESSAGE_BODY_LENGTH_NEGATIVE, "every client",
      "`Message.bodyLength`, a signed integer of 64 bits, is not negative.", over=written, profiles=ANY_MESSAGE),
    must("body.length-multiple-of-8", Rule.MESSAGE_BODY_LENGTH_NOT_MULTIPLE_OF_8,
      "readers of several messages in a row: the next one starts at an odd place",
      "The body length is a multiple of eight, so that the whole message is one.",
      over=written, profiles=ANY_MESSAGE),
    must("body.batch-length-not-negative", Rule.BATCH_LENGTH_NEGATIVE, "every client",
      "`RecordBatch.length` is not negative."),
    must("body.column-lengths", Rule.BATCH_COLUMN_LENGTH,
      "pyarrow 26.0.1 and arro3 0.9.1 refuse the batch; Go panics (from its source)",
      "Every column is as long as the batch: the length of its node is `RecordBatch.length`.",
      unless_there=[Rule.BATCH_NODE_LENGTH_NEGATIVE]),
    # --- nodes and buffers against the schema -------------------------------------------------------
    must("body.node-count", Rule.BATCH_NODE_COUNT,
      "pyarrow 26.0.1 drops columns too many without an error; too few: `Ran out of field metadata, likely malformed`",
      """A batch has one field node for every field of the schema, children included, and no more.

      A batch of other columns than its schema's must not pass for one: readers that count fail, readers that do
      not put values under the wrong names (https://github.com/apache/arrow/issues/31566).
      """),
    must("body.buffer-count", Rule.BATCH_BUFFER_COUNT, "every later buffer is taken for another one's",
      """A batch has exactly the buffers that the layouts of its fields ask for, empty ones included.

      A validity bitmap that is left out still has its entry, of length 0; a Null column has none at all.
      """),
    must("body.node-length-not-negative", Rule.BATCH_NODE_LENGTH_NEGATIVE, "every client"),
    must("body.null-count-range", Rule.BATCH_NULL_COUNT_RANGE, "readers that allocate by it",
      """The null count of a field node is between 0 and its length.

      Some libraries use -1 in memory for a count not yet taken; on the wire it is no count.
      """),
    must("body.null-count-matches", Rule.BATCH_NULL_COUNT_MISMATCH,
      "readers skip the bitmap where the count is 0, and show values for nulls"),
    must("body.required-without-nulls", Rule.BATCH_NULLS_IN_NON_NULLABLE,
      "arro3 0.9.1 refuses the batch; Spark fails on the first null (from its source)",
      """A field that the schema declares non-nullable has no null where its parent has a value.

      pyarrow accepts such nulls even in full validation.
      """),
    must("body.child-lengths", Rule.STRUCT_CHILD_LENGTH, "readers run past the end of the child"),
    should("body.child-lengths-exact", Rule.STRUCT_CHILD_LONGER, says=
      """The children of a struct are exactly as long as the struct.

      The layout allows longer ones; a writer that sends a slice rebases its children.
      """),
    # --- buffers in the body ------------------------------------------------------------------------
    must("body.buffer-offset-not-negative", Rule.BUFFER_OFFSET_NEGATIVE,
      "readers that do not check read memory before the body",
      "The offset of a buffer, from the start of the body, is not negative."),
    must("body.buffer-length-not-negative", Rule.BUFFER_LENGTH_NEGATIVE, "readers that do not check"),
    must("body.buffers-inside", Rule.BUFFER_OUT_OF_BODY, "readers that do not check read memory behind the body",
      "A buffer lies inside the body that the message announces.", unless=[Rule.MESSAGE_BODY_LENGTH_NEGATIVE]),
    must("body.buffers-aligned", Rule.BUFFER_UNALIGNED,
      "pyarrow 26.0.1: `Buffer 2 did not start on 8-byte aligned offset`; a crash in Spark .NET (from its source)",
      """A buffer starts at a multiple of eight bytes from the start of the body.

      The service aligns to 8, so decimals may lie at an odd multiple of it; alignment to 64 is recommended and as
      good.
      """),
    must("body.buffers-apart", Rule.BUFFER_OVERLAP, "readers that decode in place overwrite one with the other"),
    should("body.padding-zero", Rule.BODY_PADDING_NONZERO, unless=ANY_VIOLATION),
    should("body.no-unused-bytes", Rule.BODY_UNACCOUNTED, unless=ANY_VIOLATION, says=
      """What belongs to no buffer is padding to the next 64 bytes at most.

      Longer gaps cost every reader and point at buffers that were forgotten.
      """),
    # --- what the buffers hold ----------------------------------------------------------------------
    must("body.validity-present", Rule.VALIDITY_MISSING, "readers treat every slot as valid, or fail",
      """A field with nulls has a validity bitmap.

      Only where the null count is 0 may the bitmap be left out, as the service does.
      """),
    must("body.validity-size", Rule.VALIDITY_TOO_SMALL, "readers run past its end"),
    must("body.offsets-size", Rule.OFFSETS_TOO_SMALL,
      "arro3 0.9.1 and nanoarrow 0.9.0 refuse the batch; readers that do not check read past its end",
      """An offsets buffer has one entry more than its field has slots.

      For a field without slots, a buffer of length 0 and one that holds a single 0 are both read everywhere and
      both permitted.
      """),
    must("body.data-size", Rule.DATA_TOO_SMALL, "readers run past its end",
      "A data buffer of a fixed-width type holds a value for every slot, nulls included."),
    must("body.offsets-not-negative", Rule.OFFSETS_NEGATIVE, "readers that do not check read memory before the data",
      "Offsets are not negative, be it the first or any after it."),
    must("body.offsets-monotonic", Rule.OFFSETS_NOT_MONOTONIC,
      "values of negative length: crashes, or the rest of the column shifted"),
    must("body.offsets-within-data", Rule.OFFSETS_BEYOND_DATA,
      "readers run past the end of the data; a slice whose offsets were not rebased looks like this",
      "The last offset is at most the length of the data: bytes of text, or slots of a list's child."),
    must("body.text-utf8", Rule.UTF8_INVALID,
      "arro3 0.9.1 refuses the batch; pyarrow 26.0.1 fails when the value is looked at"),
    must("body.decimals-within-precision", Rule.DECIMAL_PRECISION,
      "readers that print or convert by precision cut digits off",
      """A decimal has no more digits than its type's precision; decimal256(76, 38) may hold the 77 of BIGNUMERIC.

      The extremes of BIGNUMERIC are out of the judge's sight: :func:`conformance.contract.bytefields.without_extremes`.
      """, source="https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types#bignumeric_type"),
    must("body.times-within-day", Rule.TIME_RANGE,
      "pandas by pyarrow 26.0.1: `ValueError: hour must be in 0..23`; as a Python list, midnight without an error",
      """A time is at least 0 and less than a day.

      A time counted from another epoch than midnight (https://github.com/Recidiviz/bigquery-emulator/pull/45) is
      one that breaks this.
      """),
)
# fmt: on
