"""The body of a batch against its schema: nodes, buffers, and the requirements of the types' layouts.

A decoder that succeeds proves little here: pyarrow ignores surplus columns, accepts nulls in non-nullable fields and
reads beyond a node count, so each of these is judged on the bytes. The clauses do not require what the format leaves
open: alignment to 8 or 64, padded or true lengths, a validity bitmap or none if nothing is null.
"""

from __future__ import annotations

from conformance.contract.clause import ANY_BATCH, ANY_MESSAGE
from conformance.contract.messages import bodies, written
from conformance.contract.rules import ANY_VIOLATION, must, rule_clauses, should
from conformance.contract.sources import BIGNUMERIC_TYPE, SCHEMA_FBS
from conformance.wire import Rule

# A table, one row per clause: id, rules, affected software, and an explanation if it says more than the rules.
# fmt: off
rule_clauses(bodies, ANY_BATCH,
    # --- lengths in the message ---------------------------------------------------------------------
    must("body.length-not-negative", Rule.MESSAGE_BODY_LENGTH_NEGATIVE, "every client",
      "`Message.bodyLength`, a signed 64-bit integer, is not negative.", over=written, profiles=ANY_MESSAGE),
    must("body.length-multiple-of-8", Rule.MESSAGE_BODY_LENGTH_NOT_MULTIPLE_OF_8,
      "readers of several messages in a row: the next one starts at an unaligned place",
      "The body length is a multiple of eight, so that the length of the whole message is too.",
      over=written, profiles=ANY_MESSAGE),
    must("body.batch-length-not-negative", Rule.BATCH_LENGTH_NEGATIVE,
      "nanoarrow 0.9.0, arro3 0.9.1 and Polars 2.1.0 refuse the batch; pyarrow 26.0.1 gives a table of -1 rows",
      "`RecordBatch.length` is not negative."),
    must("body.column-lengths", Rule.BATCH_COLUMN_LENGTH,
      "pyarrow 26.0.1 and arro3 0.9.1 refuse the batch; cloud.google.com/go/bigquery 1.86.1 panics; other"
      " values, without an error, in google-cloud-bigquerystorage 3.34.0 (Java) and"
      " @google-cloud/bigquery-storage 5.1.2 (Node)",
      "Every column is as long as the batch: the length of its node is `RecordBatch.length`.",
      unless_there=[Rule.BATCH_NODE_LENGTH_NEGATIVE]),
    # --- nodes and buffers against the schema -------------------------------------------------------
    must("body.node-count", Rule.BATCH_NODE_COUNT,
      "pyarrow 26.0.1 drops surplus columns without an error; too few: `Ran out of field metadata, likely malformed`",
      """A batch has exactly one field node for every field of the schema, children included.

      A batch with other columns than its schema is not accepted: readers that count the nodes fail, and readers that
      do not put values under the wrong names (https://github.com/apache/arrow/issues/31566).
      """),
    must("body.buffer-count", Rule.BATCH_BUFFER_COUNT, "every later buffer is read as the buffer of another field",
      """A batch has exactly the buffers that the layouts of its fields require, empty ones included.

      A validity bitmap that is left out still has an entry, of length 0; a Null column has no entry at all.
      """),
    must("body.node-length-not-negative", Rule.BATCH_NODE_LENGTH_NEGATIVE, "every client"),
    must("body.null-count-range", Rule.BATCH_NULL_COUNT_RANGE, "readers that allocate memory by it",
      """The null count of a field node is between 0 and its length.

      Some libraries use -1 in memory for an unknown count; in a message it is not a count.
      """),
    must("body.null-count-matches", Rule.BATCH_NULL_COUNT_MISMATCH,
      "readers skip the bitmap if the count is 0, and show values instead of nulls"),
    must("body.required-without-nulls", Rule.BATCH_NULLS_IN_NON_NULLABLE,
      "arro3 0.9.1 refuses the batch; Spark fails on the first null (from its source)",
      """A field that the schema declares non-nullable has no null in a slot whose parent has a value.

      pyarrow accepts such nulls even in full validation.
      """),
    must("body.child-lengths", Rule.STRUCT_CHILD_LENGTH, "readers read past the end of the child"),
    should("body.child-lengths-exact", Rule.STRUCT_CHILD_LONGER, says=
      """The children of a struct are exactly as long as the struct.

      The layout permits longer ones; a writer that sends a slice should rebase its children.
      """),
    # --- buffers in the body ------------------------------------------------------------------------
    must("body.buffer-offset-not-negative", Rule.BUFFER_OFFSET_NEGATIVE,
      "readers without bounds checks read memory before the body",
      "The offset of a buffer, from the start of the body, is not negative."),
    must("body.buffer-length-not-negative", Rule.BUFFER_LENGTH_NEGATIVE, "readers without bounds checks"),
    must("body.buffers-inside", Rule.BUFFER_OUT_OF_BODY, "readers without bounds checks read memory after the body",
      "A buffer is inside the body, whose length the message declares.", unless=[Rule.MESSAGE_BODY_LENGTH_NEGATIVE]),
    must("body.buffers-aligned", Rule.BUFFER_UNALIGNED,
      "pyarrow 26.0.1: `Buffer 2 did not start on 8-byte aligned offset`; a crash in Spark .NET (from its source)",
      """A buffer starts at a multiple of eight bytes from the start of the body.

      The service aligns to 8, so decimals may start at an odd multiple of 8. Alignment to 64 is
      recommended; both are permitted.
      """),
    must("body.buffers-apart", Rule.BUFFER_OVERLAP, "readers that decode in place overwrite one buffer with the other"),
    should("body.padding-zero", Rule.BODY_PADDING_NONZERO, unless=ANY_VIOLATION),
    should("body.no-unused-bytes", Rule.BODY_UNACCOUNTED, unless=ANY_VIOLATION, says=
      """Bytes outside of all buffers are padding up to at most the next multiple of 64.

      Every reader pays for longer gaps, and they suggest that the metadata lacks a buffer.
      """),
    # --- contents of the buffers --------------------------------------------------------------------
    must("body.validity-present", Rule.VALIDITY_MISSING, "readers treat every slot as valid, or fail",
      """A field with nulls has a validity bitmap.

      The bitmap may be left out only if the null count is 0; the service does that.
      """),
    must("body.validity-size", Rule.VALIDITY_TOO_SMALL, "readers read past its end"),
    must("body.offsets-size", Rule.OFFSETS_TOO_SMALL,
      "arro3 0.9.1 and nanoarrow 0.9.0 refuse the batch; readers without bounds checks read past its end",
      """An offsets buffer has one more entry than its field has slots.

      For a field without slots, a buffer of length 0 and a buffer with a single 0 are both permitted.
      """),
    must("body.data-size", Rule.DATA_TOO_SMALL, "readers read past its end",
      "A data buffer of a fixed-width type holds a value for every slot, nulls included."),
    must("body.offsets-not-negative", Rule.OFFSETS_NEGATIVE, "readers without bounds checks read before the data",
      "No offset is negative, neither the first nor a later one."),
    must("body.offsets-monotonic", Rule.OFFSETS_NOT_MONOTONIC,
      "values of negative length: readers crash, or shift the rest of the column"),
    must("body.offsets-within-data", Rule.OFFSETS_BEYOND_DATA,
      "readers read past the end of the data; a slice whose offsets were not rebased looks like this",
      "The last offset is at most the length of the data: bytes of text, or slots of a list's child."),
    must("body.text-utf8", Rule.UTF8_INVALID,
      "arro3 0.9.1 refuses the batch; pyarrow 26.0.1 fails when the value is converted"),
    must("body.decimals-within-precision", Rule.DECIMAL_PRECISION,
      "readers that print or convert by precision cut digits off",
      """A decimal has no more digits than its type's precision; decimal256(76, 38) may hold BIGNUMERIC's 77 digits.

      The extremes of BIGNUMERIC are excepted in :func:`conformance.contract.bytefields.without_extremes`.
      """, source=(SCHEMA_FBS, BIGNUMERIC_TYPE)),
    must("body.times-within-day", Rule.TIME_RANGE,
      "pandas through pyarrow 26.0.1: `ValueError: hour must be in 0..23`; in a Python list midnight, without an error",
      """A time is at least 0 and less than a day.

      A time counted from another epoch than midnight (https://github.com/Recidiviz/bigquery-emulator/pull/45) breaks
      this.
      """),
)
# fmt: on
