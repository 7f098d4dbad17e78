"""The programs that show the causes of harm do so, with the clients that are built here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from adapters.building import cache_directory, find
from adapters.spec import shipped
from publish.tables.causes import MATRICES
from tests.fixtures import ROOT

EXAMPLES: Final = ROOT / "docs" / "examples"
FAULTY: Final = EXAMPLES / "faulty"
FLIGHT: Final = FAULTY / "flight"
SHOWN: Final = [
    (name, one["fault"], one["client"], one["prints"])
    for name, matrix in MATRICES.items()
    for cause in matrix.causes
    for one in cause["shown"]
]
CLIENTS: Final = list(dict.fromkeys((name, client) for name, _, client, _ in SHOWN))
SECONDS: Final = 300
"""Wall-clock time of one program on a busy machine: a virtual machine starts in it. This is no test of speed."""


def _go(name: str, cache: Path, scratch: Path) -> list[str]:
    return _go_built((FAULTY / f"{name}.go").read_text(encoding="utf-8"), cache, scratch)


def _go_built(program: str, cache: Path, scratch: Path) -> list[str]:
    for file in ("go.mod", "go.sum"):
        shutil.copyfile(cache / file, scratch / file)
    (scratch / "main.go").write_text(program, encoding="utf-8")
    _run(["go", "build", "-o", "built", "main.go"], scratch, {"GOFLAGS": "-mod=mod", "GOPROXY": "off"})
    return [str(scratch / "built")]


def _java(_name: str, cache: Path, scratch: Path) -> list[str]:
    return _java_built(FAULTY / "Client.java", cache, scratch)


def _java_select(_name: str, cache: Path, scratch: Path) -> list[str]:
    return [sys.executable, str(FAULTY / "front.py"), *_java_built(FAULTY / "Select.java", cache, scratch)]


def _java_built(program: Path, cache: Path, scratch: Path) -> list[str]:
    jars = f"{cache}/jars/*"
    _run(["javac", "-d", str(scratch), "-cp", jars, str(program)], scratch, {})
    return ["java", "--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp", f"{scratch}:{jars}", program.stem]


def _node(_name: str, cache: Path, _scratch: Path) -> list[str]:
    modules = f"NODE_PATH={cache / 'node_modules'}"
    return ["env", modules, "node", "--max-old-space-size=256", str(FAULTY / "client.cjs")]


def _python(_name: str, _cache: Path, _scratch: Path) -> list[str]:
    return [sys.executable, str(FAULTY / "client.py")]


def _adbc(_name: str, cache: Path, _scratch: Path) -> list[str]:
    python = str(cache / "venv" / "bin" / "python")
    return [sys.executable, str(FAULTY / "front.py"), python, "-W", "ignore", str(FAULTY / "adbc.py")]


def _rust(_name: str, cache: Path, scratch: Path) -> list[str]:
    return _rust_built(FAULTY / "client.rs", cache, scratch)


def _rust_built(program: Path, cache: Path, scratch: Path) -> list[str]:
    for file in ("Cargo.lock", "build.rs"):
        shutil.copyfile(cache / file, scratch / file)
    # A name of its own, and the libraries that the client was built with.
    manifest = (cache / "Cargo.toml").read_text(encoding="utf-8").replace(f'name = "{cache.name}"', 'name = "faulty"')
    (scratch / "Cargo.toml").write_text(manifest, encoding="utf-8")
    (scratch / "src").mkdir()
    shutil.copyfile(program, scratch / "src" / "main.rs")
    # The libraries are compiled once, with the client; of the program nothing stays beside them.
    target = ["--release", "--offline", "--quiet", "--target-dir", str(cache / "target")]
    _run(["cargo", "build", *target], scratch, {})
    shutil.copy2(cache / "target" / "release" / "faulty", scratch / "built")
    _run(["cargo", "clean", "--package", "faulty", *target], scratch, {})
    return [str(scratch / "built")]


def _spark(_name: str, cache: Path, _scratch: Path) -> list[str]:
    (jar,) = (cache / "jars").glob("spark-3.5-bigquery-*.jar")
    python = str(cache / "venv" / "bin" / "python")
    return [sys.executable, str(FAULTY / "front.py"), python, str(FAULTY / "spark.py"), str(jar)]


def _flight_adbc(_name: str, cache: Path, _scratch: Path) -> list[str]:
    return [str(cache / "venv" / "bin" / "python"), str(FLIGHT / "adbc.py")]


def _flight_go(_name: str, cache: Path, scratch: Path) -> list[str]:
    return _go_built((FLIGHT / "client.go").read_text(encoding="utf-8"), cache, scratch)


def _flight_java(_name: str, cache: Path, scratch: Path) -> list[str]:
    return _java_built(FLIGHT / "Client.java", cache, scratch)


def _flight_node(_name: str, cache: Path, _scratch: Path) -> list[str]:
    return ["env", f"NODE_PATH={cache / 'node_modules'}", "node", str(FLIGHT / "client.cjs")]


def _flight_python(_name: str, _cache: Path, _scratch: Path) -> list[str]:
    return [sys.executable, str(FLIGHT / "client.py")]


def _flight_rust(_name: str, cache: Path, scratch: Path) -> list[str]:
    return _rust_built(FLIGHT / "client.rs", cache, scratch)


Made = Callable[[str, Path, Path], list[str]]
COMMANDS: Final[dict[str, dict[str, tuple[str, Made]]]] = {
    "causes": {
        "adbc": ("bigquery-adbc", _adbc),
        "client": ("bigquery-go", _go),
        "responses": ("bigquery-go", _go),
        "java": ("bigquery-java", _java),
        "java select": ("bigquery-java-connection", _java_select),
        "node": ("bigquery-node", _node),
        "python": ("bigquery-python", _python),
        "rust": ("bigquery-rust", _rust),
        "spark": ("bigquery-spark", _spark),
    },
    "flight_causes": {
        "adbc": ("flight-adbc", _flight_adbc),
        "go": ("flight-go", _flight_go),
        "java": ("flight-java", _flight_java),
        "node": ("flight-js", _flight_node),
        "python": ("", _flight_python),
        "rust": ("flight-rust", _flight_rust),
    },
}
"""The built client whose libraries a program uses (none if the tests have them), and how to start the program."""
OF: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "causes": {
        "go": ("client",),
        "go arrow": ("client", "arrow"),
        "go bytes": ("client", "bytes"),
        "go messages": ("responses",),
        "go joined": ("responses", "joined"),
        "java joined": ("java", "joined"),
        "node joined": ("node", "joined"),
        "python list-rows": ("python", "list-rows"),
    },
    "flight_causes": {
        "java exchange": ("java", "exchange"),
        "node reader": ("node", "reader"),
        "python": ("python", "read_all"),
        "python chunks": ("python", "chunks"),
        "python exchange": ("python", "exchange"),
        "python list_flights": ("python", "list_flights"),
        "python read_pandas": ("python", "read_pandas"),
        "python reader": ("python", "reader"),
        "rust batches": ("rust", "batches"),
        "rust decoder": ("rust", "decoder"),
        "rust exchange": ("rust", "exchange"),
    },
}
"""The program and argument of a name in a file of causes that is not a program's."""
OTHER_ANSWERS: Final = {("causes", "go bytes"), ("flight_causes", "python list_flights")}
"""The clients that give no rows."""
Command = Callable[[str, str], list[str]]


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """What starts a client of a matrix; each program is built once."""
    built: dict[tuple[str, str], list[str]] = {}

    def started(matrix: str, client: str) -> list[str]:
        program, *arguments = OF[matrix].get(client, (client,))
        name, made = COMMANDS[matrix][program]
        if name and find(shipped("client.toml", "flight.toml")[name]) is None:
            pytest.skip(f"{name} is not built: run python -m adapters {name}")
        key = (matrix, program)
        if key not in built:
            built[key] = made(program, cache_directory(name), tmp_path_factory.mktemp(program))
        return [*built[key], *arguments]

    return started


