"""Each client installs what it is for, with the user's configuration; what it made runs without client and network.

The clients are scripts that note their arguments, or the real ones with packages of this test, told to stay offline.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.targets import TargetError, TargetUnavailable, prepare
from conformance.targets import environment as environments
from tests.targets.conftest import Write

OFFLINE = {"npm_config_offline": "true", "GOPROXY": "off", "GOFLAGS": "-mod=readonly", "CARGO_NET_OFFLINE": "true"}
"""Each client's own setting under which it asks no registry."""

Client = Callable[..., Path]


def quiet(text: str) -> None:
    """Take a line of the installation, and drop it."""


def program(*command: str) -> str:
    """A target file up to the keys of its environment; the command is also asked for the version."""
    words = ", ".join(f'"{word}"' for word in command)
    return (
        f'name = "x"\nkind = "program"\nversion_command = [{words}]\n[start]\ncommand = [{words}]\n'
        'inherit = ["npm_*", "GO*", "CARGO_*"]\n[environment]\n'
    )


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    """Make a client that notes its arguments, and then does what a script says; gives its notes."""
    tools = tmp_path / "tools"
    tools.mkdir()
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin/nothing")

    def make(name: str, script: str = "") -> Path:
        log = tmp_path / f"{name}.log"
        (tools / name).write_text(f'#!/bin/sh\nPATH=/usr/bin:/bin\nprintf "%s\\n" "$*" >> {log}\n{script}\n')
        (tools / name).chmod(0o755)
        return log

    return make


def test_npm_installs_below_the_environment(target_file: Write, client: Client) -> None:
    """Packages are installed without their scripts, and their commands are among the executables."""
    log = client("npm", 'mkdir -p "$3/node_modules/.bin" && echo > "$3/node_modules/.bin/serve"')

    root = prepare(target_file(program("{node_modules}/.bin/serve") + 'npm = ["a@1", "@b/c@2"]'), say=quiet)

    assert log.read_text() == (
        f"install --prefix {root} --install-links --no-audit --no-fund --no-update-notifier "
        "--ignore-scripts a@1 @b/c@2\n"
    )
    assert (root / "venv" / "bin" / "serve").resolve() == root / "node_modules" / ".bin" / "serve"


def test_scripts_of_npm_run_only_if_the_file_says_so(target_file: Write, client: Client) -> None:
    """``npm_scripts`` leaves the option out."""
    log = client("npm")

    prepare(target_file(program("x") + 'npm = ["a@1"]\nnpm_scripts = true'), say=quiet)

    assert "--ignore-scripts" not in log.read_text()


def test_a_taken_name_of_an_executable_stays(target_file: Write, client: Client) -> None:
    """A command that some package of npm brings does not replace one that the file names."""
    client("npm", 'mkdir -p "$3/node_modules/.bin" && echo > "$3/node_modules/.bin/serve"')
    client("go", 'echo > "$GOBIN/serve"')

    root = prepare(target_file(program("{env_bin}/serve") + 'npm = ["a@1"]\ngo = ["serve@v1"]'), say=quiet)

    assert not (root / "venv" / "bin" / "serve").is_symlink()


def test_maven_gets_a_project_that_depends_on_the_coordinates(target_file: Write, client: Client) -> None:
    """Its own plugin copies the jars and what they need at run time."""
    log = client("mvn")

    root = prepare(target_file(program("java", "-cp", "{classpath}") + 'maven = ["g.h:a:1", "g:b:2:linux"]'), say=quiet)

    arguments = log.read_text().split()
    assert arguments[:4] == ["--batch-mode", "--quiet", "--file", f"{root}/pom.xml"]
    assert arguments[4].endswith(":copy-dependencies")
    assert arguments[5:] == [f"-DoutputDirectory={root}/jars", "-DincludeScope=runtime"]
    pom = (root / "pom.xml").read_text()
    assert "<groupId>g.h</groupId><artifactId>a</artifactId><version>1</version></dependency>" in pom
    assert "<artifactId>b</artifactId><version>2</version><classifier>linux</classifier></dependency>" in pom


def test_a_crate_of_a_registry_is_installed_as_locked(target_file: Write, client: Client) -> None:
    """Its executables go to those of the environment, and what the build left is removed."""
    log = client("cargo", 'mkdir -p "$CARGO_TARGET_DIR"')

    root = prepare(target_file(program("{env_bin}/a") + 'crate = ["a@1.0.0", "b@2"]'), say=quiet)

    assert log.read_text().splitlines() == [
        f"install --locked --quiet --root {root}/venv {crate}" for crate in ("a@1.0.0", "b@2")
    ]
    assert not (root / "build").exists()


