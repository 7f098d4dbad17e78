"""The model of a flight that clients put and read: which rows a read may give, whatever the server's choice.

A put that was accepted appends its rows or takes the place of all rows before it; each put is free to do either. Puts
at the same time have any order. Rows of other clients may be kept apart from those that the reader put; then none of
them show. A put that the server refused has no effect; of one whose end is not known, any part may be there. Rows are
any hashable values. The model knows neither Arrow nor a server.
"""

from __future__ import annotations

import dataclasses
import enum
import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence

__all__ = ["FlightDeviation", "FlightHistory", "FlightPut", "HistoryFault", "ModelRead", "PutEnd", "flight_deviations"]

Row = Hashable


class PutEnd(enum.StrEnum):
    """How a put ended, as its client saw it."""

    STORED = "stored"
    """In OK."""
    REFUSED = "refused"
    """In another status of the server."""
    OPEN = "open"
    """Without an answer, or given up: what is stored is open."""


class HistoryFault(enum.StrEnum):
    """A contradiction between a read and the puts of its flight."""

    FOREIGN = "foreign"
    """A row that nobody put into the flight, or one more often than it was put."""
    LOST = "lost"
    """A row that is there whether the puts append or replace does not come."""
    LOST_TOGETHER = "lost together"
    """The same, where the last put was made at the same time as another call."""
    MIXED = "mixed"
    """Some rows of a put that was replaced come, and others of it do not."""
    CHANGED = "changed"
    """Other rows come than in an earlier read, and nobody put anything between."""


@dataclasses.dataclass(frozen=True, slots=True)
class FlightPut:
    """A put into the flight at the instant ``at``; ``together`` says that other calls were made at the same time."""

    call: int
    at: int
    rows: tuple[Row, ...]
    end: PutEnd = PutEnd.STORED
    together: bool = False
    client: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class ModelRead:
    """The rows that came of all endpoints of an info that was asked for at ``since``, the last of it at ``until``.

    With ``loose``, rows may be missing for a reason that the model does not know: a cancellation, or endpoints that
    were not read.
    """

    call: int
    since: int
    until: int
    rows: tuple[Row, ...]
    loose: bool = False
    client: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class FlightHistory:
    """Everything that was put into a flight, and every read of it."""

    puts: tuple[FlightPut, ...]
    reads: tuple[ModelRead, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class FlightDeviation:
    """A contradiction: the call that shows it, the one that it contradicts if there is one, and the rows concerned."""

    kind: HistoryFault
    call: int
    before: int | None
    rows: tuple[Row, ...]


def flight_deviations(history: FlightHistory) -> tuple[FlightDeviation, ...]:
    """Return the first contradiction of each read, in the order of the reads."""
    return tuple(_found(history))


def _found(history: FlightHistory) -> Iterator[FlightDeviation]:
    agreed: dict[str, ModelRead] = {}
    for read in history.reads:
        began = [put for put in history.puts if put.at <= read.until]
        foreign = Counter(read.rows) - _rows_of(began)
        if foreign:
            yield FlightDeviation(HistoryFault.FOREIGN, read.call, None, tuple(foreign.elements()))
            continue
        effective = [put for put in began if put.end is not PutEnd.REFUSED]
        if read.loose or any(put.at >= read.since or put.end is PutEnd.OPEN for put in effective):
            continue
        deviation = _misses(read, effective) or _changed(read, agreed.get(read.client), history.puts)
        if deviation is not None:
            yield deviation
        elif effective:
            agreed[read.client] = read


def _misses(read: ModelRead, puts: Sequence[FlightPut]) -> FlightDeviation | None:
    """The contradiction between a read and the puts before it, all of which were stored."""
    own = [put for put in puts if put.client == read.client]
    came, permitted = Counter(read.rows), [*_states(puts), *_states(own)] if own else []
    if not permitted or came in permitted:
        return None
    last = max(puts, key=lambda put: put.at)
    lacking = min((state - came for state in permitted), key=Counter.total)
    if not lacking:
        surplus = min((came - state for state in permitted if not state - came), key=Counter.total)
        return FlightDeviation(HistoryFault.MIXED, read.call, last.call, tuple(surplus.elements()))
    kind = HistoryFault.LOST_TOGETHER if last.together else HistoryFault.LOST
    return FlightDeviation(kind, read.call, last.call, tuple(lacking.elements()))


def _changed(read: ModelRead, agreed: ModelRead | None, puts: Sequence[FlightPut]) -> FlightDeviation | None:
    """The contradiction between two reads without a put between them."""
    if agreed is None or any(agreed.since <= put.at <= read.until for put in puts):
        return None
    one, other = Counter(agreed.rows), Counter(read.rows)
    if one == other:
        return None
    rows = (*(one - other).elements(), *(other - one).elements())
    return FlightDeviation(HistoryFault.CHANGED, read.call, agreed.call, rows)


def _states(puts: Sequence[FlightPut]) -> Iterator[Counter[Row]]:
    """The rows that the flight may have: those of the last puts, in some order, from one of them on."""
    at_once = [list(group) for _, group in itertools.groupby(sorted(puts, key=_instant), key=_instant)]
    for chosen in itertools.product(*map(itertools.permutations, at_once)):
        order = list(itertools.chain.from_iterable(chosen))
        yield from (_rows_of(order[first:]) for first in range(len(order)))


def _instant(put: FlightPut) -> int:
    return put.at


def _rows_of(puts: Iterable[FlightPut]) -> Counter[Row]:
    return Counter(itertools.chain.from_iterable(put.rows for put in puts))
