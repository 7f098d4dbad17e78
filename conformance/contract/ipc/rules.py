"""Which clause tells of which rule of the wire, worked out by asking the clauses themselves.

Each clause of a profile is asked about a message, and about a whole, in which one rule is broken and nothing else.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from conformance import wire
from conformance.contract.clause import IPC, Clause
from conformance.contract.ipc.judging import ipc_clauses
from conformance.contract.ipc.messages import (
    OF_A_TENSOR,
    SOMETIMES_OF_THE_WHOLE,
    Container,
    MessageInBatches,
    MessageOfSchema,
    is_of_the_whole,
)
from conformance.contract.ipc.selectors import Wholes
from conformance.contract.messages import Messages, Shown
from conformance.wire import Fault, Header, Message, Rule

__all__ = ["asked_rules", "clauses_of_rules"]

_SCHEMA: Final = wire.Schema(())


@functools.cache
def clauses_of_rules(profile: str) -> Mapping[Rule, str]:
    """The clause of ``profile`` (``ipc-stream``, ``ipc-file``, ``ipc-tensor``) that tells of each rule.

    A rule about which no clause of the profile asks is missing: it cannot be broken in such bytes, or it stands in
    :data:`conformance.contract.messages.NOT_ASKED`.
    """
    clauses = ipc_clauses(profile, writer=True)
    found = {rule: next((one.id for one in clauses if _tells(one, rule)), "") for rule in Rule}
    return MappingProxyType({rule: clause_id for rule, clause_id in found.items() if clause_id})


def _tells(clause: Clause, rule: Rule) -> bool:
    fault = Fault(rule, 0, 0, "", rule.requirement, rule.value)
    found = (violation for subject in _subjects(clause, fault) for violation in clause.check(subject))
    return any(violation.observed == fault.observed for violation in found)


def _subjects(clause: Clause, fault: Fault) -> Iterator[MessageOfSchema | MessageInBatches | Container]:
    of_the_whole = is_of_the_whole(fault.rule) or fault.rule in SOMETIMES_OF_THE_WHOLE | OF_A_TENSOR
    if isinstance(clause.over, Wholes) and of_the_whole:
        yield Container([fault])
    elif isinstance(clause.over, Messages) and not is_of_the_whole(fault.rule):
        if Shown.SCHEMAS in clause.over.shown:
            yield MessageOfSchema(b"", Message(0, 0, Header.SCHEMA), _SCHEMA, [fault])
        if Shown.BATCHES in clause.over.shown:
            batch = Message(0, 0, Header.RECORD_BATCH)
            yield MessageInBatches(b"", batch, wire.BatchMessage([fault], batch, (), _SCHEMA), [fault])


def asked_rules() -> frozenset[Rule]:
    """The rules about which a clause on streams, files or tensors asks."""
    return frozenset(rule for profile in IPC for rule in clauses_of_rules(profile))
