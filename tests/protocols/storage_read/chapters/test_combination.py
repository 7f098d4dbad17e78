"""The clauses on combinations: the reference and every free choice of a server hold them, and wrong servers do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pyarrow as pa
import pytest

from conformance.contract.clause import CLAUSES, PROFILES, load_chapters
from conformance.contract.judge import judge
from conformance.generate import draw_scenario, materialise
from conformance.protocols.storage_read.contract.histories import CHAPTER
from conformance.protocols.storage_read.generate.scenarios import CHAPTER as DRAWN_FOR
from conformance.protocols.storage_read.reference.catalogue import Catalogue
from conformance.protocols.storage_read.reference.hosted import storage_target
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.protocols.storage_read.reference.service import ReadService
from conformance.protocols.storage_read.reference.session import Stream
from conformance.records import Case, Outcome
from conformance.reference.statuses import Reason
from tests.studies import sample

load_chapters()
OURS = [clause for clause in CLAUSES.values() if clause.id.startswith(CHAPTER)]


def verdicts(
    mutant: str | None, cases: list[Case], *, make: Callable[[Catalogue], ReadService] | None = None
) -> dict[str, set[Outcome]]:
    """The outcomes of each clause on scenarios that a mutant, the reference, or the service that is made, serves."""
    found: dict[str, set[Outcome]] = {}
    clauses = [clause for clause in CLAUSES.values() if PROFILES[0] in clause.profiles]
    with closing(storage_target(mutant, make=make)) as target:
        for case in cases:
            table = materialise(case.table)
            for verdict in judge(case, target.drive(case, table), table, clauses=clauses):
                found.setdefault(verdict.clause, set()).add(verdict.outcome)
    return found


def test_scenarios_are_known_by_the_chapter() -> None:
    """What draws scenarios and what judges them mean the same chapter, and each of its clauses has a mutant."""
    assert f"{DRAWN_FOR}." == CHAPTER
    assert {clause.id for clause in OURS} == {
        name for mutant in MUTANTS.values() for name in mutant.kills if name.startswith(CHAPTER)
    }


def test_the_reference_holds_every_clause_on_scenarios() -> None:
    """No clause of any chapter fails on the reference's answers to scenarios, and all of this chapter are observed."""
    found = verdicts(None, [draw_scenario(5, index) for index in range(30)])

    assert {clause for clause, outcomes in found.items() if any(one.fails_run for one in outcomes)} == set()
    assert {clause.id for clause in OURS} <= {clause for clause, made in found.items() if Outcome.PASS in made}


class Free(ReadService):
    """A server with other choices: a stream for every third row, one row in a response, few splits, rows backwards."""

    def plan_streams(self, snapshot: Any, request: Any) -> list[tuple[int, int]]:
        """Streams of a few rows, last first."""
        rows, most = snapshot.rows.num_rows, request.max_stream_count or 5
        step = max(3, -(-rows // most))
        runs = [(start, min(start + step, rows)) for start in range(0, rows, step)]
        return runs[::-1]

    def rows_of_run(self, rows: pa.Table, mask: pa.BooleanArray | None, start: int, stop: int) -> pa.Table:
        """The rows of a stream, last first."""
        run = super().rows_of_run(rows, mask, start, stop)
        return run.take(pa.array(range(run.num_rows - 1, -1, -1), pa.int64())).combine_chunks()

    def cut_responses(self, stream: Stream, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """One row in each response."""
        yield from (batch.slice(row, 1) for row in range(batch.num_rows))

    def split(self, stream: Stream, fraction: float) -> tuple[pa.Table, pa.Table]:
        """The first row, and the others."""
        del fraction
        return stream.rows.slice(0, 1), stream.rows.slice(1)


class Undivided(ReadService):
    """A server that has one stream per session and splits none."""

    def plan_streams(self, snapshot: Any, request: Any) -> list[tuple[int, int]]:
        """One stream, unless there are no rows."""
        return super().plan_streams(snapshot, request) and [(0, snapshot.rows.num_rows)]

    def split_read_stream(self, request: Any) -> Any:
        """No children."""
        return type(super().split_read_stream(request))()


class Unallocated(ReadService):
    """A server that refuses an offset to which it has not sent a stream yet; the proto calls the answer undefined."""

    def read_rows(self, request: Any) -> Iterator[Any]:
        """The rows from an offset that reads of the stream, or of the one that it begins, have reached."""
        sent = self.__dict__.setdefault("sent", {})
        at = request.offset
        # The stream of a query's job is read from behind its page, which is no read of the stream.
        if "/jobs/" not in request.read_stream and 0 <= sent.get(request.read_stream, 0) < at:
            self.refuse(Reason.OFFSET_BEYOND_END, stream=request.read_stream, offset=at)
        for answer in super().read_rows(request):
            at += answer.row_count
            sent[request.read_stream] = max(sent.get(request.read_stream, 0), at)
            yield answer

    def split_read_stream(self, request: Any) -> Any:
        """The first child is sent as far as its parent was."""
        answer = super().split_read_stream(request)
        sent = self.__dict__.setdefault("sent", {})
        sent[answer.primary_stream.name] = sent.get(request.name, 0)
        return answer


@pytest.mark.parametrize("count", sample((10, 24), ("10",), env="thorough"))
@pytest.mark.parametrize("service", [Free, Undivided, Unallocated])
def test_what_a_server_may_choose_is_no_finding(service: type[ReadService], count: int) -> None:
    """Streams, their order, the size of responses, the place of a split and offsets that no read has reached are the
    server's own choice.
    """
    found = verdicts(None, [draw_scenario(6, index) for index in range(count)], make=service)

    assert {clause for clause, outcomes in found.items() if any(one.fails_run for one in outcomes)} == set()


@pytest.mark.parametrize("mutant", ["projection.order-of-request", "type.geography-as-bytes", "type.int64-as-int32"])
def test_columns_that_are_wrong_make_no_row_strange(mutant: str) -> None:
    """Rows are identified by the columns that came under their name and type, in any order."""
    found = verdicts(mutant, [draw_scenario(0, index) for index in range(12)])

    assert any(one.fails_run for made in found.values() for one in made)
    assert not any(one.fails_run for clause, made in found.items() if clause.startswith(CHAPTER) for one in made)
