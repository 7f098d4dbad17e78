"""The puts and the reads of the flights of a drawn history, in the terms of the model.

A drawn history is a case that names clauses of the chapter on histories. The model
(:mod:`conformance.protocols.flight.model`) decides which reads deviate; this module only translates the calls.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator, Sequence

import pyarrow as pa

from conformance.contract.clause import AtCall
from conformance.contract.comparing.matching import row_hashes, show_row
from conformance.protocols.flight.contract.decoding import Info
from conformance.protocols.flight.contract.subjects import about, columns_of, sent_rows, without_dictionaries
from conformance.protocols.flight.contract.view import FlightCall, FlightView, GetView, gave_up
from conformance.protocols.flight.model import (
    FlightDeviation,
    FlightHistory,
    FlightPut,
    ModelRead,
    PutEnd,
    flight_deviations,
)
from conformance.protocols.flight.records import Descriptor, DoAction, DoGet, PollFlightInfo
from conformance.protocols.flight.wire.messages import CANCEL

__all__ = ["CHAPTER", "PutAndRead", "histories", "is_history"]

CHAPTER = "flight-history."
"""How the ids of the clauses on drawn histories begin."""


@dataclasses.dataclass(frozen=True, slots=True)
class PutAndRead(AtCall):
    """A flight of a drawn history: the first DoPut under its descriptor, its history, and what contradicts the model.

    ``tables`` are all rows that were put or read, to show them by their hashes.
    """

    model: FlightHistory
    found: tuple[FlightDeviation, ...]
    tables: tuple[pa.Table, ...]

    def shown(self, row: Hashable) -> str:
        """A row for people."""
        for table in self.tables:
            hashes = _rows(table)
            if row in hashes:
                return show_row(table, hashes.index(row))
        return "a row of another flight"


def is_history(view: FlightView) -> bool:
    """True for the exchange of a drawn history."""
    return any(name.startswith(CHAPTER) for name in view.case.clauses)


@about
def histories(view: FlightView) -> list[PutAndRead]:
    """Return each flight of a drawn history that somebody put; none of other cases."""
    if not is_history(view):
        return []
    return [_history(view, descriptor, calls) for descriptor, calls in view.puts.items()]


def _history(view: FlightView, descriptor: Descriptor, calls: Sequence[FlightCall]) -> PutAndRead:
    came = list(_reads(view, descriptor, calls))
    puts = tuple(
        FlightPut(call.index, call.at, tuple(_rows(sent_rows(call))), _end(call), bool(call.beside), call.client)
        for call in calls
    )
    model = FlightHistory(puts, tuple(read for read, _ in came))
    tables = (*(table for _, table in came), *map(sent_rows, calls))
    return PutAndRead(calls[0].index, model, flight_deviations(model), tables)


def _end(call: FlightCall) -> PutEnd:
    if gave_up(call) or not call.answered:
        return PutEnd.OPEN
    return PutEnd.STORED if call.ok else PutEnd.REFUSED


def _rows(table: pa.Table) -> list[Hashable]:
    hashes: list[Hashable] = row_hashes(table).tolist()
    return hashes


def _reads(
    view: FlightView, descriptor: Descriptor, puts: Sequence[FlightCall]
) -> Iterator[tuple[ModelRead, pa.Table]]:
    """Yield what each step read of a flight; not what has other columns, of which the chapter on DoPut speaks."""
    steps: dict[int, list[GetView]] = {}
    for get in view.gets:
        steps.setdefault(get.raw.step, []).append(get)
    wanted = columns_of(sent_rows(puts[0]).schema)
    for gets in steps.values():
        step, last = gets[0].step, gets[-1]
        if not isinstance(step, DoGet) or view.descriptor_of(step.info, last.index) != descriptor:
            continue
        since, endpoints = _asked(view, step.info, last.index)
        tables = [without_dictionaries(get.table) for get in gets if get.ok and get.table is not None]
        if since is None or any(columns_of(table.schema) != wanted for table in tables):
            continue
        whole = endpoints == len(tables) == len(gets) and step.take is None and step.endpoint == "*"
        until = max(get.at for get in gets)
        loose = not whole or _is_cancelled(view, descriptor, puts, until)
        rows = tuple(row for table in tables for row in _rows(table))
        read = ModelRead(last.index, since, until, rows, loose, gets[0].client)
        yield read, pa.concat_tables(tables) if tables else sent_rows(puts[0]).slice(0, 0)


def _asked(view: FlightView, label: str, index: int) -> tuple[int | None, int | None]:
    """When the info with a label was asked for, and the number of its endpoints; None of a query that runs.

    A renewed endpoint is all of its flight if the info that it came from had no other.
    """
    call = view.made_by(label, index)
    if call is not None and isinstance(call.step, DoAction):
        since, endpoints = _asked(view, call.step.info, call.index)
        return since, endpoints if endpoints == 1 else None
    if call is None:
        return None, None
    infos: list[Info] = [info for _, info in call.infos]
    runs = isinstance(call.step, PollFlightInfo) and any(poll is None or poll.descriptor for poll in call.polls)
    return call.since, None if runs or len(infos) != 1 else len(infos[0].endpoints)


def _is_cancelled(view: FlightView, descriptor: Descriptor, puts: Sequence[FlightCall], until: int) -> bool:
    """True if an info of the flight was cancelled after the last DoPut that was accepted before."""
    last = max((put.at for put in puts if put.ok and put.at < until), default=-1)
    return any(
        isinstance(call.step, DoAction)
        and call.step.type == CANCEL
        and last <= call.at <= until
        and view.descriptor_of(call.step.info, call.index) == descriptor
        for call in view.flight_calls
    )
