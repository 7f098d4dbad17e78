"""Mutants of the reference as situations: the answers of a server with one defect, to clients that read its table.

Which mutants are put before clients is a rule, and no list. A mutant takes part if a client that reads a table sees it:
one of the cases below is served otherwise than by the reference. Names and times are not compared; they differ in each
run. The first such case is the situation of the mutant:

1. the cases that were made for the clauses that it kills, those first that every client can ask for. Cases with options
   that only some clients set, such as compression, take no part;
2. :data:`PROBES`, which show what any table shows;
3. :data:`INTERRUPTED`, a table whose read ends once with UNAVAILABLE, for defects that only a client sees that resumes.

For each clause the first mutant that was made for it and that a client sees takes part. A mutant whose process ends or
hangs takes no part: the plans of faults of :mod:`.situations` do that to clients. A server that does not answer a call
at all cannot be served again either. Nor does a defect of :data:`RACES` take part.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import pyarrow as pa
from google.protobuf.message import DecodeError

from conformance._globs import matches
from conformance.contract import proto
from conformance.contract.clientjudging import Situation
from conformance.contract.viewing import view_of
from conformance.engine.owed import reference_target
from conformance.generate import materialise
from conformance.protocols.storage_read.clients.situations import LARGEST, Set
from conformance.readers.fullread import FullRead, full_reads
from conformance.readers.info import ReaderInfo
from conformance.readers.plugin import held_tables
from conformance.readers.tape import Tape, Tapes, tapes_of
from conformance.records import (
    BqType,
    Case,
    Column,
    CreateSession,
    Exchange,
    FaultKind,
    Mode,
    PlannedFault,
    ReadRows,
    Recipe,
    Table,
    to_json,
)
from conformance.reference.register import Mutant

__all__ = ["INTERRUPTED", "PROBES", "RACES", "Mutated", "digest", "mutated", "served_digest"]

_EMPTY: Final = proto.CreateReadSessionRequest(read_session={"read_options": {}}).ByteSize()
"""Bytes of a request whose messages are there and say nothing."""

MOST_ROWS: Final = 20_000
"""Rows of the largest table: one answer brings all of them back as text."""

PROBES: Final = ("rows.plain", "rows.nested", "rows.several-streams", "session.empty-table")
"""Cases that show what any table shows."""

RACES: Final = frozenset(
    {"abandon.goes-on", "interruptions.pause-loses-a-response", "interruptions.rows-on-their-way-are-lost"}
)
"""Mutants that lose as many responses as were on their way when a read ended or another one overtook it: each run
serves other rows, and a recording would be one run of many.
"""

_CUT: Final = PlannedFault(FaultKind.STATUS, stream=0, responses=2)

INTERRUPTED: Final = Case(
    id="interrupted.once",
    title="A read ends once with UNAVAILABLE after two responses, and is resumed",
    table=Table(
        columns=(Column("row_id", BqType.INT64, Mode.REQUIRED), Column("word", BqType.STRING)),
        recipe=Recipe(rows=200),
    ),
    steps=(
        CreateSession(max_stream_count=1),
        ReadRows(faults=(dataclasses.replace(_CUT, stream=None),)),
        ReadRows(),
    ),
)
"""The driver records what the server answers to the read that resumes; a client gets the same answer."""


@dataclasses.dataclass(frozen=True, slots=True)
class Mutated:
    """A mutant's situation: ``clause`` is the first that it kills, ``fault`` says what it does wrong."""

    mutant: str
    clause: str
    fault: str
    asked: Set


@dataclasses.dataclass(frozen=True)
class _Probe:
    """A case as the reference serves it."""

    case: Case
    table: pa.Table
    read: FullRead
    expected: pa.Table
    tape: Tape

    def digest_of(self, tape: Tape) -> str:
        """A digest of what a client of this probe is served."""
        return digest(tape, resumed=self.case is INTERRUPTED)

    @functools.cached_property
    def digest(self) -> str:
        """That of the reference."""
        return self.digest_of(self.tape)


def mutated(mutants: Iterable[Mutant], cases: Mapping[str, Case], clients: Iterable[ReaderInfo]) -> Iterator[Mutated]:
    """The situation of each mutant that a client sees; ``clients`` decide which cases every client can ask for."""
    probes = _Probes(cases, tuple(clients))
    clauses: set[str] = set()
    for mutant in mutants:
        if mutant.kills[0] in clauses or mutant.name in RACES or mutant.process:
            continue
        if mutant.service is None and mutant.serializer is None:
            continue
        found = _seen(mutant, probes)
        if found is not None:
            clauses.add(mutant.kills[0])
            yield Mutated(mutant.name, mutant.kills[0], mutant.fault, _situation(mutant, *found))


def digest(tape: Tape, *, resumed: bool) -> str:
    """A digest of what is served, without names and times; ``resumed`` are the reads from other offsets than 0, too."""
    made = hashlib.sha256()
    parts = [_nameless(tape.session), tape.ending.status.encode()]
    if tape.described != dataclasses.replace(tape, rows=None).described:
        parts.append(f"{tape.rows} rows".encode())
    for one in tape.streams:
        parts += [b"stream", str(one.whole).encode(), one.ending.status.encode(), *one.responses]
        for offset, (responses, ending) in sorted(one.others, key=lambda other: other[0]) if resumed else ():
            parts += [str(offset).encode(), ending.status.encode(), *responses]
    for part in parts:
        made.update(len(part).to_bytes(8, "little") + part)
    return made.hexdigest()[:16]


