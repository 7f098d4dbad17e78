"""What a client and its server said to each other, as cases: calls that belong together, and no table.

A proxy records calls one by one. Here the calls on one thing, such as a session, become one exchange, and
its case is made from the requests: each call carries out the step that it asked for. Nobody knows the table, and nobody
says which requests had to be refused. So the server's word decides: a call that ended in OK was legal, and a refusal
was permitted. Clauses that need to know more are not judged (:func:`clauses_on_calls`).

The plugin of a protocol knows its calls (:class:`conformance.engine.plugin.Recordings`).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator
from typing import Final

from conformance.contract.clause import Clause
from conformance.contract.messages import Messages
from conformance.engine.events import ExchangeRecorded
from conformance.engine.plugin import EnginePlugin, Recordings
from conformance.engine.selection import LeftOut
from conformance.protocol import plugin, plugins
from conformance.records import Asker, AskerKind, Call, Case, Exchange, Table

__all__ = [
    "UNKNOWN_TABLE",
    "as_driven",
    "clauses_on_calls",
    "conversations",
    "is_conversed",
    "judgeable",
    "without_table",
]

UNKNOWN_TABLE: Final = Table((), rows=())
"""The table of a case whose table nobody knows: no columns."""


@functools.cache
def clauses_on_calls() -> frozenset[str]:
    """The clauses on calls that requests and answers alone decide. A test shows that each fails on its mutant without
    the table, and that none fails on a correct server.
    """
    return frozenset().union(*(one.recordings.clauses for one in plugins(EnginePlugin).values()))


NOT_KNOWN: Final = (
    "needs the table, what the client knew, or which requests must be refused; a recorded conversation has none of them"
)


FOREIGN: Final = "the calls are of methods that the suite does not know"


def without_table(clauses: Iterable[Clause]) -> tuple[tuple[Clause, ...], tuple[LeftOut, ...]]:
    """The clauses of ``clauses`` that judge an exchange without a table, and the others with the reason."""
    every = tuple(clauses)
    kept = tuple(one for one in every if isinstance(one.over, Messages) or one.id in clauses_on_calls())
    return kept, tuple(LeftOut("clause", one.id, NOT_KNOWN) for one in every if one not in kept)


def is_conversed(recorded: ExchangeRecorded) -> bool:
    """True if a proxy recorded the exchange without a case: it has neither table nor steps."""
    case, asked_by = recorded.case, recorded.exchange.asked_by
    return asked_by.kind is AskerKind.PROXY and not case.steps and case.table == UNKNOWN_TABLE


def _recordings(protocol: str) -> Recordings:
    return plugin(EnginePlugin, protocol).recordings


@dataclasses.dataclass(frozen=True, slots=True)
class _Belonging:
    """Calls that belong together: what they are about in words, and each with its exchange of one call."""

    words: str
    calls: list[Call]
    exchange: Exchange


def conversations(recorded: Iterable[ExchangeRecorded]) -> tuple[ExchangeRecorded, ...]:
    """The calls of ``recorded`` in groups that belong together, each as one exchange; in order of first call.

    A call that belongs to nothing is an exchange of its own. Two answers with one session name are one exchange, so
    that the clause on different names sees both.
    """
    found: dict[tuple[str, str], _Belonging] = {}
    calls = [(_at_its_instant(call, one.exchange), one.exchange) for one in recorded for call in one.exchange.calls]
    calls.sort(key=lambda pair: pair[0].started)
    of: dict[str, list[Call]] = {}
    for call, exchange in calls:
        if _is_known(call, exchange.protocol):
            of.setdefault(exchange.protocol, []).append(call)
    names = {protocol: _recordings(protocol).groups(made) for protocol, made in of.items()}
    for number, (call, exchange) in enumerate(calls):
        known = _is_known(call, exchange.protocol)
        key, words = next(names[exchange.protocol]) if known else ("", f"a call of {call.method}, which is not judged")
        name = (exchange.protocol, f"group {key}" if key else f"call {number}")
        found.setdefault(name, _Belonging(words, [], exchange)).calls.append(call)
    return tuple(_gathered(number, group) for number, group in enumerate(found.values(), 1))


def _is_known(call: Call, protocol: str) -> bool:
    """True if the protocol has the method of a call."""
    return call.method in _recordings(protocol).methods


def _at_its_instant(call: Call, exchange: Exchange) -> Call:
    """The call with its start in seconds since the Unix epoch."""
    return dataclasses.replace(call, started=exchange.now / 1e6 + call.started)


def _gathered(number: int, group: _Belonging) -> ExchangeRecorded:
    """One exchange of a group: its clock is that of its first call."""
    began, exchange = group.calls[0].started, group.exchange
    calls = tuple(dataclasses.replace(call, started=call.started - began) for call in group.calls)
    title = f"{exchange.asked_by} and its server: {group.words}"
    case = Case(f"recorded.{number:04}", title, UNKNOWN_TABLE, steps=(), protocol=exchange.protocol)
    return ExchangeRecorded(case, dataclasses.replace(exchange, case_id=case.id, calls=calls, now=round(began * 1e6)))


def as_driven(recorded: ExchangeRecorded) -> ExchangeRecorded:
    """A conversation in the form of an exchange of the suite's driver: with a step for each call, made from its
    request. Calls of methods that the protocol does not have are left out.
    """
    exchange = recorded.exchange
    known = [call for call in exchange.calls if _is_known(call, exchange.protocol)]
    steps, calls = _recordings(exchange.protocol).driven(known)
    case = dataclasses.replace(recorded.case, steps=steps)
    untestable = exchange.untestable or (FOREIGN if exchange.calls and not known else "")
    made = dataclasses.replace(exchange, calls=calls, asked_by=Asker(), untestable=untestable)
    return ExchangeRecorded(case, made)


def judgeable(recorded: Iterable[ExchangeRecorded]) -> Iterator[ExchangeRecorded]:
    """Every exchange in the form in which it is judged."""
    return (as_driven(one) if is_conversed(one) else one for one in recorded)
