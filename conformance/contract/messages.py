"""The byte aspect: schema and batch messages as subjects.

The selectors here check first whether the wire found any fault at all, so that the many clauses on the form of
messages cost nothing if the messages are well formed.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Generic, TypeAlias, TypeVar

from conformance import wire
from conformance.contract.bytefields import NO_MESSAGE
from conformance.contract.clause import MAX_FINDINGS, Violation
from conformance.contract.raised import Raised, attempt, raise_or_give
from conformance.contract.view import BatchBytes, SchemaBytes, View
from conformance.wire import Header, Rule, Severity
from conformance.wire.messages import BEYOND_METADATA

__all__ = [
    "Message",
    "Messages",
    "ShownMessages",
    "batches",
    "bodies",
    "framed_batches",
    "framed_schemas",
    "is_message",
    "legible_schemas",
    "marked_batches",
    "marked_schemas",
    "messages",
    "per_schema",
    "prefixed",
    "schemas",
    "written",
    "written_batches",
    "written_schemas",
]

Message: TypeAlias = SchemaBytes | BatchBytes
M = TypeVar("M", bound=SchemaBytes | BatchBytes)
SchemaCheck: TypeAlias = Callable[[wire.Schema], Iterable[Violation]]

MAX_REMEMBERED: Final = 256
"""The number of schemas kept with their violations: the schema of one session precedes thousands of batches."""


class ShownMessages(enum.Flag):
    """The kinds of messages that an exchange contains."""

    NOTHING = 0
    SCHEMAS = enum.auto()
    BATCHES = enum.auto()
    EVERY = SCHEMAS | BATCHES


_SHOWN: Final = {
    (False, False): ShownMessages.NOTHING,
    (True, False): ShownMessages.SCHEMAS,
    (False, True): ShownMessages.BATCHES,
    (True, True): ShownMessages.EVERY,
}
"""The kinds of messages, by whether there are schemas and batches."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Checked:
    """A schema with the violations that each check found in it; it keeps the schema alive, and so its identity."""

    schema: wire.Schema | None
    found: Mapping[SchemaCheck, tuple[Violation, ...] | Raised]
    clean: bool


class MessageAspect:
    """The messages of an exchange; clean if neither the wire nor a check of a schema found anything."""

    def __init__(self) -> None:
        self._checks: list[SchemaCheck] = []
        self._known: dict[int, _Checked] = {}

    def state(self, view: View) -> ShownMessages | None:
        """Return the kinds of messages in the view if all are clean, else None."""
        return view.once(MessageAspect, lambda: self._state(view))

    def _state(self, view: View) -> ShownMessages | None:
        for message in _all(view):
            if message.faults or not is_message(message):
                return None
        # In a whole stream, a message of another kind or a truncated one is not a fault of the message itself, so
        # the faults above do not show it.
        if not all(map(_has_body, view.batches)):
            return None
        for schema in view.schemas:
            if schema.message.schema is None or not self._checked(schema.message.schema).clean:
                return None
        return _SHOWN[bool(view.schemas), bool(view.batches)]

    def add(self, check: SchemaCheck) -> None:
        """Register a check of schemas: only schemas that pass it are clean."""
        self._checks.append(check)
        self._known.clear()

    def found(self, message: SchemaBytes, check: SchemaCheck) -> tuple[Violation, ...]:
        """Return the violations that a check finds in a message's schema, computed once per schema.

        Raises:
            Exception: whatever the check raises.
        """
        return raise_or_give(self._checked(message.message.schema).found.get(check, ()))

    def _checked(self, schema: wire.Schema | None) -> _Checked:
        if id(schema) not in self._known:
            if len(self._known) >= MAX_REMEMBERED:
                self._known.clear()
            found = {} if schema is None else {check: _attempted(check, schema) for check in self._checks}
            self._known[id(schema)] = _Checked(schema, found, clean=not any(found.values()))
        return self._known[id(schema)]


def _attempted(check: SchemaCheck, schema: wire.Schema) -> tuple[Violation, ...] | Raised:
    return attempt(lambda: tuple(itertools.islice(check(schema), MAX_FINDINGS)))


_ASPECT: Final = MessageAspect()


class Messages(Generic[M]):
    """A selector of messages."""

    aspect = _ASPECT

    def __init__(self, shown: ShownMessages, select: Callable[[View], Sequence[M]]) -> None:
        self.shown = shown
        self._select = select

    def __call__(self, view: View) -> Sequence[M]:
        """Return the messages of the exchange."""
        return self._select(view)

    def shown_by(self, state: ShownMessages) -> bool:
        """True if an exchange with this state has any such message."""
        return bool(state & self.shown)


def _all(view: View) -> list[Message]:
    return [*view.schemas, *view.batches]


schemas: Final = Messages[SchemaBytes](ShownMessages.SCHEMAS, lambda view: view.schemas)
"""Every ``serialized_schema``."""
batches: Final = Messages[BatchBytes](ShownMessages.BATCHES, lambda view: view.batches)
"""Every ``serialized_record_batch``."""
messages: Final = Messages[Message](ShownMessages.EVERY, _all)
"""Every message of either byte field."""


