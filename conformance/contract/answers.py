"""The messages of a server's answers by the strict walk, which keeps what a generated class drops."""

from __future__ import annotations

from typing import NamedTuple

from conformance.contract.clause import Violation
from conformance.contract.subjects import once_per_view
from conformance.contract.view import View
from conformance.wire.protobuf import read_protobuf
from conformance.wire.protobufmessages import ProtobufReading
from conformance.wire.protobufrules import ProtobufRule

__all__ = ["AnswerMessage", "answer_messages", "malformed"]


class AnswerMessage(NamedTuple):
    """A message of an answer: the index of its call, its own index in it, and the walk of its bytes."""

    call: int
    response: int
    reading: ProtobufReading


@once_per_view
def answer_messages(view: View) -> dict[tuple[int, int], AnswerMessage]:
    """Every message of the answers of an exchange of Storage Read, by its call and its index in that."""
    from conformance.contract import proto  # noqa: PLC0415  # judging bare messages needs no protobuf

    found: dict[tuple[int, int], AnswerMessage] = {}
    for call in view.every_call:
        if call.raw.method not in proto.RESPONSES:
            continue
        spec = proto.SPECS[proto.RESPONSES[call.raw.method].DESCRIPTOR.name]
        for at, data in enumerate(call.raw.responses):
            reading = read_protobuf(data, spec)
            found[call.index, at] = AnswerMessage(call.index, at, reading)
    return found


def malformed(view: View, call: int, response: int) -> Violation | None:
    """The first fault for which the bytes of an answer are no message of its type; None if they are one.

    A field of another wire type than the declared one is judged apart: parsers take it for a field that they do not
    know.
    """
    message = answer_messages(view).get((call, response))
    for fault in () if message is None else message.reading.violations:
        if fault.rule is not ProtobufRule.WIRE_TYPE_DIFFERS:
            return Violation(
                fault.required, fault.observed, fault.path, start=fault.start, end=fault.end, response=response
            )
    return None
