"""Readers of streams, files and tensors: survival, refusals, acceptance, and the truth of rows.

Each clause answers one of two questions (:class:`~conformance.contract.closed.Question`). Clauses on legal input are
about conformance: the text of the format decides their levels. Clauses on all other input are about robustness: the
format's page on security recommends that readers detect such input, and so these are SHOULD. The exception is input of
a later format, which the versioning page says a library *must* detect.

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
from conformance.contract.closed import Question
from conformance.contract.ipc.features import LEVEL_OF, BytesFeature
from conformance.contract.ipc.reading import ENDED, Asked, Counted, OnLegal, OnMalformed, Read, TwoWays
from conformance.contract.sources import (
    ARROW_SECURITY,
    C_DATA,
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
_legal = functools.partial(_clause, question=Question.CONFORMANCE)
_malformed = functools.partial(_clause, question=Question.ROBUSTNESS)


# --- every input: a clause for legal input, and one for all other input ----------------------------------


def _survives(read: Read) -> Iterator[Violation]:
    if read.answer.outcome in ENDED:
        yield Violation("rows or an error", read.summary, read.answer.reader)


def _answers_by_an_error(read: Read) -> Iterator[Violation]:
    if read.answer.panicked:
        yield Violation("an error that callers can handle", f"a panic: {read.summary}", read.answer.reader)


def _rows_are_true(read: Read) -> Iterator[Violation]:
    expected, got = read.expectation.rows, read.answer.table
    if expected is not None and got is not None:
        for difference in differences(expected, got, MAX_DIFFERENCES):
            yield Violation("the rows that were written", difference, read.answer.reader)


_legal(
    "reader.survives-legal-input",
    over=OnLegal(*ANSWERS, *ENDED),
    source=FORWARD_COMPATIBILITY,
    breaks="programs that exchange data with another implementation: legal bytes end the process or block a thread",
    says="""A reader answers on legal bytes: it neither dies, nor hangs, nor takes more memory than it was given.

    A library "must be able to either read data (…) or detect that it cannot properly read the data".""",
)(_survives)

_malformed(
    "reader.survives",
    over=OnMalformed(*ANSWERS, *ENDED),
    source=ARROW_SECURITY,
    level=Level.SHOULD,
    breaks="programs that decode foreign data: a few bytes end the process, block a thread or use up the memory",
    says="""A reader answers on malformed bytes: it neither dies, nor hangs, nor takes more memory than it was given.

    The page recommends "to run dedicated validation checks when decoding the IPC format, to make sure that the decoding
    can not induce unwanted behavior. Failing those checks should return a well-known error to the caller, not crash."
    It requires nothing.""",
)(_survives)

_legal(
    "reader.lacks-by-an-error",
    over=OnLegal("refused", "unsupported"),
    source=FORWARD_COMPATIBILITY,
    level=Level.SHOULD,
    breaks="callers that handle the library's errors: a failed assertion is not one and ends the thread or process",
    says="""A reader that does not read legal input answers with an error, and not with a failed assertion (a panic).

    That the text of a panic says "not supported" changes nothing: callers cannot handle it as an error of the
    library.""",
)(_answers_by_an_error)

_malformed(
    "reader.well-defined-error",
    over=OnMalformed("refused", "unsupported"),
    source=ARROW_SECURITY,
    level=Level.SHOULD,
    breaks="callers that handle the library's errors: a failed assertion is not one and ends the thread or process",
    says="""A refusal is an error of the library's interface, and not a failed assertion inside of it (a panic).

    Of failed checks the page says that they "should return a well-known error to the caller, not crash".""",
)(_answers_by_an_error)

_legal(
    "reader.rows-true",
    over=OnLegal("rows"),
    source=COLUMNAR,
    breaks="programs that use the rows: these are wrong, without an error",
    says="""The rows that a reader returns are those that were written: the same columns and values, in the same order.

    With an option, they are the rows that the option promises. The clause detects a byte order that was not converted,
    a dictionary of another time, a bitmap read from the wrong end.""",
)(_rows_are_true)


@_legal(
    "reader.ways-out-agree",
    over=TwoWays("rows"),
    source=(C_DATA, COLUMNAR),
    level=Level.SHOULD,
    breaks="programs that pass rows on: the library shows one value, and the library that gets the rows another",
)
def ways_out_agree(read: Read) -> Iterator[Violation]:
    """The values of a library's own interface are those that it hands over, and using the rows changes none.

    The other library gets them through the C data interface. Booleans, numbers, text and binary are compared, and lists
    and structs of these; of dates and times, which are null. Using rows is what the option ``after`` names: a cast, a
    slice, a copy, the library's own validation. An error there is a difference too, unless the library says that it
    lacks the feature.
    """
    for difference in read.answer.ways or ():
        yield Violation("the same values in both ways", f"own interface: {difference}", read.answer.reader)


_malformed(
    "reader.accepted-rows-are-true",
    over=OnMalformed("rows"),
    source=(ARROW_SECURITY, COLUMNAR),
    level=Level.SHOULD,
    breaks="programs that use the rows: these are wrong, without an error",
    says="""A reader that accepts bytes which it may refuse returns the rows that were written, if these are known.

    They are known if the fault leaves every value in its place: a buffer that is not aligned, a missing terminator.
    Such rows are in the bytes; others are those of "unwanted behavior".""",
)(_rows_are_true)


@_legal(
    "reader.statistics",
    over=Counted("rows"),
    source=READ_STATS,
    level=Level.SHOULD,
    breaks="programs that monitor a pipeline by them: deltas or replaced dictionaries are missed, or reported wrongly",
)
def statistics(read: Read) -> Iterator[Violation]:
    """The counts that a reader reports for a stream or a file are those of its messages.

    They count every message but the end-of-stream marker, record batches, and dictionary batches; deltas and
    replacements count as dictionary batches and on their own. A file has its schema in the footer too, so the schema
    message may be counted or not. A reader that does not count is not judged.
    """
    expected, got = read.expectation.statistics or {}, read.answer.statistics
    for name, counts in expected.items():
        if name in got and got[name] not in counts:
            required = " or ".join(map(str, counts))
            yield Violation(f"{required} {name}", f"{got[name]} {name}", read.answer.reader)


# --- input to refuse ----------------------------------------------------------------------------------


def _refuses(group: str, text: str, also: str = "", breaks: str = MEMORY, *, level: Level = Level.SHOULD) -> None:
    """Register the clause that readers refuse input which breaks rules of one group.

    The page on security recommends that decoding detects it; ``also`` is the text that the input breaks. A MUST rests
    on that text alone.
    """
    clause_id = f"reader.refuses.{group}"

    def refuses(read: Read) -> Iterator[Violation]:
        if read.answer.outcome == "rows":
            yield Violation("an error", f"rows, although {read.expectation.reason}", read.answer.reader)

    over = Asked(*ANSWERS, clause=clause_id)
    recommended = (ARROW_SECURITY,) if level is Level.SHOULD else ()
    source = (*recommended, also) if also else recommended
    _malformed(clause_id, over=over, source=source, breaks=breaks, level=level, says=text)(refuses)


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

    "An older client library must be able to either read data generated from a new client library or detect that it
    cannot properly read the data." This is a promise of the format, and not advice on security.""",
    FORWARD_COMPATIBILITY,
    "programs that read data of a newer writer: values are misread without an error",
    level=Level.MUST,
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

    "Arrow libraries will typically ensure IPC streams are structurally valid but may not also validate the underlying
    Array data." A library that leaves this to a validation should detect it there.""",
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


