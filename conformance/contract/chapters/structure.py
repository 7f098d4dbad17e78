"""The metadata of a message: FlatBuffers that can be followed safely, and a message that says what it is.

Where values lie in the metadata is free (any order of tables, shared or own vtables, written or omitted defaults);
that every reference leads somewhere sound is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from conformance.contract.clause import ANY_BATCH, ANY_MESSAGE, Violation, clause
from conformance.contract.messages import Message, bodies, broken, untidy, written, written_schemas
from conformance.contract.view import BatchBytes, SchemaBytes
from conformance.records import Level
from conformance.wire import Rule

INTERNALS: Final = "https://flatbuffers.dev/internals/"
MESSAGE_FBS: Final = "https://github.com/apache/arrow/blob/main/format/Message.fbs"
SCHEMA_FBS: Final = "https://github.com/apache/arrow/blob/main/format/Schema.fbs"
SECURITY: Final = "https://arrow.apache.org/docs/format/Security.html"
VERSIONING: Final = "https://arrow.apache.org/docs/format/Versioning.html#forward-compatibility"

VERIFIER: Final = "readers that verify the metadata refuse the message; those that do not read beyond it"


# --- FlatBuffers ------------------------------------------------------------------------------------


@clause("structure.root-in-range", over=written, source=INTERNALS, breaks=VERIFIER, profiles=ANY_MESSAGE)
def root_in_range(message: Message) -> Iterable[Violation]:
    """The metadata starts with the offset of its root table, which lies inside the metadata."""
    return broken(message, Rule.FLATBUF_ROOT)


@clause("structure.references-not-null", over=written, source=INTERNALS, breaks=VERIFIER, profiles=ANY_MESSAGE)
def references_not_null(message: Message) -> Iterable[Violation]:
    """A reference that is present leads somewhere: absence is an absent slot, not an offset of zero."""
    return broken(message, Rule.FLATBUF_OFFSET_NULL)


@clause("structure.references-in-range", over=written, source=INTERNALS, breaks=VERIFIER, profiles=ANY_MESSAGE)
def references_in_range(message: Message) -> Iterable[Violation]:
    """A reference leads to a place inside the metadata."""
    return broken(message, Rule.FLATBUF_OFFSET_OUT_OF_RANGE)


@clause(
    "structure.aligned",
    over=written,
    source=INTERNALS,
    breaks="the verifiers of Arrow C++ and Rust refuse it; compiled readers may trap on some machines",
    profiles=ANY_MESSAGE,
)
def aligned(message: Message) -> Iterable[Violation]:
    """Every value of the metadata lies at a multiple of its own size."""
    return broken(message, Rule.FLATBUF_UNALIGNED)


@clause("structure.vtable-in-range", over=written, source=INTERNALS, breaks=VERIFIER, profiles=ANY_MESSAGE)
def vtable_in_range(message: Message) -> Iterable[Violation]:
    """A table's vtable lies inside the metadata."""
    return broken(message, Rule.FLATBUF_VTABLE_OUT_OF_RANGE)


@clause("structure.vtable-size", over=written, source=INTERNALS, breaks=VERIFIER, profiles=ANY_MESSAGE)
def vtable_size(message: Message) -> Iterable[Violation]:
    """A vtable's size is even, at least four, and ends inside the metadata."""
    return broken(message, Rule.FLATBUF_VTABLE_SIZE)


@clause("structure.table-size", over=written, source=INTERNALS, breaks=VERIFIER, profiles=ANY_MESSAGE)
def table_size(message: Message) -> Iterable[Violation]:
    """A table's inline size is at least four and ends inside the metadata."""
    return broken(message, Rule.FLATBUF_TABLE_SIZE)


@clause("structure.slots-in-table", over=written, source=INTERNALS, breaks=VERIFIER, profiles=ANY_MESSAGE)
def slots_in_table(message: Message) -> Iterable[Violation]:
    """What a vtable places in a table lies inside that table."""
    return broken(message, Rule.FLATBUF_SLOT_OUT_OF_TABLE)