@pytest.mark.parametrize(
    ("line", "tool"),
    [
        ('npm = ["a@1"]', "npm"),
        ('go = ["a@v1"]', "go"),
        ('maven = ["a:b:1"]', "mvn"),
        ('java = ["."]', "javac"),
        ('crate = ["a@1"]', "cargo"),
    ],
)
def test_a_missing_client_is_named(target_file: Write, client: Client, line: str, tool: str) -> None:
    """Where a client is missing, the target is unavailable with that reason."""
    with pytest.raises(TargetUnavailable) as raised:
        prepare(target_file(program("x") + line), say=quiet)

    assert str(raised.value) == f"x needs the command {tool}, which is not here: install it"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (
            'echo "npm error code E404"; echo "npm error 404 no such package" >&2; echo see the log; exit 1',
            "npm error 404",
        ),
        ("echo first; echo the last line >&2; exit 1", "the last line"),
        ("exit 1", "it printed nothing"),
    ],
)
def test_a_failed_client_is_quoted_with_its_reason(
    target_file: Write, client: Client, script: str, reason: str
) -> None:
    """The message has the command, its status, the telling lines and the file with all output."""
    client("npm", script)

    with pytest.raises(TargetUnavailable) as raised:
        prepare(target_file(program("x") + 'npm = ["a@1"]'), say=quiet)

    said = str(raised.value)
    assert said.startswith("the environment could not be made: npm install --prefix ")
    assert "ended with 1: " in said
    assert reason in said
    log = Path(said.partition("(all of it in ")[2].rstrip(")"))
    assert log.read_text().startswith("$ ")


def test_java_without_a_source_is_a_mistake(target_file: Write, client: Client, tmp_path: Path) -> None:
    """A folder without a source file is refused before the compiler is asked."""
    client("javac")
    (tmp_path / "src").mkdir()

    with pytest.raises(TargetError, match=r"environment\.java: no file in these folders is named \*\.java"):
        prepare(target_file(program("java") + 'java = ["./src"]'), say=quiet)


# The real clients, each with a package of its own that needs nothing else.

SOURCES = {
    "npm": {
        "package.json": '{"name": "own", "version": "1.0.0", "type": "module", "bin": {"own": "main.mjs"}}',
        "main.mjs": '#!/usr/bin/env node\nimport { text } from "./lib.mjs";\nconsole.log(text);\n',
        "lib.mjs": 'export const text = "it runs";\n',
    },
    "go": {
        "go.mod": "module example.com/own\n\ngo 1.21\n",
        "main.go": 'package main\n\nimport "os"\n\nfunc main() { os.Stdout.WriteString("it runs") }\n',
    },
    "java": {
        "own/Main.java": "package own;\n\nclass Main {\n"
        '  public static void main(String[] words) { System.out.print("it runs"); }\n}\n'
    },
    "crate": {
        "Cargo.toml": '[package]\nname = "own"\nversion = "1.0.0"\nedition = "2021"\n',
        "Cargo.lock": 'version = 3\n\n[[package]]\nname = "own"\nversion = "1.0.0"\n',
        "src/main.rs": 'fn main() { print!("it runs"); }\n',
    },
}


@pytest.mark.parametrize(
    ("key", "needs", "command"),
    [
        ("npm", "npm node", "{env_bin}/own"),
        ("go", "go", "{env_bin}/own"),
        ("java", "javac java", "java -cp {classpath} own.Main"),
        ("crate", "cargo", "{env_bin}/own"),
    ],
)
def test_a_package_of_ones_own_runs_offline(
    target_file: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, key: str, needs: str, command: str
) -> None:
    """It is built where it is, nothing is written there, and the program starts while no registry may be asked."""
    if missing := [name for name in needs.split() if shutil.which(name) is None]:
        pytest.skip(f"needs {missing[0]}, which is not here")
    for name, value in OFFLINE.items():
        monkeypatch.setenv(name, value)
    own = tmp_path / "own"
    for name, text in SOURCES[key].items():
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_text(text)
    spec = target_file(program(*command.split()) + f'{key} = ["./own"]')

    prepare(spec, say=quiet)

    assert environments.ask_version(spec, environments.find(spec)) == "it runs"
    assert {str(path.relative_to(own)) for path in own.rglob("*") if path.is_file()} == set(SOURCES[key])
