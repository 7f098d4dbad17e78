"""The options of ``conformance run`` as a record: what a shard of a parallel run is given."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.cli._outputs import Outputs
from conformance.cli._runoptions import OF_THE_WHOLE, RunOptions
from conformance.cli.run import command

FIELDS = {field.name for field in dataclasses.fields(RunOptions)}
GIVEN = (
    *("--target", "mine.toml", "--select", "types.*", "--select", "rows.*", "--clause", "framing.*"),
    *("--capability", "avro", "--level", "must", "--cases", "0", "--scenarios", "7", "--seed", "9"),
    *("--scenario", "ordered", "--data-format", "both", "--repeat", "3", "--no-shrink", "--no-readers"),
    *("--reader", "pyarrow", "--no-smoke", "--deadline-multiplier", "2.5", "--project", "one", "--max-bytes", "12"),
    *("--corpus", "."),
)


def arguments(*words: str) -> list[str]:
    """What a shard is given of a command line."""
    with command.make_context("run", [*words]) as context:
        values = {name: value for name, value in context.params.items() if name in FIELDS}
        return [*RunOptions(**values, outputs=Outputs()).arguments()]


def test_a_plain_run_gives_its_shards_nothing() -> None:
    """What is the default here is the default there."""
    assert arguments() == []


def test_a_shard_is_asked_what_the_run_is_asked() -> None:
    """The arguments of a shard parse to the options of the run, and they are all that a shard takes."""
    with command.make_context("run", [*GIVEN]) as context:
        given = context.params
    with command.make_context("run", arguments(*GIVEN)) as context:
        assert context.params == given

    default = {parameter.name: parameter.default for parameter in command.params}
    same = {name for name in FIELDS - OF_THE_WHOLE if given[name] == default[name]}
    assert same == set(), "give each a value above"


@pytest.mark.parametrize("words", [("--parallel", "3"), ("--exchanges",), ("--estimate",), ("--log", "a.jsonl")])
def test_an_option_of_the_whole_run_is_not_handed_on(words: tuple[str, ...]) -> None:
    """No shard divides itself, or writes to the log of the run."""
    assert arguments(*words) == []
