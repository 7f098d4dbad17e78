"""The suite inside pytest: ``pytest --conformance-target=FILE`` adds one test per clause to a project's own tests.

The target is driven once, when the first of these tests runs, and only for the clauses that were not deselected. A
test passes if its clause passes. It is skipped with the reason if the clause could not be judged, and an expected
failure of the target file is an ``xfail``. Without the option this module imports nothing and adds nothing.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from conformance.engine.result import Deviation, Result
    from conformance.engine.selection import Plan, Selection
    from conformance.engine.session import Settings
    from conformance.records import Case
    from conformance.targets import TargetError, TargetSpec

__all__ = ["ClauseItem", "TargetFile"]

WHOLE_RUN: Final = "whole-run"
"""The test for results that belong to no clause: a case that died unnoticed, a stale expected failure, an empty run."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the suite; only the target is required."""
    group = parser.getgroup("conformance", "conformance of a BigQuery Storage Read implementation")
    group.addoption(
        "--conformance-target",
        metavar="TARGET",
        help="TOML file of the implementation, or name of a target of the suite: one test per clause",
    )
    group.addoption(
        "--conformance-select", metavar="GLOB", action="append", default=[], help="only cases whose id matches"
    )
    group.addoption("--conformance-corpus", metavar="DIR", help="directory of case files instead of the suite's own")
    group.addoption(
        "--conformance-level",
        choices=["must", "should", "may"],
        default="may",
        help="judge clauses of this level and of more binding ones",
    )
    group.addoption("--conformance-cases", metavar="N", type=_number("CASES"), default=0, help="generated cases to add")
    group.addoption(
        "--conformance-seed", metavar="S", type=_number("SEED"), default=0, help="seed of the generated cases"
    )
    group.addoption("--conformance-no-readers", action="store_true", help="judge only the bytes, without readers")


def _number(kind: str) -> Callable[[str], int]:
    """A type for numbers in the range that the option of `conformance run` has."""

    def convert(text: str) -> int:
        import click  # noqa: PLC0415  # only where an option is given

        from conformance.cli import _numbers  # noqa: PLC0415  # as above

        try:
            return int(getattr(_numbers, kind).convert(text, None, None))
        except click.BadParameter as error:
            raise argparse.ArgumentTypeError(error.message) from None

    return convert


def pytest_configure(config: pytest.Config) -> None:
    """Register the suite if a target is named."""
    if config.getoption("conformance_target"):
        config.pluginmanager.register(_Suite(config), "conformance-suite")


class _Suite:
    """One run of the suite in one pytest session."""

    def __init__(self, config: pytest.Config) -> None:
        from conformance.targets import TargetError, load_target  # noqa: PLC0415  # pytest runs without a target stay fast

        self._config = config
        try:
            self.spec: TargetSpec = load_target(config.getoption("conformance_target"))
        except TargetError as error:
            raise pytest.UsageError(str(error)) from error
        self.path = Path(self.spec.name if self.spec.by_url else self.spec.file)

    def pytest_report_header(self) -> str:
        """The line about the target and the clauses above the tests."""
        seed = self._config.getoption("conformance_seed")
        return f"conformance: target {self.spec.name} ({self.spec.file}), {len(self.clauses)} clauses, seed {seed}"

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """The target file named as an argument, alone or with ``::CLAUSE``."""
        if file_path.resolve() != self.path.resolve():
            return None
        return TargetFile.from_parent(parent, path=file_path, suite=self)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add the tests if no argument names them; this runs first, so that ``-k`` and ``-m`` select among them."""
        by_name = any(
            self.path.resolve() == Path(str(argument).split("::")[0]).resolve() for argument in session.config.args
        )
        if not by_name and not any(isinstance(item, ClauseItem) for item in items):
            file = TargetFile.from_parent(session, path=self.path.resolve(), suite=self)
            items.extend(file.collect())

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Record the clauses that are left after all deselection."""
        self._wanted = tuple(item.name for item in session.items if isinstance(item, ClauseItem))

    @cached_property
    def selection(self) -> Selection:
        """The selection by the options, before pytest deselects anything."""
        from conformance.engine.selection import Selection  # noqa: PLC0415  # as above
        from conformance.records import Level  # noqa: PLC0415  # as above

        level = Level(self._config.getoption("conformance_level"))
        return Selection(cases=tuple(self._config.getoption("conformance_select")), level=level)

    @cached_property
    def clauses(self) -> tuple[str, ...]:
        """The ids of the clauses that the options select."""
        return tuple(clause.id for clause in self._plan(self.selection).clauses)

    def _plan(self, selection: Selection) -> Plan:
        from conformance.engine.selection import SelectionError, all_clauses, plan  # noqa: PLC0415  # as above

        try:
            return plan(self._corpus, all_clauses(), selection)
        except SelectionError as error:
            raise pytest.UsageError(str(error)) from error

    @cached_property
    def _corpus(self) -> Sequence[Case]:
        from conformance.engine.corpus import load_corpus  # noqa: PLC0415  # as above
        from conformance.generate import CaseFileError  # noqa: PLC0415  # as above

        directory = self._config.getoption("conformance_corpus")
        try:
            return list(load_corpus(Path(directory) if directory else None).values())
        except (CaseFileError, OSError) as error:
            raise pytest.UsageError(str(error)) from error

    @cached_property
    def _settings(self) -> Settings:
        from conformance.engine.session import Settings  # noqa: PLC0415  # as above

        return Settings(
            seed=self._config.getoption("conformance_seed"),
            generated=self._config.getoption("conformance_cases"),
            readers=not self._config.getoption("conformance_no_readers"),
        )

    @cached_property
    def result(self) -> Result | TargetError:
        """The result of the run, which happens on first use; or the reason for its absence, so that no clause tries
        it again.
        """
        from conformance.disk.files import DiskError  # noqa: PLC0415  # as above
        from conformance.disk.locks import InUseError  # noqa: PLC0415  # as above
        from conformance.engine.log import LogWriter  # noqa: PLC0415  # as above
        from conformance.engine.result import fold  # noqa: PLC0415  # as above
        from conformance.engine.session import default_log, open_session, own_file  # noqa: PLC0415  # as above
        from conformance.targets import TargetError  # noqa: PLC0415  # as above

        wanted = tuple(name for name in self._wanted if name != WHOLE_RUN)
        selection = dataclasses.replace(self.selection, clauses=wanted)
        try:
            plan = self._plan(selection)
            opened = open_session(self.spec, plan, selection, self._settings, corpus=self._corpus)
            with LogWriter(own_file(default_log(self.spec).name)) as log, opened as session:
                return fold(log.copy(session.events()))
        except TargetError as error:
            return error
        except (InUseError, DiskError) as error:
            return TargetError(str(error))


