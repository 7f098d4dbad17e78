"""Which tox environment runs each test that is not in the quick set.

``@pytest.mark.slow(env="NAME")`` moves a test out of the quick set into the environment NAME of ``tox.ini``, which runs
``pytest -m 'slow(env="NAME")'`` on the folders and files that hold such tests. A run in which a slow test is collected
that no environment would run ends at once: such a test would never run again. :func:`sample` leaves some parameters of
a study in the quick set.
"""

from __future__ import annotations

import configparser
import functools
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest

from tests.fixtures import ROOT

Value = TypeVar("Value")

_SELECTION: Final = re.compile(r"""^pytest .*-m 'slow\(env="(?P<env>[\w-]+)"\)'(?P<paths>(?: tests[\w/.]*)+)""")


def sample(
    values: Iterable[Value], quick: Collection[str], *, env: str, name: Callable[[Value], str] = str
) -> list[Any]:
    """The values as parameters: those that ``quick`` names are in the quick set, the others in an environment.

    Raises:
        ValueError: ``quick`` names none of the values, or one that does not exist.
    """
    named = {name(value): value for value in values}
    if not quick or not named.keys() >= set(quick):
        raise ValueError(f"expected some of {sorted(named)}, got {sorted(quick)}")
    slow = pytest.mark.slow(env=env)
    return [pytest.param(value, id=each, marks=() if each in quick else (slow,)) for each, value in named.items()]


def selections(ini: str) -> Mapping[str, tuple[str, ...]]:
    """The paths whose slow tests each environment of a ``tox.ini`` runs.

    Raises:
        ValueError: An environment selects the tests of another one.
    """
    parsed = configparser.ConfigParser(interpolation=None)
    parsed.read_string(ini)
    found = {}
    for section in parsed.sections():
        for command in parsed[section].get("commands", "").splitlines():
            if match := _SELECTION.match(command):
                if section != f"testenv:{match['env']}":
                    raise ValueError(f"{section} runs the slow tests of {match['env']}")
                found[match["env"]] = tuple(match["paths"].split())
    return found


def complaint(nodeid: str, marked: Iterable[str | None], selected: Mapping[str, tuple[str, ...]]) -> str:
    """Why no environment, or more than one, runs a test with these marks; empty if exactly one does."""
    names = set(marked)
    if not names:
        return ""
    if len(names) > 1 or None in names:
        return f"{nodeid}: expected one slow(env=...), got {sorted(map(str, names))}"
    (name,) = names
    file = nodeid.partition("::")[0]
    if not any(file == path or file.startswith(f"{path}/") for path in selected.get(str(name), ())):
        return f"{nodeid}: tox -e {name} does not run it"
    return ""


@functools.cache
def _selected() -> Mapping[str, tuple[str, ...]]:
    return selections(Path(ROOT, "tox.ini").read_text(encoding="utf-8"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse slow tests that no environment runs, before any is left out."""
    for item in items:
        marked = (mark.kwargs.get("env") for mark in item.iter_markers("slow"))
        if reason := complaint(item.nodeid, marked, _selected()):
            raise pytest.UsageError(reason)
