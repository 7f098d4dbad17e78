"""Every path of a client that is built here reads a table rightly; a path whose client is not built says why."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from adapters.building import find, reason_not_built
from adapters.spec import shipped
from conformance.clients.task import ClientTask, client_clauses
from conformance.engine.events import CaseJudged
from conformance.protocols.storage_read.clients.pool import ClientPool
from conformance.protocols.storage_read.clients.situations import Set, faulty
from conformance.readers.ipc.job import JobOutcome
from conformance.readers.programs.clientspec import shipped_programs
from conformance.records import Outcome
from tests.protocols.storage_read.clients.healthy import healthy

pytestmark = pytest.mark.slow(env="adapters")

PROGRAMS = shipped_programs()
PATHS = [info.name for program in PROGRAMS.values() for info in program.paths.values()]
SECONDS = 60.0
"""Processor time of an answer: this is no test of speed."""


@pytest.fixture(scope="module")
def pool() -> Iterator[ClientPool]:
    """The clients that are built; each starts when it is first asked."""
    specs = shipped("client.toml")
    built = {name: program for name, program in PROGRAMS.items() if find(specs[name]) is not None}
    with ClientPool(built, seconds=SECONDS) as opened:
        yield opened


@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", PATHS)
def test_a_built_path_reads_a_table(path: str, pool: ClientPool) -> None:
    """All rows of a stream in their order, and a table without rows."""
    if path not in pool.names:
        name = path.partition(".")[0]
        pytest.skip(reason_not_built(shipped()[name]) or f"{name} is not built: run python -m adapters {name}")
    chosen: list[Set] = [healthy(), *(one for one in faulty() if one.id == "empty.no-rows")]

    events = list(ClientTask(pool, path, chosen, client_clauses()).events())

    verdicts = [verdict for event in events if isinstance(event, CaseJudged) for verdict in event.verdicts]
    assert verdicts
    assert [verdict for verdict in verdicts if verdict.outcome is not Outcome.PASS] == []


@pytest.mark.timeout(1200)
def test_an_answer_that_ends_the_virtual_machine_of_spark_is_blamed_for_it(pool: ClientPool) -> None:
    """A message that declares 1 GiB of metadata ends it, and the next answer is that of a new one."""
    path = "bigquery-spark.load"
    if path not in pool.names:
        pytest.skip("bigquery-spark is not built: run python -m adapters bigquery-spark")
    (huge,) = [one for one in faulty() if one.id == "broken.huge-metadata.response-0"]

    ended, after = (pool.fetch(path, asked)[0].outcome for asked in (huge, healthy()))

    # Either its own limit of memory ends the virtual machine, or that of the suite does.
    assert ended in (JobOutcome.DIED, JobOutcome.EXHAUSTED)
    assert after is JobOutcome.ROWS
