from __future__ import annotations

import copy
import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

from conformance.campaign import connected
from conformance.campaign.connected import Connection, lacking, server_settings
from conformance.campaign.resultbatches import BatchChunk, rows_of
from conformance.campaign.sparksession import spark_session

PLUGINS = "spark.plugins"
needs_spark = [
    pytest.mark.slow(env="campaign"),
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
TABLE = pa.table({"a": pa.array(range(1000), pa.int64()), "b": pa.array([None, "x" * 9] * 500, pa.string())})


def test_what_is_missing_is_named_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the way to get it; whatever pyspark breaks its lines into."""
    real = importlib.import_module

    def without(name: str, package: str | None = None) -> ModuleType:
        if name == connected.PROTO:
            raise ImportError("[PACKAGE_NOT_INSTALLED] zstandard must be installed;\n however, it was not found.")
        return ModuleType(name) if name == "pyspark" else real(name, package)

    monkeypatch.setattr(importlib, "import_module", without)

    assert lacking() == (
        "Spark Connect is not judged ([PACKAGE_NOT_INSTALLED] zstandard must be installed; however, it was not found);"
        " it needs: pip install 'arrow-conformance[spark]'"
    )


def test_without_pyspark_there_is_nothing_to_leave_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error goes to the command, which says what to install."""
    monkeypatch.setitem(sys.modules, "pyspark", None)

    with pytest.raises(ImportError):
        lacking()


def test_the_server_is_on_loopback_and_wants_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which settings would show to everyone on the machine; the port is the system's choice."""
    monkeypatch.setenv(connected.TOKEN, "")  # to be put back, and away with it now
    monkeypatch.delenv(connected.TOKEN)
    given = server_settings({"spark.a": "b", PLUGINS: "mine.Plugin", "spark.connect.grpc.binding.port": "15002"})

    assert given == {
        "spark.a": "b",
        PLUGINS: f"mine.Plugin,{connected.PLUGIN}",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
    }
    assert server_settings({})[PLUGINS] == connected.PLUGIN
    assert len(os.environ[connected.TOKEN]) >= 32


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Connection]]:
    """A Spark that serves Spark Connect, and a connection to it."""
    pytest.importorskip("pyspark", reason="a campaign needs the extra spark")
    assert lacking() == ""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(connected.TOKEN, "a token of the user's own")
        for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
            patch.setenv(name, sys.executable)
        directory = tmp_path_factory.mktemp("served")
        with (
            spark_session(directory, master="local[2]", conf=server_settings({})) as spark,
            connected.connected(spark) as connection,
        ):
            yield spark, connection


class TestServer:
    pytestmark = needs_spark

    @pytest.mark.parametrize(
        ("way", "divided"),
        [(Connection.of_frame, ([64] * 7 + [52]) * 2), (Connection.of_rows, [64] * 15 + [40])],
        ids=["two tasks", "the server itself"],
    )
    def test_rows_come_back_in_batches_of_several_chunks(
        self, served: tuple[Any, Connection], monkeypatch: pytest.MonkeyPatch, way: Any, divided: list[int]
    ) -> None:
        """Batches have 64 rows, the session's setting, whichever program writes them."""
        spark, connection = served
        real, seen = connected.join, list[BatchChunk]()
        monkeypatch.setattr(connected, "join", lambda chunks: real(seen.extend(chunks) or seen))
        batches = way(connection, spark.createDataFrame(TABLE))
        rows = rows_of(batches)

        assert rows is not None
        assert pa.Table.from_batches(rows).to_pydict() == TABLE.to_pydict()
        assert [batch.rows for batch in batches] == divided
        assert len(seen) > len(batches)

    def test_an_empty_result_is_one_batch(self, served: tuple[Any, Connection]) -> None:
        """It brings the schema."""
        spark, connection = served
        (batch,) = connection.of_frame(spark.createDataFrame(TABLE.slice(0, 0)))

        assert batch.rows == 0
        assert pa.ipc.open_stream(batch.data).schema.names == ["a", "b"]

    def test_without_the_token_nothing_is_answered(self, served: tuple[Any, Connection]) -> None:
        """Other processes on the machine change nothing."""
        spark, connection = served[0], copy.copy(served[1])
        connection._token = "another"

        with pytest.raises(RuntimeError, match=r"^UNAUTHENTICATED: "):
            connection.of_frame(spark.createDataFrame(TABLE))

    def test_a_call_ends_at_its_deadline(self, served: tuple[Any, Connection]) -> None:
        """As an error of that path."""
        spark, connection = served[0], copy.copy(served[1])
        connection._seconds = 0.001

        with pytest.raises(RuntimeError, match=r"^DEADLINE_EXCEEDED: "):
            connection.of_frame(spark.createDataFrame(TABLE))


def judge_spark(out: Path, *, without: str = "") -> tuple[subprocess.CompletedProcess[str], int]:
    """The command on five cases, in a Python that may lack a package; and how often Spark Connect was clean."""
    pytest.importorskip("pyspark", reason="a campaign needs the extra spark")
    absent = f"sys.modules[{without!r}] = None\n" if without else ""
    program = out / "program.py"  # pyspark takes `python -c` for a run of its doctests
    program.write_text(f"import sys\n{absent}from conformance.cli import main\nsys.exit(main())\n")
    reported = ["campaign", "--target", "spark", "--cases", "5", "--master", "local[2]", "--out", str(out / "out")]
    done = subprocess.run(
        [sys.executable, str(program), *reported], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == int(" failing\n" in done.stdout), done.stderr
    clean = re.findall(r"^(connect.*): (\d+) clean", done.stdout, re.MULTILINE)
    return done, sum(int(count) for _, count in clean)


class TestCommand:
    pytestmark = needs_spark

    def test_spark_connect_is_judged_with_the_other_paths(self, tmp_path: Path) -> None:
        """Both of its ways are clean on every case, no type is changed, and nothing of Spark's noise is shown."""
        done, clean = judge_spark(tmp_path)

        assert clean == 2 * 5
        assert "in types of Spark's own" not in done.stdout
        assert done.stderr == ""

    def test_without_its_packages_the_other_paths_are_judged(self, tmp_path: Path) -> None:
        """And one sentence says what is missing."""
        done, clean = judge_spark(tmp_path, without="zstandard")

        assert clean == 0
        assert "collectAsArrowToPython: " in done.stdout
        assert re.fullmatch(r"Spark Connect is not judged \(.*zstandard.*\); it needs: pip install .*\n", done.stderr)
