"""The closed sets: every word that reading and dissecting use where only few are meant."""

from __future__ import annotations

import enum

__all__ = ["BufferRole", "Kind", "Layout", "RegionKind", "RowKind", "SectionKind", "SpanKind"]


class Kind(enum.StrEnum):
    """The forms in which Arrow data travels."""

    MESSAGE = "message"
    """One encapsulated message: a schema, a record batch or a dictionary batch."""
    STREAM = "stream"
    """A schema and what follows it."""
    FILE = "file"
    """A stream between magics, with a footer."""
    TENSOR = "tensor"
    """One encapsulated tensor, dense or sparse."""


class SectionKind(enum.StrEnum):
    """The parts that a dump can be limited to."""

    FOOTER = "footer"
    SCHEMA = "schema"
    DICTIONARIES = "dictionaries"
    BATCHES = "batches"
    OTHER = "other"


class RegionKind(enum.StrEnum):
    """What sort of bytes a region is, for styling."""

    PREFIX = "prefix"
    VTABLE = "vtable"
    TABLE = "table"
    VECTOR = "vector"
    STRING = "string"
    BUFFER = "buffer"
    PADDING = "padding"
    UNKNOWN = "unknown"


class RowKind(enum.StrEnum):
    """What a row of the dump shows."""

    MESSAGE = "message"
    HEADING = "heading"
    BYTES = "bytes"
    MORE = "more"
    FAULT = "fault"
    NOTE = "note"


class SpanKind(enum.StrEnum):
    """What a verified range of the metadata is."""

    ROOT = "root offset"
    VTABLE = "vtable"
    TABLE = "table"
    VECTOR = "vector"
    STRING = "string"


class Layout(enum.StrEnum):
    """The physical layouts of the columnar format, as far as judging tells them apart."""

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
    """What a buffer of a field is for."""

    VALIDITY = "validity bitmap"
    OFFSETS = "offsets"
    SIZES = "sizes"
    DATA = "data"
    VIEWS = "views"
    TYPE_IDS = "type ids"
    INDICES = "dictionary indices"