class TargetFile(pytest.File):
    """The target file as a pytest collector: it has one test for each clause, and one for the whole run."""

    def __init__(self, *, suite: _Suite, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.suite = suite

    def collect(self) -> Iterable[ClauseItem]:
        """One test per clause, and one for the run as a whole."""
        for name in (*self.suite.clauses, WHOLE_RUN):
            item = ClauseItem.from_parent(self, name=name)
            if self.config.pluginmanager.hasplugin("xdist"):
                # One worker must get all of them (`--dist loadgroup`), because each worker would drive the target
                # from the start.
                item.add_marker(pytest.mark.xdist_group("conformance"))
            yield item


class ClauseFailedError(Exception):
    """A clause fails; the text is the report on it."""


class ClauseItem(pytest.Item):
    """The test of one clause over all cases."""

    parent: TargetFile

    def runtest(self) -> None:
        """Judge, once for all clauses, and report the outcome of this one."""
        from conformance.contract.clause import is_binding  # noqa: PLC0415  # as above
        from conformance.engine.result import NOT_JUDGED  # noqa: PLC0415  # as above
        from conformance.records import Outcome  # noqa: PLC0415  # as above
        from conformance.targets import TargetError  # noqa: PLC0415  # as above

        result = self.parent.suite.result
        if isinstance(result, TargetError):
            pytest.fail(str(result), pytrace=False)
        if self.name == WHOLE_RUN:
            self._check_run(result)
            return
        if self.name not in result.by_clause:
            pytest.skip("no case of this run had anything to judge")
        outcome = result.worst[self.name]
        deviations = [item for item in result.deviations if self.name in item.clauses and item.outcome is outcome]
        text = deviations[0].text if deviations else ""
        if outcome in NOT_JUDGED:
            pytest.skip(f"{outcome}: {text}")
        if outcome is Outcome.EXPECTED_FAIL:
            pytest.xfail(f"expected failure: {text}")
        if outcome is Outcome.FAIL and not is_binding(self.name):
            deviations = [item for item in result.surprises if self.name in item.clauses]
            if not deviations:
                pytest.xfail(f"a MAY clause, which fails no run: {text}")
        if outcome is not Outcome.PASS:
            raise ClauseFailedError("\n".join(_report(result, deviations)))

    def _check_run(self, result: Result) -> None:
        """Fail for problems that belong to no clause."""
        lines = [problem.text for problem in result.problems if problem.fails_run]
        lines += [broke.traceback for broke in result.broke]
        unclaimed = [item for item in result.failed if not set(item.clauses) & set(result.start.clauses)]
        lines += _report(result, unclaimed)
        if result.fails and result.failed == result.optional and not lines:
            from conformance.report.summary import verdict_line  # noqa: PLC0415  # as above

            lines = [verdict_line(result)]
        if lines:
            raise ClauseFailedError("\n".join(lines))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The report instead of the plugin's traceback."""
        if isinstance(excinfo.value, ClauseFailedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """The origin of the test: the target's file."""
        return self.path, None, self.name


def _report(result: Result, deviations: Iterable[Deviation]) -> Iterator[str]:
    import io  # noqa: PLC0415  # as above

    from conformance.report.summary import replay_command  # noqa: PLC0415  # as above
    from conformance.report.terminal import print_deviation, terminal  # noqa: PLC0415  # as above

    buffer = io.StringIO()
    console = terminal(file=buffer, width=120)
    for deviation in deviations:
        print_deviation(console, deviation, replay_command(result, deviation))
    yield from buffer.getvalue().splitlines()
