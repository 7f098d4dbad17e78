"""Clauses on how a call ends, as rows: it is served, or it is refused.

What the clauses of the chapters differ in is which calls they are about, and what they say of the request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from conformance.contract.clause import Selector, Violation, clause
from conformance.contract.subjects import refused, refused_as, served
from conformance.contract.view import CallView
from conformance.records import Level

__all__ = ["refuses", "serves"]

Request = str | Callable[[Any], str]
"""What a finding calls the request: a text, or what makes one of the call."""


def serves(
    clause_id: str,
    over: Selector[Any],
    source: str,
    request: Request,
    says: str,
    *,
    breaks: str = "",
    level: Level = Level.MUST,
) -> None:
    """Register the clause that calls which ``over`` selects end in OK; ``says`` is its explanation."""
    clause(clause_id, over=over, source=source, level=level, breaks=breaks, says=says)(_ends(served, request))


def refuses(
    clause_id: str,
    reason: str,
    source: str,
    request: Request,
    says: str,
    *,
    breaks: str = "",
    level: Level = Level.MUST,
) -> None:
    """Register the clause that calls which have to be refused for ``reason`` do not end in OK."""
    over = refused_as(reason)
    clause(clause_id, over=over, source=source, level=level, breaks=breaks, says=says)(_ends(refused, request))


def _ends(
    check: Callable[[CallView, str], Iterator[Violation]], request: Request
) -> Callable[[CallView], Iterator[Violation]]:
    return lambda call: check(call, request if isinstance(request, str) else request(call))
