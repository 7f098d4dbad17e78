"""The servers that are kept between cases."""

from __future__ import annotations

from typing import Any, cast

from conformance.targets.running import RunningServer
from conformance.targets.servers import Servers


class FakeProcess:
    """A process that runs until a test sets ``running`` to False."""

    running = True


class FakeServer:
    """A server that notes that it was closed."""

    def __init__(self) -> None:
        self.process: Any = FakeProcess()
        self.closed = False

    def close(self, *, grace: float) -> None:
        """Note it."""
        self.closed = True


def kept() -> Servers:
    """The kept servers, of fakes."""
    return Servers(lambda: cast(RunningServer, FakeServer()))


def fake(running: RunningServer) -> FakeServer:
    """The same server, as the fake that it is."""
    return cast(FakeServer, running)


def test_the_cases_with_restarts_share_another_server() -> None:
    """Each of the two goes on from case to case."""
    servers = kept()

    shared, restarted = servers.ready(), servers.ready(restarted=True)

    assert shared is not restarted
    assert (servers.ready(), servers.ready(restarted=True)) == (shared, restarted)


def test_only_the_server_that_is_given_up_ends() -> None:
    """The next case gets another in its place."""
    servers = kept()
    shared, restarted = servers.ready(), servers.ready(restarted=True)

    servers.give_up(restarted)

    assert (fake(shared).closed, fake(restarted).closed) == (False, True)
    assert servers.ready(restarted=True) is not restarted
    assert servers.shared is shared


def test_a_server_that_the_suite_did_not_start_is_not_given_up() -> None:
    """There would be no other in its place."""
    servers = kept()
    running = servers.ready()
    running.process = None

    servers.give_up(running)

    assert servers.ready() is running


def test_a_server_that_has_ended_is_replaced() -> None:
    """So one crash costs one case."""
    servers = kept()
    first = servers.ready()
    fake(first).process.running = False

    assert servers.ready() is not first
    assert fake(first).closed


def test_closing_ends_all() -> None:
    """No server is left behind."""
    servers = kept()
    both = [servers.ready(), servers.ready(restarted=True)]

    servers.close(grace=0)

    assert [fake(running).closed for running in both] == [True, True]
