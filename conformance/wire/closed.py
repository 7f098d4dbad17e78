"""The closed sets of this package: the enumerations that reading and dissecting use."""

from __future__ import annotations

import enum

__all__ = ["BufferRole", "Kind", "Layout", "RegionKind", "RowKind", "SectionKind", "SpanKind"]


class Kind(enum.StrEnum):
    """The forms in which Arrow data is stored or sent."""

    MESSAGE = "message"
    """One encapsulated message: a schema, a record batch or a dictionary batch."""
    STREAM = "stream"
    """A schema and the messages that follow it."""
    FILE = "file"
    """A stream between two magics, with a footer."""
    TENSOR = "tensor"
    """One encapsulated tensor, dense or sparse."""


class SectionKind(enum.StrEnum):
    """The parts to which a dump can be limited."""

    FOOTER = "footer"
    SCHEMA = "schema"
    DICTIONARIES = "dictionaries"
    BATCHES = "batches"
    OTHER = "other"


class RegionKind(enum.StrEnum):
    """The sort of bytes that a region contains; it selects the region's style."""

    FIELD = "field"
    """A field of a protobuf message."""
    PREFIX = "prefix"
    VTABLE = "vtable"
    TABLE = "table"
    VECTOR = "vector"
    STRING = "string"
    BUFFER = "buffer"
    PADDING = "padding"
    UNKNOWN = "unknown"


class RowKind(enum.StrEnum):
    """The content of one row of the dump."""

    MESSAGE = "message"
    HEADING = "heading"
    BYTES = "bytes"
    MORE = "more"
    FAULT = "fault"
    NOTE = "note"


class SpanKind(enum.StrEnum):
    """The FlatBuffers object in a verified range of the metadata."""

    ROOT = "root offset"
    VTABLE = "vtable"
    TABLE = "table"
    VECTOR = "vector"
    STRING = "string"


class Layout(enum.StrEnum):
    """The physical layouts of the columnar format; layouts that are judged alike share one member."""

    NULL = "null"
    BOOL = "bool"
    FIXED = "fixed-size"
    BINARY = "variable-size binary"
    VIEW = "binary view"
    LIST = "list"
    LIST_VIEW = "list view"
    FIXED_SIZE_LIST = "fixed-size list"
    STRUCT = "struct"
    SPARSE_UNION = "sparse union"
    DENSE_UNION = "dense union"
    RUN_END_ENCODED = "run-end encoded"


class BufferRole(enum.StrEnum):
    """The purpose of a field's buffer."""

    VALIDITY = "validity bitmap"
    OFFSETS = "offsets"
    SIZES = "sizes"
    DATA = "data"
    VIEWS = "views"
    TYPE_IDS = "type ids"
    INDICES = "dictionary indices"
