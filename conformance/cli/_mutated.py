"""Print the results of a campaign over mutated bytes, and replay one of its inputs."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from conformance.campaign.campaignjob import CampaignJob
from conformance.campaign.results import Results
from conformance.cli._campaigns import print_failures
from conformance.contain.text import many
from conformance.disk.files import write_whole
from conformance.records import Outcome

__all__ = ["input_job", "print_inputs", "replay_input"]

_MIB = 1 << 20


def input_job(cases: int, seed: int, multiplier: float, *, refused: bool) -> CampaignJob:
    """The job of a campaign over mutated bytes; ``refused`` is true if an option was given that only drawn cases
    have.

    Raises:
        click.UsageError: ``refused`` is true.
    """
    from conformance.campaign.mutated import mutated_job  # noqa: PLC0415  # builds all samples

    if refused:
        raise click.UsageError("--target mutated takes no --profile, --guided, --family or --clause")
    return mutated_job(cases=cases, seed=seed, multiplier=multiplier)


def print_inputs(console: Console, results: Results) -> None:
    """Print the results for people: failures first, then the number of inputs by result, and their cost."""
    console.print(Text.assemble((results.target, "bold"), f", run {results.run}"))
    print_failures(console, results)
    counts = results.outcomes
    clean, rejected = counts.get(Outcome.PASS, 0), counts.get(Outcome.EXPECTED_FAIL, 0)
    console.print(f"{many(results.cases, 'input')}: {rejected} rejected by a clause, {clean} clean")
    wrong = (
        (Outcome.CRASH, "crash", "crashes"),
        (Outcome.HANG, "hang", ""),
        (Outcome.ERROR, "error of the suite", "errors of the suite"),
        (Outcome.FAIL, "above a limit", "above a limit"),
    )
    console.print(", ".join(many(counts.get(outcome, 0), one, several) for outcome, one, several in wrong))
    failed = sum(Outcome.EXPECTED_FAIL in one.outcomes for one in results.clauses)
    passed = sum(Outcome.PASS in one.outcomes for one in results.clauses)
    console.print(f"clauses: {failed} failed on some input, {passed} passed on some")
    cells = len(results.reached) + len(results.never)
    console.print(f"coverage: {len(results.reached)} of {cells} subjects, changes and kinds reached")
    for slow in results.slowest[:1]:
        console.print(f"slowest: {slow.case_id}, {many(slow.received, 'byte')}, {slow.seconds:.3f} s of processor time")
    for hungry in results.hungriest[:1]:
        console.print(
            f"peak memory: {hungry.memory / _MIB:.1f} MiB more than at the start of a runner, {hungry.case_id}"
        )


def replay_input(name: str, save: Path | None) -> bool:
    """Judge one input in a process that may die, and print the result; returns True if it is a failure.

    Raises:
        click.UsageError: the name is not that of an input.
    """
    from conformance.campaign.inputs import make_input, parse_input_id  # noqa: PLC0415
    from conformance.campaign.mutated import mutated_job  # noqa: PLC0415
    from conformance.campaign.sandboxed import Sandbox  # noqa: PLC0415  # these build all samples

    known = parse_input_id(name)
    if known is None:
        raise click.UsageError(f"expected the name of a mutated input, such as mutated.s1.i42, got {name!r}")
    seed, index = known
    made = make_input(seed, index)
    what = f"judged as a {made.kind}" + (" by a writer" if made.writer else "")
    click.echo(f"{name}: {made.subject.name} with {', '.join(made.changes)}, {many(made.size, 'byte')}, {what}")
    for path, part in _places(save, made.parts):
        write_whole(path, part)
        click.echo(f"saved     {path}")
    with Sandbox(mutated_job(cases=index + 1, seed=seed)) as sandbox:
        (done,) = sandbox.run(index, index + 1)
    outcome = Outcome(done.judge["outcome"])
    meaning = {Outcome.PASS: "clean", Outcome.EXPECTED_FAIL: "rejected"}.get(outcome, str(outcome))
    click.echo(f"outcome   {meaning}")
    for verdict in done.verdicts:
        click.echo(f"because   {verdict['clause']}: {verdict['reason']}")
    if done.judge.get("failed"):
        click.echo(f"findings  {done.judge['findings']}, of {', '.join(done.judge['failed'])}")
    if done.judge.get("judge_seconds") is not None:
        click.echo(f"cost      {done.judge['judge_seconds']:.3f} s of processor time")
    return outcome.fails_run


def _places(save: Path | None, parts: tuple[bytes, ...]) -> list[tuple[Path, bytes]]:
    """The files for the bytes: one file, or for messages one file each, numbered before the suffix."""
    if save is None:
        return []
    if len(parts) == 1:
        return [(save, parts[0])]
    return [(save.with_name(f"{save.stem}-{number}{save.suffix}"), part) for number, part in enumerate(parts)]
