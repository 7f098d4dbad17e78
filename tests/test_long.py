"""The runner of long environments: which a change touches, which are ready in time, and how the run ends."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from publish import long
from publish.environments import BASE, ENVIRONMENTS, Environment, Part, changed, touched
from publish.long import Ran, main


@pytest.fixture
def clone(tmp_path: Path) -> Callable[..., str]:
    """A repository with two commits on main; the result runs git in it, and returns what that prints."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "-q", "-b", "main")
    for name in ("one", "two"):
        (tmp_path / name).write_text(name)
        git("add", name)
        git("commit", "-q", "-m", name)
    return git


def test_on_main_without_a_tag_the_change_is_not_known(clone: Callable[..., str], tmp_path: Path) -> None:
    """Nothing is guessed."""
    files, reason = changed({}, tmp_path)

    assert files is None
    assert reason.startswith("no base is known")


def test_on_main_the_change_begins_at_the_newest_tag(clone: Callable[..., str], tmp_path: Path) -> None:
    """Not at a tag of the commit itself, which would leave nothing."""
    clone("tag", "v1", "HEAD^")
    clone("tag", "v2")

    assert changed({}, tmp_path) == (("two",), "compared with v1")


def test_a_branch_is_compared_with_the_place_where_it_left(clone: Callable[..., str], tmp_path: Path) -> None:
    """Later commits of main are not part of the change; files that git does not know yet are."""
    left = clone("rev-parse", "HEAD^")
    clone("switch", "-q", "-c", "mine", left)
    (tmp_path / "three").write_text("3")
    clone("add", "three")
    clone("commit", "-q", "-m", "three")
    (tmp_path / "four").write_text("4")

    assert changed({}, tmp_path) == (("three", "four"), f"compared with {left}")


def test_the_base_can_be_named(clone: Callable[..., str], tmp_path: Path) -> None:
    """It comes before everything else; a commit that is not there is no base."""
    assert changed({BASE: "HEAD^"}, tmp_path) == (("two",), "compared with HEAD^")
    assert changed({BASE: "nothing"}, tmp_path) == (None, "the base nothing is no commit of this clone")


def test_without_git_the_change_is_not_known(tmp_path: Path) -> None:
    """A folder that is no clone."""
    assert changed({}, tmp_path)[0] is None


def test_a_file_touches_the_environments_that_depend_on_it() -> None:
    """By its path; what every environment is made with touches all of them."""
    assert {"hostile", "studies"} <= touched(["conformance/contain/child.py"])
    assert "adapters" not in touched(["conformance/contain/child.py"])
    assert "adapters" in touched(["adapters/rust/plain.rs"])
    assert touched(["docs/report.png"]) == frozenset()
    assert touched(["constraints.txt"]) == {one.name for one in ENVIRONMENTS}


class Runs:
    """A runner that runs nothing; ``fails`` is the name of the environment that fails."""

    def __init__(self, fails: str = "") -> None:
        self.names: list[str] = []
        self.fails = fails

    def __call__(self, one: Environment) -> Ran:
        """A result for an environment."""
        self.names.append(one.name)
        return Ran(one.name, one.name != self.fails, 1.0, 2.0)


def test_a_release_needs_all_but_the_reports(capsys: pytest.CaptureFixture[str]) -> None:
    """Each runs once, in the order of the table, and has its line at the end."""
    runs = Runs()

    assert main([], run=runs) == 0
    assert runs.names == [one.name for one in ENVIRONMENTS if one.part is not Part.REPORTS]
    assert capsys.readouterr().out.count("passed        1 s") == len(runs.names)


def test_a_failure_stops_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    """The status says that there was one."""
    runs = Runs(fails="truth")

    assert main(["truth", "retry"], run=runs) == 1
    assert runs.names == ["truth", "retry"]
    assert capsys.readouterr().out == (
        "FAILED        1 s        2 s of processor time  truth\n"
        "passed        1 s        2 s of processor time  retry\n"
        "1 of 2 environments passed\n"
    )


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything runs."""
    with pytest.raises(SystemExit) as ended:
        main(["nothing"])

    assert ended.value.code == 2
    assert "but got nothing" in capsys.readouterr().err


def test_what_is_not_ready_in_time_is_left_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the record and the clock, with the reason; an environment without a record never runs in a bounded time."""
    made: list[Mapping[str, object]] = [{"seconds": 30.0}, {"seconds": 50.0}, {"seconds": 50.0}, {}]
    four = tuple(
        Environment(name=f"e{place}", part=Part.RELEASE, holds="", when="", **more)  # type: ignore[arg-type]
        for place, more in enumerate(made)
    )
    clock = iter([0.0, 0.0, 40.0, 95.0, 95.0])
    monkeypatch.setattr(long, "ENVIRONMENTS", four)
    monkeypatch.setattr("publish.long.time", SimpleNamespace(monotonic=lambda: next(clock)))
    runs = Runs()

    assert main(["e0", "e1", "e2", "e3", "--seconds", "100"], run=runs) == 0
    assert runs.names == ["e0", "e1"]
    assert capsys.readouterr().out.splitlines()[:2] == [
        "left out: e2 takes 50 s, and 5 s are left",
        "left out: e3, whose time is not recorded: tox -e e3",
    ]


def test_a_change_runs_what_it_touches_the_cheapest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """All long environments where the change is not known; those that ``.ci/run`` runs by itself never."""
    runs, every = Runs(), Runs()
    monkeypatch.setattr(long, "changed", lambda _: (("conformance/truth/packs.py",), "compared with a tag"))
    main(["--changed"], run=runs)
    monkeypatch.setattr(long, "changed", lambda _: (None, "no base is known"))
    main(["--changed"], run=every)

    assert runs.names == ["truth"]
    assert sorted(every.names) == sorted(one.name for one in ENVIRONMENTS if one.part is Part.RELEASE)
