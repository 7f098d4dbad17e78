"""Mutants of the encoding of answers: other wire types, fields that occur again, bytes that are no message."""

from __future__ import annotations

import abc
import struct
from collections.abc import Iterator
from typing import Any, Final

from conformance.contract import proto
from conformance.protocols.storage_read.reference.register import behaviour_mutant
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.reference.mutants.reasons import IN_PARTS, IN_READS

_COUNT: Final = proto.SPECS["ReadRowsResponse"].named("row_count").number
_ESTIMATE: Final = proto.SPECS["ReadSession"].named("estimated_row_count").number
_CHILD: Final = proto.SPECS["SplitReadStreamResponse"].named("primary_stream").number
_FIXED64: Final = 1
_LENGTH: Final = 2


def _tag(number: int, wire_type: int) -> bytes:
    return bytes([number << 3 | wire_type])  # one byte, because every number here is below 16


class _ChangedBytes(ReadService, abc.ABC):
    """A service that changes the bytes of each answer of ReadRows."""

    @abc.abstractmethod
    def change(self, answer: Any) -> bytes:
        """The bytes of an answer."""

    def read_rows(self, request: Any) -> Iterator[Any]:
        for answer in super().read_rows(request):
            yield self.change(answer)


@behaviour_mutant(
    "encoding.count-as-fixed64",
    kills="encoding.fields-have-their-types",
    also={
        **IN_PARTS,
        "rows.row-count-is-true": "a parser finds no count",
        "rows.*": "the count of a response without one is 0",
        "offsets.*": "the count of a response without one is 0",
    },
)
class CountAsFixed64(_ChangedBytes):
    """row_count has eight bytes of fixed width."""

    def change(self, answer: Any) -> bytes:
        count, answer.row_count = answer.row_count, 0
        return bytes(answer.SerializeToString()) + _tag(_COUNT, _FIXED64) + struct.pack("<q", count)


@behaviour_mutant("encoding.estimate-as-text", kills="encoding.fields-have-their-types")
class EstimateAsText(ReadService):
    """estimated_row_count is a text of digits."""

    def create_read_session(self, request: Any) -> Any:
        answer = super().create_read_session(request)
        count, answer.estimated_row_count = str(answer.estimated_row_count).encode(), 0
        return answer.SerializeToString() + _tag(_ESTIMATE, _LENGTH) + bytes([len(count)]) + count


@behaviour_mutant("encoding.count-again", kills="encoding.singular-fields-occur-once")
class CountAgain(_ChangedBytes):
    """Each response has row_count twice, first with another number."""

    def change(self, answer: Any) -> bytes:
        other = proto.ReadRowsResponse(row_count=answer.row_count + 1)
        return bytes(other.SerializeToString() + answer.SerializeToString())


@behaviour_mutant("encoding.expiry-in-parts", kills="encoding.singular-fields-occur-once")
class ExpiryInParts(ReadService):
    """expire_time comes in two messages: one has the seconds, the other the nanoseconds."""

    def create_read_session(self, request: Any) -> Any:
        answer = super().create_read_session(request)
        nanos, answer.expire_time.nanos = answer.expire_time.nanos or 1, 0
        more = proto.ReadSession()
        more.expire_time.nanos = nanos
        return answer.SerializeToString() + more.SerializeToString()


@behaviour_mutant("encoding.both-formats", kills="encoding.singular-fields-occur-once")
class BothFormats(_ChangedBytes):
    """Each response has empty rows of AVRO before those of its format."""

    def change(self, answer: Any) -> bytes:
        if not answer.HasField("arrow_record_batch"):
            return bytes(answer.SerializeToString())
        other = proto.ReadRowsResponse()
        other.avro_rows.serialized_binary_rows = b""
        return bytes(other.SerializeToString() + answer.SerializeToString())


@behaviour_mutant("encoding.zeros-behind-the-message", kills="rows.response-is-a-message", also=IN_READS)
class ZerosBehind(_ChangedBytes):
    """Each response is followed by zeros up to a multiple of eight bytes."""

    def change(self, answer: Any) -> bytes:
        data = bytes(answer.SerializeToString())
        return data + bytes(8 - len(data) % 8)


@behaviour_mutant("encoding.name-not-utf8", kills="session.answer-is-a-session")
class NameNotUtf8(ReadService):
    """The trace id of a session has a byte that is no UTF-8."""

    def create_read_session(self, request: Any) -> Any:
        answer = super().create_read_session(request)
        answer.trace_id = "trace-"
        return answer.SerializeToString().replace(b"trace-", b"trace\xff")


@behaviour_mutant("split.not-a-message", kills="split.answer-is-a-message")
class SplitIsNoMessage(ReadService):
    """The answer to SplitReadStream ends inside the name of a child."""

    def split_read_stream(self, request: Any) -> Any:
        super().split_read_stream(request)
        return _tag(_CHILD, _LENGTH) + b"\x7f"
