"""Functions that the commands on campaigns share: the options for Spark, and results in a terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.text import Text

from conformance.campaign.results import Results
from conformance.cli._group import Unusable
from conformance.contain.text import many

__all__ = ["master_option", "print_failures", "print_results", "settings"]

F = TypeVar("F", bound=Callable[..., Any])

NEVER_SHOWN = 8
"""The number of unreached cells shown by name; results.json has all."""
FAILURES_SHOWN = 40


def master_option(function: F) -> F:
    """Add ``--master`` and ``--conf``, with the meaning that they have for spark-submit."""
    function = click.option("--conf", metavar="KEY=VALUE", multiple=True, help="A Spark setting; may be repeated.")(
        function
    )
    return click.option(
        "--master",
        metavar="URL",
        default="local[*]",
        show_default=True,
        help="The Spark master, in the form that spark-submit takes.",
    )(function)


def settings(conf: tuple[str, ...]) -> dict[str, str]:
    """The Spark settings in ``--conf`` options."""
    for one in conf:
        if "=" not in one:
            raise Unusable(f"expected --conf KEY=VALUE but got {one!r}")
    return dict(one.split("=", 1) for one in conf)


def print_failures(console: Console, results: Results) -> None:
    """Print the failures, each with its first case."""
    for failure in results.failures[:FAILURES_SHOWN]:
        facts = f" ({many(failure.cases, 'case')}, first {failure.case_id}): {failure.reason}"
        console.print(Text.assemble("  ", (failure.clause, "bold"), facts))
        if failure.file:
            console.print(f"    {failure.file}")
    if len(results.failures) > FAILURES_SHOWN:
        console.print(f"and {many(len(results.failures) - FAILURES_SHOWN, 'more failure')}, in results.json")


def print_results(console: Console, results: Results) -> None:
    """Print the results for people: failures first, then coverage and durations."""
    console.print(Text.assemble((results.target, "bold"), f", profile {results.profile}, run {results.run}"))
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in results.outcomes.items())
    console.print(f"{many(results.cases, 'case')}: {outcomes}")
    print_failures(console, results)
    for problem in results.problems:
        console.print(problem)
    levels: dict[str, list[int]] = {}
    for clause in results.clauses:
        level = levels.setdefault(clause.level or "case", [0, 0, 0])
        level[0] += 1
        level[1] += clause.outcomes.get("pass", 0)
        level[2] += sum(count for outcome, count in clause.outcomes.items() if outcome != "pass")
    for name, (clauses, passed, others) in levels.items():
        console.print(
            ", ".join(
                (
                    f"{name}: {many(clauses, 'clause')} observed",
                    many(passed, "pass", "passes"),
                    many(others, "other outcome"),
                )
            )
        )
    for reader in results.readers:
        others_reported = "".join(f", {count} {made}" for made, count in reader.others.items())
        if reader.read or reader.others:  # a reader of another data format was given nothing
            console.print(f"{reader.reader}: read {reader.read} correctly{others_reported}")
    cells = len(results.reached) + len(results.never)
    console.print(f"coverage: {len(results.reached)} of {many(cells, 'cell')} reached")
    if results.never:
        shown = ", ".join(results.never[:NEVER_SHOWN])
        console.print(f"  never: {shown}{' …' if len(results.never) > NEVER_SHOWN else ''}")
    slow = ", ".join(f"{one.case_id} {one.seconds:.3g} s" for one in results.slowest[:3])
    console.print(f"slowest: {slow}")