def _askable(read: FullRead) -> bool:
    """True if the session has no option but its format, rows, columns and greatest number of streams.

    Which other options a client sets is its own affair, and a defect in one of them is seen by those who set it. A
    recording is served to every client, so it would show the defect to all of them.
    """
    asked = proto.CreateReadSessionRequest.FromString(read.request)
    asked.ClearField("parent")
    asked.ClearField("max_stream_count")
    for name in ("table", "data_format"):
        asked.read_session.ClearField(name)
    for name in ("selected_fields", "row_restriction"):
        asked.read_session.read_options.ClearField(name)
    return not asked.read_session.read_options.ByteSize() and asked.ByteSize() <= _EMPTY


def _nameless(data: bytes) -> bytes:
    """A session without names and times; bytes that are no session stay as they are."""
    try:
        session = proto.ReadSession.FromString(data)
    except DecodeError:
        return data
    session.name = session.table = ""
    session.ClearField("expire_time")
    for stream in session.streams:
        stream.name = ""
    encoded: bytes = session.SerializeToString(deterministic=True)
    return encoded


class _Probes:
    """The cases on which mutants are tried, each put to the reference once."""

    def __init__(self, cases: Mapping[str, Case], clients: tuple[ReaderInfo, ...]) -> None:
        self._cases = cases
        self._clients = clients
        self._known = functools.cache(self._made)

    def of(self, mutant: Mutant) -> Iterator[_Probe]:
        """The probes for a mutant, in the order of the rule."""
        named = [
            probe
            for clause in mutant.kills
            for case in self._cases.values()
            if matches(clause, case.clauses)
            if (probe := self._known(case.id)) is not None
        ]
        yield from sorted(named, key=self._refusals)
        yield from (probe for name in PROBES if (probe := self._known(name)) is not None)
        interrupted = self._known(INTERRUPTED.id)
        assert interrupted is not None, "the reference serves the case of this module"
        yield interrupted

    def _refusals(self, probe: _Probe) -> tuple[int, bool]:
        """The number of clients that do not read this table, and whether the request is more than the table's name."""
        options = proto.CreateReadSessionRequest.FromString(probe.read.request).read_session.read_options
        plain = not options.selected_fields and not options.row_restriction
        return sum(bool(client.refusal(probe.read)) for client in self._clients), not plain

    def _made(self, name: str) -> _Probe | None:
        """The probe of a case; None if the reference serves no table that clients could be given."""
        case = INTERRUPTED if name == INTERRUPTED.id else self._cases[name]
        recipe = case.table.recipe
        if case.isolated or case.needs or (recipe is not None and recipe.rows > MOST_ROWS):
            return None
        table = materialise(case.table)
        with reference_target() as target:
            exchange = target.drive(case, table)
        reads, tape = [one for one in full_reads(case, exchange) if not one.in_avro], _first(case, exchange)
        if not reads or tape is None:
            return None
        read = reads[0]
        if not _askable(read):
            return None
        held = held_tables(view_of(case, exchange, table))
        size = sum(len(response) for stream in read.streams for response in stream.responses)
        if read.label not in held or size > LARGEST or tape.request != read.request:
            return None
        return _Probe(case, table, read, held[read.label], tape)


def _seen(mutant: Mutant, probes: _Probes) -> tuple[_Probe, Tape] | None:
    """The first probe on which the mutant is served otherwise than the reference, and what it serves."""
    with reference_target(mutant=mutant.name) as target:
        for probe in probes.of(mutant):
            tape = _first(probe.case, target.drive(probe.case, probe.table))
            served = tape is not None and (tape.complete or tape.ending.status != "OK")
            if tape is not None and served and probe.digest_of(tape) != probe.digest:
                return probe, tape
    return None


def _first(case: Case, exchange: Exchange) -> Tape | None:
    """The first session of an exchange that ended by itself, with what was read of it."""
    return next(iter(tapes_of(case, exchange)), None)


def _situation(mutant: Mutant, probe: _Probe, tape: Tape) -> Set:
    interrupted = probe.case is INTERRUPTED
    # A mutant that gives fewer rows has a table all the same: a client that counts them in tables.get asks for them.
    tape = dataclasses.replace(tape, rows=probe.table.num_rows)
    # The request of the mutant's own exchange: it has the name of that exchange's table.
    read = dataclasses.replace(probe.read, request=tape.request)
    return Set(
        id=f"mutant.{mutant.name}",
        kind=Situation.MUTATED,
        title=f"the server has a defect, and serves the case {probe.case.id}: {mutant.fault}",
        read=read,
        expected=probe.expected,
        plan=(_CUT,) if interrupted else (),
        ordered=len(read.streams) == 1,
        served=Tapes([tape]),
    )


def served_digest(asked: Set) -> str:
    """A digest of what a situation serves, with its plan of faults."""
    plan = json.dumps([to_json(fault) for fault in asked.plan], sort_keys=True) if asked.plan else ""
    made = digest(next(iter(asked.tapes)), resumed=True)
    return f"{made}-{hashlib.sha256(plan.encode()).hexdigest()[:8]}" if plan else made
