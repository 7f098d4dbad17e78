"""The clause on streams, files or tensors that reports each wire rule, computed from the clauses' own declarations."""

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
    """Return the clause of ``profile`` (``ipc-stream``, ``ipc-file``, ``ipc-tensor``) that reports each rule.

    A rule that no clause of the profile reports is missing: such bytes cannot break it, or it is listed in
    :data:`conformance.contract.rules.NOT_ASKED`.
    """
    clauses = ipc_clauses(profile, writer=True)
    return MappingProxyType({rule: one.id for rule in Rule for one in clauses if _reports(one, rule)})


def _reports(clause: Clause, rule: Rule) -> bool:
    """True if a clause names the rule, and faults under it belong to its subjects."""
    if rule not in clause.rules:
        return False
    if isinstance(clause.over, Wholes):
        return is_of_the_whole(rule) or rule in SOMETIMES_OF_THE_WHOLE | OF_A_TENSOR
    return not is_of_the_whole(rule)


def asked_rules() -> frozenset[Rule]:
    """Return the rules that a clause on streams, files or tensors reports."""
    return frozenset(rule for profile in IPC for rule in clauses_of_rules(profile))
