"""The byte facet: schema and batch messages as subjects, and the faults of the wire as violations.

The selectors here know at a glance whether the wire found anything at all, so that the many clauses on the form of
messages cost nothing where a message is well formed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Generic, TypeAlias, TypeVar

from conformance.contract.clause import Violation
from conformance.contract.view import BatchBytes, SchemaBytes, View
from conformance.wire import Fault, Rule

__all__ = [
    "BYTE_SELECTORS",
    "Message",
    "Messages",
    "batches",
    "broken",
    "declarations",
    "messages",
    "schemas",
    "violation",
]

Message: TypeAlias = SchemaBytes | BatchBytes
M = TypeVar("M", SchemaBytes, BatchBytes, Message)


class Messages(Generic[M]):
    """A selector of messages, for clauses that only :func:`broken` decides: no fault, no violation."""

    def __init__(self, name: str, select: Callable[[View], Sequence[M]]) -> None:
        self._name = name
        self._select = select

    def __call__(self, view: View) -> Sequence[M]:
        """The messages of the exchange."""
        return self._select(view)

    def clean(self, view: View) -> bool:
        """Whether the wire found nothing to remark in any of them."""
        return not any(message.faults for message in self._select(view))

    def __repr__(self) -> str:
        return self._name


def _all(view: View) -> list[Message]:
    return [*view.schemas, *view.batches]


schemas: Final = Messages[SchemaBytes]("schemas", lambda view: view.schemas)
"""Every ``serialized_schema``."""
batches: Final = Messages[BatchBytes]("batches", lambda view: view.batches)
"""Every ``serialized_record_batch``."""
messages: Final = Messages[Message]("messages", _all)
"""Every message of either byte field."""


def declarations(view: View) -> Sequence[SchemaBytes]:
    """Every ``serialized_schema``, for clauses that ask what it declares and not only what the wire found wrong."""
    return view.schemas


BYTE_SELECTORS: Final[tuple[Callable[[View], Sequence[Message]], ...]] = (schemas, batches, messages, declarations)
"""What can be judged on bytes alone, without a case."""


def broken(message: Message, *rules: Rule) -> Iterable[Violation]:
    """A violation for each fault under one of ``rules``."""
    faults = message.faults
    return [violation(fault) for fault in faults if fault.rule in rules] if faults else ()


def violation(fault: Fault) -> Violation:
    """What the wire found, as a clause reports it."""
    return Violation(fault.required, fault.observed, fault.path, fault.start, fault.end)
