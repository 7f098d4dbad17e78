"""Reads that pause in the middle, and what happens while they do."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from types import SimpleNamespace

import grpc
import pytest

from conformance.contract import proto
from conformance.records import (
    AppendRows,
    ChangeColumns,
    CreateSession,
    FaultKind,
    PlannedFault,
    ReadRows,
)
from conformance.targets.allowance import OUT_OF_TIME
from tests.protocols.storage_read.targets.conversing import PLAN, converse, served
from tests.targets.fake_server import FakeServer


def test_a_paused_read_goes_on_after_the_reads_alongside(fake: FakeServer) -> None:
    """The pause begins before the other read does, and ends after it."""
    events: list[str] = []

    def rows(request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        name = "other" if proto.ReadRowsRequest.FromString(request).offset else "paused"
        events.append(f"{name} begins")
        yield from served(b"", (2, 3))
        events.append(f"{name} ends")

    fake.rows = rows
    pause = PlannedFault(FaultKind.DELAY, responses=1)
    conversation = converse(fake, CreateSession(), ReadRows(faults=(pause,)), ReadRows(offset="5", alongside=True))

    assert events.index("paused begins") < events.index("other begins")
    assert [len(call.responses) for call in conversation.calls[1:]] == [2, 2]
    paused, other = conversation.calls[1:]
    assert paused.started < other.started
    assert paused.started + paused.seconds > other.started + other.seconds


PAUSE = PlannedFault(FaultKind.DELAY, responses=1)
INSERTED_MEANWHILE = (
    CreateSession(),
    ReadRows(stream="0", faults=(PAUSE,), during=2),
    AppendRows(2),
    CreateSession(label="t"),
    ReadRows(session="t"),
)


def test_steps_are_carried_out_while_a_read_is_held_open(fake: FakeServer) -> None:
    """The read begins before them and ends after them; its place among the calls is that of its beginning."""
    inserted: list[int] = []
    fake.rows = lambda _request, _context: served(b"", (2, 3))
    made = converse(fake, *INSERTED_MEANWHILE, plan=dataclasses.replace(PLAN, append=inserted.append))

    assert inserted == [2]
    assert [call.step for call in made.calls] == [0, 1, 3, 4]
    _, held, within, after = made.calls
    assert held.started < within.started
    assert held.started + held.seconds > within.started + within.seconds
    assert held.started + held.seconds < after.started
    assert len(held.responses) == 2


def test_a_held_read_ends_also_if_the_target_lacks_what_happens_meanwhile(fake: FakeServer) -> None:
    """The target skips the steps from there on. The read keeps its rows."""
    fake.rows = lambda _request, _context: served(b"", (2, 3))
    plan = dataclasses.replace(PLAN, change=lambda columns: False)
    steps = (
        CreateSession(),
        ReadRows(stream="0", faults=(PAUSE,), during=2),
        ChangeColumns(drop=("a",)),
        CreateSession(label="t"),
        ReadRows(session="t"),
    )

    made = converse(fake, *steps, plan=plan)

    assert [(call.step, len(call.responses)) for call in made.calls] == [(0, 1), (1, 2)]
    assert made.skipped == [2, 3, 4]


def test_a_held_read_without_a_stream_holds_nothing_up(fake: FakeServer) -> None:
    """The steps of its pause are carried out, and it is skipped."""
    fake.session = lambda _request, _context: proto.ReadSession(name="s").SerializeToString()

    made = converse(fake, CreateSession(), ReadRows(stream="0", faults=(PAUSE,), during=1), CreateSession(label="t"))

    assert ([call.step for call in made.calls], made.skipped) == ([0, 2], [1])


def test_what_happened_in_a_pause_is_not_listed_as_left_out(fake: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of the case was over behind an insertion: only what follows it is left out."""
    now = [0.0]
    monkeypatch.setattr("conformance.targets.allowance.time", SimpleNamespace(monotonic=lambda: now[0]))
    fake.rows = lambda _request, _context: served(b"", (2, 3))

    def append(_count: int) -> None:
        now[0] = 1e9

    made = converse(fake, *INSERTED_MEANWHILE, plan=dataclasses.replace(PLAN, append=append, until=1e8))

    assert [(call.step, len(call.responses)) for call in made.calls] == [(0, 1), (1, 2)]
    assert (made.skipped, made.stopped) == ([3, 4], OUT_OF_TIME)
