"""Wire rules as clauses: the rows of the chapters' tables, and how a row becomes a clause.

Most clauses on bytes decide nothing: they state the requirement of a rule of :mod:`conformance.wire`, its source and
the software that breaks without it. Such a clause is a row, made by :data:`must` or :data:`should`, in the table of
its chapter. A row without a source or an explanation has those of its rule.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Protocol

from conformance.contract.clause import Role, Selector, Subject, Violation, clause
from conformance.contract.sources import Sources
from conformance.records import Level
from conformance.wire import Fault, Rule, Severity, WireRule

__all__ = ["ANY_VIOLATION", "NOT_ASKED", "Faulty", "RuleRow", "broken", "must", "rule_clauses", "should"]

FORMAT: Final = "https://github.com/apache/arrow/blob/main/format/"
"""The folder of the files that rules name as their source."""

ANY_VIOLATION: Final = frozenset(rule for rule in Rule if rule.severity is Severity.VIOLATION)
"""The rules of the format itself. Disorder in permitted details may follow from a violation of one of these."""

NOT_ASKED: Final[Mapping[Rule, str]] = MappingProxyType(
    {
        Rule.FLATBUF_UNKNOWN_SLOT: "a later format may add slots, and readers pass over those they do not know",
        Rule.FLATBUF_OVERLAP: "encoders may share what is equal, and no reader writes to the metadata",
        Rule.KEY_VALUE_KEY_REPEATED: "the format does not forbid it; a column's metadata is asked as data",
        Rule.SCHEMA_NAME_MISSING: "an absent name is an empty one; which names columns have is asked as data",
        Rule.SCHEMA_ENDIANNESS_BIG: "asked as data, of the schema and not of the fault",
        Rule.MESSAGE_VERSION_V4: "the format permits V4, which differs from V5 in the layout of unions only",
        Rule.BUFFER_ORDER: "the format permits any order: readers find buffers by their offsets",
        Rule.OFFSETS_FIRST_NONZERO: "the format permits it: a slice need not be rebased before it is written",
        Rule.STREAM_END_MISSING: "to close the transport after a whole message ends a stream as the marker does",
    }
)
"""The wire rules that no clause reports, each with the reason."""


class Faulty(Subject, Protocol):
    """A subject in which the wire may have found faults: a message, or a whole stream, file or tensor."""

    @property
    def faults(self) -> Sequence[Fault]: ...  # noqa: D102  # see the class


@dataclasses.dataclass(frozen=True, slots=True)
class RuleRow:
    """A clause that reports each fault under one of its rules; :data:`must` describes the columns."""

    id: str
    level: Level
    rules: tuple[WireRule, ...]
    breaks: str
    says: str
    source: Sources
    unless: frozenset[WireRule]
    unless_there: frozenset[WireRule]
    over: Selector[Any] | None
    profiles: tuple[str, ...]
    role: Role

    @property
    def explanation(self) -> str:
        """The explanation of the clause: its own text, else the requirements of its rules."""
        words = "; ".join(rule.requirement for rule in self.rules)
        return inspect.cleandoc(self.says) or f"{words[0].upper()}{words[1:]}."

    def check(self, subject: Faulty) -> Iterable[Violation]:
        """Return a violation for each fault that the clause reports."""
        found = [fault for fault in subject.faults if fault.rule in self.rules]
        if not found or (self.unless and any(fault.rule in self.unless for fault in subject.faults)):
            return ()
        there = {fault.path for fault in subject.faults if fault.rule in self.unless_there}
        return [_violation(fault) for fault in found if fault.path not in there]


def _row(
    level: Level,
    clause_id: str,
    rules: WireRule | tuple[WireRule, ...],
    breaks: str = "",
    says: str = "",
    *,
    source: Sources = "",
    unless: Collection[WireRule] = (),
    unless_there: Collection[WireRule] = (),
    over: Selector[Any] | None = None,
    profiles: tuple[str, ...] = (),
    role: Role = Role.BYTES,
) -> RuleRow:
    rules = (rules,) if isinstance(rules, WireRule) else rules
    source = source or _source_of(rules[0])
    return RuleRow(
        clause_id, level, rules, breaks, says, source, frozenset(unless), frozenset(unless_there), over, profiles, role
    )


must = functools.partial(_row, Level.MUST)
"""Make the row of a clause: its id, the rule or rules that it reports, the affected software, and its explanation.

The explanation is given if it says more than the rules, and ``source`` if it differs from the first rule's.
``unless`` are rules: if one of them is broken as well, the clause reports nothing.
``unless_there`` are rules too: if one of them is broken, the clause reports nothing at the same path, because the
fault then follows from the other one.
``over``, ``profiles`` and ``role`` are given if they differ from those of the table.
"""
should = functools.partial(_row, Level.SHOULD)
"""Like :data:`must`, at level SHOULD."""


def rule_clauses(over: Selector[Any], profiles: tuple[str, ...], *rows: RuleRow) -> None:
    """Register a table: the clause of each row, in their order, with the subjects of ``over``."""
    for row in rows:
        register = clause(
            row.id,
            over=row.over or over,
            source=row.source,
            level=row.level,
            breaks=row.breaks,
            profiles=row.profiles or profiles,
            role=row.role,
            rules=row.rules,
            says=row.explanation,
        )
        register(row.check)


def broken(subject: Faulty, *rules: WireRule) -> list[Violation]:
    """Return a violation for each fault under one of ``rules``, for clauses that decide which of these faults count."""
    return [_violation(fault) for fault in subject.faults if fault.rule in rules]


def _violation(fault: Fault) -> Violation:
    return Violation(fault.required, fault.observed, fault.path, fault.start, fault.end)


def _source_of(rule: WireRule) -> str:
    """Return the URL of a rule's source; for a definition of the format the wire names only the file."""
    return rule.source if rule.source.startswith("https://") else FORMAT + rule.source.partition(",")[0]
