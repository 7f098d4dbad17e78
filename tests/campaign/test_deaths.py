"""A campaign whose executors and drivers are killed at moments that a seed decides comes to the same verdicts."""

from __future__ import annotations

import contextlib
import functools
import os
import random
import signal
import subprocess
from collections import Counter
from pathlib import Path
from typing import Final

import psutil
import pytest

from conformance.campaign.commits import committed, files_of
from conformance.campaign.runfolders import RunFiles, Stage
from conformance.campaign.runs import find_run
from tests.campaign.jobs import found, target_file
from tests.campaign.spark import command, commits, run, spark_workers, until

pytest.importorskip("pyspark", reason="a campaign needs the extra spark")
pytestmark = [pytest.mark.slow(env="campaign"), pytest.mark.timeout(1800)]

CASES: Final = 1200
KILLS: Final = 5
SEED: Final = 20260714


def arguments(out: Path) -> list[str]:
    """A campaign over a serializer with findings and crashes of its own, in sixteen ranges."""
    return command(target_file(out, "Dying"), out, "--cases", str(CASES))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> RunFiles:
    """The campaign that nobody disturbed."""
    out = tmp_path_factory.mktemp("undisturbed")
    run(arguments(out), status=1)
    return find_run(str(out))[0]


def same(out: Path, undisturbed: RunFiles) -> None:
    """Assert that a campaign has every verdict of the undisturbed one, each once, and no other file."""
    layout = find_run(str(out))[0]
    named = {name for manifest in committed(layout).values() for name in manifest["files"]}
    there = {str(path.relative_to(out)) for stage in Stage for path in layout.stage(stage).rglob("*.parquet")}

    assert found(layout) == found(undisturbed)
    assert Counter(row["index"] for row in found(layout)[Stage.JUDGE]) == Counter(range(CASES))
    assert len(files_of(layout, Stage.JUDGE)) == len(files_of(undisturbed, Stage.JUDGE))
    assert there == {name for name in named if name.endswith(".parquet")}


def test_five_killed_executors(tmp_path: Path, undisturbed: RunFiles) -> None:
    """Whichever of them, at whatever moment of whatever range: Spark tries their tasks again."""
    choices = random.Random(SEED)
    driver = subprocess.Popen(arguments(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for number in range(KILLS):
        after, wait = min(3 * number, 13), choices.uniform(0, 0.8)
        until(lambda after=after: commits(tmp_path) >= after and spark_workers(driver.pid) != [], "a task at work")
        with contextlib.suppress(subprocess.TimeoutExpired):
            driver.wait(timeout=wait)
        with contextlib.suppress(psutil.Error, IndexError):
            choices.choice(spark_workers(driver.pid)).kill()

    assert driver.wait(timeout=900) == 1
    same(tmp_path, undisturbed)


def _further(out: Path, driver: subprocess.Popen[bytes], many: int) -> bool:
    return commits(out) > many or driver.poll() is not None


def test_five_killed_drivers(tmp_path: Path, undisturbed: RunFiles) -> None:
    """Each time the same command is started again, and what had been committed stays as it was."""
    choices = random.Random(SEED)
    kept: dict[int, dict[str, object]] = {}
    for number in range(KILLS):
        driver = subprocess.Popen(
            arguments(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        until(functools.partial(_further, tmp_path, driver, 2 * number), "a commit")
        with contextlib.suppress(subprocess.TimeoutExpired):
            driver.wait(timeout=choices.uniform(0, 1.0))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
        now = committed(find_run(str(tmp_path))[0])
        assert {name: now[name] for name in kept} == kept
        kept = now

    run(arguments(tmp_path), status=1)
    assert {name: committed(find_run(str(tmp_path))[0])[name] for name in kept} == kept
    same(tmp_path, undisturbed)
