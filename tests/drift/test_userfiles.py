"""The user's own files as cases."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pytest

from conformance.drift import userfiles
from conformance.drift.comparing import VersionChange
from conformance.drift.run import DriftPlan
from conformance.drift.userfiles import OWN_KIND, UserFiles, find_files, user_inputs
from conformance.drift.versions import DriftError
from tests.drift import standins

TABLE = pa.table({"n": [1, None, 3], "t": ["a", "b", None]})

CHANGES_LAST = """
import pyarrow as pa
opened = worker._opened
def changing(job):
    schema, batches = opened(job)
    column = pa.array([*batches[-1].column(0).to_pylist()[:-1], 7], schema.types[0])
    return schema, [*batches[:-1], pa.record_batch([column], schema=schema)]
worker._opened = changing
"""
"""Another value in the last row of what is read."""


def written(path: Path, table: pa.Table = TABLE) -> Path:
    """A file or stream at ``path``, by the end of its name."""
    with (pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file)(path, table.schema) as writer:
        writer.write_table(table)
    return path


def of(*paths: Path) -> UserFiles:
    """The cases among these files."""
    return find_files([str(path) for path in paths], paths)


def test_streams_and_files_are_cases_in_their_order(tmp_path: Path) -> None:
    """Each with the name of its file in its id, and the names that the user gave for the replay line."""
    paths = [written(tmp_path / "a file.arrow"), written(tmp_path / "two.arrows")]

    found = find_files(["*.arrow*"], paths)

    assert [(one.id, one.container) for one in found.files] == [
        ("file.0000.a_file", "file"),
        ("file.0001.two", "stream"),
    ]
    assert found.names == ("*.arrow*",)


def test_what_cannot_be_compared_is_named_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other formats, bytes that are nothing, files above the limit, and a pipe to which nobody writes."""
    monkeypatch.setattr(userfiles, "MOST_BYTES", 2000)
    written(tmp_path / "good.arrow")
    written(tmp_path / "large.arrow", pa.table({"n": range(1000)}))
    (tmp_path / "empty").touch()
    (tmp_path / "t.csv").write_text("a,b\n1,2\n", encoding="utf-8")

    os.mkfifo(tmp_path / "pipe")

    found = of(*sorted(tmp_path.iterdir()))

    assert [one.path.name for one in found.files] == ["good.arrow"]
    empty, large, pipe, other = (text.rpartition("/")[2] for text in found.left_out)
    assert empty == "empty: no stream and no file of Arrow IPC"
    assert large.startswith("large.arrow: ")
    assert large.endswith(" bytes, more than the 2,000 that are compared")
    assert pipe == "pipe: no regular file"
    assert other == "t.csv: CSV, no Arrow data"


def test_nothing_to_compare_is_refused(tmp_path: Path) -> None:
    """A folder of other files would make every upgrade safe."""
    (tmp_path / "empty").touch()

    with pytest.raises(DriftError, match=r"expected Arrow streams or files to compare; .*: no stream and no file"):
        of(tmp_path / "empty")


def test_broken_files_are_inputs_with_their_faults(tmp_path: Path) -> None:
    """What a version makes of them is compared, and judged by what they are."""
    path = written(tmp_path / "cut.arrow")
    path.write_bytes(path.read_bytes()[:-6])

    (one,) = user_inputs(of(path).files)

    assert one.kind == OWN_KIND
    assert not one.valid


def plan(files: UserFiles) -> DriftPlan:
    """A comparison of these files alone."""
    return DriftPlan(files=files, kinds=("none",), mutants=0, catalogue=False)


def test_a_version_has_no_drift_on_own_files(tmp_path: Path) -> None:
    """They are read as they are, and written again by both."""
    path = written(tmp_path / "orders.arrow")

    drift = standins.drift(tmp_path, standins.SAME, plan(of(path)))

    assert drift.differences == ()
    assert drift.counts[drift.steps[0]][OWN_KIND] == {VersionChange.EQUAL: 1}
    assert drift.counts[drift.steps[0]]["write your files"] == {VersionChange.EQUAL: 1}


def test_one_value_behind_many_rows_is_found(tmp_path: Path) -> None:
    """More rows than other cases may have are compared to the last one, and fail the run."""
    path = written(tmp_path / "orders.arrow", pa.table({"n": range(70_000)}))

    drift = standins.drift(tmp_path, CHANGES_LAST, plan(of(path)))

    assert {one.change for one in drift.differences if one.kind == OWN_KIND} == {VersionChange.VALUES}
    assert drift.matters
