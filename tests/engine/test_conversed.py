"""What a client and its server said, as exchanges without a table: the grouping, and the clauses that need no table."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Iterator, Sequence

import pytest

from conformance.contract import proto
from conformance.contract.judge import Judge
from conformance.contract.viewing import view_of
from conformance.engine.conversed import (
    FOREIGN,
    as_driven,
    clauses_on_calls,
    conversations,
    without_table,
)
from conformance.engine.corpus import load_corpus
from conformance.engine.events import ExchangeRecorded
from conformance.engine.owed import reference_target
from conformance.engine.proof import is_heavy
from conformance.engine.selection import all_clauses
from conformance.generate import materialise
from conformance.protocol import DEFAULT_PROTOCOL, protocol_names
from conformance.protocols.storage_read.engine import recordings
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.records import (
    Call,
    Case,
    CreateSession,
    Exchange,
    Outcome,
    ReadResult,
    ReadRows,
    RunQuery,
    SplitStream,
    Verdict,
)
from tests.engine.conversing import alone

JUDGE = Judge(without_table(all_clauses().values())[0])
CORPUS = [one for one in load_corpus().values() if one.protocol == DEFAULT_PROTOCOL]
LIGHT = [one for one in CORPUS if not is_heavy(one)]


def verdicts(exchange: Exchange) -> Iterator[Verdict]:
    """The verdicts on an exchange of the driver, as if a proxy had recorded it."""
    for one in conversations(alone(exchange.calls, now=exchange.now)):
        driven = as_driven(one)
        yield from JUDGE.in_order(
            one.case, JUDGE(view_of(driven.case, driven.exchange, materialise(driven.case.table)))
        )


def judged(cases: Sequence[Case], mutant: str | None) -> Iterator[tuple[Case, Verdict]]:
    """The verdicts without a table on what the reference, or a mutant of it, answers to ``cases``."""
    with reference_target(mutant=mutant) as target:
        for case in cases:
            exchange = target.drive(dataclasses.replace(case, isolated=False), materialise(case.table))
            yield from ((case, verdict) for verdict in verdicts(exchange))


def session(name: str, *streams: str) -> Call:
    """A call that created a session with these streams."""
    answer = proto.ReadSession(name=name, streams=[proto.ReadStream(name=f"{name}/streams/{one}") for one in streams])
    return Call(0, "", "CreateReadSession", b"", (answer.SerializeToString(),))


def read(stream: str, *, started: float = 1.0, seconds: float = 0.0) -> Call:
    """A read of a stream without responses."""
    request = proto.ReadRowsRequest(read_stream=stream).SerializeToString()
    return Call(0, "", "ReadRows", request, started=started, seconds=seconds)


def split(stream: str, *children: str) -> Call:
    """A split of a stream into two."""
    first, second = (proto.ReadStream(name=child) for child in children)
    answer = proto.SplitReadStreamResponse(primary_stream=first, remainder_stream=second).SerializeToString()
    request = proto.SplitReadStreamRequest(name=stream).SerializeToString()
    return Call(0, "", "SplitReadStream", request, (answer,), started=0.5)


class TestGrouping:
    """The calls on one session are one exchange."""

    def test_calls_on_two_sessions_are_two_exchanges(self) -> None:
        """In the order of their first calls, whatever lies between them."""
        calls = [session("a", "0"), session("b", "0"), read("b/streams/0"), read("a/streams/0")]

        found = conversations(alone(calls))

        assert [[call.method for call in one.exchange.calls] for one in found] == [
            ["CreateReadSession", "ReadRows"]
        ] * 2
        assert [one.case.id for one in found] == ["recorded.0001", "recorded.0002"]

    def test_the_child_of_a_split_belongs_to_the_session_of_its_parent(self) -> None:
        """Even if its name does not say so."""
        calls = [session("a", "0"), split("a/streams/0", "elsewhere/1", "elsewhere/2"), read("elsewhere/2")]

        (only,) = conversations(alone(calls))

        assert len(only.exchange.calls) == 3

    def test_calls_outside_of_any_session_are_exchanges_of_their_own(self) -> None:
        """Refused sessions have no name."""
        refused = Call(0, "", "CreateReadSession", b"", status="NOT_FOUND")

        assert len(conversations(alone([refused, refused]))) == 2

    def test_calls_are_ordered_by_their_start(self) -> None:
        """A log has them in the order in which they ended."""
        calls = [read("a/streams/0", started=2.0), read("a/streams/0", started=1.0)]

        (only,) = conversations(alone(calls))

        assert [call.started for call in only.exchange.calls] == [0.0, 1.0]


class TestSteps:
    """Each call carries out the step that its request asks for."""

    def test_the_steps_are_made_from_the_requests(self) -> None:
        """A read of a child is known by its split, a foreign stream by its name."""
        calls = [
            session("a", "0"),
            split("a/streams/0", "a/streams/1", "a/streams/2"),
            read("a/streams/2"),
            read("a/streams/9", started=2.0),
        ]
        (only,) = conversations(alone(calls))

        driven = as_driven(only)

        created, divided, child, foreign = driven.case.steps
        assert isinstance(created, CreateSession)
        assert isinstance(divided, SplitStream)
        assert isinstance(child, ReadRows)
        assert isinstance(foreign, ReadRows)
        assert (divided.label, child.stream, child.name) == ("x1", "x1.remainder", "")
        assert foreign.name == "a/streams/9"
        assert driven.exchange.driven

    def test_reads_at_the_same_time_are_together(self) -> None:
        """The clause on reading together judges them, and that on reading again does not."""
        calls = [read("a/streams/0", started=start, seconds=1.0) for start in (0.0, 0.5, 5.0)]
        (only,) = conversations(alone(calls))

        steps = as_driven(only).case.steps

        assert [isinstance(step, ReadRows) and step.together for step in steps] == [True, True, False]

    @pytest.mark.parametrize("method", ["CreateReadSession", "ReadRows", "SplitReadStream"])
    def test_a_request_that_is_no_message_is_a_step(self, method: str) -> None:
        """A client may send anything, and the server may answer it."""
        (only,) = conversations(alone([Call(0, "", method, b"\xff\xff", (b"\xff",))]))

        driven = as_driven(only)

        assert len(driven.case.steps) == 1
        JUDGE(view_of(driven.case, driven.exchange, materialise(driven.case.table)))


@pytest.mark.parametrize("protocol", protocol_names())
def test_a_call_of_a_method_that_nobody_knows_is_kept_and_not_judged(protocol: str) -> None:
    """It is an exchange of its own, between calls that are judged as without it."""
    foreign = Call(0, "", "example.Other/Ask", b"\x01", (b"\x02",), started=0.5)
    (one,) = alone([foreign])
    recorded = ExchangeRecorded(
        dataclasses.replace(one.case, protocol=protocol), dataclasses.replace(one.exchange, protocol=protocol)
    )

    first, second = conversations([*alone([session("a", "a/streams/0"), read("a/streams/0")]), recorded])

    assert [len(kept.exchange.calls) for kept in (first, second)] == [2, 1]
    assert second.case.title.endswith(": a call of example.Other/Ask, which is not judged")
    driven = as_driven(second)
    assert (driven.case.steps, driven.exchange.calls) == ((), ())
    assert driven.exchange.untestable == FOREIGN


def test_a_correct_server_fails_nothing() -> None:
    """On a sample of the cases, with every clause that needs no table; `slow` takes all of them."""
    found = [(case.id, one.clause) for case, one in judged(LIGHT[::12], None) if one.outcome is not Outcome.PASS]

    assert found == []


@pytest.mark.slow(env="thorough")
def test_a_correct_server_fails_nothing_at_length() -> None:
    """On every case."""
    found = [(case.id, one.clause) for case, one in judged(CORPUS, None) if one.outcome is not Outcome.PASS]

    assert found == []


def fails(clause: str) -> bool:
    """True if a mutant made for ``clause`` fails it without the table: on the cases made for it, else on the others."""
    named = [one for one in CORPUS if any(fnmatch.fnmatchcase(clause, pattern) for pattern in one.clauses)]
    mutants = [one.name for one in MUTANTS.values() if clause in one.kills and not one.process]
    return any(
        one.clause == clause and one.outcome is Outcome.FAIL
        for cases in (named, LIGHT)
        for mutant in mutants
        for _, one in judged(cases, mutant)
    )


@pytest.mark.parametrize(
    "clause",
    ["session.table-is-echoed", "rows.row-count-is-true", "rows.schema-is-the-sessions", "session.names-differ"],
)
def test_a_clause_on_calls_fails_on_its_mutant(clause: str) -> None:
    """A sample; `slow` takes all of them."""
    assert fails(clause)


@pytest.mark.slow(env="thorough")
@pytest.mark.parametrize("clause", sorted(recordings.CLAUSES))
def test_every_clause_on_calls_fails_on_its_mutant(clause: str) -> None:
    """No clause is asked that cannot fail without the table."""
    assert fails(clause)


def test_the_clauses_on_calls_exist() -> None:
    """A clause that was renamed would be left out silently."""
    assert set(all_clauses()) >= clauses_on_calls()


def test_a_query_and_the_reads_of_its_result_belong_together() -> None:
    """By the job that the answer names; a query without a job is an exchange of its own."""
    answer = b'{"jobReference": {"projectId": "p", "jobId": "j"}}'
    stream = proto.ReadRowsRequest(read_stream="projects/p/locations/us/jobs/j/streams/_default", offset=4)
    asked = b'{"query": "SELECT 1", "queryResultsFormat": "ARROW"}'
    calls = (
        Call(0, "", "jobs.query", asked, (answer,), status="OK"),
        Call(0, "", "jobs.query", asked, (b"{}",), status="OK", started=1.0),
        Call(0, "", "ReadRows", stream.SerializeToString(), (), status="OK", started=2.0),
    )
    first, second = conversations(alone(calls))
    query, read = as_driven(first).case.steps

    assert [call.method for call in first.exchange.calls] == ["jobs.query", "ReadRows"]
    assert [call.method for call in second.exchange.calls] == ["jobs.query"]
    assert isinstance(query, RunQuery)
    assert isinstance(read, ReadResult)
    assert (query.results, read.offset, read.query) == ("ARROW", "4", query.label)
