"""Mutants of rows in Avro: the right schema, and other bytes."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from conformance.protocols.storage_read.reference.avroservices import WritesCells, sized_block
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import Stream
from conformance.protocols.storage_read.reference.zigzag import zigzag
from conformance.records import BqType, Column, Mode

_OTHER_VALUES: Final = {"values.*": "the value is another one"}
_MOST_ITEMS: Final = 64
_BRANCH: Final = 1
"""The bytes of a union's branch, which a NULLABLE value has before its own."""


class _ChangesCells(WritesCells):
    """A service with other bytes for the values of some columns; those of lists and NULL stay."""

    def cell(self, column: Column, value: Any, right: bytes) -> bytes:
        """The bytes of a value of a column."""
        if value is None or column.mode is Mode.REPEATED:
            return right
        start = _BRANCH if column.mode is Mode.NULLABLE else 0
        return right[:start] + self.value(column, value, right[start:])

    def value(self, _column: Column, _value: Any, right: bytes) -> bytes:
        """The bytes of one value that is not NULL."""
        return right


@behaviour_mutant("avro.last-byte-missing", kills="avro-rows.are-whole")
class LastByteMissing(ReadService):
    """Each response ends one byte before its last row does."""

    def describe_rows(self, stream: Stream, part: pa.RecordBatch, *, start: int, first: bool) -> Any:
        answer = super().describe_rows(stream, part, start=start, first=first)
        if stream.session.avro is not None and not stream.session.lz4_responses:
            answer.avro_rows.serialized_binary_rows = answer.avro_rows.serialized_binary_rows[:-1]
        return answer


@behaviour_mutant("avro.numbers-padded", kills="avro-rows.numbers-are-minimal")
class NumbersPadded(_ChangesCells):
    """The branch of a union takes two bytes."""

    def cell(self, column: Column, _value: Any, right: bytes) -> bytes:
        return bytes([right[0] | 0x80, 0]) + right[1:] if column.mode is Mode.NULLABLE else right


@behaviour_mutant("avro.dates-are-wide", kills="avro-rows.numbers-have-their-width")
class DatesAreWide(_ChangesCells):
    """A DATE has more bits than an int."""

    def value(self, column: Column, _value: Any, right: bytes) -> bytes:
        return zigzag(1 << 40) if column.type is BqType.DATE else right


@behaviour_mutant("avro.true-is-2", kills="avro-rows.booleans-are-0-or-1")
class TrueIs2(_ChangesCells):
    """TRUE is the byte 2."""

    def value(self, column: Column, value: Any, right: bytes) -> bytes:
        return b"\x02" if column.type is BqType.BOOL and value else right


@behaviour_mutant("avro.lengths-below-0", kills="avro-rows.lengths-are-not-negative")
class LengthsBelow0(_ChangesCells):
    """The length of a text is negative."""

    def value(self, column: Column, _value: Any, right: bytes) -> bytes:
        return zigzag(-1) + right[1:] if column.type is BqType.STRING else right


@behaviour_mutant("avro.null-is-branch-2", kills="avro-rows.branches-exist")
class NullIsBranch2(_ChangesCells):
    """NULL is a third branch of the union, which has two."""

    def cell(self, column: Column, value: Any, right: bytes) -> bytes:
        return zigzag(2) if value is None and column.mode is Mode.NULLABLE else right


@behaviour_mutant("avro.block-sizes-wrong", kills="avro-rows.blocks-are-as-declared")
class BlockSizesWrong(_ChangesCells):
    """An array is a block with its size, which is one byte too large."""

    def cell(self, column: Column, value: Any, right: bytes) -> bytes:
        return sized_block(column, value, right, more=1)


@behaviour_mutant("avro.arrays-end-at-64", kills="values.repeated")
class ArraysEndAt64(_ChangesCells):
    """An array of INT64 ends with its 64th value."""

    def cell(self, column: Column, value: Any, right: bytes) -> bytes:
        if column.mode is not Mode.REPEATED or column.type is not BqType.INT64 or len(value) <= _MOST_ITEMS:
            return right
        return zigzag(_MOST_ITEMS) + b"".join(map(zigzag, value[:_MOST_ITEMS])) + zigzag(0)


@behaviour_mutant("avro.texts-in-latin-1", kills="avro-rows.texts-are-utf-8")
class TextsInLatin1(_ChangesCells):
    """The last character of a text is a byte of another encoding."""

    def value(self, column: Column, value: Any, right: bytes) -> bytes:
        return right[:-1] + b"\xe9" if column.type is BqType.STRING and value else right


@behaviour_mutant("avro.midnight-is-24", kills="avro-rows.days-and-times-exist", also=_OTHER_VALUES)
class MidnightIs24(_ChangesCells):
    """A TIME is 24 hours after midnight."""

    def value(self, column: Column, _value: Any, right: bytes) -> bytes:
        return zigzag(86_400_000_000) if column.type is BqType.TIME else right


@behaviour_mutant("avro.datetimes-with-a-blank", kills="avro-rows.datetimes-are-texts-of-their-form")
class DatetimesWithABlank(_ChangesCells):
    """Date and time of a DATETIME are separated by a blank, as SQL writes them."""

    def value(self, column: Column, _value: Any, right: bytes) -> bytes:
        return right.replace(b"T", b" ") if column.type is BqType.DATETIME else right


@behaviour_mutant("avro.decimals-are-empty", kills="avro-rows.decimals-fit", also=_OTHER_VALUES)
class DecimalsAreEmpty(_ChangesCells):
    """A NUMERIC has no bytes."""

    def value(self, column: Column, _value: Any, right: bytes) -> bytes:
        return zigzag(0) if column.type is BqType.NUMERIC else right


@behaviour_mutant(
    "avro.records-without-branch",
    kills="avro-rows.are-whole",
    also={"avro-*": "what follows is read at another place"},
    defects=("B-93",),
)
class RecordsWithoutBranch(_ChangesCells):
    """A RECORD that is not NULL comes without the branch of its union."""

    def cell(self, column: Column, value: Any, right: bytes) -> bytes:
        bare = column.type is BqType.RECORD and column.mode is Mode.NULLABLE and value is not None
        return right[_BRANCH:] if bare else right
