"""The body of a batch against its schema: nodes, buffers, and what the layouts of the types ask of them.

A decoder that succeeds proves little here: pyarrow ignores columns too many, takes nulls in non-nullable fields and
reads beyond a node count, so each of these is judged on the bytes. What the format leaves open is not asked for:
alignment to 8 or 64, padded or true lengths, a validity bitmap or none where nothing is null.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from conformance.contract.clause import ANY_BATCH, ANY_MESSAGE, Violation, clause
from conformance.contract.messages import Message, bodies, broken, sized, untidy, written
from conformance.contract.view import BatchBytes
from conformance.records import Level
from conformance.wire import Rule

COLUMNAR: Final = "https://arrow.apache.org/docs/format/Columnar.html"
BATCH: Final = f"{COLUMNAR}#recordbatch-message"
ALIGNMENT: Final = f"{COLUMNAR}#buffer-alignment-and-padding"
VALIDITY: Final = f"{COLUMNAR}#validity-bitmaps"
BINARY: Final = f"{COLUMNAR}#variable-size-binary-layout"
MESSAGE_FBS: Final = "https://github.com/apache/arrow/blob/main/format/Message.fbs"
SCHEMA_FBS: Final = "https://github.com/apache/arrow/blob/main/format/Schema.fbs"
SECURITY: Final = "https://arrow.apache.org/docs/format/Security.html"


# --- lengths in the message ---------------------------------------------------------------------------


@clause("body.length-not-negative", over=written, source=MESSAGE_FBS, breaks="every client", profiles=ANY_MESSAGE)
def length_not_negative(message: Message) -> Iterable[Violation]:
    """`Message.bodyLength`, a signed integer of 64 bits, is not negative."""
    return broken(message, Rule.MESSAGE_BODY_LENGTH_NEGATIVE)


@clause(
    "body.length-multiple-of-8",
    over=written,
    source=f"{COLUMNAR}#encapsulated-message-format",
    breaks="readers of several messages in a row: the next one starts at an odd place",
    profiles=ANY_MESSAGE,
)
def length_multiple_of_8(message: Message) -> Iterable[Violation]:
    """The body length is a multiple of eight, so that the whole message is one."""
    return broken(message, Rule.MESSAGE_BODY_LENGTH_NOT_MULTIPLE_OF_8)


@clause("body.batch-length-not-negative", over=bodies, source=MESSAGE_FBS, breaks="every client", profiles=ANY_BATCH)
def batch_length_not_negative(batch: BatchBytes) -> Iterable[Violation]:
    """`RecordBatch.length` is not negative."""
    return broken(batch, Rule.BATCH_LENGTH_NEGATIVE)


@clause(
    "body.column-lengths",
    over=bodies,
    source=MESSAGE_FBS,
    breaks="Rust and Go panic; pyarrow gives a batch whose columns differ in length",
    profiles=ANY_BATCH,
)
def column_lengths(batch: BatchBytes) -> Iterable[Violation]:
    """Every column is as long as the batch: the length of its node is `RecordBatch.length`."""
    negative = {one.field for one in broken(batch, Rule.BATCH_NODE_LENGTH_NEGATIVE)}
    return [one for one in broken(batch, Rule.BATCH_COLUMN_LENGTH) if one.field not in negative]


# --- nodes and buffers against the schema -------------------------------------------------------------


@clause(
    "body.node-count",
    over=bodies,
    source=BATCH,
    breaks="pyarrow drops columns too many without an error; too few: `Ran out of field metadata, likely malformed`",
    profiles=ANY_BATCH,
)
def node_count(batch: BatchBytes) -> Iterable[Violation]:
    """A batch has one field node for every field of the schema, children included, and no more.

    A batch of other columns than its schema's must not pass for one: readers that count fail, readers that do
    not put values under the wrong names (https://github.com/apache/arrow/issues/31566).
    """
    return broken(batch, Rule.BATCH_NODE_COUNT)


@clause(
    "body.buffer-count",
    over=bodies,
    source=BATCH,
    breaks="every later buffer is taken for another one's",
    profiles=ANY_BATCH,
)
def buffer_count(batch: BatchBytes) -> Iterable[Violation]:
    """A batch has exactly the buffers that the layouts of its fields ask for, empty ones included.

    A validity bitmap that is left out still has its entry, of length 0; a Null column has none at all.
    """
    return broken(batch, Rule.BATCH_BUFFER_COUNT)


@clause("body.node-length-not-negative", over=bodies, source=MESSAGE_FBS, breaks="every client", profiles=ANY_BATCH)
def node_length_not_negative(batch: BatchBytes) -> Iterable[Violation]:
    """The length of a field node is not negative."""
    return broken(batch, Rule.BATCH_NODE_LENGTH_NEGATIVE)


@clause(
    "body.null-count-range", over=bodies, source=MESSAGE_FBS, breaks="readers that allocate by it", profiles=ANY_BATCH
)
def null_count_range(batch: BatchBytes) -> Iterable[Violation]:
    """The null count of a field node is between 0 and its length.

    Some libraries use -1 in memory for a count not yet taken; on the wire it is no count.
    """
    return broken(batch, Rule.BATCH_NULL_COUNT_RANGE)


@clause(
    "body.null-count-matches",
    over=bodies,
    source=MESSAGE_FBS,
    breaks="readers skip the bitmap where the count is 0, and show values for nulls",
    profiles=ANY_BATCH,
)
def null_count_matches(batch: BatchBytes) -> Iterable[Violation]:
    """The null count of a field node is the number of nulls in its validity bitmap."""
    return broken(batch, Rule.BATCH_NULL_COUNT_MISMATCH)


@clause(
    "body.required-without-nulls",
    over=bodies,
    source=SCHEMA_FBS,
    breaks="arrow-rs refuses the batch; Spark and other typed readers fail on the first null",
    profiles=ANY_BATCH,
)
def required_without_nulls(batch: BatchBytes) -> Iterable[Violation]:
    """A field that the schema declares non-nullable has no null where its parent has a value.

    pyarrow accepts such nulls even in full validation.
    """
    return broken(batch, Rule.BATCH_NULLS_IN_NON_NULLABLE)


@clause(
    "body.child-lengths",
    over=bodies,
    source=f"{COLUMNAR}#struct-layout",
    breaks="readers run past the end of the child",
    profiles=ANY_BATCH,
)
def child_lengths(batch: BatchBytes) -> Iterable[Violation]:
    """The children of a struct are at least as long as the struct."""
    return broken(batch, Rule.STRUCT_CHILD_LENGTH)


@clause(
    "body.child-lengths-exact", over=bodies, source=f"{COLUMNAR}#struct-layout", level=Level.SHOULD, profiles=ANY_BATCH
)
def child_lengths_exact(batch: BatchBytes) -> Iterable[Violation]:
    """The children of a struct are exactly as long as the struct.

    The layout allows longer ones; a writer that sends a slice rebases its children.
    """
    return broken(batch, Rule.STRUCT_CHILD_LONGER)


# --- buffers in the body ------------------------------------------------------------------------------


@clause(
    "body.buffer-offset-not-negative",
    over=bodies,
    source=SCHEMA_FBS,
    breaks="readers that do not check read memory before the body",
    profiles=ANY_BATCH,
)
def buffer_offset_not_negative(batch: BatchBytes) -> Iterable[Violation]:
    """The offset of a buffer, from the start of the body, is not negative."""
    return broken(batch, Rule.BUFFER_OFFSET_NEGATIVE)


@clause(
    "body.buffer-length-not-negative",
    over=bodies,
    source=SCHEMA_FBS,
    breaks="readers that do not check",
    profiles=ANY_BATCH,
)
def buffer_length_not_negative(batch: BatchBytes) -> Iterable[Violation]:
    """The length of a buffer is not negative."""
    return broken(batch, Rule.BUFFER_LENGTH_NEGATIVE)


@clause(
    "body.buffers-inside",
    over=bodies,
    source=BATCH,
    breaks="readers that do not check read memory behind the body",
    profiles=ANY_BATCH,
)
def buffers_inside(batch: BatchBytes) -> Iterable[Violation]:
    """A buffer lies inside the body that the message announces."""
    return sized(batch, Rule.BUFFER_OUT_OF_BODY)


@clause(
    "body.buffers-aligned",
    over=bodies,
    source=ALIGNMENT,
    breaks="a crash in Spark .NET; Rust readers copy or panic",
    profiles=ANY_BATCH,
)
def buffers_aligned(batch: BatchBytes) -> Iterable[Violation]:
    """A buffer starts at a multiple of eight bytes from the start of the body.

    The service aligns to 8, so decimals may lie at an odd multiple of it; alignment to 64 is recommended and as
    good.
    """
    return broken(batch, Rule.BUFFER_UNALIGNED)


@clause(
    "body.buffers-apart",
    over=bodies,
    source=BATCH,
    breaks="readers that decode in place overwrite one with the other",
    profiles=ANY_BATCH,
)
def buffers_apart(batch: BatchBytes) -> Iterable[Violation]:
    """Buffers are written one after the other and share no bytes."""
    return broken(batch, Rule.BUFFER_OVERLAP)


@clause("body.padding-zero", over=bodies, source=SECURITY, level=Level.SHOULD, profiles=ANY_BATCH)
def padding_zero(batch: BatchBytes) -> Iterable[Violation]:
    """The padding between buffers is zero, so that it publishes no stale memory."""
    return untidy(batch, Rule.BODY_PADDING_NONZERO)


@clause("body.no-unused-bytes", over=bodies, source=ALIGNMENT, level=Level.SHOULD, profiles=ANY_BATCH)
def no_unused_bytes(batch: BatchBytes) -> Iterable[Violation]:
    """What belongs to no buffer is padding to the next 64 bytes at most.

    Longer gaps cost every reader and point at buffers that were forgotten.
    """
    return untidy(batch, Rule.BODY_UNACCOUNTED)


# --- what the buffers hold ----------------------------------------------------------------------------


@clause(
    "body.validity-present",
    over=bodies,
    source=VALIDITY,
    breaks="readers treat every slot as valid, or fail",
    profiles=ANY_BATCH,
)
def validity_present(batch: BatchBytes) -> Iterable[Violation]:
    """A field with nulls has a validity bitmap.

    Only where the null count is 0 may the bitmap be left out, as the service does.
    """
    return broken(batch, Rule.VALIDITY_MISSING)


@clause("body.validity-size", over=bodies, source=VALIDITY, breaks="readers run past its end", profiles=ANY_BATCH)
def validity_size(batch: BatchBytes) -> Iterable[Violation]:
    """A validity bitmap has a bit for every slot."""
    return broken(batch, Rule.VALIDITY_TOO_SMALL)


@clause(
    "body.offsets-size",
    over=bodies,
    source=BINARY,
    breaks="`Arrow buffer too small` in Rust; others read past its end",
    profiles=ANY_BATCH,
)
def offsets_size(batch: BatchBytes) -> Iterable[Violation]:
    """An offsets buffer has one entry more than its field has slots.

    For a field without slots, a buffer of length 0 and one that holds a single 0 are both read everywhere and
    both permitted.
    """
    return broken(batch, Rule.OFFSETS_TOO_SMALL)


@clause(
    "body.data-size",
    over=bodies,
    source=f"{COLUMNAR}#fixed-size-primitive-layout",
    breaks="readers run past its end",
    profiles=ANY_BATCH,
)
def data_size(batch: BatchBytes) -> Iterable[Violation]:
    """A data buffer of a fixed-width type holds a value for every slot, nulls included."""
    return broken(batch, Rule.DATA_TOO_SMALL)


@clause(
    "body.offsets-not-negative",
    over=bodies,
    source=BINARY,
    breaks="readers that do not check read memory before the data",
    profiles=ANY_BATCH,
)
def offsets_not_negative(batch: BatchBytes) -> Iterable[Violation]:
    """Offsets are not negative, be it the first or any after it."""
    return broken(batch, Rule.OFFSETS_NEGATIVE)


@clause(
    "body.offsets-monotonic",
    over=bodies,
    source=BINARY,
    breaks="values of negative length: crashes, or the rest of the column shifted",
    profiles=ANY_BATCH,
)
def offsets_monotonic(batch: BatchBytes) -> Iterable[Violation]:
    """Offsets never decrease, over nulls too."""
    return broken(batch, Rule.OFFSETS_NOT_MONOTONIC)


@clause(
    "body.offsets-within-data",
    over=bodies,
    source=BINARY,
    breaks="readers run past the end of the data; a slice whose offsets were not rebased looks like this",
    profiles=ANY_BATCH,
)
def offsets_within_data(batch: BatchBytes) -> Iterable[Violation]:
    """The last offset is at most the length of the data: bytes of text, or slots of a list's child."""
    return broken(batch, Rule.OFFSETS_BEYOND_DATA)


@clause(
    "body.text-utf8",
    over=bodies,
    source=SECURITY,
    breaks="Rust readers refuse the batch; Python fails when the value is looked at",
    profiles=ANY_BATCH,
)
def text_utf8(batch: BatchBytes) -> Iterable[Violation]:
    """Text is UTF-8 in every slot that is not null."""
    return broken(batch, Rule.UTF8_INVALID)


@clause(
    "body.decimals-within-precision",
    over=bodies,
    source="https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types#bignumeric_type",
    breaks="readers that print or convert by precision cut digits off",
    profiles=ANY_BATCH,
)
def decimals_within_precision(batch: BatchBytes) -> Iterable[Violation]:
    """A decimal has no more digits than its type's precision; decimal256(76, 38) may hold the 77 of BIGNUMERIC.

    The extremes of BIGNUMERIC are out of the judge's sight: :func:`conformance.contract.bytefields.without_extremes`.
    """
    return broken(batch, Rule.DECIMAL_PRECISION)


@clause(
    "body.times-within-day",
    over=bodies,
    source=SCHEMA_FBS,
    breaks="pyarrow: `OverflowError` when the value is looked at",
    profiles=ANY_BATCH,
)
def times_within_day(batch: BatchBytes) -> Iterable[Violation]:
    """A time is at least 0 and less than a day.

    A time counted from another epoch than midnight (https://github.com/Recidiviz/bigquery-emulator/pull/45) is
    one that breaks this.
    """
    return broken(batch, Rule.TIME_RANGE)
