"""What happens to a server between calls: restarts, expiry and queries, on the reference as a process."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from conformance.protocols.storage_read.targets.driver import ServerTarget
from conformance.records import (
    AppendRows,
    CreateSession,
    Exchange,
    Happening,
    Meanwhile,
    ReadRows,
    Step,
)
from conformance.targets import Target, load_target, open_target
from conformance.targets.spec import TargetSpec
from tests.targets.conftest import ROOT, case_of, table_of

REFERENCE = load_target(ROOT / "targets" / "reference.toml")


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    """The reference, kept between the tests of this module."""
    with open_target(REFERENCE) as opened:
        yield opened


def drive(target: Target, *steps: Step) -> Exchange:
    """Put the steps to the target."""
    case = case_of(*steps)
    return target.drive(case, table_of(case))


def statuses(exchange: Exchange) -> list[str]:
    """The status of each read."""
    return [call.status for call in exchange.calls if call.method == "ReadRows"]


def test_a_restarted_server_is_asked_by_the_names_of_before(target: Target) -> None:
    """The reference forgets its sessions; the case goes on with it, in this process and in another."""
    exchange = drive(
        target,
        *(CreateSession(), ReadRows(), Meanwhile(Happening.RESTART), ReadRows(), ReadRows(handed=True)),
        *(AppendRows(1, again=True), CreateSession(label="t"), ReadRows(session="t")),
    )

    assert statuses(exchange) == ["OK", "NOT_FOUND", "NOT_FOUND", "OK"]
    assert (exchange.untestable, exchange.skipped_steps) == ("", ())


def test_the_server_of_other_cases_is_not_restarted(target: Target) -> None:
    """The cases with restarts have another one, which goes on from case to case."""
    assert isinstance(target, ServerTarget)
    before = target._servers.ready().process

    drive(target, CreateSession(), Meanwhile(Happening.RESTART), ReadRows())

    assert target._servers.ready().process is before


def test_a_server_is_not_restarted_against_its_file() -> None:
    """What follows is skipped, and what came before is kept."""
    assert REFERENCE.start is not None
    start = dataclasses.replace(REFERENCE.start, restarts=False)
    with open_target(dataclasses.replace(REFERENCE, start=start, clock=None)) as opened:
        for what in (Happening.RESTART, Happening.EXPIRY):
            exchange = drive(opened, CreateSession(), Meanwhile(what), ReadRows())

            assert (len(exchange.calls), exchange.skipped_steps) == (1, (1, 2))


def test_the_clock_is_put_back_after_the_case(target: Target) -> None:
    """Sessions of the case have expired; those of the next case end six hours from now."""
    late = drive(target, CreateSession(), Meanwhile(Happening.EXPIRY), ReadRows())
    next_one = drive(target, CreateSession(), ReadRows())

    assert statuses(late) == ["FAILED_PRECONDITION"]
    assert statuses(next_one) == ["OK"]


@pytest.mark.parametrize("what", [Happening.QUERY, Happening.QUERY_INTO])
def test_a_session_after_a_query_is_on_its_result(target: Target, what: Happening) -> None:
    """Rows that are inserted after the query are not in it."""
    exchange = drive(target, Meanwhile(what), AppendRows(1), CreateSession(), ReadRows())

    assert exchange.untestable == ""
    assert b"_result" in exchange.calls[0].request
    assert statuses(exchange) == ["OK"]


def test_a_query_that_cannot_be_run_makes_the_case_untestable(endpoint: TargetSpec) -> None:
    """It is no fault of the read: this server knows no jobs."""
    with open_target(endpoint) as opened:
        exchange = drive(opened, Meanwhile(Happening.QUERY), CreateSession(), ReadRows())

    assert exchange.calls == ()
    assert exchange.untestable.startswith("cannot seed: ")
