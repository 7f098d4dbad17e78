"""What a reader may make of bytes, and what it made of them.

An :class:`Expectation` says it for one input, without looking at any reader; :class:`Answered` is as much of a reader's
answer as is judged. Three tiers are kept apart. Whatever the bytes, a reader *survives* them. What is invalid in its
structure it *refuses*, for what it returned instead would be somebody else's memory. What is invalid in its content
alone, or permitted by one text and not by another, it may refuse or accept. What is legal it *accepts*: the core of
the format in any case, the rest unless it says that it lacks the feature.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Final, Protocol

from conformance.contract.closed import Tier, Validity
from conformance.wire import PlainTable

__all__ = ["STATISTICS", "Answered", "Expectation"]


STATISTICS: Final = ("messages", "record_batches", "dictionary_batches", "dictionary_deltas", "replaced_dictionaries")
"""What a reader of a stream may count: every message but the end-of-stream marker, record batches, dictionary batches
(the deltas and replacements among them), deltas, and dictionary batches that replace an earlier one."""


@dataclasses.dataclass(frozen=True, slots=True)
class Expectation:
    """What readers may make of one input.

    ``rows`` are the true rows, None where nobody can say; a reader that returns rows is held to them, whatever the
    result. ``clauses`` are the ids of the clauses ``reader.accepts.…`` or ``reader.refuses.…`` that the input is for;
    ``reason`` says in a sentence what is the matter with the bytes, or which features they use. ``statistics`` are the
    true counts of :data:`STATISTICS`, None where nobody is asked for them.
    """

    result: Validity
    rows: PlainTable | None
    tier: Tier
    clauses: tuple[str, ...] = ()
    reason: str = ""
    statistics: Mapping[str, int] | None = None


class Answered(Protocol):
    """A reader's answer, as far as it is judged.

    ``outcome`` is one of ``rows``, ``refused``, ``unsupported`` (the reader says that it lacks the feature), ``died``,
    ``hung``, ``exhausted`` and ``unavailable`` (it could not be asked). ``table`` is None, although rows came, where
    they were too many to be brought back. ``panicked`` says that a refusal was a broken assertion of the reader's own,
    which its caller cannot be expected to catch. ``statistics`` are what the reader counted, if it counts.
    """

    @property
    def reader(self) -> str: ...  # noqa: D102  # see the class

    @property
    def outcome(self) -> str: ...  # noqa: D102  # see the class

    @property
    def table(self) -> PlainTable | None: ...  # noqa: D102  # see the class

    @property
    def error_text(self) -> str: ...  # noqa: D102  # see the class

    @property
    def statistics(self) -> Mapping[str, int]: ...  # noqa: D102  # see the class

    @property
    def panicked(self) -> bool: ...  # noqa: D102  # see the class
