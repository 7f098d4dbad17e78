"""Every path of a client of query results that is built here reads one; it loses the rows if the format is ignored."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from adapters.building import find, reason_not_built
from adapters.spec import shipped
from conformance.clients.consequences import Consequence, consequence
from conformance.engine.corpus import load_corpus
from conformance.protocols.storage_read.clients.queries import QuerySet, healthy, query_mutated
from conformance.protocols.storage_read.clients.querypool import QueryPool
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.readers.ipc.adapters import QUERY_RESULTS, client_file
from conformance.readers.programs.clientspec import shipped_programs

pytestmark = pytest.mark.slow(env="adapters")

PROGRAMS = shipped_programs(QUERY_RESULTS)
PATHS = [info.name for program in PROGRAMS.values() for info in program.paths.values()]
LOSING = [path for path in PATHS if path.startswith("bigquery-python-query.")]
"""Those of 3.47.0; versions before read every row from the stream, which the reference has all the same."""
SECONDS = 60.0
"""Processor time of an answer: this is no test of speed."""


@pytest.fixture(scope="module")
def pool() -> Iterator[QueryPool]:
    """The clients that are built; each starts when it is first asked."""
    specs = shipped(client_file(QUERY_RESULTS))
    built = {name: program for name, program in PROGRAMS.items() if find(specs[name]) is not None}
    with QueryPool(built, seconds=SECONDS) as opened:
        yield opened


def made_of(path: str, pool: QueryPool, asked: QuerySet) -> Consequence:
    """What a path makes of a situation."""
    if path not in pool.names:
        name = path.partition(".")[0]
        pytest.skip(reason_not_built(shipped()[name]) or f"{name} is not built: run python -m adapters {name}")
    answer, _ = pool.fetch(path, asked)
    return consequence(asked, answer, lambda got: pool.compared(pool.infos[path], asked, got))[0]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", PATHS)
def test_a_built_path_reads_a_result(path: str, pool: QueryPool) -> None:
    """The rows of the page, and those of the stream behind it."""
    assert made_of(path, pool, healthy(load_corpus())) is Consequence.UNHARMED


@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", LOSING)
def test_a_format_that_is_ignored_loses_every_row(path: str, pool: QueryPool) -> None:
    """The cell of the matrix, again."""
    (one,) = query_mutated([MUTANTS["query-results.format-ignored"]], load_corpus())

    assert made_of(path, pool, one.asked) is Consequence.LOSS


@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", LOSING)
def test_a_result_of_one_page_without_a_batch_is_lost(path: str, pool: QueryPool) -> None:
    """Rows behind a page would come from the stream, whose read then begins at its first row."""
    asked = dataclasses.replace(healthy(load_corpus(), "query-results.one-page"), deviation="query-results.no-batch")

    assert made_of(path, pool, asked) is Consequence.LOSS
