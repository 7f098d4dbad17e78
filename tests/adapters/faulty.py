"""The programs of ``docs/examples/faulty``, with the libraries of the clients that are built here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from adapters.building import cache_directory, find
from adapters.spec import shipped
from publish.tables.causes import MATRICES
from tests.fixtures import ROOT

__all__ = ["SECONDS", "Case", "Faulty", "cases", "clients", "go_built", "run"]

EXAMPLES: Final = ROOT / "docs" / "examples"
FAULTY: Final = EXAMPLES / "faulty"
FLIGHT: Final = FAULTY / "flight"
SECONDS: Final = 300
"""Wall-clock time of one program on a busy machine: a virtual machine starts in it. This is no test of speed."""


def _go(name: str, cache: Path, scratch: Path) -> list[str]:
    return go_built((FAULTY / f"{name}.go").read_text(encoding="utf-8"), cache, scratch)


def go_built(program: str, cache: Path, scratch: Path) -> list[str]:
    """The command of a program in Go, built with the libraries of an adapter or client."""
    for file in ("go.mod", "go.sum"):
        shutil.copyfile(cache / file, scratch / file)
    (scratch / "main.go").write_text(program, encoding="utf-8")
    run(["go", "build", "-o", "built", "main.go"], scratch, {"GOFLAGS": "-mod=mod", "GOPROXY": "off"})
    return [str(scratch / "built")]


def _java(_name: str, cache: Path, scratch: Path) -> list[str]:
    return _java_built(FAULTY / "Client.java", cache, scratch)


def _java_select(_name: str, cache: Path, scratch: Path) -> list[str]:
    return [sys.executable, str(FAULTY / "front.py"), *_java_built(FAULTY / "Select.java", cache, scratch)]


def _java_built(program: Path, cache: Path, scratch: Path) -> list[str]:
    jars = f"{cache}/jars/*"
    run(["javac", "-d", str(scratch), "-cp", jars, str(program)], scratch, {})
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
    manifest = (cache / "Cargo.toml").read_text(encoding="utf-8")
    (scratch / "Cargo.toml").write_text(
        re.sub(r'(?m)^name = ".*"$', 'name = "faulty"', manifest, count=1), encoding="utf-8"
    )
    (scratch / "src").mkdir()
    shutil.copyfile(program, scratch / "src" / "main.rs")
    # The libraries are compiled once, with the client; of the program nothing stays beside them.
    target = ["--release", "--offline", "--quiet", "--target-dir", str(cache / "target")]
    run(["cargo", "build", *target], scratch, {})
    shutil.copy2(cache / "target" / "release" / "faulty", scratch / "built")
    run(["cargo", "clean", "--package", "faulty", *target], scratch, {})
    return [str(scratch / "built")]


def _spark(_name: str, cache: Path, _scratch: Path) -> list[str]:
    (jar,) = (cache / "jars").glob("spark-3.5-bigquery-*.jar")
    python = str(cache / "venv" / "bin" / "python")
    return [sys.executable, str(FAULTY / "front.py"), python, str(FAULTY / "spark.py"), str(jar)]


def _flight_adbc(_name: str, cache: Path, _scratch: Path) -> list[str]:
    return [str(cache / "venv" / "bin" / "python"), str(FLIGHT / "adbc.py")]


def _flight_go(_name: str, cache: Path, scratch: Path) -> list[str]:
    return go_built((FLIGHT / "client.go").read_text(encoding="utf-8"), cache, scratch)


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


class Case(NamedTuple):
    """A fault of the server of a matrix, and what the program of a client prints then, as a regular expression."""

    fault: str
    client: str
    prints: str


def cases(matrix: str) -> list[Case]:
    """What the file of causes of a matrix says of its programs."""
    shown = [one for cause in MATRICES[matrix].causes for one in cause["shown"]]
    return [Case(one["fault"], one["client"], one["prints"]) for one in shown]


def clients(matrix: str) -> list[str]:
    """The clients of the cases of a matrix, each once."""
    return list(dict.fromkeys(case.client for case in cases(matrix)))


class Faulty:
    """The server with faults of a matrix and the programs of its clients, each built once."""

    def __init__(self, matrix: str, made: Callable[[str], Path]) -> None:
        self._matrix = matrix
        self._directory = made
        self._built: dict[str, list[str]] = {}

    def check(self, case: Case, directory: Path) -> None:
        """The program prints what the file of causes says."""
        done = self._run(case.fault, case.client, directory)
        said = done.stdout + done.stderr
        assert re.search(case.prints, said), said[-2000:]

    def check_reads(self, client: str, directory: Path) -> None:
        """A client gives the four texts in order from a server without a fault."""
        done = self._run("none", client, directory)
        if (self._matrix, client) not in OTHER_ANSWERS:
            assert re.findall(r"\b(a|bb|ccc|dddd)\b", done.stdout) == ["a", "bb", "ccc", "dddd"]
        assert done.returncode == 0

    def _run(self, fault: str, client: str, directory: Path) -> subprocess.CompletedProcess[str]:
        words = self._command(client)
        server = EXAMPLES / MATRICES[self._matrix].programs / "server.py"
        return run([sys.executable, str(server), fault, *words], directory, {})

    def _command(self, client: str) -> list[str]:
        program, *arguments = OF[self._matrix].get(client, (client,))
        name, made = COMMANDS[self._matrix][program]
        spec = shipped("client.toml", "flight.toml").get(name)
        if spec is not None and find(spec) is None:
            pytest.skip(f"{name} is not built: run python -m adapters {name}")
        if program not in self._built:
            directory = self._directory(program)
            self._built[program] = made(program, cache_directory(spec) if spec is not None else directory, directory)
        return [*self._built[program], *arguments]


def run(words: list[str], directory: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A finished program, with its output as text."""
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
