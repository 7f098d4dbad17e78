"""Settings for every test: the Hypothesis profile, and the check that nothing is left in the checkout.

Hypothesis draws the same examples in every run (``derandomize``): a test that fails, fails because of a change, and on
every machine. Campaigns (``conformance run --cases N --seed S``) draw new examples, from a seed; an example that they
find becomes a test. There is no deadline, because the time of one example depends on the machine, and no database,
which would be a file in the checkout.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Final

import hypothesis
import pytest

from tests.docs.warm import warm

ROOT: Final = Path(__file__).resolve().parent.parent
pytest_plugins: Final = ("tests.costs", "tests.studies")
OF_TOOLS: Final = frozenset(
    {".git", ".venv", ".tox", ".pytest_cache", ".mypy_cache", ".ruff_cache", "__pycache__", "node_modules"}
)
"""Folders that tools write, independently of the tests; git ignores all of them."""

# Output to a pipe has no width; a terminal in which somebody runs the tests must not give it one.
os.environ.pop("COLUMNS", None)

hypothesis.settings.register_profile(
    "conformance",
    deadline=None,
    derandomize=True,
    database=None,
    # The first depends on the machine; the second is about fixtures that examples share on purpose.
    suppress_health_check=(hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.function_scoped_fixture),
)
hypothesis.settings.load_profile("conformance")


# It keeps tables of Unicode and constants of the code, below the current directory unless this variable is set.
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(Path(tempfile.gettempdir(), f"hypothesis-{os.getuid()}")))

# Where Python may not write bytecode next to the sources, each of a thousand processes would compile the whole suite.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", "") and not sys.pycache_prefix:
    os.environ["PYTHONPYCACHEPREFIX"] = str(Path(tempfile.gettempdir(), f"conformance-bytecode-{os.getuid()}"))

BEFORE: Final = pytest.StashKey[frozenset[Path]]()
LEFT: Final = pytest.StashKey[list[Path]]()


def _files() -> frozenset[Path]:
    """Every file in the checkout, but for those of tools."""
    found: list[Path] = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in OF_TOOLS]
        found += (Path(folder, name) for name in names)
    return frozenset(found)


def pytest_configure(config: pytest.Config) -> None:
    """Let no test of the quick set download a package or find an adapter that this machine has built.

    Commands behave as on a laptop, also where these tests run in a job of GitHub Actions.
    """
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        os.environ.pop(name, None)
    if config.option.markexpr == "not slow":
        os.environ["PIP_NO_INDEX"] = "1"
        os.environ["CONFORMANCE_ADAPTERS"] = str(Path(os.devnull, "adapters"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage while tests are collected, and leave them out of every collection of it afterwards: they stay,
    and are a million objects.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(100_000, 50, 100)  # a fortieth of the processor time of the quick set was its collections
        gc.enable()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Note which files there are; under xdist in the process that starts the workers."""
    if not hasattr(session.config, "workerinput"):
        session.config.stash[BEFORE] = _files()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which tests left files in the checkout: the next one would not see what this one saw."""
    if BEFORE not in session.config.stash:
        return
    before = session.config.stash[BEFORE]
    left = sorted(_files() - before)
    session.config.stash[LEFT] = left
    if left and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name the files that were left."""
    for path in config.stash.get(LEFT, []):
        terminalreporter.write_line(f"left in the checkout by a test: {path.relative_to(ROOT)}", red=True)


@pytest.fixture(scope="session")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where a process runs commands that has imported the suite."""
    with warm(tmp_path_factory.mktemp("warm")) as place:
        yield place
