"""``conformance replay --target mutated``: an input of a campaign again, from its name."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from conformance.campaign.inputs import make_input
from conformance.campaign.results import ClauseCount, Failure, Hungry, Results, Slow
from conformance.cli._group import cli
from conformance.cli._mutated import print_inputs

RESULTS = Results(
    run="abc",
    target="mutated 1234",
    profile="mutated",
    cases=100,
    failing=0,
    outcomes={"pass": 10, "expected-fail": 90},
    clauses=(ClauseCount("a.b", "MUST", {"pass": 60, "expected-fail": 40}), ClauseCount("a.c", "MUST", {"pass": 9})),
    failures=(),
    readers=(),
    slowest=(Slow(7, "mutated.s1.i7", 0.25, 4096),),
    reached={"subject:x": 1},
    never=("subject:y",),
    hungriest=(Hungry(8, "mutated.s1.i8", 3 << 20, 2048),),
)


def replay(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(cli, ["replay", *arguments])


def test_an_input_is_judged_again_and_its_bytes_are_saved(tmp_path: Path) -> None:
    """The change, its outcome, and the bytes."""
    made = make_input(1, 6)
    path = tmp_path / "bytes.arrow"

    result = replay("mutated.s1.i6", "--target", "mutated", "--save", str(path))

    assert result.exit_code == 0, result.output
    assert result.output.startswith(f"mutated.s1.i6: {made.subject.name} with {', '.join(made.changes)}, ")
    assert "outcome   " in result.output
    assert path.read_bytes() == made.parts[0]


@pytest.mark.slow(env="studies")
def test_each_message_of_several_goes_to_a_file_of_its_own(tmp_path: Path) -> None:
    """Numbered before the ending; the schema is number 0."""
    number = next(number for number in range(100) if len(make_input(1, number).parts) > 1)

    result = replay(f"mutated.s1.i{number}", "--target", "mutated", "--save", str(tmp_path / "message.bin"))

    assert result.exit_code == 0, result.output
    parts = make_input(1, number).parts
    assert [(tmp_path / f"message-{place}.bin").read_bytes() for place in range(len(parts))] == list(parts)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("mutated.s1", "--target", "mutated"), "expected the name of a mutated input, such as mutated.s1.i42"),
        (("some.case", "--save", "x"), "--save requires --target mutated"),
    ],
)
def test_what_cannot_be_replayed_is_refused(arguments: tuple[str, ...], said: str) -> None:
    """In one sentence, with status 2."""
    result = replay(*arguments)

    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def printed(results: Results) -> str:
    """The form of a campaign's results."""
    console = Console(width=200, record=True, force_terminal=False)
    with console.capture() as captured:
        print_inputs(console, results)
    return captured.get()


def test_figures_are_told() -> None:
    """Inputs by what became of them, the slowest and the hungriest by name."""
    assert printed(RESULTS).splitlines()[1:] == [
        "100 inputs: 90 rejected by a clause, 10 clean",
        "0 crashes, 0 hangs, 0 errors of the suite, 0 above a limit",
        "clauses: 1 failed on some input, 2 passed on some",
        "coverage: 1 of 2 subjects, changes and kinds reached",
        "slowest: mutated.s1.i7, 4096 bytes, 0.250 s of processor time",
        "peak memory: 3.0 MiB more than at the start of a runner, mutated.s1.i8",
    ]


def test_what_broke_is_told_first() -> None:
    """With the input that shows it."""
    failure = Failure("case", "crash: SIGSEGV", "crash", 2, 5, "mutated.s1.i5")
    broken = dataclasses.replace(RESULTS, failing=2, outcomes={"crash": 2, "pass": 98}, failures=(failure,))

    reported = printed(broken)

    assert "mutated.s1.i5" in reported.splitlines()[1]
    assert "2 crashes, 0 hangs" in reported
    assert broken.unexpected
