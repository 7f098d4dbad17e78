"""Campaigns on a real Spark; each starts one, and so they run in an environment of their own."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.campaign.commits import committed, files_of
from conformance.campaign.results import load_results
from conformance.campaign.runfolders import RunFiles, Stage
from conformance.campaign.runs import find_run
from conformance.contain.child import free_port
from tests.campaign.jobs import found, target_file
from tests.campaign.spark import CASES, command, commands_below, commits, run, spark_workers, until

pyspark = pytest.importorskip("pyspark", reason="a campaign needs the extra spark")
pytestmark = [pytest.mark.slow(env="campaign"), pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> RunFiles:
    """A campaign over a serializer with findings and crashes that nobody disturbed."""
    out = tmp_path_factory.mktemp("undisturbed")
    run(command(target_file(out, "Dying"), out), status=1)
    return find_run(str(out))[0]


def test_every_case_is_judged_once(undisturbed: RunFiles) -> None:
    """And the results count them."""
    results = load_results(undisturbed)
    indices = [row["index"] for row in found(undisturbed)[Stage.JUDGE]]

    assert indices == list(range(CASES))
    assert sum(results.outcomes.values()) == CASES
    assert results.outcomes["crash"] > 0
    assert {failure.clause for failure in results.failures} >= {"case", "framing.batch-without-end-of-stream"}


def test_the_noise_of_spark_stays_in_its_log(tmp_path: Path) -> None:
    """A user sees the results and one line on standard error."""
    done = run(command(target_file(tmp_path, "Trailing"), tmp_path / "out", "--cases", "60"), status=1)

    assert [line[:4] for line in done.stderr.splitlines()] == ["run "]
    assert done.stdout.startswith("trailing, profile arrow")
    assert next((tmp_path / "out").glob("runs/*/spark.log")).stat().st_size > 0


@pytest.mark.parametrize("after", [1, 4])
def test_a_killed_executor_loses_no_verdict(tmp_path: Path, undisturbed: RunFiles, after: int) -> None:
    """Spark tries its task again; the verdicts are those of an undisturbed campaign."""
    driver = subprocess.Popen(command(target_file(tmp_path, "Dying"), tmp_path), stderr=subprocess.DEVNULL)
    until(lambda: commits(tmp_path) >= after and bool(spark_workers(driver.pid)), "a task at work")
    spark_workers(driver.pid)[0].kill()

    assert driver.wait(timeout=600) == 1
    assert found(find_run(str(tmp_path))[0]) == found(undisturbed)


@pytest.mark.parametrize("after", [0, 2, 7])
def test_a_killed_driver_loses_no_commit(tmp_path: Path, undisturbed: RunFiles, after: int) -> None:
    """Started again with the same arguments, a campaign ends in the same verdicts, none twice."""
    target = target_file(tmp_path, "Dying")
    driver = subprocess.Popen(command(target, tmp_path), stderr=subprocess.DEVNULL, start_new_session=True)
    until(lambda: commits(tmp_path) >= after and bool(spark_workers(driver.pid)), "a task at work")
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    layout, _ = find_run(str(tmp_path))
    before = committed(layout)

    run(command(target, tmp_path), status=1)

    assert len(before) < len(committed(layout))
    assert {number: committed(layout)[number] for number in before} == before
    assert found(layout) == found(undisturbed)


def test_judging_again_finds_what_was_found(undisturbed: RunFiles) -> None:
    """Stored exchanges come to the verdicts that the campaign came to."""
    reported = run(
        [sys.executable, "-m", "conformance", "judge", str(undisturbed.root), "--master", "local[2]"], status=1
    )

    assert "framing.batch-without-end-of-stream: " in reported.stdout
    assert "changed:" not in reported.stdout


def test_arrow_java_reads_what_is_stored(tmp_path: Path) -> None:
    """And loses the rows behind an end-of-stream marker, as a reader of streams has to."""
    run(command(target_file(tmp_path, "Trailing"), tmp_path / "out", "--keep", "1000000", "--cases", "60"), status=1)
    arguments = ["judge", str(tmp_path / "out"), "--java", "--master", "local[2]"]
    reported = run([sys.executable, "-m", "conformance", *arguments], status=1).stdout
    read = re.search(r"^Arrow Java \d[\d.]*: read (\d+) correctly$", reported, re.MULTILINE)
    lost = re.search(r"^  arrow-java\.jvm loses rows: (\d+), first generated\.", reported, re.MULTILINE)

    assert read is not None
    assert lost is not None
    assert int(read[1]) + int(lost[1]) == 60
    assert 0 < int(lost[1]) <= load_results(find_run(str(tmp_path / "out"))[0]).outcomes["fail"]


def test_a_comparison_names_what_changed(tmp_path: Path, undisturbed: RunFiles) -> None:
    """Newly failing and newly passing cases by clause, and cases of other bytes."""
    run(command(target_file(tmp_path, "Trailing"), tmp_path), status=1)
    reported = run(
        [sys.executable, "-m", "conformance", "compare", str(undisturbed.root), str(tmp_path), "--master", "local[2]"],
        status=1,
    )

    lines = reported.stdout.splitlines()
    assert lines[0] == f"{CASES} cases in both, 0 in the first only, 0 in the second only"
    crashed = load_results(undisturbed).outcomes["crash"]
    assert any(line.startswith(f"  case: {crashed}, first generated.arrow.s3.") for line in lines)
    assert f"bytes changed: {crashed}" in lines


def test_tasks_run_in_another_environment(tmp_path: Path, undisturbed: RunFiles) -> None:
    """Workers and sandboxes run under ``spark.pyspark.python``; with the same libraries the rows are the same."""
    other = tmp_path / "other"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(other)], check=True)
    (packages,) = other.glob("lib/python*/site-packages")
    (packages / "here.pth").write_text("\n".join(entry for entry in sys.path if entry.endswith("-packages")))
    out, python = tmp_path / "out", other / "bin" / "python"
    with (tmp_path / "told").open("w+") as reported:
        driver = subprocess.Popen(
            command(target_file(tmp_path, "Dying"), out, "--conf", f"spark.pyspark.python={python}"), stdout=reported
        )
        until(lambda: commits(out) > 0, "a commit")
        started = commands_below(driver.pid)
        assert driver.wait(timeout=600) == 1

    assert any(one.startswith(f"{python} -m conformance.campaign.sandbox") for one in started)
    assert found(find_run(str(out))[0]) == found(undisturbed)


def test_a_guided_part_is_the_same_when_it_is_run_again(tmp_path: Path) -> None:
    """Weights follow from committed results."""
    target = target_file(tmp_path, "Trailing")
    for out in ("a", "b"):
        run(command(target, tmp_path / out, "--cases", "120", "--guided", "50"), status=1)
    one, other = (find_run(str(tmp_path / out))[0] for out in ("a", "b"))

    assert found(one) == found(other)
    assert sum(row["case_id"].startswith("guided.") for row in found(one)[Stage.JUDGE]) == 60


@contextlib.contextmanager
def cluster(directory: Path) -> Iterator[str]:
    """A standalone Spark of one master and two workers on loopback, where the package is not installed."""
    home = Path(pyspark.__file__).parent
    port, log = free_port("127.0.0.1"), (directory / "cluster.log").open("wb")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(directory / "work")}
    master = f"spark://127.0.0.1:{port}"
    roles = [["master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]]
    roles += [
        ["worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", "0", master]
    ] * 2
    started = [
        subprocess.Popen(
            [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{role}", *arguments],
            env=environment, cwd=directory, stdout=log, stderr=log,
        )
        for role, *arguments in roles
    ]  # fmt: skip
    try:
        until(lambda: _listens(port), "a master on its port")
        yield master
    finally:
        for process in started:
            process.kill()
            process.wait()
        log.close()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_cluster_comes_to_the_same_results(tmp_path: Path, undisturbed: RunFiles) -> None:
    """By changing ``--master`` and nothing else; the package travels with the job."""
    out = tmp_path / "out"
    with cluster(tmp_path) as master:
        run(
            command(target_file(tmp_path, "Dying"), out, "--conf", "spark.driver.host=127.0.0.1", master=master),
            status=1,
        )
    layout, _ = find_run(str(out))

    assert found(layout) == found(undisturbed)
    assert len(files_of(layout, Stage.JUDGE)) == len(files_of(undisturbed, Stage.JUDGE))
