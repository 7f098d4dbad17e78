"""Readers of streams, files and tensors: survival, refusals, acceptance, and the truth of rows.

The requirement on an input depends on the input alone (:mod:`conformance.contract.ipc.expectation`), never on other
readers. To refuse is to answer with an error before any row of the faulty message; to report that a feature is
missing is a refusal too. Readers are not required to detect text that is not UTF-8, decimals beyond their precision,
or padding that is not zero.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Final

from conformance.contract.clause import IPC, Role, Violation, clause
from conformance.contract.ipc.features import LEVEL_OF, Feature
from conformance.contract.ipc.reading import ENDED, Asked, Counted, Read
from conformance.contract.sources import (
    ARROW_SECURITY,
    COLUMNAR,
    FORWARD_COMPATIBILITY,
    READ_STATS,
    SCHEMA_FBS,
    TENSOR_FORMAT,
    VERSIONING,
)
from conformance.records import Level
from conformance.wire import differences

ANSWERS: Final = ("rows", "refused", "unsupported")
MAX_DIFFERENCES: Final = 5
MEMORY: Final = "programs that decode foreign data: they get memory of the process, or rows that were never written"

_clause = functools.partial(clause, profiles=IPC, role=Role.READER)


# --- all bytes ----------------------------------------------------------------------------------------


@_clause(
    "reader.survives",
    over=Asked(*ANSWERS, *ENDED),
    source=ARROW_SECURITY,
    breaks="programs that decode foreign data: a few bytes end the process, block a thread or use up the memory",
)
def survives(read: Read) -> Iterator[Violation]:
    """A reader answers on all bytes: it neither dies, nor hangs, nor takes more memory than it was given."""
    if read.answer.outcome in ENDED:
        yield Violation("rows or an error", read.summary, read.answer.reader)


@_clause(
    "reader.well-defined-error",
    over=Asked("refused"),
    source=ARROW_SECURITY,
    level=Level.SHOULD,
    breaks="callers that handle the library's errors: a failed assertion is not one and ends the thread or process",
)
def well_defined_error(read: Read) -> Iterator[Violation]:
    """A refusal is an error of the library's interface, and not a failed assertion inside of it (a panic)."""
    if read.answer.panicked:
        yield Violation("an error that callers can handle", f"a panic: {read.summary}", read.answer.reader)


@_clause(
    "reader.rows-true",
    over=Asked("rows"),
    source=COLUMNAR,
    breaks="programs that use the rows: these are wrong, without an error",
)
def rows_true(read: Read) -> Iterator[Violation]:
    """The rows that a reader returns are those that were written: the same columns and values, in the same order.

    This also binds a reader that accepts bytes which it may refuse, as long as the true rows are known. The clause
    detects a byte order that was not converted, a dictionary of another time, a bitmap read from the wrong end.
    """
    expected, got = read.expectation.rows, read.answer.table
    if expected is not None and got is not None:
        for difference in differences(expected, got, MAX_DIFFERENCES):
            yield Violation("the rows that were written", difference, read.answer.reader)


@_clause(
    "reader.statistics",
    over=Counted("rows"),
    source=READ_STATS,
    level=Level.SHOULD,
    breaks="programs that monitor a pipeline by them: deltas or replaced dictionaries are missed, or reported wrongly",
)
def statistics(read: Read) -> Iterator[Violation]:
    """The counts that a reader reports for a stream are those of the stream.

    They count every message but the end-of-stream marker, record batches, and dictionary batches; deltas and
    replacements count as dictionary batches and on their own. A reader that does not count is not judged.
    """
    expected, got = read.expectation.statistics or {}, read.answer.statistics
    for name, count in expected.items():
        if name in got and got[name] != count:
            yield Violation(f"{count} {name}", f"{got[name]} {name}", read.answer.reader)


# --- input to refuse ----------------------------------------------------------------------------------


