"""A folder of sources is part of the environment that is built from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.targets import TargetError, folders
from conformance.targets.environmentspec import EnvironmentSpec
from conformance.targets.folders import contents, folder


def write(root: Path, *names: str, text: str = "") -> None:
    """Write files, all with the same text."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def of(root: Path, **keys: str) -> list[str]:
    """The digests of an environment with one entry for each key."""
    return contents(EnvironmentSpec(**{key: (entry,) for key, entry in keys.items()}), root, "x.toml")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [
        lambda server: (server / "main.go").write_text("package other"),
        lambda server: (server / "more.txt").write_text(""),
        lambda server: (server / "deep" / "a.go").rename(server / "deep" / "b.go"),
        lambda server: (server / "deep" / "a.go").unlink(),
        lambda server: (server / "link").symlink_to("main.go"),
    ],
)
def test_every_change_of_a_source_changes_the_digest(tmp_path: Path, change: Callable[[Path], object]) -> None:
    """Content, names and links count, and so does a file that is gone or new."""
    write(tmp_path, "server/go.mod", "server/main.go", "server/deep/a.go")
    before = of(tmp_path, go="./server")

    change(tmp_path / "server")

    assert of(tmp_path, go="./server") != before


def test_what_a_build_leaves_changes_nothing(tmp_path: Path) -> None:
    """Output folders of the clients, the suite's own and those of version control are no sources."""
    write(tmp_path, "p/pyproject.toml", "n/package.json", "c/Cargo.toml")
    before = of(tmp_path, python="./p", npm="./n", crate="./c")

    write(tmp_path, "p/build/a", "p/x.egg-info/a", "n/node_modules/a", "c/target/a", text="built")
    write(tmp_path, "p/.git/a", "n/.conformance/a", "c/.venv/a")

    assert of(tmp_path, python="./p", npm="./n", crate="./c") == before


def test_a_name_that_another_client_leaves_is_a_source(tmp_path: Path) -> None:
    """A package of Go may be called target or build."""
    write(tmp_path, "go.mod")
    before = of(tmp_path, go=".")

    write(tmp_path, "target/a.go")

    assert of(tmp_path, go=".") != before


def test_the_whole_module_counts(tmp_path: Path) -> None:
    """A command of a larger Go module, or a crate of a workspace, is compiled from files beside it too."""
    write(tmp_path, "go.mod", "cmd/fake/main.go", "lib/a.go")
    before = of(tmp_path, go="./cmd/fake")

    write(tmp_path, "lib/a.go", text="package changed")

    assert of(tmp_path, go="./cmd/fake") != before


def test_extras_do_not_belong_to_the_path(tmp_path: Path) -> None:
    """A requirement of Python may name extras after the path."""
    write(tmp_path, "p/pyproject.toml")

    assert of(tmp_path, python="./p[tls]") == of(tmp_path, python="./p")


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        ("python", "a folder with pyproject.toml or setup.py"),
        ("npm", "a folder with package.json"),
        ("go", "a folder with go.mod in it or above it"),
        ("crate", "a folder with Cargo.toml in it or above it"),
        ("java", "a folder"),
    ],
)
def test_a_folder_that_is_no_package_is_refused(tmp_path: Path, key: str, wanted: str) -> None:
    """The message says which file makes a folder one."""
    if key != "java":
        (tmp_path / "none").mkdir()

    with pytest.raises(TargetError) as raised:
        folder(key, "./none", tmp_path, "x.toml")
    assert str(raised.value) == f"x.toml: target.environment.{key}: expected {wanted} but got './none'"


def test_a_folder_that_is_too_large_for_sources_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path such as / by mistake does not read the whole machine."""
    monkeypatch.setattr(folders, "MOST", 3)
    write(tmp_path, "a", text="four")

    with pytest.raises(TargetError, match=r"environment\.java: '\.': expected sources of at most 0 MiB but /"):
        of(tmp_path, java=".")


def test_a_file_larger_than_all_sources_may_be_is_not_read(tmp_path: Path) -> None:
    """It may be sparse, and larger than the memory."""
    write(tmp_path, "server/go.mod")
    with (tmp_path / "server" / "big").open("wb") as file:
        file.truncate(1 << 40)

    with pytest.raises(TargetError, match="expected sources of at most"):
        of(tmp_path, go="./server")
