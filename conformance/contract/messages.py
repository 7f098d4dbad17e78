"""The byte facet: schema and batch messages as subjects.

The selectors here know at a glance whether the wire found anything at all, so that the many clauses on the form of
messages cost nothing where a message is well formed.
"""

from __future__ import annotations

import enum
import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Generic, TypeAlias, TypeVar

from conformance import wire
from conformance.contract.clause import MAX_FINDINGS, Violation
from conformance.contract.raised import Raised, attempt, raise_or_give
from conformance.contract.view import BatchBytes, SchemaBytes, View
from conformance.wire import Header, Rule, Severity

__all__ = [
    "Message",
    "Messages",
    "ShownMessages",
    "batches",
    "bodies",
    "is_message",
    "legible_schemas",
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
"""Schemas kept with what was found about them: a session's schema stands in front of thousands of batches."""


class ShownMessages(enum.Flag):
    """Which messages an exchange shows."""

    NOTHING = 0
    SCHEMAS = enum.auto()
    BATCHES = enum.auto()


class MessageAspect:
    """The messages of an exchange; they are clean if the wire had nothing to remark and no check of a schema has."""

    def __init__(self) -> None:
        self._checks: list[SchemaCheck] = []
        self._known: dict[int, tuple[wire.Schema, dict[SchemaCheck, tuple[Violation, ...] | Raised]]] = {}

    def state(self, view: View) -> ShownMessages | None:
        """What is shown, where all of it is clean."""
        return view.once(MessageAspect, lambda: self._state(view))

    def _state(self, view: View) -> ShownMessages | None:
        if any(message.faults or not is_message(message) for message in _all(view)):
            return None
        # Of whole streams, that a message is of another kind or broke off is no fault of its own.
        if any(message.message.schema is None for message in view.schemas) or not all(map(_has_body, view.batches)):
            return None
        if any(found for schema in view.schemas for found in self._found(schema).values()):
            return None
        return (ShownMessages.SCHEMAS if view.schemas else ShownMessages.NOTHING) | (
            ShownMessages.BATCHES if view.batches else ShownMessages.NOTHING
        )

    def add(self, check: SchemaCheck) -> None:
        """Take a check of schemas into account."""
        self._checks.append(check)
        self._known.clear()

    def found(self, message: SchemaBytes, check: SchemaCheck) -> tuple[Violation, ...]:
        """What a check finds in a message's schema, computed once per schema; raises what the check raises."""
        return raise_or_give(self._found(message).get(check, ()))

    def _found(self, message: SchemaBytes) -> dict[SchemaCheck, tuple[Violation, ...] | Raised]:
        schema = message.message.schema
        if schema is None:
            return {}
        if id(schema) not in self._known:
            if len(self._known) >= MAX_REMEMBERED:
                self._known.clear()
            self._known[id(schema)] = schema, {check: _attempted(check, schema) for check in self._checks}
        return self._known[id(schema)][1]


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
        """The messages of the exchange."""
        return self._select(view)

    def shown_by(self, state: ShownMessages) -> bool:
        """Whether there are any in an exchange that shows this."""
        return bool(state & self.shown)


def _all(view: View) -> list[Message]:
    return [*view.schemas, *view.batches]


schemas: Final = Messages[SchemaBytes](ShownMessages.SCHEMAS, lambda view: view.schemas)
"""Every ``serialized_schema``."""
batches: Final = Messages[BatchBytes](ShownMessages.BATCHES, lambda view: view.batches)
"""Every ``serialized_record_batch``."""
messages: Final = Messages[Message](ShownMessages.SCHEMAS | ShownMessages.BATCHES, _all)
"""Every message of either byte field."""


_NO_PREFIX: Final = frozenset({Rule.PREFIX_EMPTY, Rule.PREFIX_TRUNCATED, Rule.PREFIX_CONTINUATION_MISSING})


def is_message(message: Message) -> bool:
    """Whether the bytes begin with a message at all, be it a legacy or a broken one."""
    first = message.first
    if first is None or first.header is Header.STRAY:
        return False
    return message.in_legacy or not (first.legacy and first.header is Header.UNKNOWN)


def _is_prefixed(message: Message) -> bool:
    first = message.first
    if first is not None and first.legacy and first.header is Header.UNKNOWN and not message.in_legacy:
        return False
    return not any(fault.rule in _NO_PREFIX for fault in message.faults)


def _has_body(batch: BatchBytes) -> bool:
    """Whether the metadata of a batch leads to its body: it can be followed, and a schema explains it."""
    if batch.schema is None or batch.first is None or batch.first.header not in batch.headers:
        return False
    violations = (fault for fault in batch.faults if fault.severity is Severity.VIOLATION)
    return is_message(batch) and not any(fault.rule.startswith("flatbuf.") for fault in violations)


prefixed: Final = Messages[Message](
    ShownMessages.SCHEMAS | ShownMessages.BATCHES, lambda view: [one for one in _all(view) if _is_prefixed(one)]
)
"""Every message of either byte field that has a prefix."""
written: Final = Messages[Message](
    ShownMessages.SCHEMAS | ShownMessages.BATCHES, lambda view: [one for one in _all(view) if is_message(one)]
)
"""Every field of bytes that begins with a message: noise passes no clause on what messages have to be."""
written_schemas: Final = Messages[SchemaBytes](
    ShownMessages.SCHEMAS, lambda view: [one for one in view.schemas if is_message(one)]
)
"""Every ``serialized_schema`` that begins with a message."""
written_batches: Final = Messages[BatchBytes](
    ShownMessages.BATCHES, lambda view: [one for one in view.batches if is_message(one)]
)
"""Every ``serialized_record_batch`` that begins with a message."""
legible_schemas: Final = Messages[SchemaBytes](
    ShownMessages.SCHEMAS, lambda view: [one for one in view.schemas if one.message.schema is not None]
)
"""Every schema that could be read."""
bodies: Final = Messages[BatchBytes](
    ShownMessages.BATCHES, lambda view: [one for one in view.batches if _has_body(one)]
)
"""Every record batch whose metadata leads to its body."""


def per_schema(check: SchemaCheck) -> Callable[[SchemaBytes], Iterable[Violation]]:
    """Make a check of what a schema declares a check of schema messages, worked out once per schema."""
    _ASPECT.add(check)

    @functools.wraps(check)
    def remembered(message: SchemaBytes) -> Iterable[Violation]:
        return _ASPECT.found(message, check)

    return remembered
