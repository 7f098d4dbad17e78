"""Dictionaries of a stream or file: which are defined, when, by what, and whether indices stay inside them.

A dictionary batch by itself is judged by the clauses on bodies, as any record batch. Dictionaries may be shared
between fields, hold duplicates and nulls, be appended to, and in streams be replaced. The definition of
`DictionaryEncoding` in Schema.fbs once kept the children of an encoded field from being encoded themselves; golden
files of the Arrow project do so (`nested_dictionary`), and it is permitted here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from conformance.contract.clause import Role, Violation, clause
from conformance.contract.ipc.messages import Container
from conformance.contract.ipc.selectors import encoded, told
from conformance.records import Level
from conformance.wire import Rule

COLUMNAR: Final = "https://arrow.apache.org/docs/format/Columnar.html"
STREAM: Final = f"{COLUMNAR}#ipc-streaming-format"
DICTIONARIES: Final = f"{COLUMNAR}#dictionary-messages"
ENCODED: Final = f"{COLUMNAR}#dictionary-encoded-layout"
MESSAGE_FBS: Final = "https://github.com/apache/arrow/blob/main/format/Message.fbs"
SEQUENCES: Final = ("ipc-stream", "ipc-file")


@clause(
    "dictionary.shared-type",
    over=encoded,
    source=DICTIONARIES,
    breaks="readers read the dictionary as one of the types, and show the other field wrong values",
    profiles=SEQUENCES,
)
def shared_type(whole: Container) -> Iterable[Violation]:
    """Fields that name the same dictionary have the same type of values; the widths of their indices may differ."""
    return told(whole, Rule.DICTIONARY_TYPES_DIFFER)


@clause(
    "dictionary.known-id",
    over=encoded,
    source=DICTIONARIES,
    breaks="nothing says of what type the values are: readers refuse or drop them",
    profiles=SEQUENCES,
)
def known_id(whole: Container) -> Iterable[Violation]:
    """A dictionary batch is for a dictionary that some field of the schema names."""
    return told(whole, Rule.DICTIONARY_ID_UNKNOWN)


@clause(
    "dictionary.data-present",
    over=encoded,
    source=MESSAGE_FBS,
    breaks="readers that take the data without looking",
    profiles=SEQUENCES,
)
def data_present(whole: Container) -> Iterable[Violation]:
    """A dictionary batch has data: a record batch of one field."""
    return told(whole, Rule.DICTIONARY_DATA_MISSING)


@clause(
    "dictionary.delta-has-base",
    over=encoded,
    source=DICTIONARIES,
    breaks="nanoarrow and JavaScript take the delta for a dictionary, which hides that values are lost",
    profiles=SEQUENCES,
)
def delta_has_base(whole: Container) -> Iterable[Violation]:
    """A delta (`isDelta`) appends to a dictionary that has been defined before."""
    return told(whole, Rule.DICTIONARY_DELTA_WITHOUT_BASE)


@clause(
    "dictionary.defined",
    over=encoded,
    source=STREAM,
    breaks="every reader: the indices stand for nothing",
    profiles=SEQUENCES,
)
def defined(whole: Container) -> Iterable[Violation]:
    """A dictionary is defined before the batch whose values point into it; in a file, anywhere in the file.

    "before any dictionary key is used in a `RecordBatch` it should be defined in a `DictionaryBatch`" (IPC Streaming
    Format), and no reader of a stream could do with less.
    """
    return told(whole, Rule.DICTIONARY_MISSING)


@clause(
    "dictionary.before-batches",
    over=encoded,
    source=STREAM,
    level=Level.SHOULD,
    breaks="readers that collect all dictionaries before the first batch; they may",
    profiles=SEQUENCES[:1],
    role=Role.WRITER,
)
def before_batches(whole: Container) -> Iterable[Violation]:
    """A writer defines a dictionary before the first batch, even where that batch has only nulls in the column.

    The format says two things. A note on streams permits more: where columns "are completely null", "the dictionary
    for the encoded column might appear after the first record batch" (IPC Streaming Format). The description of files
    takes streams to define all dictionaries first. So bytes of either kind are legal, a reader may refuse the late
    one, and a writer does best to be early.
    """
    return told(whole, Rule.DICTIONARY_LATE)


@clause(
    "dictionary.indices-inside",
    over=encoded,
    source=ENCODED,
    breaks="readers that do not check read memory behind the dictionary",
    profiles=SEQUENCES,
)
def indices_inside(whole: Container) -> Iterable[Violation]:
    """A dictionary index is below the length of the dictionary, as it is at that batch, in a slot that is not null.

    A replacement or delta counts from its place in the stream on. That indices are not negative is another clause's;
    and of a dictionary without data, or of two types, nobody knows the length.
    """
    unknown = bool(told(whole, Rule.DICTIONARY_DATA_MISSING, Rule.DICTIONARY_TYPES_DIFFER))
    return () if unknown else told(whole, Rule.DICTIONARY_INDEX_RANGE)
