"""The keys of ``[environment]`` are checked when the file is read, before anything is installed."""

from __future__ import annotations

import dataclasses
import tomllib

import pytest

from conformance.targets import TargetError
from conformance.targets.environmentspec import PLACEHOLDERS, EnvironmentSpec, is_path, summary
from tests.docs.snippets import blocks
from tests.targets.conftest import ROOT, Write

PROGRAM = 'name = "x"\nkind = "program"\n[start]\ncommand = ["{command}"]\n[environment]\n'


@pytest.mark.parametrize(
    "line",
    [
        'interpreter = "3.13.2"',
        'python = ["duckdb==1.4.0", "./pack[extra]", "/abs/pack"]',
        'npm = ["apache-arrow@21.1.0", "@scope/name@^1", "./server", ".."]',
        'go = ["example.com/cmd@v1.2.3", "../server", "."]',
        'maven = ["org.apache.arrow:arrow-vector:19.0.0", "io.netty:netty-tcnative:2.0.1.Final:linux-x86_64"]',
        'java = ["./src", ".."]',
        'crate = ["ripgrep@14.1.0", "./fake"]',
    ],
)
def test_packages_and_paths_are_accepted(target_file: Write, line: str) -> None:
    """Each key takes what its client installs, and paths of folders."""
    target_file(PROGRAM.replace("{command}", "{env_bin}/x") + line)


@pytest.mark.parametrize(
    ("key", "entry", "wanted"),
    [
        ("python", "--index-url=https://example.com", 'requirements such as "duckdb==1.4.0"'),
        ("npm", "apache-arrow", 'packages as "name@version", or paths like "./server"'),
        ("npm", "--global", 'packages as "name@version"'),
        ("go", "example.com/cmd", '"module@version", or paths such as "./server"'),
        ("go", "-C/@x", '"module@version"'),
        ("maven", "org.apache.arrow:arrow-vector", '"group:artifact:version" or with ":classifier"'),
        ("maven", "a:b:<version>", '"group:artifact:version"'),
        ("java", "src", 'paths of folders such as "./src"'),
        ("crate", "ripgrep", '"name@version", or paths such as "./server"'),
    ],
)
def test_an_entry_that_no_client_could_install_is_refused(
    target_file: Write, key: str, entry: str, wanted: str
) -> None:
    """A package without a version, and an option in place of a package, are mistakes in the file."""
    with pytest.raises(TargetError) as raised:
        target_file(PROGRAM + f'{key} = ["{entry}"]')

    assert f"target.environment.{key}: expected {wanted}" in str(raised.value)
    assert entry in str(raised.value)


@pytest.mark.parametrize("key", ["python", "npm", "go", "maven", "java", "crate"])
def test_an_entry_occurs_once(target_file: Write, key: str) -> None:
    """An entry that is written twice is refused for every key."""
    entry = "a:b:1" if key == "maven" else "./a"

    with pytest.raises(TargetError, match=f"target.environment.{key}: expected each entry once"):
        target_file(PROGRAM.replace("{command}", "x") + f'{key} = ["{entry}", "{entry}"]')


@pytest.mark.parametrize(
    ("placeholder", "line", "needs"),
    [
        ("node_modules", 'go = ["./a"]', "with npm "),
        ("jars", 'java = ["./a"]', "with maven "),
        ("classpath", 'npm = ["./a"]', "with maven or java "),
    ],
)
def test_a_placeholder_needs_what_makes_it(target_file: Write, placeholder: str, line: str, needs: str) -> None:
    """A directory that nothing fills is no place of a program."""
    with pytest.raises(TargetError) as raised:
        target_file(PROGRAM.replace("command}", f"{placeholder}}}/x") + line)

    assert f"expected an [environment] {needs}where {{{placeholder}}} is used" in str(raised.value)


def test_the_summary_counts_what_would_be_installed() -> None:
    """Everything that is installed is counted; an environment may be empty."""
    wanted = EnvironmentSpec(
        interpreter="3.13", python=("a", "b"), npm=("a@1",), go=("a@v1",), maven=("a:b:1",), java=("./a", "./b")
    )

    assert summary(wanted) == (
        "Python 3.13, 2 Python packages, 1 npm package, 1 Go command, 1 Maven package, 2 folders of Java sources"
    )
    assert summary(EnvironmentSpec(crate=("a@1", "b@1"))) == "2 crates"
    assert summary(EnvironmentSpec()) == "nothing"


def test_a_path_is_told_from_a_package_by_its_beginning() -> None:
    """Only a point or a slash begins a path."""
    assert all(map(is_path, (".", "..", "./a", "../a", "/a")))
    assert not any(map(is_path, ("a", "a/b@v1", ".a", "@a/b@1")))


def test_the_guide_shows_every_key_and_every_placeholder(target_file: Write) -> None:
    """The example of the guide is a target file with all that there is to install."""
    (text,) = (block.text for block in blocks(ROOT / "docs" / "target-file.md") if block.title == "everything.toml")

    target_file(text)

    assert {*tomllib.loads(text)["environment"]} == {field.name for field in dataclasses.fields(EnvironmentSpec)}
    assert [name for name in PLACEHOLDERS if f"{{{name}}}" not in text] == []
