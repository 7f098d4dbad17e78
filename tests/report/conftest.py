"""Fixtures of the tests of statements: target files, and a run that was judged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.typed import stay_here
from tests.report.statements import SELECT, Files, judge, load, write_targets


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A directory for counterexamples, and runs that start no process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("current"))
        stay_here(patch)
        yield


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory, surroundings: None) -> Path:  # it is the place
    """A directory of target files."""
    folder = tmp_path_factory.mktemp("targets")
    write_targets(folder)
    return folder


@pytest.fixture(scope="module")
def judged(targets: Path) -> Files:
    """A run with two generated cases, a failure that is expected and others that are not."""
    judge(targets, "--target", str(targets / "known.toml"), *SELECT, "--cases", "2", "--seed", "3", name="judged")
    return load(targets, "judged")
