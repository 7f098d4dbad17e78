"""Which clause on streams, files and tensors tells of which rule of the wire: what the clauses say of themselves."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType

from conformance.contract.clause import IPC, Clause
from conformance.contract.ipc.judging import ipc_clauses
from conformance.contract.ipc.messages import OF_A_TENSOR, SOMETIMES_OF_THE_WHOLE, is_of_the_whole
from conformance.contract.ipc.selectors import Wholes
from conformance.wire import Rule

__all__ = ["asked_rules", "clauses_of_rules"]


@functools.cache
def clauses_of_rules(profile: str) -> Mapping[Rule, str]:
    """The clause of ``profile`` (``ipc-stream``, ``ipc-file``, ``ipc-tensor``) that tells of each rule.

    A rule about which no clause of the profile asks is missing: it cannot be broken in such bytes, or it stands in
    :data:`conformance.contract.rules.NOT_ASKED`.
    """
    clauses = ipc_clauses(profile, writer=True)
    return MappingProxyType({rule: one.id for rule in Rule for one in clauses if _tells(one, rule)})


def _tells(clause: Clause, rule: Rule) -> bool:
    """Whether a clause names the rule, and faults under it belong to its subjects."""
    if rule not in clause.rules:
        return False
    if isinstance(clause.over, Wholes):
        return is_of_the_whole(rule) or rule in SOMETIMES_OF_THE_WHOLE | OF_A_TENSOR
    return not is_of_the_whole(rule)


def asked_rules() -> frozenset[Rule]:
    """The rules about which a clause on streams, files or tensors asks."""
    return frozenset(rule for profile in IPC for rule in clauses_of_rules(profile))
