"""The messages of a stream, file or tensor, each with its own faults, as the clauses on messages need them.

A fault has one owner. A fault of a message belongs to that message, wherever it occurs. A fault of the sequence (its
order, its dictionaries, its end, a file's footer) belongs to the whole, which is a :class:`Container`. So each fault
is reported once.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from conformance import wire
from conformance.contract.bytefields import BatchBytes, SchemaBytes, without_extremes
from conformance.wire import Fault, Header, Rule, WireRule

__all__ = [
    "OF_A_TENSOR",
    "SOMETIMES_OF_THE_WHOLE",
    "Container",
    "MessageInBatches",
    "MessageOfSchema",
    "divide",
    "is_noise",
    "is_of_the_whole",
]

_TRUNCATED: Final = frozenset(
    {Rule.PREFIX_EMPTY, Rule.PREFIX_TRUNCATED, Rule.METADATA_TRUNCATED, Rule.MESSAGE_BODY_TRUNCATED}
)
_OF_A_MESSAGE: Final = frozenset({Rule.DICTIONARY_INDEX_NEGATIVE})
_GROUPS: Final = frozenset({"stream", "dictionary", "file", "footer", "block", "tensor", "sparse", "sparse-tensor"})
"""Groups of rules about the whole."""


SOMETIMES_OF_THE_WHOLE: Final = frozenset(
    {
        Rule.PREFIX_CONTINUATION_MISSING,
        Rule.MESSAGE_HEADER_KIND,
        Rule.MESSAGE_SECOND_MESSAGE,
        Rule.MESSAGE_END_OF_STREAM,
        Rule.MESSAGE_TRAILING_BYTES,
    }
)
"""Rules that can be broken by bytes in the place of a message, and not by a message."""


OF_A_TENSOR: Final = frozenset({Rule.BODY_PADDING_NONZERO, Rule.BODY_UNACCOUNTED})
"""Rules about the gaps in a body: for a tensor, the clauses on tensors report them."""


def is_of_the_whole(rule: WireRule) -> bool:
    """True if a rule is about a sequence of messages or the bytes around it, and not about one message.

    Truncated bytes are a fault of the whole too: it is an accident which message was the last.
    """
    return rule in _TRUNCATED or (rule.partition(".")[0] in _GROUPS and rule not in _OF_A_MESSAGE)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Container:
    """The whole of a stream, file or tensor: the faults that belong to none of its messages alone."""

    faults: Sequence[Fault]
    call: int = 0
    response: int | None = None


class MessageOfSchema(SchemaBytes):
    """The first message of a stream, whatever its header; ``data`` is the whole stream or file."""

    __slots__ = ()

    def __init__(self, data: bytes, message: wire.Message, schema: wire.Schema | None, faults: list[Fault]) -> None:
        self.call = 0
        self.response = None
        self.data = data
        self.where = "stream"
        self.message = wire.SchemaMessage(faults, message, (), schema)
        self.faults = faults


class MessageInBatches(BatchBytes):
    """Any later message, under the schema that describes its body: for a dictionary batch, the dictionary's own."""

    __slots__ = ("in_legacy",)

    headers: ClassVar = frozenset({Header.RECORD_BATCH, Header.DICTIONARY_BATCH})

    def __init__(
        self,
        data: bytes,
        first: wire.Message,
        message: wire.BatchMessage | None,
        faults: list[Fault],
        *,
        in_legacy: bool = False,
    ) -> None:
        self.in_legacy = in_legacy
        self._arrow = ...
        self.call = 0
        self.response = None
        self.data = data
        self.first = first
        self.message = message
        self.schema = None if message is None else message.schema
        self.faults = without_extremes(faults, self.schema)


def divide(
    faults: Sequence[Fault], messages: Sequence[wire.Message], owners: Mapping[int, wire.Message]
) -> tuple[list[Fault], dict[wire.Message, list[Fault]]]:
    """Return the faults of the whole, and those of each message; ``messages`` are in the order of the bytes.

    ``owners`` maps the identity of a fault to the message on whose parsing it was found; any other fault belongs to
    the message that contains its place.

    In a stream of legacy framing (before Arrow 0.15) that framing is no fault of the messages. In another stream,
    mixing it in is a fault of its own rule. Bytes that begin no message, not even a legacy one, have that one fault
    only.
    """
    whole: list[Fault] = []
    divided: dict[wire.Message, list[Fault]] = {message: [] for message in messages}
    starts = [message.start for message in messages]
    legacy = bool(messages) and messages[0].legacy and messages[0].header not in _NO_MESSAGE
    for fault in faults:
        index = bisect.bisect_right(starts, fault.start) - 1
        inside = index >= 0 and (fault.start < messages[index].end or messages[index].header in _NO_MESSAGE)
        owner = owners.get(id(fault)) or (messages[index] if inside else None)
        noise = owner is not None and is_noise(owner) and not legacy
        if noise or fault.rule is Rule.PREFIX_CONTINUATION_MISSING:
            if noise and fault.rule is Rule.PREFIX_CONTINUATION_MISSING:
                whole.append(fault)
        elif owner is None or is_of_the_whole(fault.rule) or fault.rule in SOMETIMES_OF_THE_WHOLE:
            whole.append(fault)
        else:
            divided[owner].append(fault)
    return whole, divided


def is_noise(message: wire.Message) -> bool:
    """True if bytes begin neither with a continuation word nor with a legacy message that can be followed."""
    return message.legacy and message.header in _NO_MESSAGE


_NO_MESSAGE: Final = frozenset({Header.UNKNOWN, Header.STRAY})
