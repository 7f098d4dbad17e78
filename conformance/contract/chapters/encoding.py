"""The encoding of answers: what a parser drops without a word, or makes one value of.

Bytes that are no message at all are judged by the clauses on the answers of each method.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.contract.clause import Violation, clause
from conformance.contract.sources import PROTOBUF, STORAGE_PROTO
from conformance.contract.strictanswers import AnswerMessage, answer_messages
from conformance.contract.view import View
from conformance.records import Level
from conformance.wire.protobufrules import PermittedEncoding, ProtobufRule

_ONCE: Final = frozenset(
    {PermittedEncoding.FIELD_REPEATED, PermittedEncoding.MESSAGE_MERGED, PermittedEncoding.ONEOF_REPEATED}
)


def _messages(view: View) -> Sequence[AnswerMessage]:
    return [message for message in answer_messages(view).values() if message.has_fields]


@clause(
    "encoding.fields-have-their-types",
    over=_messages,
    source=(PROTOBUF, STORAGE_PROTO),
    breaks="google.protobuf 7.36.2 (Python) reads such a row_count as 0, without an error",
)
def fields_have_their_types(message: AnswerMessage) -> Iterator[Violation]:
    """A field of an answer has the wire type of its declared type.

    Parsers keep a field of another wire type as one that they do not know: its value is lost, and no error says so.
    """
    for fault in message.reading.faults if message.reading is not None else ():
        if fault.rule is ProtobufRule.WIRE_TYPE_DIFFERS:
            yield Violation(fault.required, fault.observed, fault.path, start=fault.start, end=fault.end)
            return


@clause(
    "encoding.singular-fields-occur-once",
    over=_messages,
    source=(PROTOBUF, STORAGE_PROTO),
    level=Level.SHOULD,
)
def singular_fields_occur_once(message: AnswerMessage) -> Iterator[Violation]:
    """A field that is not repeated occurs once in an answer, and one field of a oneof.

    The guide to the encoding: "Normally, an encoded message would never have more than one instance of a non-repeated
    field. However, parsers are expected to handle the case in which they do." The last value counts, and messages are
    merged: two writers that each set a part look like one that meant the mixture.
    """
    for one in message.reading.observations if message.reading is not None else ():
        if one.sort in _ONCE:
            yield Violation(one.sort.requirement, one.observed, one.path, start=one.start, end=one.end)
            return
