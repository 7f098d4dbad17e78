"""The references answer in this process as they do over connections, to the byte.

So nothing that the proof learns without a connection depends on that. What a race decides is left out: how the messages
of a call interleave where nobody waits for an answer, and calls that are made at the same time, or given up.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from contextlib import closing

import pytest

from conformance.contract.clause import load_chapters
from conformance.engine.corpus import load_corpus
from conformance.engine.proof import ProofFixture, Tried
from conformance.protocol import DEFAULT_PROTOCOL, protocol_names
from conformance.protocols.flight.reference.hosted import flight_target
from conformance.protocols.storage_read.generate.scenarios import CHAPTER
from conformance.protocols.storage_read.reference.hosted import storage_target
from conformance.protocols.storage_write.reference.server import HostedWrites
from conformance.protocols.storage_write.reference.service import WriteService
from conformance.records import CallEnd, Exchange
from conformance.records.together import groups
from conformance.targets import Target
from conformance.targets.hosted import hosted
from conformance.targets.spec import TargetSpec

load_chapters()
Open = Callable[..., Target]


def write_target(*, connected: bool = False) -> Target:
    """The reference of the Storage Write API."""
    make = functools.partial(HostedWrites, make=WriteService)
    return hosted(TargetSpec("reference", "storage-write"), make, connected=connected)


OPEN: dict[str, Open] = {DEFAULT_PROTOCOL: storage_target, "flight": flight_target, "storage-write": write_target}
SAMPLE = 12
"""Each so many-th case is compared in the quick tests; those over connections take ten times as long."""
RACES = frozenset({"flight.handshake-rounds"})
"""Refused at its first message, whose client may have sent the others by then."""


def cases(protocol: str) -> tuple[Tried, ...]:
    """The light cases of a protocol that a server without more can serve, and no race decides about."""
    fixture = ProofFixture.of(load_corpus(protocol=protocol).values(), ())
    drawn = () if protocol != DEFAULT_PROTOCOL else fixture.scenarios([f"{CHAPTER}."], protocol)
    # Drawn cases of Storage Read append rows, and read a table as it was before.
    served = (one for one in (*fixture.served(()), *drawn) if one.case.id not in RACES)
    # Of a group of steps of Flight, the calls are made at the same time.
    return tuple(one for one in served if all(len(group) == 1 for group in groups(one.case.steps)))


def timeless(exchange: Exchange) -> Exchange:
    """The exchange without the times of its calls: another process has another clock, and so has a connection."""
    calls = (dataclasses.replace(call, started=0.0, seconds=0.0) for call in exchange.calls)
    return dataclasses.replace(exchange, calls=tuple(calls))


def compared(exchange: Exchange) -> tuple[Exchange, tuple[object, ...]]:
    """The exchange without what a race decides."""
    calls = timeless(exchange).calls
    sent = tuple((call.requests, call.responses) for call in calls)
    plain = (dataclasses.replace(call, request=b"", more_requests=(), responses=(), order="") for call in calls)
    return dataclasses.replace(exchange, calls=tuple(plain)), sent


def assert_same(protocol: str, sample: int) -> None:
    """Compare the exchanges of each so many-th case; the second one in this process has its tables brought back."""
    with closing(OPEN[protocol]()) as inside, closing(OPEN[protocol](connected=True)) as outside:
        for one in cases(protocol)[::sample]:
            case = dataclasses.replace(one.case, isolated=False)
            first, again, over = (target.drive(case, one.table) for target in (inside, inside, outside))
            assert timeless(first) == timeless(again), case.id
            if any(call.end is CallEnd.CANCELLED for call in first.calls) and protocol == "flight":
                continue
            assert compared(first) == compared(over), case.id


@pytest.mark.parametrize("protocol", protocol_names())
def test_a_sample_of_cases_is_answered_alike(protocol: str) -> None:
    """Every field of the exchange."""
    assert_same(protocol, SAMPLE)


@pytest.mark.slow(env="thorough")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("protocol", protocol_names())
def test_every_case_is_answered_alike(protocol: str) -> None:
    """Every field of the exchange."""
    assert_same(protocol, 1)
