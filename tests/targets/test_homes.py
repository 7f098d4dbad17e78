"""Every start of a target has a home of its own, and what it leaves there is seen by nobody."""

from __future__ import annotations

import dataclasses
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.targets import TargetSpec, TargetUnavailable
from conformance.targets.environment import Environment
from conformance.targets.environmentspec import CopiedFile, EnvironmentSpec
from conformance.targets.homes import fresh_home
from conformance.targets.installing import Places
from conformance.targets.spec import Start, TargetKind

SPEC = TargetSpec("x", TargetKind.PROGRAM, start=Start(("serve",), {"HOME": "{home}"}))
COPYING = dataclasses.replace(SPEC, environment=EnvironmentSpec(copy=(CopiedFile("a", ".cache/a.bin"),)))


@pytest.fixture
def prepared(tmp_path: Path) -> Iterator[Environment]:
    """An environment whose home holds a copied file, and one that an earlier run has left."""
    home = tmp_path / "x" / "home"
    (home / ".cache").mkdir(parents=True)
    (home / ".cache" / "a.bin").write_bytes(b"asset")
    (home / "left.db").write_bytes(b"left")
    return Environment(Places(tmp_path / "x"), home, tmp_path)


def files(folder: Path) -> list[str]:
    """Every file below a directory."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_home_holds_the_copied_files_and_nothing_else(prepared: Environment) -> None:
    """Files that an earlier run left in the prepared home are not copied."""
    with fresh_home(COPYING, prepared) as one:
        assert files(one.home) == [".cache/a.bin"]
        assert (one.home / ".cache" / "a.bin").read_bytes() == b"asset"


def test_two_starts_share_nothing(prepared: Environment) -> None:
    """A change to a copied file reaches neither another start nor the prepared one."""
    with fresh_home(COPYING, prepared) as one, fresh_home(COPYING, prepared) as other:
        (one.home / ".cache" / "a.bin").write_bytes(b"changed")
        (one.home / "new.db").touch()

        assert (other.home / ".cache" / "a.bin").read_bytes() == b"asset"
        assert files(other.home) == [".cache/a.bin"]
    assert (prepared.home / ".cache" / "a.bin").read_bytes() == b"asset"


def test_a_home_is_removed_when_its_start_ends(prepared: Environment) -> None:
    """Also one with a directory that its target has closed."""
    with fresh_home(SPEC, prepared) as one:
        assert files(one.home) == []
        (one.home / "closed").mkdir()
        (one.home / "closed" / "file").touch()
        (one.home / "closed").chmod(0)

    assert list(one.home.parent.iterdir()) == []


def test_the_home_of_a_killed_start_is_removed_by_the_next(prepared: Environment) -> None:
    """Its lock is free; the home of a start that goes on is left alone."""
    left = prepared.home.with_name("homes") / "0123abcd"
    left.mkdir(parents=True)

    with fresh_home(SPEC, prepared) as one, fresh_home(SPEC, prepared):
        assert not left.exists()
        assert one.home.exists()


def test_a_target_that_names_no_home_gets_none(prepared: Environment) -> None:
    """Nothing is made where nothing is asked for."""
    spec = dataclasses.replace(SPEC, start=Start(("serve", "{here}")))

    with fresh_home(spec, prepared) as one:
        assert one == prepared
    assert not prepared.home.with_name("homes").exists()


def test_a_home_that_does_not_fit_is_a_reason(prepared: Environment) -> None:
    """The target is unavailable, and the text names the file."""
    (prepared.home / ".cache" / "a.bin").write_bytes(bytes(5000))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(TargetUnavailable) as raised, fresh_home(COPYING, prepared):
            pytest.fail("made")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert "x has no home to write to: " in str(raised.value)
    assert str(raised.value).endswith("/.cache/a.bin: cannot be written: File too large")
    assert files(prepared.home.with_name("homes")) == []