def _shown(matrix: str, fault: str, words: list[str], directory: Path) -> subprocess.CompletedProcess[str]:
    """What a client makes of a fault of its matrix's server."""
    server = EXAMPLES / MATRICES[matrix].programs / "server.py"
    return _run([sys.executable, str(server), fault, *words], directory, {})


def _run(words: list[str], directory: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=directory,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=SECONDS,
        check=False,
    )


@pytest.mark.timeout(2 * SECONDS)
@pytest.mark.parametrize("each", SHOWN, ids=["-".join(each[:3]) for each in SHOWN])
def test_a_cause_is_shown(each: tuple[str, str, str, str], command: Command, tmp_path: Path) -> None:
    """The program prints what the file of causes says."""
    matrix, fault, client, prints = each

    done = _shown(matrix, fault, command(matrix, client), tmp_path)

    said = done.stdout + done.stderr
    assert re.search(prints, said), said[-2000:]


@pytest.mark.timeout(2 * SECONDS)
@pytest.mark.parametrize(("matrix", "client"), CLIENTS, ids=["-".join(each) for each in CLIENTS])
def test_without_a_fault_a_client_reads_the_table(matrix: str, client: str, command: Command, tmp_path: Path) -> None:
    """Each client gives the four texts in order from a server without a fault."""
    done = _shown(matrix, "none", command(matrix, client), tmp_path)

    if (matrix, client) not in OTHER_ANSWERS:
        assert re.findall(r"\b(a|bb|ccc|dddd)\b", done.stdout) == ["a", "bb", "ccc", "dddd"]
    assert done.returncode == 0


@pytest.mark.timeout(2 * SECONDS)
def test_the_reader_of_arrow_go_has_no_limit(tmp_path: Path) -> None:
    """The program in the report prints what the report says."""
    if find(shipped("client.toml")["bigquery-go"]) is None:
        pytest.skip("bigquery-go is not built: run python -m adapters bigquery-go")
    report = (ROOT / "docs" / "disclosure" / "arrow-go.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```go\n(.*?)```", report, re.DOTALL)

    done = _run(_go_built(program, cache_directory("bigquery-go"), tmp_path), tmp_path, {})

    assert "NewMessageReader: arrow/ipc: message body length 1099511627776 exceeds limit 1048576" in done.stdout
    assert "fatal error: runtime: out of memory" in done.stderr