def _refuses(
    group: str, text: str, source: str = ARROW_SECURITY, breaks: str = MEMORY, *, level: Level = Level.MUST
) -> None:
    """Register the clause that readers refuse input which breaks rules of one group."""
    clause_id = f"reader.refuses.{group}"

    def refuses(read: Read) -> Iterator[Violation]:
        if read.answer.outcome == "rows":
            yield Violation("an error", f"rows, although {read.expectation.reason}", read.answer.reader)

    over = Asked(*ANSWERS, clause=clause_id)
    _clause(clause_id, over=over, source=source, breaks=breaks, level=level, says=text)(refuses)


_refuses(
    "truncated",
    """A reader refuses bytes that end inside a message: a stream may end only after a complete message.

    One to seven stray bytes at the end are not an end-of-stream marker, and an empty input is not a stream.""",
    f"{COLUMNAR}#ipc-streaming-format",
    "programs that read over a network: a lost connection looks like the end, and rows are missing without an error",
)
_refuses(
    "framing",
    """A reader refuses lengths of metadata and bodies that are negative.""",
    f"{COLUMNAR}#encapsulated-message-format",
)
_refuses(
    "flatbuffers",
    """A reader refuses metadata with references, tables, vectors or texts outside of it, or without the values that
    its own kind requires.""",
)
_refuses(
    "unknown",
    """A reader refuses versions, types, units, byte orders and codecs that it does not know, as of later formats.

    An older library reads newer data, or detects that it cannot.""",
    FORWARD_COMPATIBILITY,
    "programs that read data of a newer writer: values are misread without an error",
)
_refuses(
    "schema",
    """A reader refuses a schema with impossible types: without a kind, of a width that does not exist, with too few
    children.""",
    SCHEMA_FBS,
)
_refuses(
    "body",
    """A reader refuses a batch that does not fit its schema or its body.

    Such a batch has too few nodes or buffers, negative lengths, columns of another length than the batch, buffers
    outside the body or too small for their slots, or children shorter than their parent.""",
)
_refuses(
    "offsets",
    """A reader refuses offsets, sizes, views, type ids and run ends that point outside of their data, or backwards.

    Libraries check at least the structure, and may leave this to a validation that their users call; then the
    validation has to detect it.""",
    level=Level.SHOULD,
)
_refuses(
    "compression",
    """A reader refuses compressed buffers that cannot be decompressed to their declared size.""",
    f"{COLUMNAR}#compression",
)
_refuses(
    "dictionary",
    """A reader refuses indices without a value, and deltas without a dictionary to append to.""",
    f"{COLUMNAR}#dictionary-messages",
    "programs that use the rows: values are missing or from another dictionary, without an error",
    level=Level.SHOULD,
)
_refuses(
    "stream",
    """A reader refuses a sequence of messages that is not a stream.

    Examples are a batch before the schema, a second schema, a tensor between batches, a message without a header.""",
    f"{COLUMNAR}#ipc-streaming-format",
    "programs that use the rows: a part of the stream is ignored without an error",
)
_refuses(
    "file",
    """A reader refuses a file without an end, with a misleading footer, or with a dictionary defined twice.""",
    f"{COLUMNAR}#ipc-file-format",
    "programs that read a file while it is written, or after its writer died",
)
_refuses(
    "tensor",
    """A reader refuses tensors whose shape, strides or index point outside of the body.""",
    TENSOR_FORMAT,
)


# --- input to accept ----------------------------------------------------------------------------------


def _accepts(feature: Feature, text: str, source: str, breaks: str = "") -> None:
    """Register the clause that readers accept legal input with one feature, at the level of the feature."""

    def accepts(read: Read) -> Iterator[Violation]:
        if read.answer.outcome == "refused":
            yield Violation("rows", read.summary, read.answer.reader)

    over = Asked("rows", "refused", clause=feature.clause)
    level = LEVEL_OF[feature]
    _clause(feature.clause, over=over, source=source, breaks=breaks, level=level, says=text)(accepts)