@clause("structure.vectors-in-range", over=written, source=INTERNALS, breaks=VERIFIER, profiles=ANY_MESSAGE)
def vectors_in_range(message: Message) -> Iterable[Violation]:
    """The elements of a vector lie inside the metadata."""
    return broken(message, Rule.FLATBUF_VECTOR_OUT_OF_RANGE)


@clause("structure.strings-in-range", over=written, source=INTERNALS, breaks=VERIFIER, profiles=ANY_MESSAGE)
def strings_in_range(message: Message) -> Iterable[Violation]:
    """The bytes of a string and its terminator lie inside the metadata."""
    return broken(message, Rule.FLATBUF_STRING_OUT_OF_RANGE)


@clause(
    "structure.strings-terminated",
    over=written,
    source=INTERNALS,
    breaks="the verifier of Arrow C++ refuses it; readers in C read on",
    profiles=ANY_MESSAGE,
)
def strings_terminated(message: Message) -> Iterable[Violation]:
    """A string is followed by a zero byte, which its length does not count."""
    return broken(message, Rule.FLATBUF_STRING_NOT_TERMINATED)


@clause(
    "structure.strings-utf8",
    over=written,
    source=SCHEMA_FBS,
    breaks="Rust and Python readers, whose names are Unicode",
    profiles=ANY_MESSAGE,
)
def strings_utf8(message: Message) -> Iterable[Violation]:
    """Names, time zones and metadata are UTF-8."""
    return broken(message, Rule.FLATBUF_STRING_NOT_UTF8)


@clause("structure.booleans", over=written, source=INTERNALS, level=Level.SHOULD, profiles=ANY_MESSAGE)
def booleans(message: Message) -> Iterable[Violation]:
    """A boolean is written as 0 or 1: readers differ in what they make of other bytes."""
    return broken(message, Rule.FLATBUF_BOOL_NOT_0_OR_1)


@clause(
    "structure.enums-known",
    over=written,
    source=VERSIONING,
    breaks="a reader has to refuse what it does not know: one that guesses reads other units or byte orders",
    profiles=ANY_MESSAGE,
)
def enums_known(message: Message) -> Iterable[Violation]:
    """Units, precisions, modes and byte orders are members of their enumeration."""
    return broken(message, Rule.FLATBUF_ENUM_UNKNOWN)


@clause(
    "structure.unions-known", over=written, source=VERSIONING, breaks="every reader refuses it", profiles=ANY_MESSAGE
)
def unions_known(message: Message) -> Iterable[Violation]:
    """The kinds of headers and types are ones that the format defines."""
    return broken(message, Rule.FLATBUF_UNION_TYPE_UNKNOWN)


@clause(
    "structure.unions-complete",
    over=written,
    source=INTERNALS,
    breaks="readers that trust the kind follow a reference that is not there",
    profiles=ANY_MESSAGE,
)
def unions_complete(message: Message) -> Iterable[Violation]:
    """A header or type has both its kind and its table, or neither."""
    return broken(message, Rule.FLATBUF_UNION_VALUE_MISSING, Rule.FLATBUF_UNION_TYPE_MISSING)


@clause("structure.required-slots", over=written, source=MESSAGE_FBS, breaks=VERIFIER, profiles=ANY_MESSAGE)
def required_slots(message: Message) -> Iterable[Violation]:
    """A table has the values that its definition requires; in Arrow's metadata only tensors have such."""
    return broken(message, Rule.FLATBUF_REQUIRED_MISSING)


@clause(
    "structure.nesting",
    over=written,
    source=SECURITY,
    breaks="Arrow C++ and everything on it, which stops at the same depth; recursive readers overflow their stack",
    profiles=ANY_MESSAGE,
)
def nesting(message: Message) -> Iterable[Violation]:
    """Tables nest at most 128 deep, the limit of the verifier in Arrow C++."""
    return broken(message, Rule.FLATBUF_DEPTH)


@clause(
    "structure.table-count",
    over=written,
    source=SECURITY,
    breaks="readers without a limit, which copy what is shared once per reference to it",
    profiles=ANY_MESSAGE,
)
def table_count(message: Message) -> Iterable[Violation]:
    """The metadata holds no more tables than its length has room for: none is reached again and again."""
    return broken(message, Rule.FLATBUF_TABLES)


