"""The permitted results of a reader on some bytes, and the judged part of its answer.

An :class:`Expectation` gives them for one input, independent of any reader; :class:`JudgedAnswer` is the part of a
reader's answer that is judged. A reader has to *survive* all bytes. It has to *refuse* input whose structure is
invalid, because a result would come from memory that does not belong to the input. It may refuse or accept input of
which only the content is invalid, or which one text permits and another does not. It has to *accept* legal input:
the core of the format always, the rest unless it reports that it lacks the feature.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from conformance.contract.closed import Tier, Validity
from conformance.wire import PlainTable

__all__ = ["STATISTICS", "Expectation", "JudgedAnswer"]


STATISTICS: Final = ("messages", "record_batches", "dictionary_batches", "dictionary_deltas", "replaced_dictionaries")
"""The counts that a reader of a stream or file may report: every message but the end-of-stream marker, record batches,
dictionary batches (with the deltas and replacements), deltas, and dictionary batches that replace an earlier one.
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Expectation:
    """The permitted results of readers on one input.

    ``rows`` are the true rows, None if they cannot be known; a reader that returns rows has to return these, whatever
    ``result`` is.
    ``clauses`` are the ids of the clauses ``reader.accepts.…`` or ``reader.refuses.…`` that the input tests;
    ``reason`` is a sentence on the fault of the bytes, or on the features that they use.
    ``statistics`` are the true counts of :data:`STATISTICS`, each with those that are permitted, None if readers are
    not asked for them.
    """

    result: Validity
    rows: PlainTable | None
    tier: Tier
    clauses: tuple[str, ...] = ()
    reason: str = ""
    statistics: Mapping[str, Sequence[int]] | None = None


class JudgedAnswer(Protocol):
    """The judged part of a reader's answer.

    ``outcome`` is one of ``rows``, ``refused``, ``unsupported`` (the reader reports that it lacks the feature),
    ``died``,
    ``hung``, ``exhausted`` and ``unavailable`` (the reader could not be asked).
    ``table`` is None, although the reader returned rows, if they were too many to be transferred.
    ``panicked`` is True if the refusal, or the report of a missing feature, was a failed assertion inside the reader,
    which its caller cannot be expected to catch.
    ``statistics`` are the reader's counts, if it counts.
    ``ways`` are the differences between the values of the library's own interface and those that it hands over to
    another library; None if they were not compared.
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

    @property
    def ways(self) -> Sequence[str] | None: ...  # noqa: D102  # see the class
