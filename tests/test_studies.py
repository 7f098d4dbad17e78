"""Each slow test belongs to one environment of tox, and the environments are those that contributors read about."""

from __future__ import annotations

import configparser
import re
from pathlib import Path
from typing import Final

import pytest

from publish.environments import ENVIRONMENTS, TOUCHES_ALL
from tests.fixtures import ROOT
from tests.studies import complaint, sample, selections

_INI: Final = (ROOT / "tox.ini").read_text(encoding="utf-8")
INI: Final = """
[testenv:one]
commands =
    python -m anything
    pytest -n 2 -m 'slow(env="one")' tests/a tests/test_b.py {posargs}
[testenv:other]
commands = pytest tests/a
"""


def test_an_environment_selects_its_slow_tests_by_path() -> None:
    """An environment without such a selection runs no slow test."""
    assert selections(INI) == {"one": ("tests/a", "tests/test_b.py")}


def test_an_environment_that_selects_those_of_another_is_refused() -> None:
    """The name of the marker is the name of the command."""
    with pytest.raises(ValueError, match="testenv:two runs the slow tests of one"):
        selections(INI.replace("testenv:one", "testenv:two"))


@pytest.mark.parametrize(
    ("nodeid", "marked", "reason"),
    [
        ("tests/a/test_c.py::test_d", [], ""),
        ("tests/a/test_c.py::test_d", ["one", "one"], ""),
        ("tests/test_b.py::test_d[1]", ["one"], ""),
        ("tests/test_c.py::test_d", ["one"], "tests/test_c.py::test_d: tox -e one does not run it"),
        ("tests/ab/test_c.py::test_d", ["one"], "tests/ab/test_c.py::test_d: tox -e one does not run it"),
        ("tests/a/test_c.py::test_d", ["other"], "tests/a/test_c.py::test_d: tox -e other does not run it"),
        ("tests/a/test_c.py::test_d", ["one", "two"], "expected one slow(env=...), got ['one', 'two']"),
        ("tests/a/test_c.py::test_d", [None], "expected one slow(env=...), got ['None']"),
    ],
)
def test_a_slow_test_belongs_to_one_environment(nodeid: str, marked: list[str | None], reason: str) -> None:
    """A test that none or several would run is named with the reason."""
    assert complaint(nodeid, marked, selections(INI)).endswith(reason)
    assert bool(complaint(nodeid, marked, selections(INI))) == bool(reason)


def test_a_sample_stays_in_the_quick_set() -> None:
    """The other values are slow."""
    quick, slow = sample(("a", "b"), ("a",), env="one")

    assert (quick.id, quick.marks) == ("a", ())
    (mark,) = slow.marks
    assert (slow.id, mark.name, mark.kwargs) == ("b", "slow", {"env": "one"})


@pytest.mark.parametrize("quick", [(), ("c",)])
def test_a_sample_of_nothing_is_refused(quick: tuple[str, ...]) -> None:
    """A value that was renamed would leave the quick set silently."""
    with pytest.raises(ValueError, match="expected some of"):
        sample(("a", "b"), quick, env="one")


def test_every_environment_is_described() -> None:
    """``publish/environments.toml`` has those of ``tox.ini``, but for the one that runs the others."""
    ini = configparser.ConfigParser(interpolation=None)
    ini.read(ROOT / "tox.ini", encoding="utf-8")
    labels = dict(line.split(" = ") for line in ini["tox"]["labels"].strip().splitlines())
    numbered = [name for names in labels.values() for name in names.split(", ")]
    named = {section.partition(":")[2] for section in ini.sections() if "{" not in section} - {"", "long"}

    assert {one.name for one in ENVIRONMENTS} == {"test", *named, *labels}
    assert all(one.arguments == ("-m" if one.name in labels else "-e", one.name) for one in ENVIRONMENTS)
    assert set(numbered) >= {f"pyarrow{number}" for number in re.findall(r"^    pyarrow(\d+):", _INI, re.MULTILINE)}
    assert selections(_INI).keys() <= named


def test_every_pattern_matches_a_file() -> None:
    """A folder that was renamed would be touched by no change."""
    patterns = {pattern for one in ENVIRONMENTS for pattern in one.touches} | set(TOUCHES_ALL)

    assert [pattern for pattern in patterns if not any(Path(ROOT).glob(pattern.replace("/*", "/**/*")))] == []
