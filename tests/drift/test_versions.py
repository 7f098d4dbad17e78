"""Versions by name, and what their answers say."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conformance.drift import versions
from conformance.drift.versions import DriftError, Version, VersionAnswer, ask, distinct, find_version, ordered
from conformance.targets.spec import TargetSpec


def test_versions_stand_from_old_to_new() -> None:
    """Numbers are compared as numbers, the installed version is the last, and no version occurs twice."""
    assert ordered(["16.1.0", "installed", "9.0.0", "16.1.0"]) == ["9.0.0", "16.1.0", "installed"]


@pytest.mark.parametrize("name", ["latest", "26.x", ">=24", "24.0.0; true", "9" * 5000, "\u0662\u0664"])
def test_a_name_that_is_no_version_is_refused(name: str) -> None:
    """A text that is not a version number is not passed to an installer."""
    with pytest.raises(DriftError, match=r"expected a version of pyarrow such as 24\.0\.0"):
        find_version(name)


@pytest.mark.parametrize("name", ["latest", "26.x", ">=24", "24.0.0; true", "9" * 5000, "\u0662\u0664"])
def test_one_bad_name_among_good_ones_is_refused_before_anything_is_installed(name: str) -> None:
    """Ordering the names checks all of them; an environment takes a minute to make."""
    with pytest.raises(DriftError, match=r"expected a version of pyarrow such as 24\.0\.0"):
        ordered(["1.0.0", name])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pyarrow.whl", "expected the path of a wheel of pyarrow"),
        ("numpy-2.0.0-py3-none-any.whl", "expected a wheel of pyarrow, got one of numpy"),
        ("gone/pyarrow-99.0.0-py3-none-any.whl", "there is no such file"),
        ("pyarrow-99.0.0-cp30-cp30-win32.whl", "the wheel is not for this Python on this machine"),
    ],
)
def test_a_wheel_that_cannot_be_installed_is_refused(
    name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before an environment is made for any other version."""
    monkeypatch.chdir(tmp_path)
    Path("pyarrow-99.0.0-cp30-cp30-win32.whl").touch()

    with pytest.raises(DriftError, match=said):
        ordered(["24.0.0", name])


def test_wheels_stand_by_their_version(tmp_path: Path) -> None:
    """A nightly build is older than its release; a wheel and a number that are one version are refused."""
    nightly = tmp_path / "pyarrow-27.0.0.dev12-py3-none-any.whl"
    nightly.touch()

    assert ordered(["27.0.0", "installed", str(nightly), "26.0.1"]) == ["26.0.1", str(nightly), "27.0.0", "installed"]
    with pytest.raises(DriftError, match=r"are both pyarrow 27\.0\.0\.dev12"):
        ordered([str(nightly), f"{tmp_path}/../{tmp_path.name}/{nightly.name}"])


def test_a_wheel_is_installed_from_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment is that of these bytes: a wheel that was built again gets another one."""
    wheel = tmp_path / "pyarrow-27.0.0.dev12-py3-none-any.whl"
    wheel.write_bytes(b"one")
    asked: list[TargetSpec] = []

    def prepare(spec: TargetSpec, **_: object) -> Path:
        asked.append(spec)
        return tmp_path

    monkeypatch.setattr(versions, "prepare", prepare)

    first = find_version(str(wheel))
    wheel.write_bytes(b"two")
    find_version(str(wheel))

    assert (first.name, first.asked) == ("27.0.0.dev12", str(wheel))
    assert asked[0].environment is not None
    assert asked[0].environment.python == (f"pyarrow @ {wheel.as_uri()}", "numpy")
    assert asked[0].name != asked[1].name


def test_another_version_than_asked_for_is_refused() -> None:
    """An environment that holds another pyarrow than its name says is not compared."""
    with pytest.raises(DriftError, match=r"expected pyarrow 1\.0\.0, got "):
        ask(Version("1.0.0", Path(sys.executable)), [])


def test_an_interpreter_that_is_gone_is_told() -> None:
    """A missing interpreter is an error with its path."""
    with pytest.raises(DriftError, match="cannot start '/nowhere/python'"):
        ask(Version("1.0.0", Path("/nowhere/python")), [])


def test_texts_lose_addresses_and_paths() -> None:
    """Only the parts of an error that differ between processes or machines are removed."""
    reported = versions._normal("object at 0x7f00aabbccdd in /usr/lib/x86/arrow.cc:12, row 3/4 of\n  and/or")

    assert reported == "object at 0x… in /…:12, row 3/4 of and/or"


@pytest.mark.parametrize(
    ("error", "text", "lacks"),
    [
        ("ArrowInvalid", "Unrecognized type: 24", True),
        ("ArrowInvalid", "Library only supports 128-bit or 256-bit decimal values", True),
        ("ArrowNotImplementedError", "Swapping endianness of string_view", True),
        ("KeyError", "43", True),
        ("KeyError", "'a'", False),
        ("OSError", "Invalid flatbuffers message.", False),
    ],
)
def test_a_version_says_what_it_lacks(error: str, text: str, *, lacks: bool) -> None:
    """Errors about a type that the library lacks are distinguished from errors about the bytes."""
    assert VersionAnswer("a", "refused", error=error, text=text).lacks is lacks


def test_a_series_is_its_newest_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The installer decides which one that is; the report and its replay lines name it."""
    (tmp_path / "venv" / "lib" / "python3.11" / "site-packages" / "pyarrow-22.1.0.dist-info").mkdir(parents=True)
    asked: list[TargetSpec] = []

    def prepare(spec: TargetSpec, **_: object) -> Path:
        asked.append(spec)
        return tmp_path

    monkeypatch.setattr(versions, "prepare", prepare)

    found = find_version("22")

    assert (found.name, found.asked, asked[0].name) == ("22.1.0", "", "pyarrow-22.x")
    assert asked[0].environment is not None
    assert asked[0].environment.python == ("pyarrow==22.*", "numpy")


def test_names_of_one_release_are_refused() -> None:
    """A series may be what another name says; all others stand from old to new by their release."""
    old, new = Version("22.0.0", Path("a")), Version("22.1.0", Path("b"))

    assert distinct([new, old]) == [old, new]
    with pytest.raises(DriftError, match=r"expected different versions, but the names stand for pyarrow 22\.1\.0"):
        distinct([new, Version("22.1.0", Path("c"))])
