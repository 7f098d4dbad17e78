"""The user's own files as cases."""

from __future__ import annotations

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
    path.parent.mkdir(parents=True, exist_ok=True)
    with (pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file)(path, table.schema) as writer:
        writer.write_table(table)
    return path


def test_folders_are_searched_in_the_order_of_names(tmp_path: Path) -> None:
    """Streams and files, also in folders below; a path of a file is taken as it is."""
    folder = tmp_path / "mine"
    written(folder / "b" / "two.arrows")
    written(folder / "a file.arrow")
    single = written(tmp_path / "single.arrow")

    found = find_files([folder, single])

    assert [(one.id, one.container) for one in found.files] == [
        ("file.0000.a_file", "file"),
        ("file.0001.two", "stream"),
        ("file.0002.single", "file"),
    ]
    assert found.folders == (str(folder), str(single))


def test_what_cannot_be_compared_is_named_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other formats, bytes that are nothing, and files above the limit."""
    monkeypatch.setattr(userfiles, "MOST_BYTES", 2000)
    written(tmp_path / "good.arrow")
    written(tmp_path / "large.arrow", pa.table({"n": range(1000)}))
    (tmp_path / "empty").touch()
    (tmp_path / "t.csv").write_text("a,b\n1,2\n", encoding="utf-8")

    found = find_files([tmp_path])

    assert [one.path.name for one in found.files] == ["good.arrow"]
    empty, large, other = (text.rpartition("/")[2] for text in found.left_out)
    assert empty == "empty: no stream and no file of Arrow IPC"
    assert large.startswith("large.arrow: ")
    assert large.endswith(" bytes, more than the 2,000 that are compared")
    assert other == "t.csv: CSV, no Arrow data"


def test_nothing_to_compare_is_refused(tmp_path: Path) -> None:
    """An empty folder would make every upgrade safe."""
    with pytest.raises(DriftError, match=r"expected Arrow streams or files to compare; .*: no files"):
        find_files([tmp_path])


def test_broken_files_are_inputs_with_their_faults(tmp_path: Path) -> None:
    """What a version makes of them is compared, and judged by what they are."""
    path = written(tmp_path / "cut.arrow")
    path.write_bytes(path.read_bytes()[:-6])

    (one,) = user_inputs(find_files([tmp_path]).files)

    assert one.kind == OWN_KIND
    assert not one.valid


def plan(files: UserFiles) -> DriftPlan:
    """A comparison of these files alone."""
    return DriftPlan(files=files, kinds=("none",), mutants=0, catalogue=False)


def test_a_version_has_no_drift_on_own_files(tmp_path: Path) -> None:
    """They are read as they are, and written again by both."""
    written(tmp_path / "mine" / "orders.arrow")

    drift = standins.drift(tmp_path, standins.SAME, plan(find_files([tmp_path / "mine"])))

    assert drift.differences == ()
    assert drift.counts[drift.steps[0]][OWN_KIND] == {VersionChange.EQUAL: 1}
    assert drift.counts[drift.steps[0]]["write your files"] == {VersionChange.EQUAL: 1}


def test_one_value_behind_many_rows_is_found(tmp_path: Path) -> None:
    """More rows than other cases may have are compared to the last one, and fail the run."""
    written(tmp_path / "mine" / "orders.arrow", pa.table({"n": range(70_000)}))

    drift = standins.drift(tmp_path, CHANGES_LAST, plan(find_files([tmp_path / "mine"])))

    assert {one.change for one in drift.differences if one.kind == OWN_KIND} == {VersionChange.VALUES}
    assert drift.matters
