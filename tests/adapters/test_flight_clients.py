"""Every path of a Flight client that is built here gives what a plain script has; one that is not built says why."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from adapters.building import find, reason_not_built
from adapters.spec import shipped
from conformance.clients.task import ClientTask, client_clauses
from conformance.engine.events import CaseJudged
from conformance.protocols.flight.clients.pool import FlightPool
from conformance.protocols.flight.clients.situations import scripted
from conformance.readers.ipc.adapters import client_file
from conformance.readers.programs.clientspec import shipped_programs
from conformance.records import Outcome

pytestmark = pytest.mark.slow(env="adapters")

PROGRAMS = shipped_programs("flight")
PATHS = [info.name for program in PROGRAMS.values() for info in program.paths.values()]
SECONDS = 60.0
"""Processor time of an answer: this is no test of speed."""


@pytest.fixture(scope="module")
def pool() -> Iterator[FlightPool]:
    """The clients that are built; each starts when it is first asked."""
    specs = shipped(client_file("flight"))
    built = {name: program for name, program in PROGRAMS.items() if find(specs[name]) is not None}
    with FlightPool(built, seconds=SECONDS) as opened:
        yield opened


@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", PATHS)
def test_a_built_path_gives_what_a_plain_script_has(path: str, pool: FlightPool) -> None:
    """All rows, results, flights, actions, fields or tokens of the methods that the path calls."""
    if path not in pool.names:
        name = path.partition(".")[0]
        pytest.skip(reason_not_built(shipped()[name]) or f"{name} is not built: run python -m adapters {name}")
    plain = [one for one in scripted() if one.id.partition(".")[2] == "plain"]

    events = list(ClientTask(pool, path, plain, client_clauses("flight")).events())

    verdicts = [verdict for event in events if isinstance(event, CaseJudged) for verdict in event.verdicts]
    judged = [verdict for verdict in verdicts if verdict.outcome is not Outcome.UNSUPPORTED]
    assert judged
    assert [verdict for verdict in judged if verdict.outcome is not Outcome.PASS] == []
