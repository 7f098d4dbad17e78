"""The measuring finds what it is there to find: a command that misses a bar is not called good."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.attack import Attack, Expected, Part
from tests.hostile.measure import Measured, measure
from tests.hostile.setups import Command, groups
from tests.hostile.written import read_written


def met(script: str, *, status: int = 0, says: str = "") -> Measured:
    """The measurement of a shell script in the place of the suite."""

    def act(place: Path, cookie: str) -> Command:
        return Command([], program=["/bin/sh", "-c", script])

    (one,) = measure([Attack("test.shell", "", Part.COMMAND, act, Expected(status=(status,), says=says))])
    return one


def test_a_command_that_does_nothing_wrong_is_good() -> None:
    """Status, words and nothing left behind."""
    one = met("echo well; exit 1", status=1, says="well")

    assert (one.faults, one.outcome) == ((), "status 1")


@pytest.mark.parametrize(
    "left",
    [
        "sleep 60 &",
        "setsid sleep 60 &",
        "env -i setsid sleep 60 &",
        'cd /; env -i setsid sleep 60 & touch "$HOSTILE_PLACE/pids/$!"',
    ],
    ids=["in the group", "in a session of its own", "known by its directory", "known by the id that it noted"],
)
def test_a_process_that_is_left_behind_is_found(left: str) -> None:
    """By the variable that it inherits, by its directory, by what the attack noted."""
    one = met(left)

    assert len(one.orphans) == 1
    assert one.wrong[0].startswith("1 left behind: ")


@pytest.mark.parametrize(
    ("printed", "fault"),
    [
        (r"Traceback (most recent call last):\n  File x", "a traceback on standard error"),
        (r"an escape \033[2J", "a control character '\\x1b' on standard error"),
        (r"  ::error::x", "a build's command on standard error"),
        (r"and ##vso[task.complete]", "a build's command on standard error"),
    ],
)
def test_what_may_not_be_printed_is_found(printed: str, fault: str) -> None:
    """Tracebacks, control characters, commands to builds."""
    one = met(f"printf '{printed}' >&2")

    assert [text.partition(":")[0] for text in one.invalid] == [fault]


def test_a_wrong_status_is_found() -> None:
    """With the last words of the command."""
    one = met("echo because; exit 3")

    assert one.wrong == ("expected exit status (0,), got 3: because",)
    assert one.invalid == ("exit status 3 is not documented",)


def test_missing_words_are_found() -> None:
    """Searched in both outputs."""
    one = met("echo something else", says="the reason")

    assert one.wrong == ("expected words like /the reason/, got 'something else\\n'",)


@pytest.mark.parametrize(
    ("kind", "text", "fault"),
    [
        ("junit", "<testsuite>", "report.junit: no element found"),
        ("json", "{}", "report.json: 'schema_version' is a required"),
        ("json", "{", "report.json: Expecting property name"),
        ("html", "<html><p>", "report.html: the document does not end"),
        ("html", "<html><img src=x></html>", "report.html: expected no script or element from outside, got <img>"),
    ],
)
def test_a_report_that_is_not_valid_is_found(tmp_path: Path, kind: str, text: str, fault: str) -> None:
    """Each format is read as its users read it."""
    path = tmp_path / f"report.{kind}"
    path.write_text(text, encoding="utf-8")

    written = read_written(Command([], reports={kind: path}), tmp_path, 0)

    assert [one[: len(fault)] for one in written.faults] == [fault]


def test_a_log_line_that_is_no_event_is_found(tmp_path: Path) -> None:
    """By its number."""
    log = tmp_path / "log.jsonl"
    log.write_text('{"event": "run-ended", "seconds": 1.0}\n{"event": "unheard-of"}\nno JSON\n', encoding="utf-8")

    written = read_written(Command([], log=log), tmp_path, 0)

    assert [one.partition(":")[0] for one in written.faults] == ["log.jsonl, line 2", "log.jsonl, line 3"]


def test_attacks_share_a_command_by_part_and_settings() -> None:
    """One that changes the target file has a command of its own."""
    expected = Expected(("hang",))
    plain, other = (Attack(f"test.{name}", "", Part.ROWS, print, expected) for name in ("a", "b"))
    tuned = Attack("test.c", "", Part.ROWS, print, expected, settings={"limits": {"message": 1}})
    alone = Attack("test.d", "", Part.LIFE, print, expected)

    assert groups([plain, tuned, other, alone]) == [[plain, other], [tuned], [alone]]
