"""What the real registries serve is installed by their clients, and runs without a network afterwards.

Everything here downloads: ``tox -e environments``. A program is started in a network namespace of its own, in which
nothing can be reached, not even this machine.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.targets import TargetUnavailable, prepare
from conformance.targets import environment as environments
from conformance.targets.interpreters import find_interpreter
from tests.fixtures import ROOT
from tests.targets.conftest import Write

ALONE = ("unshare", "--map-root-user", "--net")
"""Start a command that has no network."""

pytestmark = [pytest.mark.slow(env="environments"), pytest.mark.timeout(900)]


@pytest.fixture(autouse=True)
def alone() -> None:
    """Skip where a process without a network cannot be made."""
    if shutil.which(ALONE[0]) is None or subprocess.run([*ALONE, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this machine cannot start a process without a network")


def needs(*tools: str) -> None:
    """Skip where one of the tools is missing."""
    if missing := [tool for tool in tools if shutil.which(tool) is None]:
        pytest.skip(f"needs {missing[0]}, which is not here")


def said_alone(target_file: Write, command: tuple[str, ...], keys: str) -> str:
    """Install an environment with the given keys, and return what a command prints there without a network."""
    words = ", ".join(f"'{word}'" for word in (*ALONE, *command))
    spec = target_file(
        f'name = "x"\nkind = "program"\nversion_command = [{words}]\n[start]\ncommand = ["x"]\n[environment]\n{keys}'
    )
    prepare(spec)
    return environments.ask_version(spec, environments.find(spec))


def test_a_serializer_in_another_python_is_judged(target_file: Write, tmp_path: Path) -> None:
    """The documented adapter runs under Python 3.13 with a pyarrow of its own, and passes."""
    if find_interpreter("3.13") is None:
        pytest.skip("needs Python 3.13, which is not here")
    shutil.copy(ROOT / "docs" / "examples" / "adapter.py", tmp_path)
    spec = target_file(
        'name = "x"\nkind = "program"\n[start]\ncommand = ["{env_bin}/python", "{here}/adapter.py"]\n'
        '[environment]\ninterpreter = "3.13"\npython = ["pyarrow==24.0.0"]\n'
    )
    prepare(spec)

    run = (sys.executable, "-m", "conformance", "run", "--target", spec.file, "--select", "types.int64", "--no-readers")
    done = subprocess.run([*ALONE, *run], check=False, capture_output=True, text=True, cwd=tmp_path)

    assert "nothing unexpected" in done.stdout, done.stdout + done.stderr


def test_a_package_of_npm_runs(target_file: Write) -> None:
    """Apache Arrow JavaScript is loaded with all that it needs."""
    needs("npm", "node")
    script = 'console.log(require("{node_modules}/apache-arrow").tableFromArrays({{a: [1, 2]}}).numRows)'

    assert said_alone(target_file, ("node", "-e", script), 'npm = ["apache-arrow@21.1.0"]') == "2"


def test_jars_of_maven_run_with_sources_of_ones_own(target_file: Write, tmp_path: Path) -> None:
    """Java sources are compiled against Apache Arrow Java and run with all that it needs."""
    needs("mvn", "javac", "java")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "Main.java").write_text(
        "import org.apache.arrow.memory.RootAllocator;\nimport org.apache.arrow.vector.IntVector;\n"
        "class Main {\n  public static void main(String[] words) {\n"
        '    try (var memory = new RootAllocator(); var vector = new IntVector("a", memory)) {\n'
        "      vector.allocateNew(2);\n      vector.set(1, 7);\n"
        "      System.out.println(vector.get(1));\n    }\n  }\n}\n"
    )
    keys = (
        'maven = ["org.apache.arrow:arrow-vector:19.0.0", "org.apache.arrow:arrow-memory-unsafe:19.0.0"]\n'
        'java = ["./src"]'
    )
    command = ("java", "--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp", "{classpath}", "Main")

    assert said_alone(target_file, command, keys) == "7"


def test_a_crate_of_ones_own_with_a_dependency_runs(target_file: Write, tmp_path: Path) -> None:
    """A crate that needs another one is built as its lock file says."""
    needs("cargo")
    own = tmp_path / "own"
    (own / "src").mkdir(parents=True)
    (own / "Cargo.toml").write_text(
        '[package]\nname = "own"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\nitoa = "1"\n'
    )
    (own / "src" / "main.rs").write_text('fn main() { println!("{}", itoa::Buffer::new().format(7)); }\n')
    subprocess.run(["cargo", "generate-lockfile", "--manifest-path", own / "Cargo.toml"], check=True)

    assert said_alone(target_file, ("{env_bin}/own",), 'crate = ["./own"]') == "7"


def test_a_command_of_a_go_module_runs(target_file: Write) -> None:
    """A command with dependencies is built from its published module."""
    needs("go")

    said = said_alone(target_file, ("{env_bin}/gofumpt", "--version"), 'go = ["mvdan.cc/gofumpt@v0.7.0"]')

    assert said.startswith("v0.7.0")


@pytest.mark.parametrize(
    ("tool", "keys"),
    [
        ("npm", 'npm = ["apache-arrow@999.0.0"]'),
        ("go", 'go = ["mvdan.cc/gofumpt@v999.0.0"]'),
        ("mvn", 'maven = ["org.apache.arrow:arrow-vector:999.0.0"]'),
        ("cargo", 'crate = ["ripgrep@999.0.0"]'),
        ("python", 'python = ["pyarrow==999.0.0"]'),
    ],
)
def test_a_version_that_does_not_exist_is_one_sentence(target_file: Write, tool: str, keys: str) -> None:
    """The sentence names the version that was not found, by the command or in the client's own words."""
    if tool != "python":
        needs(tool)

    with pytest.raises(TargetUnavailable, match=r"could not be made: .*999\.0\.0"):
        said_alone(target_file, ("x",), keys)