def _accepts(feature: BytesFeature, text: str, source: str, breaks: str = "") -> None:
    """Register the clause that readers accept legal input with one feature, at the level of the feature."""

    def accepts(read: Read) -> Iterator[Violation]:
        if read.answer.outcome == "refused":
            yield Violation("rows", read.summary, read.answer.reader)

    over = Asked("rows", "refused", clause=feature.clause)
    level = LEVEL_OF[feature]
    _legal(feature.clause, over=over, source=source, breaks=breaks, level=level, says=text)(accepts)


INTERCHANGE: Final = "programs that exchange data with another implementation"

_accepts(
    BytesFeature.CORE,
    """A reader reads every legal input of the format as of 1.0.

    A stream ends with its marker or with the end of the bytes; a validity bitmap may be left out if nothing is null;
    buffers are padded, aligned to 8 or more, in any order; there may be no rows, no columns and no batches.""",
    f"{VERSIONING}#backward-compatibility",
    INTERCHANGE,
)
_accepts(
    BytesFeature.V4,
    """A reader of V5 reads V4: the two differ only in unions.""",
    SCHEMA_FBS,
    "programs with data from before Arrow 1.0",
)
_accepts(
    BytesFeature.DICTIONARIES,
    """A reader reads dictionary-encoded columns, several of which may share a dictionary.

    Indices have any integer type (signed, 32 bits, if the schema gives none); dictionaries may contain nulls and
    the same value twice.""",
    f"{COLUMNAR}#dictionary-encoded-layout",
    INTERCHANGE,
)
_accepts(
    BytesFeature.DELTAS,
    """A reader appends a delta to its dictionary; batches that were read before keep their values.""",
    f"{COLUMNAR}#dictionary-messages",
    INTERCHANGE,
)
_accepts(
    BytesFeature.REPLACEMENT,
    """A reader of streams replaces a dictionary that is defined again; batches that were read before keep their values.

    A schema may declare replacement as a feature, so that readers without it can refuse.""",
    f"{COLUMNAR}#dictionary-messages",
    INTERCHANGE,
)
_accepts(
    BytesFeature.FILE_ORDER,
    """A reader of files finds a dictionary anywhere in the file, even after the batches that use it.""",
    f"{COLUMNAR}#ipc-file-format",
)
_accepts(
    BytesFeature.UNUSUAL,
    """A reader reads legal forms that few writers choose.

    Examples are children longer than their struct, gaps in the body, metadata pairs without a value, absent names
    and vectors, features that a schema declares, decimals of a negative scale.""",
    COLUMNAR,
)
_accepts(
    BytesFeature.LEGACY,
    """A reader reads messages of V4 with the framing from before Arrow 0.15, in which only the length precedes them.

    The format does not promise that later libraries read data older than 1.0, but most do.""",
    f"{COLUMNAR}#encapsulated-message-format",
    "programs with data from before Arrow 0.15",
)
_accepts(
    BytesFeature.MIXED_FRAMING,
    """A reader may read a stream of mixed framing, or messages of V5 with the framing from before 0.15.

    The format describes no such mixture.""",
    f"{COLUMNAR}#encapsulated-message-format",
)
_accepts(
    BytesFeature.TRAILING_BYTES,
    """A reader may ignore bytes after the end-of-stream marker; the format is silent about them.""",
    f"{COLUMNAR}#ipc-streaming-format",
)
_accepts(
    BytesFeature.COMPRESSION,
    """A reader may read compressed bodies: implementations need not support them.

    A reader that supports them supports both codecs, uncompressed buffers (-1) and empty buffers without a prefix.""",
    f"{COLUMNAR}#compression",
    INTERCHANGE,
)
_accepts(
    BytesFeature.BIG_ENDIAN,
    """A reader may convert bodies of the other byte order, or refuse them; it must not read them unconverted.""",
    f"{COLUMNAR}#byte-order-endianness",
)
_accepts(
    BytesFeature.NEWER_TYPES,
    """A reader may read types added after 1.0: decimals of other widths, month-day-nano intervals, run ends, views.

    An older library reads newer data, or detects that it cannot.""",
    FORWARD_COMPATIBILITY,
)
_accepts(
    BytesFeature.NESTED_DICTIONARIES,
    """A reader reads dictionaries whose values are themselves dictionary-encoded.

    The definition of DictionaryEncoding has been read as forbidding them; golden files of the Arrow project
    contain them.""",
    SCHEMA_FBS,
)
_accepts(
    BytesFeature.TENSORS,
    """A reader may read tensors: implementations need not support them.""",
    TENSOR_FORMAT,
)
