"""An environment is made once, from what the file says, and a reason is given where it cannot be."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from pathlib import Path

import pytest

from conformance.targets import TargetError, TargetSpec, TargetUnavailable, installing, open_target, prepare
from conformance.targets import environment as environments
from conformance.targets.environmentspec import EnvironmentSpec
from conformance.targets.installing import Places
from tests.targets.conftest import Write

SERVER = """
name = "x"
kind = "server"
[start]
command = ["{env_bin}/tool", "{grpc_port}", "{rest_port}"]
environment = { HOME = "{home}", WHO = "{project} at {host}" }
[environment]
"""


@pytest.fixture
def fake_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ``go`` command that notes its arguments and installs a tool; gives its log."""
    log = tmp_path / "go.log"
    tools = tmp_path / "tools"
    tools.mkdir()
    go = tools / "go"
    go.write_text(
        f'#!/bin/sh\necho "$@" >> {log}\n'
        '[ "$2" = bad@v1 ] && echo "no such module" >&2 && exit 1\n'
        '[ "$1" = install ] && touch "$GOBIN/tool"\nexit 0\n'
    )
    go.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    return log


def test_an_environment_is_made_once(target_file: Write, fake_go: Path) -> None:
    """The second preparation finds what the first one made, and says so."""
    spec = target_file(SERVER + 'go = ["good@v1"]')
    said: list[str] = []

    first = prepare(spec, say=said.append)
    second = prepare(spec, say=said.append)

    assert first == second
    assert fake_go.read_text() == "install good@v1\n"
    assert (environments.find(spec).places.bin / "tool").is_file()
    assert said[0].endswith("go install good@v1")
    assert said[1:] == [f"x is prepared in {first}"] * 2


def test_an_interrupted_making_is_begun_anew(target_file: Write, fake_go: Path) -> None:
    """A directory without its record does not count, and what is in it is removed."""
    spec = target_file(SERVER + 'go = ["good@v1"]')
    root = environments.directory(spec)
    (root / "venv").mkdir(parents=True)
    (root / "venv" / "half").touch()

    prepare(spec, say=lambda text: None)

    assert not (root / "venv" / "half").exists()


def test_another_pin_is_another_environment(target_file: Write) -> None:
    """Everything that an environment is made of is in its name."""
    one, two = (environments.directory(target_file(SERVER + f'go = ["good@v{number}"]')) for number in (1, 2))

    assert one != two
    assert one.name.startswith("x-")


def test_another_source_is_another_environment(target_file: Write, fake_go: Path, tmp_path: Path) -> None:
    """A program of one's own is built again after a change of its source, and an old build is not used for it."""
    server = tmp_path / "server"
    server.mkdir()
    (server / "go.mod").write_text("module x")
    spec = target_file(SERVER + 'go = ["./server"]')
    first = prepare(spec, say=lambda text: None)

    (server / "main.go").write_text("package main")
    with pytest.raises(TargetUnavailable, match="is not prepared"):
        environments.find(spec)
    second = prepare(spec, say=lambda text: None)

    assert first != second
    assert fake_go.read_text().splitlines() == [
        f"build -C {server} -trimpath -buildvcs=false -o {root}/venv/bin/ ." for root in (first, second)
    ]


def test_a_target_that_is_not_prepared_says_what_to_do(target_file: Write) -> None:
    """Opening names the command that makes the environment."""
    spec = target_file(SERVER + 'go = ["good@v1"]')

    with pytest.raises(TargetUnavailable) as raised, open_target(spec):
        pytest.fail("opened")
    assert str(raised.value) == f"x is not prepared: run conformance prepare --target {spec.file}"


