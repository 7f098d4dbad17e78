from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from conformance.campaign.campaignjob import Range
from conformance.campaign.commits import Commit, CommitError, Tally, committed, files_of, manifest_of, sweep
from conformance.campaign.runfolders import SCHEMAS, RunFiles, Stage
from conformance.disk.files import DiskError

SPAN = Range(7, 70, 80)
PLAN = {"index": 70, "case_id": "c", "rows": 1, "columns": 1, "covers": []}


def layout(tmp_path: Path) -> RunFiles:
    """The layout of some run."""
    return RunFiles(tmp_path, "0123456789ab", "t", "arrow")


def attempt(where: RunFiles, *, cases: int) -> Commit:
    """An attempt at the range that has written its plan."""
    commit = Commit(where, SPAN)
    commit.add(Stage.PLAN, [PLAN] * cases)
    return commit


def test_what_is_not_committed_does_not_exist(tmp_path: Path) -> None:
    """Files alone are no results."""
    where = layout(tmp_path)

    attempt(where, cases=1)

    assert (files_of(where, Stage.PLAN), committed(where)) == ([], {})


def test_a_commit_has_the_written_schema(tmp_path: Path) -> None:
    """Also where a range has no rows of a stage."""
    where = layout(tmp_path)
    commit = attempt(where, cases=1)
    commit.add(Stage.READ, [])
    commit.finish({"cases": 1})

    (plan,), (read,) = files_of(where, Stage.PLAN), files_of(where, Stage.READ)

    assert pq.ParquetFile(plan).read().to_pylist() == [PLAN]
    assert pq.ParquetFile(read).schema_arrow.remove_metadata() == SCHEMAS[Stage.READ]


def test_of_two_attempts_the_first_counts(tmp_path: Path) -> None:
    """The second takes the first's word and leaves nothing behind."""
    where = layout(tmp_path)
    first, second = attempt(where, cases=1), attempt(where, cases=2)
    first.finish({"cases": 1})

    reported = second.finish({"cases": 2})

    assert reported["cases"] == 1
    assert len(list(where.stage(Stage.PLAN).iterdir())) == 1
    assert [path.name for path in where.commits.iterdir()] == ["000007.json"]


def test_an_abandoned_attempt_leaves_nothing(tmp_path: Path) -> None:
    """A task that fails cleans up after itself."""
    where = layout(tmp_path)

    attempt(where, cases=1).abandon()

    assert list(where.stage(Stage.PLAN).iterdir()) == []


def test_sweeping_removes_what_killed_attempts_left(tmp_path: Path) -> None:
    """And nothing that a manifest names."""
    where = layout(tmp_path)
    attempt(where, cases=2)
    attempt(where, cases=1).finish({"cases": 1})

    assert sweep(where) == 1
    assert [Path(file).exists() for file in files_of(where, Stage.PLAN)] == [True]


def test_a_tally_counts_each_commit_once(tmp_path: Path) -> None:
    """However often it looks, and from before the first commit on."""
    where = layout(tmp_path)
    tally = Tally(where)
    tally.look()
    attempt(where, cases=2).finish({"cases": 2, "failing": 1})

    tally.look()
    tally.look()

    assert (tally.cases, tally.failing) == (2, 1)


def test_the_manifest_of_a_range_is_found(tmp_path: Path) -> None:
    """And none where it is not committed."""
    where = layout(tmp_path)
    attempt(where, cases=2).finish({"cases": 2})

    found = manifest_of(where, SPAN)

    assert found is not None
    assert found["cases"] == 2
    assert manifest_of(where, Range(8, 80, 90)) is None


@contextmanager
def full_disk() -> Iterator[None]:
    """A disk on which no file gets longer than 100 bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_names_the_file_and_leaves_nothing_of_it(tmp_path: Path) -> None:
    """A file that did not fit on the disk is removed with the attempt."""
    where = layout(tmp_path)
    commit = Commit(where, SPAN)

    with full_disk(), pytest.raises(DiskError, match=r"part-000007-\w+\.parquet: cannot be written: .*too large"):
        commit.add(Stage.PLAN, [PLAN])
    commit.abandon()

    assert list(where.stage(Stage.PLAN).iterdir()) == []


def test_a_manifest_that_does_not_fit_commits_nothing(tmp_path: Path) -> None:
    """The attempt's files go with it, and the range is free for another one."""
    where = layout(tmp_path)
    commit = attempt(where, cases=1)

    with full_disk(), pytest.raises(DiskError, match="cannot be written"):
        commit.finish({"cases": 1})

    assert committed(where) == {}
    assert list(where.stage(Stage.PLAN).iterdir()) == []
    assert list(where.commits.iterdir()) == []


@pytest.mark.parametrize("text", ["", "[]", '{"number": 7}', "[" * 100_000])
def test_what_is_no_manifest_is_named(tmp_path: Path, text: str) -> None:
    """A broken file in the commits ends a command in one sentence that says which one."""
    where = layout(tmp_path)
    where.commits.mkdir(parents=True)
    (where.commits / "000007.json").write_text(text)

    with pytest.raises(CommitError, match=r"000007\.json is not a manifest of a range: expected "):
        manifest_of(where, SPAN)


@pytest.mark.parametrize("data", [b"", b"PAR1garbagePAR1"])
def test_what_is_no_parquet_file_is_named(data: bytes, tmp_path: Path) -> None:
    """With its manifest, whose removal lets the range run again."""
    where = layout(tmp_path)
    attempt(where, cases=1).finish({"cases": 1})
    (file,) = files_of(where, Stage.PLAN)
    Path(file).write_bytes(data)

    with pytest.raises(CommitError, match=r"\.parquet is not a Parquet file of a range: .*; remove .*[0-9]\.json"):
        files_of(where, Stage.PLAN)
