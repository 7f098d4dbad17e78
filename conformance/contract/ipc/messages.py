"""The messages of a stream, file or tensor, each with its own faults, as the clauses on messages want them.

A fault has one owner. What is wrong with a message, wherever it stands, belongs to that message; what is wrong with
the sequence (its order, its dictionaries, its end, a file's footer) belongs to the whole, which is a
:class:`Container`. So no fault is told twice.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from conformance import wire
from conformance.contract.bytefields import BatchBytes, SchemaBytes, without_extremes
from conformance.wire import Fault, Header, Rule

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
"""Groups of rules on the whole."""


SOMETIMES_OF_THE_WHOLE: Final = frozenset(
    {
        Rule.PREFIX_CONTINUATION_MISSING,
        Rule.MESSAGE_HEADER_KIND,
        Rule.MESSAGE_SECOND_MESSAGE,
        Rule.MESSAGE_END_OF_STREAM,
        Rule.MESSAGE_TRAILING_BYTES,
    }
)
"""Rules that are broken by what stands where a message is wanted, and by no message."""


OF_A_TENSOR: Final = frozenset({Rule.BODY_PADDING_NONZERO, Rule.BODY_UNACCOUNTED})
"""Rules on the gaps in a body: a tensor's is the business of the clauses on tensors."""


def is_of_the_whole(rule: Rule) -> bool:
    """Whether a rule is about a sequence of messages, or about what lies around it, and not about one of them.

    Bytes that break off are the whole's, too: which of its messages was the last is an accident.
    """
    return rule in _TRUNCATED or (rule.partition(".")[0] in _GROUPS and rule not in _OF_A_MESSAGE)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Container:
    """The whole of a stream, file or tensor: the faults that belong to none of its messages alone."""

    faults: Sequence[Fault]
    call: int = 0
    response: int | None = None


class MessageOfSchema(SchemaBytes):
    """The message that a stream begins with, whatever its header; ``data`` is the whole that it stands in."""

    __slots__ = ()

    def __init__(self, data: bytes, message: wire.Message, schema: wire.Schema | None, faults: list[Fault]) -> None:
        self.call = 0
        self.response = None
        self.data = data
        self.where = "stream"
        self.message = wire.SchemaMessage(faults, message, (), schema)
        self.faults = faults


class MessageInBatches(BatchBytes):
    """Any later message, under the schema that explains its body: a dictionary's own for a dictionary batch."""

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
    """The faults of the whole, and those of each message; ``messages`` are in the order of the bytes.

    ``owners`` names, by the identity of the fault, the message on whose reading it was found; any other belongs to the
    message in which it lies.

    Where framing as before Arrow 0.15 is the rule, it is no fault of the messages; where it is not, mixing it in is
    the fault, and is told as such. Of bytes that begin no message, not even a legacy one, that is the one fault told.
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
    """Whether bytes begin neither with a continuation word nor with a legacy message that can be followed."""
    return message.legacy and message.header in _NO_MESSAGE


_NO_MESSAGE: Final = frozenset({Header.UNKNOWN, Header.STRAY})
