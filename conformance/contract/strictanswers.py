"""The messages of a server's answers by the strict walk, which keeps what a generated class drops."""

from __future__ import annotations

from typing import Any, NamedTuple

from conformance.contract.clause import Violation
from conformance.contract.subjects import every_call
from conformance.contract.view import View, once_per_view
from conformance.wire.protobuf import read_protobuf
from conformance.wire.protobufmessages import ProtobufReading
from conformance.wire.protobufrules import ProtobufRule

__all__ = ["AnswerMessage", "answer_messages", "malformed"]


class AnswerMessage(NamedTuple):
    """A message of an answer: the index of its call, its own index in it, and the walk of its bytes.

    ``reading`` is None for most messages: their bytes are those that google.protobuf writes for what it read, so that
    nothing was dropped and nothing came twice, and a walk would find nothing.
    """

    call: int
    response: int
    reading: ProtobufReading | None

    @property
    def has_fields(self) -> bool:
        """True if the message has a field of its type: an empty one, and noise, show nothing of their encoding."""
        return self.reading is None or any(field.spec is not None for field in self.reading.message.fields)


@once_per_view
def answer_messages(view: View) -> dict[tuple[int, int], AnswerMessage]:
    """Every message of the answers of an exchange of Storage Read, by its call and its index in that."""
    from conformance.contract import proto  # noqa: PLC0415  # judging bare messages needs no protobuf

    found: dict[tuple[int, int], AnswerMessage] = {}
    for call in every_call(view):
        kind: Any = proto.RESPONSES.get(call.raw.method)
        for at, data in enumerate(call.raw.responses if kind is not None else ()):
            walked = None if _is_plain(kind, data) else read_protobuf(data, proto.SPECS[kind.DESCRIPTOR.name])
            found[call.index, at] = AnswerMessage(call.index, at, walked)
    return found


def _is_plain(kind: Any, data: bytes) -> bool:
    """True if google.protobuf reads the bytes as a message and writes the same bytes for it, without unknown fields."""
    from google.protobuf.message import DecodeError  # noqa: PLC0415  # as above

    try:
        message = kind.FromString(data)
    except DecodeError:
        return False
    message.DiscardUnknownFields()
    return bool(data) and bool(message.SerializeToString(deterministic=True) == data)


def malformed(view: View, call: int, response: int) -> Violation | None:
    """The first fault for which the bytes of an answer are no message of its type; None if they are one.

    A field of another wire type than the declared one is judged apart: parsers take it for a field that they do not
    know.
    """
    message = answer_messages(view).get((call, response))
    for fault in () if message is None or message.reading is None else message.reading.violations:
        if fault.rule is not ProtobufRule.WIRE_TYPE_DIFFERS:
            return Violation(
                fault.required, fault.observed, fault.path, start=fault.start, end=fault.end, response=response
            )
    return None