@clause("structure.no-stale-bytes", over=written, source=SECURITY, level=Level.SHOULD, profiles=ANY_MESSAGE)
def no_stale_bytes(message: Message) -> Iterable[Violation]:
    """Bytes of the metadata that belong to no value are zero, so that they publish no stale memory."""
    return untidy(message, Rule.FLATBUF_UNACCOUNTED_BYTES)


# --- the Message and Schema tables ------------------------------------------------------------------


@clause("structure.header-present", over=written, source=MESSAGE_FBS, breaks="every client", profiles=ANY_MESSAGE)
def header_present(message: Message) -> Iterable[Violation]:
    """The `Message` table has a header."""
    return broken(message, Rule.MESSAGE_HEADER_MISSING)


@clause(
    "structure.version-known",
    over=written,
    source=VERSIONING,
    breaks="every reader that keeps to the rules: a version from the future has to be refused",
    profiles=ANY_MESSAGE,
)
def version_known(message: Message) -> Iterable[Violation]:
    """The metadata version is one that the format defines."""
    return broken(message, Rule.MESSAGE_VERSION_UNKNOWN)


@clause(
    "structure.version-supported",
    over=written,
    source=SCHEMA_FBS,
    breaks="pyarrow refuses V1 to V3, and so do arrow-rs and nanoarrow",
    profiles=ANY_MESSAGE,
)
def version_supported(message: Message) -> Iterable[Violation]:
    """The metadata version is V4 or V5, and written out: an absent version means V1, which nobody reads any more."""
    return broken(message, Rule.MESSAGE_VERSION_BEFORE_V4)


@clause("structure.versions-agree", over=bodies, source=SCHEMA_FBS, level=Level.SHOULD, profiles=ANY_BATCH)
def versions_agree(batch: BatchBytes) -> Iterable[Violation]:
    """A batch has the metadata version of its schema: the two lay out unions differently."""
    return untidy(batch, Rule.MESSAGE_VERSION_DIFFERS)


@clause("structure.metadata-pairs", over=written, source=SCHEMA_FBS, level=Level.SHOULD, profiles=ANY_MESSAGE)
def metadata_pairs(message: Message) -> Iterable[Violation]:
    """A pair of custom metadata has a key and a value: readers differ in what they make of half a pair."""
    return broken(message, Rule.KEY_VALUE_KEY_MISSING, Rule.KEY_VALUE_VALUE_MISSING)


@clause("structure.field-type", over=written_schemas, source=SCHEMA_FBS, breaks="every client", profiles=ANY_BATCH)
def field_type(schema: SchemaBytes) -> Iterable[Violation]:
    """A field has a type: both its kind and its table."""
    half = broken(schema, Rule.FLATBUF_UNION_TYPE_MISSING)
    return () if half else broken(schema, Rule.SCHEMA_FIELD_WITHOUT_TYPE)


@clause(
    "structure.child-count",
    over=written_schemas,
    source=SCHEMA_FBS,
    breaks="readers that take a list's only child without looking",
    profiles=ANY_BATCH,
)
def child_count(schema: SchemaBytes) -> Iterable[Violation]:
    """A field has as many children as its type asks for: a list one, a map one, a plain type none."""
    return broken(schema, Rule.SCHEMA_CHILD_COUNT)


@clause(
    "structure.type-parameters",
    over=written_schemas,
    source=SCHEMA_FBS,
    breaks="readers compute the layout of the body from these numbers",
    profiles=ANY_MESSAGE,
)
def type_parameters(schema: SchemaBytes) -> Iterable[Violation]:
    """Widths, precisions and sizes of types are ones that the format has.

    Integers have 8, 16, 32 or 64 bits, decimals 32 to 256 and no more digits than fit, times 32 or 64 by their unit.
    """
    return broken(
        schema,
        Rule.SCHEMA_INT_WIDTH,
        Rule.SCHEMA_DECIMAL_WIDTH,
        Rule.SCHEMA_DECIMAL_PRECISION,
        Rule.SCHEMA_TIME_WIDTH,
        Rule.SCHEMA_SIZE_NEGATIVE,
    )
