"""Asks the Flight reference without gRPC, so that a case takes milliseconds: the driver's steps call its methods.

A call ends as it would over a connection: in OK, in the status of a refusal, or beyond its budget.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import grpc
import pyarrow as pa

from conformance.contract.clause import CLAUSES, FLIGHT, load_chapters
from conformance.contract.flight.scenarios import FLIGHT_SCENARIOS, scenario_of
from conformance.contract.flight.view import FlightView
from conformance.contract.judge import judge_view
from conformance.engine.corpus import load_corpus
from conformance.engine.proof import ProofFixture, Tried
from conformance.generate import materialise
from conformance.records import (
    BqType,
    Call,
    CallEnd,
    Case,
    Column,
    Descriptor,
    DoGet,
    DoPut,
    Exchange,
    Finding,
    GetFlightInfo,
    GivingUp,
    Json,
    MetadataEntry,
    Outcome,
    ProtocolName,
    Step,
    Table,
)
from conformance.reference.flight.handshake import LOGIN
from conformance.reference.flight.service import FlightService
from conformance.reference.flight.sql.service import SqlFlightService
from conformance.reference.refusals import Refusal
from conformance.targets.allowance import Allowance
from conformance.targets.calls import CallBudget, Caller, Leaving
from conformance.targets.dialect import SqlSpec
from conformance.targets.faulting import Met
from conformance.targets.flightconversation import FlightConversation, FlightPlan
from conformance.targets.flightlogin import Headers, Memory
from conformance.targets.flightmessages import Names
from conformance.targets.flightplaces import ServerPlace
from conformance.targets.flightspec import Login

load_chapters()
FIXTURE: Final = ProofFixture.of(
    load_corpus(protocol=ProtocolName.FLIGHT).values(), [one for one in CLAUSES.values() if FLIGHT[0] in one.profiles]
)
"""The cases and the clauses of Flight."""
PLACE: Final = "127.0.0.1:1"
"""The address of a server that nobody connects to."""
ROWS: Final = Table(
    (Column("n", BqType.INT64), Column("word", BqType.STRING)),
    rows=tuple(Json({"n": n, "word": word}) for n, word in enumerate(("one", None, "three"))),
)
PATH: Final = Descriptor(path=("table",))
PUT_AND_GET: Final = (DoPut(PATH), GetFlightInfo(PATH), DoGet())


class Direct(Caller):
    """Calls the methods of a service in this process."""

    _others = itertools.count()

    def __init__(self, service: FlightService, headers: Callable[[], Headers] = dict, peer: str = "first") -> None:
        self._service = service
        self._headers_of = headers
        self._peer = peer

    @property
    def bearing(self) -> bool:
        """True if metadata goes along."""
        return bool(self._headers_of())

    def with_credentials(self, credentials: Callable[[], Headers]) -> Direct:
        """A caller with this metadata."""
        return Direct(self._service, credentials, self._peer)

    def again(self) -> Direct:
        """A caller over another connection."""
        return Direct(self._service, self._headers_of, f"another, number {next(self._others)}")

    def to_nobody(self) -> Direct:
        """A caller of a place where nobody listens."""
        return Nobody(self._service)

    @property
    def login(self) -> tuple[str, str] | None:
        """The name and the password that the service asks for."""
        return self._service.login

    def stream(
        self, call: Call, *, routing: str = "", budget: CallBudget, take: int | None = None, met: Met | None = None
    ) -> Call:
        """Make a call with one request."""
        return _taken(self._made(call, [call.request], budget), take)

    def left_alone(self, call: Call, *, leaving: Leaving, budget: CallBudget) -> Call:
        """Make a call, and take some of its responses."""
        made = self._made(call, [call.request], budget)
        if made.status != "OK" or len(made.responses) < leaving.after:
            return made
        return _given_up(made, made.responses[: leaving.after])

    def converse(
        self,
        call: Call,
        messages: Iterable[bytes],
        *,
        budget: CallBudget,
        awaits: Container[int] = (),
        take: int | None = None,
        leaving: Leaving | None = None,
    ) -> Call:
        """Make a call with these requests; all of them are recorded before the responses."""
        sent = list(messages)[: None if leaving is None else leaving.after]
        left = leaving is not None and leaving.how is not GivingUp.HALF_CLOSE
        made = _taken(self._made(replace(call, request=b""), sent, budget, left=left), take)
        order = ">" * len(sent) + "|" + "<" * len(made.responses)
        return replace(made, request=(sent or [b""])[0], more_requests=tuple(sent[1:]), order=order)

    def _made(self, call: Call, requests: Sequence[bytes], budget: CallBudget, *, left: bool = False) -> Call:
        if call.method not in self._service.methods:
            return replace(call, status="UNIMPLEMENTED", details="there is no such method")
        responses: list[bytes] = []
        pairs = self._headers_of().items()
        service = self._service
        try:
            service = service.for_call(
                call.method,
                {name: value if isinstance(value, bytes) else value.encode() for name, value in pairs},
                self._peer,
            )
            answers = service.methods[call.method](_then_gone(requests) if left else iter(requests))
            responses.extend(itertools.islice(answers, budget.responses + 1))
        except grpc.RpcError:
            return _given_up(call, responses)
        except Refusal as refusal:
            call = replace(_told(call, service), status=refusal.code.name, details=refusal.details)
            return replace(call, responses=tuple(responses))
        call = _told(call, service)
        if len(responses) > budget.responses:
            return replace(call, responses=tuple(responses), status="", end=CallEnd.OVER_BUDGET)
        return replace(call, responses=tuple(responses))


def _told(call: Call, service: FlightService) -> Call:
    """The call with the metadata that the service answers with."""
    said = ((name, value if isinstance(value, bytes) else value.encode()) for name, value in service.reply)
    return replace(call, initial_metadata=tuple(MetadataEntry(name, value) for name, value in said))


class Nobody(Direct):
    """A caller of a place where nobody listens."""

    def _made(self, call: Call, requests: Sequence[bytes], budget: CallBudget, *, left: bool = False) -> Call:
        del requests, budget, left
        return replace(call, status="", end=CallEnd.CRASH)


def _then_gone(requests: Sequence[bytes]) -> Iterator[bytes]:
    """The requests of a client that gives the call up, as gRPC shows them to a server."""
    yield from requests
    raise grpc.RpcError


def _given_up(call: Call, responses: Sequence[bytes]) -> Call:
    return replace(call, responses=tuple(responses), status="", end=CallEnd.CANCELLED)


def _taken(made: Call, take: int | None) -> Call:
    """The call, cancelled after ``take`` responses."""
    if take is None or len(made.responses) < take:
        return made
    return replace(made, responses=made.responses[:take], status="", end=CallEnd.CANCELLED)


def case_of(*steps: Step, table: Table = ROWS) -> Case:
    """A case of these steps, over three rows unless another table is given."""
    return Case("by-hand", "a case made by hand", table, steps=steps, protocol=ProtocolName.FLIGHT)


def plan_of(
    case: Case, sql: SqlSpec | None, service: FlightService | None = None, table: pa.Table | None = None
) -> tuple[Case, pa.Table, Caller, FlightPlan]:
    """What a conversation about a case with a service needs."""
    rows = materialise(case.table) if table is None else table
    allowance = Allowance(CallBudget(10.0, 2 * rows.num_rows + 100, 1 << 24), until=float("inf"), case_bytes=1 << 30)
    service = service or SqlFlightService()
    service.here = f"grpc+tcp://{PLACE}"
    caller = Direct(service)
    scenario = scenario_of(case.id)
    memory = Memory(None if caller.login is None else Login(*caller.login), scenario and scenario.headers)
    if memory.login is not None:
        memory.log_in(caller, CallBudget(10.0, 10, 1 << 20))

    def pass_time(seconds: int) -> bool:
        service.store.ahead = seconds
        return True

    plan = FlightPlan(
        Names(case.id),
        PLACE,
        allowance,
        partial(_elsewhere, here=caller),
        memory,
        sql=sql,
        pass_time=pass_time,
        now=int(service.clock() * 1e6),
    )
    return case, rows, caller, plan


def seen(case: Case, service: FlightService | None = None, table: pa.Table | None = None) -> FlightView:
    """The exchange of a case with a service, the reference unless given; it is asked for SQL if it speaks it."""
    speaks = service is None or isinstance(service, SqlFlightService)
    _, rows, caller, plan = plan_of(case, SqlSpec() if speaks else None, service, table)
    conversation = FlightConversation(case, rows, caller, plan)
    conversation.run()
    calls, skipped = tuple(conversation.calls), tuple(conversation.skipped)
    exchange = Exchange(case.id, "direct", calls, skipped_steps=skipped, now=plan.now, protocol=ProtocolName.FLIGHT)
    return FlightView(case, exchange, rows)


def scenario_cases(scenario: str) -> Iterator[Tried]:
    """The case of a scenario of Arrow's integration tests."""
    case = FLIGHT_SCENARIOS[scenario].case
    yield Tried(case, materialise(case.table))


def _elsewhere(place: ServerPlace, here: Direct) -> Caller:
    return here.again() if place.address == PLACE else here.to_nobody()


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


def tried(service: type[FlightService], kills: Sequence[str] = ()) -> Iterator[tuple[str, Finding]]:
    """Each clause that fails on a service in the suite's own cases, with the first finding of each case.

    The cases are those of the proof: every light one, and heavy ones made for ``kills``.

    Raises:
        AssertionError: a clause raised an exception.
    """
    own = service()
    if own.scenario is None:
        own.login = LOGIN
    for one in FIXTURE.served(kills) if own.scenario is None else scenario_cases(own.scenario):
        for verdict in judge_view(seen(one.case, own, one.table), FIXTURE.clauses):
            assert verdict.outcome is not Outcome.ERROR, f"{verdict.clause}: {verdict.reason}"
            if verdict.outcome is Outcome.FAIL:
                yield verdict.clause, verdict.findings[0]
