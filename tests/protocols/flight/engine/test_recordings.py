"""What a client and a Flight server said: which calls belong together, and the clauses that need nothing else."""

from __future__ import annotations

import dataclasses
import fnmatch
import functools
from collections.abc import Iterator, Sequence

import pytest

from conformance.contract.judge import Judge
from conformance.engine.conversed import as_driven, conversations, without_table
from conformance.engine.corpus import load_corpus
from conformance.engine.events import ExchangeRecorded
from conformance.engine.owed import lasting_target
from conformance.engine.proof import is_heavy
from conformance.engine.selection import clauses_on
from conformance.generate import materialise
from conformance.protocols.flight.contract.encoding import action, descriptor, part
from conformance.protocols.flight.contract.view import FlightView
from conformance.protocols.flight.engine import logins, recordings
from conformance.protocols.flight.records import Descriptor, DoAction, FlightMethod
from conformance.protocols.flight.reference.mutants import FLIGHT_MUTANTS
from conformance.protocols.flight.reference.variations import FLIGHT_VARIATIONS
from conformance.records import Call, CallEnd, Case, Exchange, Outcome, Verdict
from tests.engine import conversing

JUDGE = Judge(without_table(clauses_on("flight")[0])[0])
CORPUS = list(load_corpus(protocol="flight").values())
LIGHT = [one for one in CORPUS if not is_heavy(one)]
alone = functools.partial(conversing.alone, protocol="flight")
PATH = descriptor(Descriptor(path=("a",)))


def verdicts(exchange: Exchange) -> Iterator[Verdict]:
    """The verdicts on an exchange of the driver, as if a proxy had recorded it."""
    for one in conversations(alone(exchange.calls, now=exchange.now)):
        driven = as_driven(one)
        view = FlightView(driven.case, driven.exchange, materialise(driven.case.table))
        yield from JUDGE.in_order(one.case, JUDGE(view))


def judged(cases: Sequence[Case], mutant: str | None) -> Iterator[tuple[Case, Verdict]]:
    """The verdicts without a table on what the reference, or a mutant of it, answers to ``cases``."""
    with lasting_target("flight", mutant) as target:
        for case in cases:
            exchange = target.drive(dataclasses.replace(case, isolated=False), materialise(case.table))
            yield from ((case, verdict) for verdict in verdicts(exchange))


def info(*tickets: bytes, started: float = 0.0, seconds: float = 0.0) -> Call:
    """A call of GetFlightInfo whose answer has these tickets."""
    answer = b"".join(part(3, part(1, part(1, ticket))) for ticket in tickets)
    return Call(0, "", "GetFlightInfo", PATH, (answer,), started=started, seconds=seconds)


def get(ticket: bytes, *, started: float, seconds: float = 0.5) -> Call:
    """A read of a ticket without messages."""
    return Call(0, "", "DoGet", part(1, ticket), started=started, seconds=seconds)


def put(*, started: float, seconds: float = 0.5) -> Call:
    """A call that may change what is served."""
    return Call(0, "", "DoPut", part(1, PATH), started=started, seconds=seconds)


def poll(asked: bytes, later: bytes | None, *, started: float) -> Call:
    """A poll, and the descriptor that its answer gives for the next one."""
    return Call(0, "", "PollFlightInfo", asked, (b"" if later is None else part(2, later),), started=started)


def methods(found: Sequence[ExchangeRecorded]) -> list[list[str]]:
    """The methods of each exchange."""
    return [[call.method for call in one.exchange.calls] for one in found]


