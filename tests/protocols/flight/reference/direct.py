"""Asks the Flight reference without a connection, so that a case takes milliseconds."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Final, cast

import grpc
import pyarrow as pa

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.contract.judge import judge_view
from conformance.engine.asking import Tried
from conformance.engine.corpus import load_corpus
from conformance.engine.proof import ProofFixture
from conformance.engine.reuse import Answered, Reuse
from conformance.generate import materialise
from conformance.protocols.flight.contract import FLIGHT
from conformance.protocols.flight.contract.scenarios import FLIGHT_SCENARIOS
from conformance.protocols.flight.contract.view import FlightView
from conformance.protocols.flight.records import Descriptor, DoGet, DoPut, GetFlightInfo
from conformance.protocols.flight.reference.handshake import LOGIN
from conformance.protocols.flight.reference.hosted import flight_target, service_target
from conformance.protocols.flight.reference.plugin import PLUGIN
from conformance.protocols.flight.reference.server import FlightHandlers
from conformance.protocols.flight.reference.service import FlightService
from conformance.protocols.flight.reference.sql.service import SqlFlightService
from conformance.protocols.flight.reference.store import Store
from conformance.protocols.flight.table.dialect import SqlSpec
from conformance.protocols.flight.table.spec import FlightSeeding, FlightSpec, Login
from conformance.protocols.flight.wire.messages import SERVICE
from conformance.records import BqType, Case, Column, Finding, Json, Outcome, Step, Table
from conformance.reference.reached import Recorder, differences
from conformance.targets.inprocess import InProcessChannel
from conformance.targets.recordedcall import Caller
from conformance.targets.ticks import StillTime

load_chapters()
FIXTURE: Final = ProofFixture.of(
    load_corpus(protocol="flight").values(), [one for one in CLAUSES.values() if FLIGHT[0] in one.profiles]
)
"""The cases and the clauses of Flight."""
ROWS: Final = Table(
    (Column("n", BqType.INT64), Column("word", BqType.STRING)),
    rows=tuple(Json({"n": n, "word": word}) for n, word in enumerate(("one", None, "three"))),
)
PATH: Final = Descriptor(path=("table",))
PUT_AND_GET: Final = (DoPut(PATH), GetFlightInfo(PATH), DoGet())


LIMIT: Final = 1 << 24
"""Bytes of a message."""


def caller_of(service: FlightService) -> Caller:
    """A caller of a service."""
    clock = StillTime()
    channel = InProcessChannel(FlightHandlers(service), peer="client", message_limit=LIMIT, clock=clock)
    return Caller(
        cast("grpc.Channel", channel),
        began=0.0,
        message_limit=LIMIT,
        last_words=lambda _seconds: None,
        service=SERVICE,
        clock=clock,
    )


def case_of(*steps: Step, table: Table = ROWS) -> Case:
    """A case of these steps, over three rows unless another table is given."""
    return Case("by-hand", "a case made by hand", table, steps=steps, protocol="flight")


def seen(
    case: Case, service: FlightService | None = None, table: pa.Table | None = None, sql: SqlSpec | None = None
) -> FlightView:
    """The exchange of a case with a service, the reference unless given; it is asked for SQL if it speaks it."""
    given = service or SqlFlightService()
    rows = materialise(case.table) if table is None else table
    login = None if given.login is None else Login(*given.login)
    sql = sql or (SqlSpec() if isinstance(given, SqlFlightService) else None)

    def with_store(store: Store) -> FlightService:
        given.store.wall = store.wall
        return given

    with closing(
        service_target(with_store, FlightSpec(FlightSeeding.PUT, echo="echo", login=login, sql=sql))
    ) as target:
        return FlightView(case, target.drive(case, rows), rows)


def in_part(name: str, case: Case, parts: int) -> bool:
    """True for one case of so many: the same ones every time, and other ones for each name."""
    return zlib.crc32(f"{name} {case.id}".encode()) % parts == 0


def scenario_cases(scenario: str) -> Iterator[Tried]:
    """The case of a scenario of Arrow's integration tests."""
    case = FLIGHT_SCENARIOS[scenario].case
    yield Tried(case, materialise(case.table))


def failures(view: FlightView) -> dict[str, Finding]:
    """The clauses that fail on an exchange, each with its first finding."""
    return {
        verdict.clause: verdict.findings[0]
        for verdict in judge_view(view, FIXTURE.clauses)
        if verdict.outcome is Outcome.FAIL
    }


def failed(service: FlightService, *steps: Step, table: Table = ROWS) -> set[str]:
    """The ids of the clauses that fail on a service: on storing and reading a table unless steps are given."""
    return set(failures(seen(case_of(*(steps or PUT_AND_GET), table=table), service)))


def tried(
    service: type[FlightService], kills: Sequence[str] = (), *, part: Callable[[Case], bool] = lambda _case: True
) -> Iterator[tuple[str, Finding]]:
    """Each clause that fails on a service in the suite's own cases, with the first finding of each case.

    The cases are those of the proof that are in the ``part``: every light one, and heavy ones made for ``kills``.

    Raises:
        AssertionError: a clause raised an exception.
    """
    if service.scenario is not None:
        flight, cases = FlightSpec(scenario=service.scenario), scenario_cases(service.scenario)
    else:
        sql = SqlSpec() if issubclass(service, SqlFlightService) else None
        flight = FlightSpec(FlightSeeding.PUT, echo="echo", login=Login(*LOGIN), sql=sql)
        cases = (one for one in FIXTURE.served(kills) if part(one.case))
    sought = SqlFlightService if issubclass(service, SqlFlightService) else FlightService
    own, known = differences(service, sought), _known(sought)
    with closing(service_target(service, flight)) as target:
        for one in cases:
            verdicts = None if own is None else known.untouched(one.case, one.table, own)
            if verdicts is None:
                verdicts = known.judge(one.case, target.drive(one.case, one.table), one.table)
            for verdict in verdicts.plain:
                assert verdict.outcome is not Outcome.ERROR, f"{verdict.clause}: {verdict.reason}"
                if verdict.outcome is Outcome.FAIL:
                    yield verdict.clause, verdict.findings[0]


@functools.cache
def _known(reference: type[FlightService]) -> Reuse:
    """Judges what a reference answers once, for all services that deviate from it."""
    recorder = Recorder(PLUGIN.entries)
    target = flight_target(service=recorder.recording(reference))

    def answered(case: Case, table: pa.Table) -> Answered:
        with recorder.afresh() as used:
            exchange = target.drive(case, table)
        return exchange, frozenset(used)

    return Reuse(FIXTURE.clauses, answered)