def test_a_missing_tool_is_a_reason(target_file: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Go, a Go program is skipped with that reason."""
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(TargetUnavailable) as raised:
        prepare(target_file(SERVER + 'go = ["good@v1"]'), say=lambda text: None)
    assert str(raised.value) == "x needs the command go, which is not here: install it"


def test_a_failed_command_is_quoted(target_file: Write, fake_go: Path) -> None:
    """A tool that fails is quoted with its status and its last words, and nothing counts as made."""
    spec = target_file(SERVER + 'go = ["bad@v1"]')

    with pytest.raises(TargetUnavailable, match=r"go install bad@v1 … ended with 1: no such module"):
        prepare(spec, say=lambda text: None)
    with pytest.raises(TargetUnavailable, match="is not prepared"):
        environments.find(spec)


def test_a_making_without_an_end_is_stopped(target_file: Write, tmp_path: Path, fake_go: Path) -> None:
    """The making has a deadline of its own."""
    (tmp_path / "tools" / "go").write_text("#!/bin/sh\nexec /bin/cat /dev/zero > /dev/null\n")
    spec = target_file(SERVER + 'go = ["good@v1"]\ndeadline = 0.1')

    with pytest.raises(TargetUnavailable, match=r"could not be made in 0\.1 s: go install good@v1 … was stopped"):
        prepare(spec, say=lambda text: None)


def test_a_platform_can_be_required(target_file: Write) -> None:
    """Where a target cannot run at all, preparing and opening say so."""
    spec = target_file(SERVER + 'go = ["good@v1"]\nplatforms = ["moon-x86"]')

    for attempt in (lambda: prepare(spec, say=lambda text: None), lambda: environments.find(spec)):
        with pytest.raises(TargetUnavailable, match=r"x runs on moon-x86 only, and this is "):
            attempt()


def made_with_copy(target_file: Write, source: str, target: str) -> TargetSpec:
    """A target that copies one file, in an environment whose packages hold ``pack/data.bin``."""
    return target_file(
        SERVER + f'[[environment.copy]]\nsource = "{source}"\ntarget = "{target}"\n',
    )


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every environment hold an installed package ``pack`` with one file."""

    def install_with_pack(spec: TargetSpec, wanted: EnvironmentSpec, root: Path, say: installing.Say) -> None:
        pack = root / "venv" / "lib" / "python3.11" / "site-packages" / "pack"
        pack.mkdir(parents=True)
        (pack / "data.bin").write_bytes(b"data")
        (root / "ready").touch()
        (pack / "elsewhere").symlink_to(root / "ready")
        installing.install(spec, wanted, root, say)

    monkeypatch.setattr(environments, "install", install_with_pack)


def test_files_of_packages_are_copied_into_the_home(target_file: Write, packages: None) -> None:
    """A file from an installed wheel ends up where the target looks for it."""
    root = prepare(made_with_copy(target_file, "pack/data.bin", ".cache/v1/data.bin"), say=lambda text: None)

    assert (root / "home" / ".cache" / "v1" / "data.bin").read_bytes() == b"data"


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("pack/none.bin", "x", "no installed package contains a file 'pack/none.bin'"),
        ("../../../../../ready", "x", r"no installed package contains a file '\.\./"),
        ("pack/elsewhere", "x", "no installed package contains a file 'pack/elsewhere'"),
        ("pack/data.bin", "../../x", "'../../x' lies outside the target's home"),
    ],
)
def test_a_copy_that_cannot_be_made_is_refused(
    target_file: Write, packages: None, source: str, target: str, message: str
) -> None:
    """A missing source and a target outside the home are mistakes in the file."""
    with pytest.raises(TargetError, match=message):
        prepare(made_with_copy(target_file, source, target), say=lambda text: None)


def test_templates_are_filled(target_file: Write) -> None:
    """Environment variables are templates, and each directory of the environment has a placeholder."""
    spec = target_file(SERVER + 'go = ["good@v1"]')
    found = environments.Environment(Places(Path("/env")), Path("/env/home"), Path("/here"))

    variables = environments.command_environment(spec, found, project="p", host="h")

    assert (variables["HOME"], variables["WHO"]) == ("/env/home", "p at h")
    assert environments.fill("{python} {here} {grpc_port}", found, grpc_port="5") == f"{sys.executable} /here 5"
    assert environments.fill("{env_bin} {node_modules} {jars} {classpath}", found) == (
        f"/env/venv/bin /env/node_modules /env/jars /env/classes{os.pathsep}/env/jars/*"
    )


