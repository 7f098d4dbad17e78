"""The features of the format that a stream or file uses, as far as readers may lack them.

Each feature has a clause ``reader.accepts.…``. If bytes use several features, a refusal counts against the least
binding one: a reader may lack compression, and then it need not read the dictionaries in a compressed stream either.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterator
from typing import Final

from conformance import wire
from conformance.contract.ipc.ipcview import IpcView
from conformance.records import Level
from conformance.wire import BatchMessage, Endianness, Field, Header, Kind, Rule, TypeKind

__all__ = ["LEVEL_OF", "BytesFeature", "asked_of", "features"]


class BytesFeature(enum.StrEnum):
    """A feature that bytes can use; the value ends the id of its clause."""

    CORE = "core"
    V4 = "v4"
    DICTIONARIES = "dictionaries"
    DELTAS = "deltas"
    REPLACEMENT = "replacement"
    FILE_ORDER = "file-order"
    UNUSUAL = "unusual"
    LEGACY = "legacy"
    MIXED_FRAMING = "mixed-framing"
    TRAILING_BYTES = "trailing-bytes"
    COMPRESSION = "compression"
    BIG_ENDIAN = "big-endian"
    NEWER_TYPES = "newer-types"
    NESTED_DICTIONARIES = "nested-dictionaries"
    TENSORS = "tensors"

    @property
    def clause(self) -> str:
        """The id of the clause that requires readers to accept the feature."""
        return f"reader.accepts.{self.value}"


_MUST: Final = (BytesFeature.CORE, BytesFeature.V4, BytesFeature.DICTIONARIES)
_SHOULD: Final = (
    BytesFeature.DELTAS,
    BytesFeature.REPLACEMENT,
    BytesFeature.NESTED_DICTIONARIES,
    BytesFeature.FILE_ORDER,
    BytesFeature.LEGACY,
    BytesFeature.UNUSUAL,
)
LEVEL_OF: Final = {
    each: Level.MUST if each in _MUST else Level.SHOULD if each in _SHOULD else Level.MAY for each in BytesFeature
}
"""The level of the requirement to support each feature."""

_NEWER: Final = frozenset(
    {
        TypeKind.RUN_END_ENCODED,
        TypeKind.BINARY_VIEW,
        TypeKind.UTF8_VIEW,
        TypeKind.LIST_VIEW,
        TypeKind.LARGE_LIST_VIEW,
    }
)
_FIXED: Final = TypeKind.FIXED_SIZE_LIST
_USUAL: Final = frozenset(
    {
        Rule.PREFIX_CONTINUATION_MISSING,
        Rule.METADATA_PADDING_NONZERO,
        Rule.FLATBUF_UNKNOWN_SLOT,
        Rule.FLATBUF_UNACCOUNTED_BYTES,
        Rule.MESSAGE_VERSION_V4,
        Rule.SCHEMA_ENDIANNESS_BIG,
        Rule.BODY_PADDING_NONZERO,
        Rule.OFFSETS_FIRST_NONZERO,
        Rule.COMPRESSION_EMPTY_WITHOUT_FRAME,
        Rule.KEY_VALUE_KEY_REPEATED,
        Rule.STREAM_END_MISSING,
        Rule.STREAM_FRAMING_MIXED,
        Rule.STREAM_BYTES_AFTER_END,
        Rule.FILE_MAGIC_PADDING,
    }
)
"""Rules without a violation whose breach is common, or is a feature of its own."""


def features(view: IpcView) -> frozenset[BytesFeature]:
    """Return the features that a legal stream, file or tensor uses; ``CORE`` if it uses none."""
    return frozenset(_used(view)) or frozenset({BytesFeature.CORE})


def asked_of(used: frozenset[BytesFeature]) -> tuple[BytesFeature, ...]:
    """Return the members of ``used`` that a refusal counts against: the least binding ones."""
    for level in (Level.MAY, Level.SHOULD, Level.MUST):
        if found := tuple(each for each in BytesFeature if each in used and LEVEL_OF[each] is level):
            return found
    return ()


def _used(view: IpcView) -> Iterator[BytesFeature]:
    if view.kind is Kind.TENSOR:
        yield BytesFeature.TENSORS
    rules = {fault.rule for fault in view.found}
    legacy = [message for message in view.messages if message.legacy]
    if Rule.STREAM_FRAMING_MIXED in rules or any(message.version == "V5" for message in legacy):
        yield BytesFeature.MIXED_FRAMING  # V5 is newer than Arrow 0.15, so no V5 writer used legacy framing by default
    elif legacy:
        yield BytesFeature.LEGACY
    if Rule.STREAM_BYTES_AFTER_END in rules:
        yield BytesFeature.TRAILING_BYTES
    if any(message.version == "V4" for message in view.messages):
        yield BytesFeature.V4
    dictionaries, batches = view.read
    if rules - _USUAL or any(made.id < 0 for made in dictionaries) or any(map(_has_longer_child, batches)):
        yield BytesFeature.UNUSUAL
    if any(batch.codec for batch in (*batches, *(made.batch for made in dictionaries))):
        yield BytesFeature.COMPRESSION
    schema = view.stream.schema if view.stream is not None else view.file.schema if view.file is not None else None
    if schema is not None:
        yield from _declared(schema)
    yield from _defined(view)


def _has_longer_child(batch: BatchMessage) -> bool:
    """True if a fixed-size list's child has more slots than needed, which is no fault to the wire."""
    if batch.body is None:
        return False
    nodes = batch.body.nodes
    lists = (op for op in batch.body.plan.ops if op.field.type.kind is _FIXED and op.field.dictionary is None)
    return any(nodes[2 * op.index + 2] > nodes[2 * op.index] * op.field.type.list_size for op in lists)


def _declared(schema: wire.Schema) -> Iterator[BytesFeature]:
    if schema.endianness is Endianness.BIG:
        yield BytesFeature.BIG_ENDIAN
    if schema.features:
        yield BytesFeature.UNUSUAL
    for _, field in schema.walk():
        if _is_newer(field):
            yield BytesFeature.NEWER_TYPES
        if field.type.scale < 0:
            yield BytesFeature.UNUSUAL
        if field.dictionary is not None:
            yield BytesFeature.DICTIONARIES
            if any(child.dictionary is not None for _, child in field.walk() if child is not field):
                yield BytesFeature.NESTED_DICTIONARIES


def _is_newer(field: Field) -> bool:
    made = field.type
    return (
        made.kind in _NEWER
        or (made.kind is TypeKind.DECIMAL and made.bit_width != 128)
        or made.unit == "month-day-nano"
    )


def _defined(view: IpcView) -> Iterator[BytesFeature]:
    made = view.file.dictionaries if view.file is not None else view.stream.dictionaries if view.stream else []
    if any(one.delta for one in made):
        yield BytesFeature.DELTAS
    if max(Counter(one.id for one in made if not one.delta).values(), default=0) > 1:
        yield BytesFeature.REPLACEMENT
    if view.file is not None:
        first = next((one.start for one in view.messages if one.header is Header.RECORD_BATCH), None)
        late = (one for one in view.messages if one.header is Header.DICTIONARY_BATCH)
        if first is not None and any(one.start > first for one in late):
            yield BytesFeature.FILE_ORDER
