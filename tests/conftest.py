"""What holds for every test: how Hypothesis searches, and that nothing is left in the checkout.

Hypothesis draws the same examples in every run (``derandomize``): a test that fails, fails because of a change, and on
every machine. What drawing anew finds is the business of campaigns (``conformance run --cases N --seed S``), which take
a seed; an example that they find is written down as a test. There is no deadline, for how long one example takes says
how busy the machine is, and no database, which would be a file in the checkout.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

import hypothesis
import pytest

ROOT: Final = Path(__file__).resolve().parent.parent
OF_TOOLS: Final = frozenset(
    {".git", ".venv", ".tox", ".pytest_cache", ".mypy_cache", ".ruff_cache", "__pycache__", "node_modules"}
)
"""What tools write, beside whatever the tests do; git ignores all of it."""

hypothesis.settings.register_profile(
    "conformance",
    deadline=None,
    derandomize=True,
    database=None,
    # Both depend on the machine, or on nothing: how long drawing takes, and that examples share a fixture.
    suppress_health_check=(hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.function_scoped_fixture),
)
hypothesis.settings.load_profile("conformance")


# It keeps tables of Unicode and constants of the code, below the current directory unless it is told where.
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(Path(tempfile.gettempdir(), f"hypothesis-{os.getuid()}")))

BEFORE: Final = pytest.StashKey[frozenset[Path]]()
LEFT: Final = pytest.StashKey[list[Path]]()


def _files() -> frozenset[Path]:
    """Every file in the checkout, but for those of tools."""
    found: list[Path] = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in OF_TOOLS]
        found += (Path(folder, name) for name in names)
    return frozenset(found)


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
