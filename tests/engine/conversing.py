"""Calls as a proxy writes them: each is an exchange of its own, without a case."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from conformance.engine.conversed import UNKNOWN_TABLE
from conformance.engine.events import ExchangeRecorded
from conformance.protocol import DEFAULT_PROTOCOL
from conformance.records import Asker, AskerKind, Call, Case, Exchange

__all__ = ["CLIENT", "alone"]

CLIENT = Asker(AskerKind.PROXY, "some-client", "1.0")


def alone(
    calls: Sequence[Call], *, protocol: str = DEFAULT_PROTOCOL, now: int = 0, labelled: bool = False
) -> tuple[ExchangeRecorded, ...]:
    """The recordings of calls of a protocol; ``labelled`` keeps the labels."""
    found = []
    for at, call in enumerate(calls):
        case = Case(f"call.{at:06}", "One call", UNKNOWN_TABLE, steps=(), protocol=protocol)
        bare = dataclasses.replace(call, step=0, label=call.label if labelled else "")
        one = Exchange(case.id, "server", (bare,), now=now, protocol=protocol, asked_by=CLIENT)
        found.append(ExchangeRecorded(case, one))
    return tuple(found)
