"""Judging clients: from a situation and what a client made of it to verdicts, by the clauses of the chapter ``client``.

A situation is a server that behaves in a known way: it serves a table as it should, or ends a call with a code, or
sends broken bytes. What a client may do depends on the situation alone. A client that dies or hangs fails to survive
and nothing else; a path that cannot express a request is not judged on it.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Hashable, Sequence
from typing import Any, Final

import pyarrow as pa

from conformance.contract.clause import CLAUSES, Clause, Role, load_chapters
from conformance.contract.ipc.ipcview import IPC_CASE
from conformance.contract.judge import judge_view
from conformance.contract.view import View
from conformance.records import Exchange, Outcome, ReadingOutcome, Verdict

__all__ = ["ClientAnswer", "ClientRead", "ClientView", "In", "Situation", "judge_client"]


class Situation(enum.StrEnum):
    """What the server does."""

    HEALTHY = "healthy"
    """It serves a table with rows."""
    EMPTY = "empty"
    """It serves a table without rows: no stream, no response, or a batch of no rows."""
    INTERRUPTED = "interrupted"
    """A read ends early in a way that permits to resume it; the next call for the stream goes on."""
    REFUSED = "refused"
    """A call ends with a code that says that it will not succeed, each time."""
    BROKEN = "broken"
    """A response has bytes that are no Arrow message of the session's schema."""
    ABANDONED = "abandoned"
    """A response has bytes that are no Arrow message, and the stream has more to send than a client takes unread."""
    OPEN = "open"
    """It sends what the texts leave open, or forbid, where a reader can still know every row."""
    MUTATED = "mutated"
    """It has one defect; no clause says what a client makes of it, so it is described and not judged."""


@dataclasses.dataclass(frozen=True, slots=True)
class ClientAnswer:
    """What a client made of a situation.

    ``differences`` are between its rows and those of the table, as sentences; ``columns`` is a sentence about names of
    columns that differ, ``order`` about rows of a single stream in another order; both are empty if nothing differs.
    ``offsets`` are sentences about offsets that the client asked for and had not reached, ``left_open`` about calls
    that go on although it has answered, ``tickets`` about tickets that no server gave to it, and ``uploads`` about what
    it sent and should not have sent.
    """

    client: str
    outcome: ReadingOutcome
    text: str = ""
    differences: tuple[str, ...] = ()
    columns: str = ""
    order: str = ""
    offsets: tuple[str, ...] = ()
    left_open: tuple[str, ...] = ()
    tickets: tuple[str, ...] = ()
    uploads: tuple[str, ...] = ()


class ClientRead:
    """A client's answer in its situation; it belongs to no call of an exchange. ``title`` says what the server did."""

    call: int | None = None
    response: int | None = None

    def __init__(self, situation: Situation, title: str, answer: ClientAnswer) -> None:
        self.situation = situation
        self.title = title
        self.answer = answer

    @property
    def summary(self) -> str:
        """The answer in short."""
        text = " ".join(self.answer.text.split())
        return f"{self.answer.outcome}{f': {text[:160]}' if text else ''}"


class ClientView(View):
    """One read of a client as the clauses on clients see it."""

    def __init__(self, read: ClientRead) -> None:
        super().__init__(IPC_CASE, Exchange(IPC_CASE.id, read.answer.client, ()), pa.table({}))
        self.read = read


class _Aspect:
    """The aspect of clients. It is clean only in a view without one, so every clause runs on a client."""

    def state(self, view: View) -> Hashable | None:
        """Return a clean state if the view has no client, else None."""
        return None if isinstance(view, ClientView) else "no client"


class In:
    """A selector of reads in certain situations that ended in certain ways; ``of`` is the kind of read."""

    aspect = _Aspect()

    def __init__(
        self, *situations: Situation, ended: Sequence[ReadingOutcome] = (), of: type[ClientRead] = ClientRead
    ) -> None:
        self._of = of
        self._situations = frozenset(situations or Situation)
        self._ended = frozenset(ended or {*ReadingOutcome} - {ReadingOutcome.UNAVAILABLE})

    def __call__(self, view: View) -> Sequence[Any]:
        """Return the read, if it is one of these."""
        if not isinstance(view, ClientView) or view.read.situation not in self._situations:
            return []
        if type(view.read) is not self._of:
            return []
        return [view.read] if view.read.answer.outcome in self._ended else []

    def shown_by(self, _state: object) -> bool:
        """False: in a clean state of this aspect the view has no client."""
        return False


def judge_client(read: ClientRead, *, case_id: str) -> list[Verdict]:
    """Return the verdicts on one answer of a client; ``case_id`` names the situation in them."""
    load_chapters()
    verdicts = judge_view(ClientView(read), _clauses(len(CLAUSES)))
    return [Verdict(case_id, one.clause, _ended(read, one), one.findings, one.reason) for one in verdicts]


_ENDS: Final = {ReadingOutcome.CRASH: Outcome.CRASH, ReadingOutcome.HANG: Outcome.HANG}


def _ended(read: ClientRead, verdict: Verdict) -> Outcome:
    """The outcome of a verdict; a failure of a client that died or hung is a crash or a hang."""
    ended = _ENDS.get(read.answer.outcome)
    return ended if ended is not None and verdict.outcome is Outcome.FAIL else verdict.outcome


@functools.lru_cache(maxsize=4)
def _clauses(_number: int) -> tuple[Clause, ...]:
    """Return the clauses on clients, cached for a given size of the register, which only grows."""
    return tuple(one for one in CLAUSES.values() if one.role is Role.CLIENT)
