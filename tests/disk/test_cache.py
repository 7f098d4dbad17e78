"""What can be made again is in the user's cache, unless a variable names another place."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.disk.cache import cache_directory


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("OF_THE_PART", raising=False)


def test_a_part_has_a_directory_in_the_home_of_the_user(tmp_path: Path) -> None:
    """Without any variable."""
    assert cache_directory("part", "OF_THE_PART") == tmp_path / ".cache" / "arrow-conformance" / "part"


def test_the_user_names_a_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As for every program that follows the XDG specification."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "kept"))

    assert cache_directory("part", "OF_THE_PART") == tmp_path / "kept" / "arrow-conformance" / "part"


def test_a_relative_cache_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The specification has programs ignore it."""
    monkeypatch.setenv("XDG_CACHE_HOME", "kept")

    assert cache_directory("part", "OF_THE_PART") == tmp_path / ".cache" / "arrow-conformance" / "part"


def test_a_variable_names_the_directory_of_one_part(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It comes before all others, and may be relative."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OF_THE_PART", "here")

    assert cache_directory("part", "OF_THE_PART") == tmp_path / "here"


@pytest.mark.parametrize("home", ["/", "", "relative"])
def test_a_user_without_a_home_has_a_cache_in_the_current_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: str
) -> None:
    """As in a container: ``HOME`` is the root there, in which the user may not write."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", home)

    assert cache_directory("part", "OF_THE_PART") == tmp_path / ".conformance" / "part"


def test_a_user_whom_the_system_does_not_know_has_it_there_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Python cannot find a home then."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "home", _no_home)

    assert cache_directory("part", "OF_THE_PART") == tmp_path / ".conformance" / "part"


def _no_home() -> Path:
    raise RuntimeError("could not determine home directory")