_NO_PREFIX: Final = frozenset({Rule.PREFIX_EMPTY, Rule.PREFIX_TRUNCATED, Rule.PREFIX_CONTINUATION_MISSING})


def _begins(message: Message) -> bool:
    """True if the bytes begin with a prefix that leads to metadata or says that there is none."""
    first = message.first
    if first is None or first.header is Header.STRAY:
        return False
    if message.in_legacy:
        return True
    if first.legacy and first.header in NO_MESSAGE:
        return False
    return all(fault.rule is not Rule.METADATA_TRUNCATED for fault in message.faults)


def is_message(message: Message) -> bool:
    """True if the bytes begin with a message at all, even a legacy or broken one; an end-of-stream marker is none."""
    return _begins(message) and message.first is not None and message.first.header is not Header.END_OF_STREAM


def _is_framed(message: Message) -> bool:
    """True if the metadata says of which kind the message is, and nothing says that its length is wrong."""
    if not is_message(message) or (message.first is not None and message.first.header is Header.UNKNOWN):
        return False
    return not any(fault.rule in BEYOND_METADATA for fault in message.faults)


def _may_be_marked(message: Message) -> bool:
    marker = message.first is not None and message.first.header is Header.END_OF_STREAM
    return _begins(message) and (marker or _is_framed(message))


def _is_prefixed(message: Message) -> bool:
    first = message.first
    if first is not None and first.legacy and first.header in NO_MESSAGE and not message.in_legacy:
        return False
    return not any(fault.rule in _NO_PREFIX for fault in message.faults)


def _has_body(batch: BatchBytes) -> bool:
    """True if the metadata of a batch leads to its body: the metadata can be followed, and a schema describes it."""
    if batch.schema is None or batch.first is None or batch.first.header not in batch.headers:
        return False
    if batch.message is None or batch.message.length is None:
        return False
    # What is not aligned is read all the same, so its fault hides nothing.
    violations = (
        fault.rule
        for fault in batch.faults
        if fault.severity is Severity.VIOLATION and fault.rule is not Rule.FLATBUF_UNALIGNED
    )
    return is_message(batch) and not any(rule.startswith("flatbuf.") for rule in violations)


prefixed: Final = Messages[Message](ShownMessages.EVERY, lambda view: [one for one in _all(view) if _is_prefixed(one)])
"""Every message of either byte field that has a prefix."""
written: Final = Messages[Message](ShownMessages.EVERY, lambda view: [one for one in _all(view) if is_message(one)])
"""Every byte field that begins with a message: noise passes no clause on messages."""
written_schemas: Final = Messages[SchemaBytes](
    ShownMessages.SCHEMAS, lambda view: [one for one in view.schemas if is_message(one)]
)
"""Every ``serialized_schema`` that begins with a message."""
written_batches: Final = Messages[BatchBytes](
    ShownMessages.BATCHES, lambda view: [one for one in view.batches if is_message(one)]
)
"""Every ``serialized_record_batch`` that begins with a message."""
framed_schemas: Final = Messages[SchemaBytes](
    ShownMessages.SCHEMAS, lambda view: [one for one in view.schemas if _is_framed(one)]
)
"""Every ``serialized_schema`` whose first message has a known kind and a known end."""
framed_batches: Final = Messages[BatchBytes](
    ShownMessages.BATCHES, lambda view: [one for one in view.batches if _is_framed(one)]
)
"""Every ``serialized_record_batch`` whose first message has a known kind and a known end."""
marked_schemas: Final = Messages[SchemaBytes](
    ShownMessages.SCHEMAS, lambda view: [one for one in view.schemas if _may_be_marked(one)]
)
"""Those of ``framed_schemas``, and every ``serialized_schema`` that begins with an end-of-stream marker."""
marked_batches: Final = Messages[BatchBytes](
    ShownMessages.BATCHES, lambda view: [one for one in view.batches if _may_be_marked(one)]
)
"""Those of ``framed_batches``, and every ``serialized_record_batch`` that begins with an end-of-stream marker."""
legible_schemas: Final = Messages[SchemaBytes](
    ShownMessages.SCHEMAS, lambda view: [one for one in view.schemas if one.message.schema is not None]
)
"""Every schema that could be read."""
bodies: Final = Messages[BatchBytes](
    ShownMessages.BATCHES, lambda view: [one for one in view.batches if _has_body(one)]
)
"""Every record batch whose metadata leads to its body."""


def per_schema(check: SchemaCheck) -> Callable[[SchemaBytes], Iterable[Violation]]:
    """Turn a check of schemas into a check of schema messages that is computed once per schema."""
    _ASPECT.add(check)

    @functools.wraps(check)
    def remembered(message: SchemaBytes) -> Iterable[Violation]:
        return _ASPECT.found(message, check)

    return remembered
