"""The programs that show the causes of harm do so, with the clients that are built here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from adapters.building import cache_directory, find
from adapters.spec import shipped
from publish.tables.causes import CAUSES
from tests.fixtures import ROOT

FAULTY: Final = ROOT / "docs" / "examples" / "faulty"
SHOWN: Final = [(one["fault"], one["client"], one["prints"]) for cause in CAUSES for one in cause["shown"]]
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
    return _java_built("Client", cache, scratch)


def _java_select(_name: str, cache: Path, scratch: Path) -> list[str]:
    return [sys.executable, str(FAULTY / "front.py"), *_java_built("Select", cache, scratch)]


def _java_built(name: str, cache: Path, scratch: Path) -> list[str]:
    jars = f"{cache}/jars/*"
    _run(["javac", "-d", str(scratch), "-cp", jars, str(FAULTY / f"{name}.java")], scratch, {})
    return ["java", "--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp", f"{scratch}:{jars}", name]


def _node(_name: str, cache: Path, _scratch: Path) -> list[str]:
    modules = f"NODE_PATH={cache / 'node_modules'}"
    return ["env", modules, "node", "--max-old-space-size=256", str(FAULTY / "client.cjs")]


def _python(_name: str, _cache: Path, _scratch: Path) -> list[str]:
    return [sys.executable, str(FAULTY / "client.py")]


def _adbc(_name: str, cache: Path, _scratch: Path) -> list[str]:
    python = str(cache / "venv" / "bin" / "python")
    return [sys.executable, str(FAULTY / "front.py"), python, "-W", "ignore", str(FAULTY / "adbc.py")]


def _rust(_name: str, cache: Path, scratch: Path) -> list[str]:
    for file in ("Cargo.lock", "build.rs"):
        shutil.copyfile(cache / file, scratch / file)
    # A name of its own, and the libraries that the client was built with.
    manifest = (cache / "Cargo.toml").read_text(encoding="utf-8").replace('name = "bigquery-rust"', 'name = "faulty"')
    (scratch / "Cargo.toml").write_text(manifest, encoding="utf-8")
    (scratch / "src").mkdir()
    shutil.copyfile(FAULTY / "client.rs", scratch / "src" / "main.rs")
    target = cache / "target"
    _run(["cargo", "build", "--release", "--offline", "--quiet", "--target-dir", str(target)], scratch, {})
    return [str(target / "release" / "faulty")]


def _spark(_name: str, cache: Path, _scratch: Path) -> list[str]:
    (jar,) = (cache / "jars").glob("spark-3.5-bigquery-*.jar")
    python = str(cache / "venv" / "bin" / "python")
    return [sys.executable, str(FAULTY / "front.py"), python, str(FAULTY / "spark.py"), str(jar)]


COMMANDS: Final[dict[str, tuple[str, Callable[[str, Path, Path], list[str]]]]] = {
    "adbc": ("bigquery-adbc", _adbc),
    "client": ("bigquery-go", _go),
    "responses": ("bigquery-go", _go),
    "java": ("bigquery-java", _java),
    "java select": ("bigquery-java-connection", _java_select),
    "node": ("bigquery-node", _node),
    "python": ("bigquery-python", _python),
    "rust": ("bigquery-rust", _rust),
    "spark": ("bigquery-spark", _spark),
}
"""The built client whose libraries a program uses, and how to start the program."""
OF: Final = {
    "go": ("client",),
    "go arrow": ("client", "arrow"),
    "go bytes": ("client", "bytes"),
    "go messages": ("responses",),
    "go joined": ("responses", "joined"),
    "java joined": ("java", "joined"),
    "node joined": ("node", "joined"),
    "python list-rows": ("python", "list-rows"),
}
"""The program and argument of a name in ``causes.toml`` that is not a program's."""


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[str]]:
    """What starts a client of ``causes.toml``; each program is built once."""
    built: dict[str, list[str]] = {}

    def started(client: str) -> list[str]:
        program, *arguments = OF.get(client, (client,))
        name, made = COMMANDS[program]
        if find(shipped("client.toml")[name]) is None:
            pytest.skip(f"{name} is not built: run python -m adapters {name}")
        if program not in built:
            built[program] = made(program, cache_directory(name), tmp_path_factory.mktemp(program))
        return [*built[program], *arguments]

    return started


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
@pytest.mark.parametrize(("fault", "client", "prints"), SHOWN, ids=[f"{each[0]}-{each[1]}" for each in SHOWN])
def test_a_cause_is_shown(
    fault: str, client: str, prints: str, command: Callable[[str], list[str]], tmp_path: Path
) -> None:
    """The program prints what ``causes.toml`` says."""
    done = _run([sys.executable, str(FAULTY / "server.py"), fault, *command(client)], tmp_path, {})

    said = done.stdout + done.stderr
    assert re.search(prints, said), said[-2000:]


@pytest.mark.timeout(2 * SECONDS)
@pytest.mark.parametrize("client", sorted({client for _, client, _ in SHOWN}))
def test_without_a_fault_a_client_reads_the_table(
    client: str, command: Callable[[str], list[str]], tmp_path: Path
) -> None:
    """Each client gives the four texts in order from a server without a fault."""
    done = _run([sys.executable, str(FAULTY / "server.py"), "none", *command(client)], tmp_path, {})

    if client != "go bytes":
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