INTERCHANGE: Final = "programs that exchange data with another implementation"

_accepts(
    Feature.CORE,
    """A reader reads every legal input of the format as of 1.0.

    A stream ends with its marker or with the end of the bytes; a validity bitmap may be left out if nothing is null;
    buffers are padded, aligned to 8 or more, in any order; there may be no rows, no columns and no batches.""",
    f"{VERSIONING}#backward-compatibility",
    INTERCHANGE,
)
_accepts(
    Feature.V4,
    """A reader of V5 reads V4: the two differ only in unions.""",
    SCHEMA_FBS,
    "programs with data from before Arrow 1.0",
)
_accepts(
    Feature.DICTIONARIES,
    """A reader reads dictionary-encoded columns, several of which may share a dictionary.

    Indices have any integer type (signed, 32 bits, if the schema gives none); dictionaries may contain nulls and
    the same value twice.""",
    f"{COLUMNAR}#dictionary-encoded-layout",
    INTERCHANGE,
)
_accepts(
    Feature.DELTAS,
    """A reader appends a delta to its dictionary; batches that were read before keep their values.""",
    f"{COLUMNAR}#dictionary-messages",
    INTERCHANGE,
)
_accepts(
    Feature.REPLACEMENT,
    """A reader of streams replaces a dictionary that is defined again; batches that were read before keep their values.

    A schema may declare replacement as a feature, so that readers without it can refuse.""",
    f"{COLUMNAR}#dictionary-messages",
    INTERCHANGE,
)
_accepts(
    Feature.FILE_ORDER,
    """A reader of files finds a dictionary anywhere in the file, even after the batches that use it.""",
    f"{COLUMNAR}#ipc-file-format",
)
_accepts(
    Feature.UNUSUAL,
    """A reader reads legal forms that few writers choose.

    Examples are children longer than their struct, gaps in the body, metadata pairs without a value, absent names
    and vectors, features that a schema declares, decimals of a negative scale.""",
    COLUMNAR,
)
_accepts(
    Feature.LEGACY,
    """A reader reads messages of V4 with the framing from before Arrow 0.15, in which only the length precedes them.

    The format does not promise that later libraries read data older than 1.0, but most do.""",
    f"{COLUMNAR}#encapsulated-message-format",
    "programs with data from before Arrow 0.15",
)
_accepts(
    Feature.MIXED_FRAMING,
    """A reader may read a stream of mixed framing, or messages of V5 with the framing from before 0.15.

    The format describes no such mixture.""",
    f"{COLUMNAR}#encapsulated-message-format",
)
_accepts(
    Feature.TRAILING_BYTES,
    """A reader may ignore bytes after the end-of-stream marker; the format is silent about them.""",
    f"{COLUMNAR}#ipc-streaming-format",
)
_accepts(
    Feature.COMPRESSION,
    """A reader may read compressed bodies: implementations need not support them.

    A reader that supports them supports both codecs, uncompressed buffers (-1) and empty buffers without a prefix.""",
    f"{COLUMNAR}#compression",
    INTERCHANGE,
)
_accepts(
    Feature.BIG_ENDIAN,
    """A reader may convert bodies of the other byte order, or refuse them; it must not read them unconverted.""",
    f"{COLUMNAR}#byte-order-endianness",
)
_accepts(
    Feature.NEWER_TYPES,
    """A reader may read types added after 1.0: decimals of other widths, month-day-nano intervals, run ends, views.

    An older library reads newer data, or detects that it cannot.""",
    FORWARD_COMPATIBILITY,
)
_accepts(
    Feature.NESTED_DICTIONARIES,
    """A reader reads dictionaries whose values are themselves dictionary-encoded.

    The definition of DictionaryEncoding has been read as forbidding them; golden files of the Arrow project
    contain them.""",
    SCHEMA_FBS,
)
_accepts(
    Feature.TENSORS,
    """A reader may read tensors: implementations need not support them.""",
    TENSOR_FORMAT,
)
