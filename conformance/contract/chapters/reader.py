"""Readers of streams, files and tensors: what they survive, what they refuse, what they accept, and that rows are true.

What a clause asks depends on the input alone (:mod:`conformance.contract.ipc.expectation`), never on what other readers
do. To refuse is to answer with an error before any row of the message at fault; to say that a feature is lacking is to
refuse as well. Nothing is asked for that a reader need not notice: text that is no UTF-8, decimals beyond their
precision, padding.
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
    SCHEMA_FBS,
    TENSOR_FORMAT,
    VERSIONING,
)
from conformance.records import Level
from conformance.wire import differences

ANSWERS: Final = ("rows", "refused", "unsupported")
MAX_DIFFERENCES: Final = 5
MEMORY: Final = "whoever decodes what others wrote: memory of the process, or rows that were never written, come back"

_clause = functools.partial(clause, profiles=IPC, role=Role.READER)


# --- whatever the bytes -------------------------------------------------------------------------------


@_clause(
    "reader.survives",
    over=Asked(*ANSWERS, *ENDED),
    source=ARROW_SECURITY,
    breaks="whoever decodes what others wrote: a few bytes end the process, hold a thread for ever or take all memory",
)
def survives(read: Read) -> Iterator[Violation]:
    """Whatever the bytes, a reader answers: it neither dies, nor hangs, nor takes more memory than it was given."""
    if read.answer.outcome in ENDED:
        yield Violation("rows or an error", read.summary, read.answer.reader)


@_clause(
    "reader.well-defined-error",
    over=Asked("refused"),
    source=ARROW_SECURITY,
    level=Level.SHOULD,
    breaks="callers that handle the library's errors: a broken assertion passes them by and ends the thread or process",
)
def well_defined_error(read: Read) -> Iterator[Violation]:
    """A refusal is an error of the library's interface, and not a broken assertion of its own (a panic)."""
    if read.answer.panicked:
        yield Violation("an error that callers can handle", f"a panic: {read.summary}", read.answer.reader)


@_clause(
    "reader.rows-true",
    over=Asked("rows"),
    source=COLUMNAR,
    breaks="whoever uses the rows: they are wrong, and nothing says so",
)
def rows_true(read: Read) -> Iterator[Violation]:
    """Rows that a reader returns are those that were written: the same columns, the same values, in the same order.

    That holds for what it need not have accepted as well, as long as anybody can say what the rows are. A byte order
    that is not converted, a dictionary that is not the one of its time, a bitmap read from its wrong end show here.
    """
    expected, got = read.expectation.rows, read.answer.table
    if expected is not None and got is not None:
        for difference in differences(expected, got, MAX_DIFFERENCES):
            yield Violation("the rows that were written", difference, read.answer.reader)


@_clause(
    "reader.statistics",
    over=Counted("rows"),
    source="https://arrow.apache.org/docs/python/generated/pyarrow.ipc.ReadStats.html",
    level=Level.SHOULD,
    breaks="whoever watches a pipeline by them: deltas or replaced dictionaries are not seen, or seen where none are",
)
def statistics(read: Read) -> Iterator[Violation]:
    """What a reader says that it counted in a stream is what the stream holds.

    Every message but the end-of-stream marker, record batches, and dictionary batches: deltas and replacements are
    counted among them and on their own. A reader that does not count is not asked.
    """
    expected, got = read.expectation.statistics or {}, read.answer.statistics
    for name, count in expected.items():
        if name in got and got[name] != count:
            yield Violation(f"{count} {name}", f"{got[name]} {name}", read.answer.reader)


# --- what is to be refused ----------------------------------------------------------------------------


