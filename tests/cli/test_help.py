"""The commands under their headings, and usage errors: one sentence each, with what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click
import pytest

import conformance.cli
from conformance.cli._group import cli
from conformance.cli._help import COMMANDS, GROUPS, RARE
from conformance.contract.offers import profile_titles
from conformance.readers.ipc.implementations import IPC_READERS, IPC_WRITERS
from conformance.readers.registry import KNOWN
from conformance.targets.shipped import shipped_targets
from tests.cli.typed import conformance_

LONG: Final = 24
"""The longest word that is never broken; a longer one may be an address, and ends a line after one of its joints."""
ADDED: Final = {"\\"}
"""What the layout adds to the words: the ends of a command's lines."""


def test_every_command_is_in_one_group() -> None:
    """Each module of a command is listed once; a forgotten one could not be called."""
    modules = {path.stem.rstrip("_").replace("_", "-") for path in Path(conformance.cli.__path__[0]).glob("[a-z]*.py")}

    assert set(COMMANDS) == modules
    assert sum(map(len, GROUPS.values())) == len(COMMANDS)


def test_no_command_shows_the_help() -> None:
    """Whoever types the name alone wants to know what there is."""
    alone = conformance_()

    assert (alone.exit_code, alone.output) == (0, conformance_("--help").output)


def test_the_help_shows_the_groups() -> None:
    """A heading, its commands below it; those that few users need are named in a line."""
    shown = conformance_("--help").output

    headings = re.findall(r"^(\S.*):$", shown, re.MULTILINE)
    assert headings[-len(GROUPS) + 1 :] == [*(one for one in GROUPS if one not in RARE), "For specialists"]
    commands = shown.partition(next(iter(GROUPS)))[2]
    listed = re.findall(r"^  ([a-z-]+)  +[A-Z]", commands, re.MULTILINE)
    rare = {name for heading in RARE for name in GROUPS[heading]}
    assert listed == [name for name in COMMANDS if name not in rare]
    assert rare <= set(re.findall(r"[a-z-]+", commands.partition("For specialists:")[2].partition(":")[0]))
    assert "\n  conformance --help-all  " in commands


def test_the_whole_help_shows_every_group() -> None:
    """With ``--help-all``."""
    shown = conformance_("--help-all").output

    assert re.findall(r"^(\S.*):$", shown, re.MULTILINE)[-len(GROUPS) :] == list(GROUPS)
    listed = re.findall(r"^  ([a-z-]+)  +[A-Z]", shown.partition(next(iter(GROUPS)))[2], re.MULTILINE)
    assert listed == list(COMMANDS)


def _commands(command: click.Command, name: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield name
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None
            yield from _commands(found, (*name, below))


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_every_help_fits_the_terminal_and_breaks_no_word(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compared with the words of the widest help."""
    for name in _commands(cli):
        monkeypatch.setenv("COLUMNS", "400")
        words = set(conformance_(*name, "--help").output.split())
        monkeypatch.setenv("COLUMNS", str(width))
        text = conformance_(*name, "--help").output

        assert [line for line in text.splitlines() if len(line) > width] == [], name
        broken = {word for word in text.split() if word not in words and not word.endswith("...")}
        parts = {word for word in broken if any(word in long for long in words if len(long) > LONG)}
        assert broken - parts <= ADDED, name


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_whole_help_fits_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the short one does."""
    monkeypatch.setenv("COLUMNS", str(width))

    assert [line for line in conformance_("--help-all").output.splitlines() if len(line) > width] == []


def test_a_name_with_two_meanings_is_under_the_heading_of_each() -> None:
    """Of a run, the seed is a number; of a target file, how tables get into the server."""
    for command, heading in (("run", "More cases"), ("init", "How tables get into the server")):
        section = conformance_(command, "--help").output.partition(f"\n{heading}:\n")[2].partition("\n\n")[0]
        assert "\n  --seed " in f"\n{section}"


def test_many_options_are_under_headings() -> None:
    """Each once; few options need none."""
    shown = conformance_("run", "--help").output

    assert "\nWhat is judged:\n  --target" in shown
    assert "\nOptions:" not in shown
    assert len(re.findall(r"^  --gate", shown, re.MULTILINE)) == 1
    assert "\nOptions:\n" in conformance_("list", "--help").output


@pytest.mark.parametrize("command", ["run", "read", "write", "clients"])
def test_each_option_of_a_judging_command_has_a_heading(command: str) -> None:
    """Under the last heading is the help alone, which is an option of every command."""
    others = conformance_(command, "--help").output.partition("\nOther options:\n")[2]

    assert re.findall(r"^  (-\S+)", others, re.MULTILINE) == ["-h,"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("rnu",), "no such command: 'rnu'; did you mean run?"),
        (("xyzzy",), "no such command: 'xyzzy'; see `cli --help`"),
        (("\x1b[2J",), "no such command: '\\x1b[2J'; see `cli --help`"),
        (("--verison",), "no such option: --verison; did you mean --version?"),
        (("--xyzzy", "run"), "no such option: --xyzzy; see `cli --help`"),
        (("run", "--selet", "x"), "no such option: --selet; did you mean --select or --seed?"),
        (("run", "--xyzzy"), "no such option: --xyzzy; see `cli run --help`"),
        (("run", "--select"), "Option '--select' requires an argument; see `cli run --help`"),
        (
            ("run", "--level", "mst"),
            "Invalid value for '--level': 'mst' is not one of 'must', 'should', 'may'; see `cli run --help`",
        ),
        (("replay",), "Missing argument 'CASE'; see `cli replay --help`"),
        (("run", "more"), "Got unexpected extra argument (more); see `cli run --help`"),
        (("list", "cases", "--select", "xyzzy"), "no case matches 'xyzzy'; see `cli list --help`"),
        (("check",), "expected a FILE, or --schema with a schema message; see `conformance check --help`"),
        (
            ("record", "--upstream", "me:secret@host:1"),
            (
                "Invalid value for '--upstream': expected HOST:PORT such as 127.0.0.1:9060 or [::1]:9060, "
                "got '***@host:1'; see `cli record --help`"
            ),
        ),
        (
            ("run", "--target", "grpc://host:1?token=secret"),
            "grpc://host:1?token=***: expected ?rest=http://HOST:PORT, once, and nothing else behind the address",
        ),
        (
            ("run", "--target", "reverence"),
            "no target is called 'reverence'; did you mean reference or flight-reference or storage-write-reference?",
        ),
    ],
    ids=lambda value: " ".join(value).encode("unicode_escape").decode() if isinstance(value, tuple) else "",
)
def test_a_usage_error_is_one_sentence(arguments: Sequence[str], sentence: str) -> None:
    """As docs/exit-codes.md says: status 2, one line on standard error, nothing else."""
    result = conformance_(*arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"Error: {sentence}\n"


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("targets", [*shipped_targets()]),
        ("profiles", [*profile_titles()]),
        ("readers", [*KNOWN, *IPC_READERS]),
        ("writers", [*IPC_WRITERS]),
    ],
)
def test_the_names_that_commands_take_are_listed(what: str, names: Sequence[str]) -> None:
    """One per line, in front; each reader and writer says which command takes it."""
    lines = conformance_("list", what).output.splitlines()

    assert [line.split()[0] for line in lines] == list(names)
    if what in ("readers", "writers"):
        assert {line.split()[1] for line in lines} <= {"run:", "read:", "write:"}
