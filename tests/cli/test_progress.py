"""Progress on standard error: lines without a terminal, nothing with ``--quiet``, no control character anywhere."""

from __future__ import annotations

import threading
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from conformance.cli import _progress
from conformance.cli._group import cli
from conformance.cli._progress import Progress, progress, quiet_option, repeated, watch
from conformance.engine.events import RunEnded
from conformance.engine.log import LogWriter
from conformance.engine.parallel import judged_in
from tests import patience
from tests.engine.samples import failing, judged, passing, started

LONG = (
    *("run", "replay", "extract", "prepare", "read", "write", "drift", "campaign", "judge", "compare", "prove"),
    "golden",
)
"""The commands that may take more than ten seconds. `check` and `dissect` print a line for each file instead."""


class Clock:
    """Seconds that pass only when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """The time."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


def test_a_line_has_the_time_the_work_and_the_count(clock: Clock) -> None:
    """The rate is that of the cases after the first; starting a target takes a time of its own."""
    shown = Progress("starting", clock=clock)
    clock.now += 20
    assert shown.line() == "20 s, starting"

    shown.update("types.int64", done=1, total=30)
    clock.now += 10
    shown.update("types.bool", done=21, facts="2 failing")

    assert shown.line() == "30 s, types.bool, 21 of 30 (70 %), 2.0/s, about 4 s left, 2 failing"


def test_what_an_earlier_command_did_is_no_speed(clock: Clock) -> None:
    """A campaign that goes on begins with the cases that are committed already."""
    shown = Progress("judging", 1000, clock=clock)
    shown.update(done=500)
    clock.now += 10

    assert shown.line() == "10 s, judging, 500 of 1000 (50 %)"


def test_a_line_is_printable(clock: Clock) -> None:
    """A name from a file may hold anything."""
    assert Progress("a\x1b[2J\nb", clock=clock).line() == "0 s, a\\x1b[2J\\nb"


def test_things_done_may_be_measured(clock: Clock) -> None:
    """Where other processes do the work."""
    assert Progress("cases", measure=lambda: 7, clock=clock).line() == "0 s, cases, 7"


def test_it_is_shown_until_the_work_ends() -> None:
    """Once for each wait that passes; the waiting itself is the clock's."""
    turns = iter([False, False, True])
    asked: list[float] = []
    shown: list[str] = []
    ended = threading.Event()

    def wait(_: threading.Event, seconds: float) -> bool:
        asked.append(seconds)
        over = next(turns)
        if over:
            ended.set()
        return over

    with repeated(lambda: shown.append("x"), 10.0, wait=wait):
        assert ended.wait(patience.LONG)

    assert (shown, asked) == (["x", "x"], [10.0, 10.0, 10.0])


def test_a_closed_standard_error_ends_only_the_lines() -> None:
    """The command goes on."""
    tried: list[int] = []

    def show() -> None:
        tried.append(1)
        raise BrokenPipeError

    def once(_event: threading.Event, _seconds: float) -> bool:
        return False

    with repeated(show, 10.0, wait=once):
        pass

    assert tried == [1]


def test_the_cases_of_a_run_are_counted(clock: Clock) -> None:
    """With those verdicts that fail it; the events pass unchanged."""
    events = [
        started("a.x", cases=["a", "b"]),
        judged("a", passing("a", "a.x")),
        judged("b", failing("b", "a.x", "1", "2")),
        RunEnded(1.0),
    ]
    shown = Progress("starting", clock=clock)

    assert list(watch(events, shown, total=2)) == events
    assert shown.line() == "0 s, b, 2 of 2 (100 %), 1 failing"


def test_the_cases_of_shards_are_counted_in_their_logs(tmp_path: Path) -> None:
    """As soon as they are there."""
    assert judged_in(tmp_path) == 0
    for shard, cases in ((1, 2), (2, 1)):
        with LogWriter(tmp_path / f"part-{shard}-of-2.jsonl") as log:
            log.write(started("a.x"))
            for case in range(cases):
                log.write(judged(str(case)))

    assert judged_in(tmp_path) == 3


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines as soon as anything is shown, from the command's own thread."""

    def shown(show: object, _seconds: float) -> object:
        assert callable(show)
        show()
        return _progress.ExitStack()

    monkeypatch.setattr(_progress, "repeated", shown)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(("arguments", "lines"), [([], "0 s, working\n"), (["--quiet"], "")])
def test_quiet_shows_nothing(arguments: list[str], lines: str) -> None:
    """Without a terminal there are lines, unless the user wants none."""

    @click.command()
    @quiet_option
    def command() -> None:
        with progress("working"):
            pass

    result = CliRunner().invoke(command, arguments)

    assert (result.exit_code, result.stderr, result.stdout) == (0, lines, "")


@pytest.mark.parametrize("name", LONG)
def test_every_long_command_can_be_quiet(name: str) -> None:
    """So it has progress."""
    command = cli.get_command(click.Context(cli), name)
    assert command is not None

    assert "--quiet" in {option for parameter in command.params for option in parameter.opts}


def test_a_run_shows_its_progress(user: Path, at_once: None) -> None:
    """From the start of its target on."""
    result = CliRunner().invoke(cli, ["run", "--target", "honest.toml", "--corpus", "corpus", "--no-readers"])

    assert result.exit_code == 0
    assert result.stderr.startswith("0 s, starting honest\n")