def _refuses(
    group: str, text: str, source: str = ARROW_SECURITY, breaks: str = MEMORY, *, level: Level = Level.MUST
) -> None:
    """Make the clause that input which breaks rules of one group is refused."""
    clause_id = f"reader.refuses.{group}"

    def refuses(read: Read) -> Iterator[Violation]:
        if read.answer.outcome == "rows":
            yield Violation("an error", f"rows, although {read.expectation.reason}", read.answer.reader)

    over = Asked(*ANSWERS, clause=clause_id)
    _clause(clause_id, over=over, source=source, breaks=breaks, level=level, says=text)(refuses)


_refuses(
    "truncated",
    """A reader refuses bytes that break off inside a message: only after a whole one may a stream end.

    One to seven stray bytes at the end are no end-of-stream marker, and no bytes at all are no stream.""",
    f"{COLUMNAR}#ipc-streaming-format",
    "whoever reads over a network: a lost connection looks like the end, and rows are missing without an error",
)
_refuses(
    "framing",
    """A reader refuses lengths of metadata and bodies that are negative.""",
    f"{COLUMNAR}#encapsulated-message-format",
)
_refuses(
    "flatbuffers",
    """A reader refuses metadata whose references, tables, vectors or texts lead out of it, or which lacks what its
    own kind requires.""",
)
_refuses(
    "unknown",
    """A reader refuses what it does not know: versions, types, units, byte orders, codecs of a later format.

    An older library reads newer data, or detects that it cannot.""",
    FORWARD_COMPATIBILITY,
    "whoever reads data of a newer writer: values are taken for others without an error",
)
_refuses(
    "schema",
    """A reader refuses a schema whose types do not exist: without a kind, of widths that there are not, with too few
    children.""",
    SCHEMA_FBS,
)
_refuses(
    "body",
    """A reader refuses a batch that does not fit its schema or its body.

    Too few nodes and buffers, negative lengths, columns of another length than the batch, buffers outside the body or
    too small for their slots, children shorter than their parent.""",
)
_refuses(
    "offsets",
    """A reader refuses offsets, sizes, views, type ids and run ends that lead out of what they point into, or back.

    Libraries check the structure at least, and may leave this to a validation that their users call; then it is that
    validation that has to find it.""",
    level=Level.SHOULD,
)
_refuses(
    "compression",
    """A reader refuses compressed buffers that cannot be decompressed, or not to the size that they announce.""",
    f"{COLUMNAR}#compression",
)
_refuses(
    "dictionary",
    """A reader refuses indices without a value, and deltas without a dictionary to append to.""",
    f"{COLUMNAR}#dictionary-messages",
    "whoever uses the rows: values are missing or of another dictionary, and nothing says so",
    level=Level.SHOULD,
)
_refuses(
    "stream",
    """A reader refuses messages that do not make a stream.

    A batch before the schema, a second schema, a tensor between batches, a message without a header.""",
    f"{COLUMNAR}#ipc-streaming-format",
    "whoever uses the rows: a part of the stream is passed over without an error",
)
_refuses(
    "file",
    """A reader refuses a file without an end, or whose footer leads elsewhere, or that defines a dictionary twice.""",
    f"{COLUMNAR}#ipc-file-format",
    "whoever reads a file while it is written, or after its writer died",
)
_refuses(
    "tensor",
    """A reader refuses tensors whose shape, strides or index lead out of the body.""",
    TENSOR_FORMAT,
)


# --- what is to be accepted ---------------------------------------------------------------------------


def _accepts(feature: Feature, text: str, source: str, breaks: str = "") -> None:
    """Make the clause that legal input with one feature is accepted; the feature says how binding that is."""

    def accepts(read: Read) -> Iterator[Violation]:
        if read.answer.outcome == "refused":
            yield Violation("rows", read.summary, read.answer.reader)

    over = Asked("rows", "refused", clause=feature.clause)
    level = LEVEL_OF[feature]
    _clause(feature.clause, over=over, source=source, breaks=breaks, level=level, says=text)(accepts)


INTERCHANGE: Final = "whoever exchanges data with another implementation"