@pytest.mark.parametrize(("line", "gets"), [('python = ["x"]', False), ('interpreter = "3.13"', False), ("", True)])
def test_a_python_of_its_own_gets_nothing_of_the_suites(
    target_file: Write, monkeypatch: pytest.MonkeyPatch, line: str, *, gets: bool
) -> None:
    """In another interpreter, the variables of the suite's own would make the suite's packages importable."""
    monkeypatch.setenv("PYTHONPATH", "ours")
    found = environments.Environment(Places(Path("/env")), Path("/env/home"), Path("/here"))

    variables = environments.command_environment(target_file(SERVER + 'go = ["good@v1"]\n' + line), found)

    assert ("PYTHONPATH" in variables) == gets


@pytest.fixture
def nothing_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without any client and without another Python."""
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))


def test_the_plan_says_what_would_be_installed(target_file: Write, nothing_here: None) -> None:
    """Nothing is made; each entry has a line, and so has what is missing here."""
    spec = target_file(SERVER + 'interpreter = "3.99"\ngo = ["a@v1"]\nnpm = ["b@1", "c@2"]')
    root = environments.directory(spec)

    assert environments.plan(spec) == [
        f"x would be prepared in {root}: Python 3.99, 2 npm packages, 1 Go command",
        "  npm     b@1",
        "  npm     c@2",
        "  go      a@v1",
        "  Python 3.99 is not here",
        "  the command go is not here",
        "  the command npm is not here",
    ]
    assert not root.exists()


def test_the_plan_of_what_is_prepared_says_where(target_file: Write, fake_go: Path) -> None:
    """Afterwards there is nothing to do."""
    spec = target_file(SERVER + 'go = ["good@v1"]')
    root = prepare(spec, say=lambda text: None)

    assert environments.plan(spec) == [f"x is prepared in {root}"]


def test_a_target_gets_none_of_the_callers_secrets(target_file: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the suite's environment a target gets what programs need to run, and what its file names."""
    for name in ("GITHUB_TOKEN", "DB_HOST", "DB_PORT", "LC_TIME", "PYTHONPATH"):
        monkeypatch.setenv(name, "x")
    found = environments.Environment(Places(Path("/env")), Path("/env/home"), Path("/here"))
    plain = target_file('name = "x"\nkind = "program"\n[start]\ncommand = ["x"]')
    asking = dataclasses.replace(plain, start=dataclasses.replace(plain.start, inherit=("DB_*",)))
    all_of_it = dataclasses.replace(plain, start=dataclasses.replace(plain.start, inherit=("*",)))

    first, second, third = (environments.command_environment(spec, found).keys() for spec in (plain, asking, all_of_it))

    assert {"PATH", "LC_TIME", "PYTHONPATH"} <= first
    assert first & {"GITHUB_TOKEN", "DB_HOST", "DB_PORT"} == set()
    assert second - first == {"DB_HOST", "DB_PORT"}
    assert third == os.environ.keys()


def test_a_target_without_an_environment_needs_no_preparation(target_file: Write) -> None:
    """There is nothing to make, and that is said."""
    spec = target_file('name = "x"\nkind = "serializer"\n[serializer]\nentry = "a:b"')
    said: list[str] = []

    prepare(spec, say=said.append)

    assert said == ["x needs no environment of its own"]


def test_the_record_says_what_was_made(target_file: Write, fake_go: Path) -> None:
    """The files of the directory can be read there."""
    spec = target_file(SERVER + 'go = ["good@v1"]')

    root = prepare(spec, say=lambda text: None)

    assert json.loads((root / "made.json").read_text()) == {"go": ["good@v1"]}


@pytest.mark.slow(env="environments")
def test_python_requirements_are_installed(target_file: Write, tmp_path: Path) -> None:
    """A pinned requirement, here a local project, is installed into a virtual environment with its command."""
    project = tmp_path / "pack"
    project.mkdir()
    (project / "pyproject.toml").write_text(
        '[project]\nname = "pack"\nversion = "1.0"\n[project.scripts]\ntool = "pack:main"\n'
    )
    (project / "pack.py").write_text("def main(): print('here')\n")
    spec = target_file(SERVER + f'python = ["{project}"]')

    prepare(spec, say=lambda text: None)

    assert (environments.find(spec).places.bin / "tool").is_file()
