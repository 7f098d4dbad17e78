"""Whole comparisons of the installed pyarrow with itself, as it is and with one change made to it."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from conformance.contain.supervised import Supervised
from conformance.drift.comparing import VersionChange, VersionDifference
from conformance.drift.run import WRITTEN, Drift, DriftPlan, run_drift
from conformance.drift.userfiles import OWN_KIND, find_files
from conformance.drift.versions import DriftError
from conformance.report.driftpages import decision
from tests.drift import standins


@pytest.fixture(scope="module", autouse=True)
def _unchanged_once() -> Iterator[None]:
    """The version without a change answers each job once."""
    with standins.unchanged_once():
        yield


def found(drift: Drift) -> set[tuple[str, VersionChange, bool]]:
    """Case, change and whether it matters, of every difference."""
    return {(one.case, one.change, one.matters) for one in drift.differences}


def first(drift: Drift) -> VersionDifference:
    """The first difference."""
    return drift.differences[0]


def test_a_version_has_no_drift_from_itself(tmp_path: Path) -> None:
    """The same library in two processes gives the same bytes, values and errors."""
    drift = standins.drift(tmp_path, standins.ANOTHER)

    assert drift.differences == ()
    assert drift.digests["installed-old"] == drift.digests["installed-new"]
    assert set(drift.counts[drift.steps[0]]) >= {"write primitive", "pyarrow's files", "mutants of streams"}


def test_a_death_costs_one_case(tmp_path: Path) -> None:
    """Where the newer version dies on one input, that input is a crash and all others are compared."""
    drift = standins.drift(tmp_path, standins.DIES)

    assert found(drift) == {("primitive.000/stream@installed-old", VersionChange.CRASH, True)}
    assert first(drift).after == "died of SIGABRT"


def test_other_values_are_told_with_their_place(tmp_path: Path) -> None:
    """Where the newer version writes other rows, every writing of them has changed its values."""
    drift = standins.drift(tmp_path, standins.CHANGES)

    assert {one.change for one in drift.differences} == {VersionChange.VALUES}
    assert {one.case.partition("/")[0] for one in drift.differences} == {"primitive.001"}
    assert all(one.places and one.matters for one in drift.differences)


def test_accepting_what_is_broken_matters(tmp_path: Path) -> None:
    """Where the newer version reads whatever it is given, each input that breaks a rule is drift that matters."""
    drift = standins.drift(tmp_path, standins.ACCEPTS)

    assert {one.change for one in drift.differences} == {VersionChange.ACCEPTED}
    assert all(one.rules for one in drift.differences if one.matters)
    assert drift.matters


def test_memory_from_beyond_a_buffer_is_noticed(tmp_path: Path) -> None:
    """Bytes that depend on the memory around the buffers are reported, though they conform."""
    drift = standins.drift(tmp_path, standins.SPILLS)

    assert found(drift) == {("primitive.001/stream", VersionChange.SPILL, True)}
    assert drift.spills == {"installed-old": [], "installed-new": ["primitive.001/stream"]}


def test_what_a_version_lacks_is_not_applicable(tmp_path: Path) -> None:
    """Cases of a type that one version lacks are counted as such, and are not differences."""
    drift = standins.drift(tmp_path, standins.LACKS)

    assert drift.differences == ()
    assert drift.counts[drift.steps[0]]["write nested"][VersionChange.ABSENT] > 0
    assert set(drift.lacking["installed-new"]) == {"this pyarrow has no large_list"}


def test_one_case_is_found_again(tmp_path: Path) -> None:
    """The case of a replay line brings its difference back, with nothing else."""
    plan = DriftPlan(case="primitive.001/stream", kinds=("primitive",))

    drift = standins.drift(tmp_path, standins.SPILLS, plan)

    assert found(drift) == {("primitive.001/stream", VersionChange.SPILL, True)}
    assert drift.writings == 1
    assert drift.replay(first(drift)).endswith("--case primitive.001/stream")


def test_a_case_that_is_none_is_refused(tmp_path: Path) -> None:
    """A case that nothing is called is an error, not an empty comparison."""
    with pytest.raises(DriftError, match=r"no case is called 'primitive\.999/stream'"):
        standins.drift(tmp_path, standins.SAME, DriftPlan(case="primitive.999/stream", kinds=("primitive",)))


def test_a_replay_line_draws_the_same_cases() -> None:
    """Options that change the drawn cases are in the replay line."""
    assert DriftPlan(seed=7, share=0.5).options == " --seed 7 --share 0.5"


def test_a_worker_that_does_not_run_is_unusable(tmp_path: Path) -> None:
    """A worker that ends without answers is no drift of its version."""
    broken = standins.version(tmp_path, "broken", "raise SystemExit('no such library')")

    with pytest.raises(DriftError, match="its worker ended with status 1: no such library"):
        run_drift([broken, broken], standins.SMALL)


def test_one_that_does_not_run_ends_no_other_program(tmp_path: Path) -> None:
    """The workers of the other versions are not waited for; a program that drift did not start lives on."""
    broken = standins.version(tmp_path, "broken", "raise SystemExit('no such library')")
    stranger = Supervised([sys.executable, "-c", "import signal; signal.pause()"], environment=os.environ)

    with pytest.raises(DriftError):
        run_drift([broken, broken], standins.SMALL)

    assert stranger.running
    stranger.end()


def test_own_files_are_written_and_read_whatever_the_time(tmp_path: Path) -> None:
    """A time that has passed at once leaves out the suite's cases; the decision counts the files."""
    table = pa.table({"a": [1, 2]})
    for number in range(3):
        with pa.ipc.new_stream(tmp_path / f"{number}.arrows", table.schema) as writer:
            writer.write_table(table)
    files = find_files([str(tmp_path)], sorted(tmp_path.glob("*.arrows")))

    drift = standins.drift(tmp_path, standins.SAME, dataclasses.replace(standins.SMALL, files=files, seconds=1e-9))

    assert drift.inputs[OWN_KIND] >= len(files.files)
    assert drift.counts[drift.steps[0]][f"{WRITTEN}{OWN_KIND}"] == {VersionChange.EQUAL: 3}
    assert ", with 3 of 3 of your files" in decision(drift)