class TestGrouping:
    """The calls about one flight are one exchange."""

    def test_a_read_belongs_to_the_info_that_gave_its_ticket(self) -> None:
        """The words of the exchange name the flight; another ticket is an exchange of its own."""
        found = conversations(alone([info(b"1", b"2"), get(b"2", started=1.0), get(b"3", started=2.0)]))

        assert methods(found) == [["GetFlightInfo", "DoGet"], ["DoGet"]]
        assert found[0].case.title.endswith(": GetFlightInfo of path 'a'")

    @pytest.mark.parametrize(("started", "seconds"), [(2.0, 0.5), (0.5, 9.0), (3.2, 9.0), (0.5, 0.6)])
    def test_a_read_after_somebody_may_have_written_is_alone(self, started: float, seconds: float) -> None:
        """The write ran between the info and the end of the read, or at the same time as one of both."""
        calls = [info(b"1", started=1.0), get(b"1", started=3.0), put(started=started, seconds=seconds)]

        assert len(conversations(alone(calls))) == 3

    @pytest.mark.parametrize(("started", "seconds"), [(0.0, 0.5), (4.0, 1.0)])
    def test_a_write_before_or_after_does_not_part_them(self, started: float, seconds: float) -> None:
        """The flight was the same all the time."""
        calls = [info(b"1", started=1.0), get(b"1", started=3.0), put(started=started, seconds=seconds)]

        assert sorted(map(len, methods(conversations(alone(calls))))) == [1, 2]

    def test_a_cancellation_belongs_to_its_info(self) -> None:
        """The step says that the server gave the info out."""
        asked = info(b"1")
        cancelled = Call(0, "", "DoAction", action("CancelFlightInfo", part(1, asked.responses[0])), started=1.0)
        (only,) = conversations(alone([asked, cancelled]))

        step = as_driven(only).case.steps[1]

        assert isinstance(step, DoAction)
        assert (step.type, step.info) == ("CancelFlightInfo", "i")

    def test_the_polls_of_a_query_are_one_step(self) -> None:
        """Each has the descriptor that the answer before gave."""
        calls = [poll(PATH, b"\x08\x02", started=0.0), poll(b"\x08\x02", None, started=1.0)]
        (only,) = conversations(alone(calls))

        driven = as_driven(only)

        assert len(driven.case.steps) == 1
        assert [call.step for call in driven.exchange.calls] == [0, 0]

    def test_a_descriptor_that_two_queries_have_is_of_neither(self) -> None:
        """Nobody knows which of both a later poll goes on with."""
        same = b"\x08\x02"
        calls = [poll(PATH, same, started=0.0), poll(PATH, same, started=1.0), poll(same, same, started=2.0)]

        assert methods(conversations(alone(calls))) == [["PollFlightInfo"]] * 3

    def test_a_descriptor_that_is_asked_for_twice_goes_on_once(self) -> None:
        """A poll that is repeated may have an earlier answer again."""
        calls = [poll(PATH, b"\x08\x02", started=0.0)] + [poll(b"\x08\x02", None, started=at) for at in (1.0, 2.0)]

        assert sorted(map(len, methods(conversations(alone(calls))))) == [1, 2]

    def test_a_ticket_of_a_call_that_failed_names_nothing(self) -> None:
        """What came before an error is no answer."""
        failed = dataclasses.replace(info(b"1"), status="INTERNAL")
        cut = dataclasses.replace(info(b"1"), status="", end=CallEnd.CANCELLED)

        assert len(conversations(alone([failed, cut, get(b"1", started=1.0)]))) == 3

    @pytest.mark.parametrize("method", [str(one) for one in FlightMethod])
    def test_bytes_that_are_no_message_are_judged(self, method: str) -> None:
        """A client may send anything, and the server may answer it."""
        (only,) = conversations(alone([Call(0, "", method, b"\xff\xff", (b"\xff",))]))

        driven = as_driven(only)
        verdict = JUDGE(FlightView(driven.case, driven.exchange, materialise(driven.case.table)))

        assert "flight-service.answers-decode" in [one.clause for one in verdict.others]

    def test_a_refusal_of_a_large_message_is_the_librarys(self) -> None:
        """As in a run: the limit of gRPC is no error code of Flight, and the request was too large for it."""
        small = Call(0, "", "DoPut", b"", status="RESOURCE_EXHAUSTED", details="too much")
        large = dataclasses.replace(small, request=part(3, bytes(5 << 20)))

        found = [{one.clause for one in verdicts(Exchange("a", "s", (call,)))} for call in (small, large)]

        assert ["flight-errors.code-of-the-table" in one for one in found] == [True, True]
        failed = [[one.clause for one in verdicts(Exchange("a", "s", (call,))) if one.outcome is Outcome.FAIL]
                  for call in (small, large)]  # fmt: skip
        assert failed == [["flight-errors.code-of-the-table"], []]


def unexpected(cases: Sequence[Case], name: str | None) -> list[tuple[str, str]]:
    """What is not passed."""
    return [(case.id, one.clause) for case, one in judged(cases, name) if one.outcome is not Outcome.PASS]


def test_a_correct_server_fails_nothing() -> None:
    """On a sample of the cases, with every clause that needs no table; `slow` takes all of them."""
    assert unexpected(LIGHT[::6], None) == []


@pytest.mark.slow(env="thorough")
@pytest.mark.parametrize("name", [None, *FLIGHT_VARIATIONS])
def test_a_correct_server_fails_nothing_at_length(name: str | None) -> None:
    """On every case, with every legal variation."""
    assert unexpected(CORPUS if name is None else LIGHT, name) == []


def fails(clause: str) -> bool:
    """True if a mutant made for ``clause`` fails it without the table: on the cases made for it, else on the others."""
    named = [one for one in CORPUS if any(fnmatch.fnmatchcase(clause, pattern) for pattern in one.clauses)]
    mutants = [one.name for one in FLIGHT_MUTANTS.values() if clause in one.kills and not one.process]
    return any(
        one.clause == clause and one.outcome is Outcome.FAIL
        for cases in (named, LIGHT)
        for mutant in mutants
        for _, one in judged(cases, mutant)
    )


@pytest.mark.parametrize("clause", sorted(recordings.CLAUSES - logins.CLAUSES))
def test_every_clause_on_calls_fails_on_its_mutant(clause: str) -> None:
    """No clause is asked that cannot fail without the table; `tests/recording` has those on logins and sessions."""
    assert fails(clause)