_accepts(
    Feature.CORE,
    """A reader reads what is legal and has been of the format since 1.0.

    Streams end by their marker or by the end of the bytes; validity bitmaps are there or left out where nothing is
    null; buffers are padded, aligned to 8 or more, in any order; there may be no rows, no columns and no batches.""",
    f"{VERSIONING}#backward-compatibility",
    INTERCHANGE,
)
_accepts(
    Feature.V4,
    """A reader of V5 reads V4: the two differ in unions alone.""",
    SCHEMA_FBS,
    "whoever kept data from before Arrow 1.0",
)
_accepts(
    Feature.DICTIONARIES,
    """A reader reads dictionary-encoded columns, several of which may share a dictionary.

    Indices have any integer type (signed of 32 bits where the schema names none); dictionaries may hold nulls and
    the same value twice.""",
    f"{COLUMNAR}#dictionary-encoded-layout",
    INTERCHANGE,
)
_accepts(
    Feature.DELTAS,
    """A reader appends a delta to its dictionary; batches read before keep the meaning that they had.""",
    f"{COLUMNAR}#dictionary-messages",
    INTERCHANGE,
)
_accepts(
    Feature.REPLACEMENT,
    """A reader of streams replaces a dictionary that is defined again; batches read before keep their meaning.

    A schema may announce replacement as a feature, so that readers without it can refuse.""",
    f"{COLUMNAR}#dictionary-messages",
    INTERCHANGE,
)
_accepts(
    Feature.FILE_ORDER,
    """A reader of files finds a dictionary wherever it stands in the file, behind the batches that use it as well.""",
    f"{COLUMNAR}#ipc-file-format",
)
_accepts(
    Feature.UNUSUAL,
    """A reader reads legal forms that few writers choose.

    Children longer than their struct, gaps in the body, metadata pairs without a value, absent names and vectors,
    features that a schema announces, decimals of a negative scale.""",
    COLUMNAR,
)
_accepts(
    Feature.LEGACY,
    """A reader reads messages of V4 framed as before Arrow 0.15, which have their length alone in front.

    What is older than 1.0 has no promise to be readable by later libraries; most kept to it all the same.""",
    f"{COLUMNAR}#encapsulated-message-format",
    "whoever kept data from before Arrow 0.15",
)
_accepts(
    Feature.MIXED_FRAMING,
    """A reader may read a stream whose messages are not all framed alike, or messages of V5 framed as before 0.15.

    The format describes no such mixture.""",
    f"{COLUMNAR}#encapsulated-message-format",
)
_accepts(
    Feature.TRAILING_BYTES,
    """A reader may pass over what follows the end-of-stream marker; the format does not say.""",
    f"{COLUMNAR}#ipc-streaming-format",
)
_accepts(
    Feature.COMPRESSION,
    """A reader may read compressed bodies: implementations may do without.

    Those that do not read them whole: both codecs, buffers stored as they are (-1), empty buffers without a prefix.""",
    f"{COLUMNAR}#compression",
    INTERCHANGE,
)
_accepts(
    Feature.BIG_ENDIAN,
    """A reader may convert bodies of the other byte order, or refuse them; to read them as they are is neither.""",
    f"{COLUMNAR}#byte-order-endianness",
)
_accepts(
    Feature.NEWER_TYPES,
    """A reader may read types that came after 1.0: decimals of other widths, month-day-nano intervals, run ends, views.

    An older library reads newer data, or detects that it cannot.""",
    FORWARD_COMPATIBILITY,
)
_accepts(
    Feature.NESTED_DICTIONARIES,
    """A reader reads dictionaries whose values are dictionary-encoded in turn.

    The definition of DictionaryEncoding has been read as forbidding them; golden files of the Arrow project hold
    them.""",
    SCHEMA_FBS,
)
_accepts(
    Feature.TENSORS,
    """A reader may read tensors: implementations need not support them.""",
    TENSOR_FORMAT,
)
