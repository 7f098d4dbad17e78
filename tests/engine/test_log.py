"""The log of a run survives a crash of the suite, and refuses what is no log."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from conformance.disk import pipes
from conformance.disk.files import DiskError
from conformance.disk.locks import InUseError
from conformance.engine import log as log_module
from conformance.engine.events import (
    CaseJudged,
    CounterexampleSaved,
    Event,
    Evidence,
    ExchangeRecorded,
    Line,
    RunEnded,
    RunStarted,
    SuiteBroke,
)
from conformance.engine.log import LogChangedError, LogError, LogWriter, log_schema, read_log
from conformance.engine.selection import LeftOut
from conformance.records import Asker, AskerKind, Call, Case, Exchange, Finding, Table
from conformance.targets import ExpectedFailure
from tests.engine.samples import failing, judged, passing, started

FINDING = Finding("framing.x", "one message", "3 messages", call=0, response=0, start=4, end=8)
EVENTS: list[Event] = [
    started("framing.x", cases=["a"], expectations=[ExpectedFailure("framing.x", "fail: *")]),
    dataclasses.replace(judged("a", failing("a", "framing.x", "3 messages"), passing("a", "rows.once")), at=1.5),
    SuiteBroke("b", "Traceback …"),
    CounterexampleSaved("c", "framing.x", "fail: …", "c.json", 12),
    RunEnded(2.5),
]


def written(path: Path, events: list[Event]) -> Path:
    """The log of ``events`` at ``path``."""
    with LogWriter(path) as log:
        for event in events:
            log.write(event)
    return path


def test_events_read_back_as_they_were_written(tmp_path: Path) -> None:
    """The log is the run: nothing is lost on the way."""
    path = written(tmp_path / "below" / "run.jsonl", EVENTS)

    assert list(read_log(path)) == EVENTS


def test_an_event_is_on_disk_before_the_next_one_happens(tmp_path: Path) -> None:
    """A crash of the suite loses no verdict that was reached."""
    path = tmp_path / "run.jsonl"
    with LogWriter(path) as log:
        log.write(EVENTS[0])

        assert list(read_log(path)) == EVENTS[:1]


def test_a_line_cut_short_by_a_crash_is_dropped(tmp_path: Path) -> None:
    """Everything before it stays readable."""
    path = written(tmp_path / "run.jsonl", EVENTS)
    path.write_bytes(path.read_bytes()[:-10])

    assert list(read_log(path)) == EVENTS[:-1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<html>\n", "line 1: expected a JSON object whose 'event' is one of run-started, case-judged"),
        ("[1]\n", "line 1: expected a JSON object whose 'event' is one of"),
        (
            '{"event":"run-ended","seconds":1.5}\n',
            "expected a log that begins with 'run-started', got 'run-ended' first",
        ),
        ('{"event":"run-ended"}\n', "seconds: expected a value but got None"),
        ("\0\xff\x1b[2J\n", "line 1: expected a JSON object whose 'event' is one of"),
        ('{"event":"run-ended","seconds":' + "[" * 100_000 + "\n", "expected JSON of at most 256 levels but got more"),
        ('{"event":"run-ended","seconds":' + "[" * 200 + "]" * 200 + "}\n", "seconds: expected float but got "),
        ('{"event":"run-paused","suite":"99.0"}\n', "; the log was written by version 99.0 of the suite, and this is "),
        (
            '{"event":"run-started","suite":"99.0","format":3,"colour":1}\n',
            "line 1: expected a log of format 2 or an earlier one, got 3; the log was written by version 99.0 of the",
        ),
        (
            '{"event":"run-started","suite":"99.0","colour":1}\n',
            "; the log was written by version 99.0 of the suite, and this is ",
        ),
    ],
)
def test_what_is_no_log_is_refused_in_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    """The place and the expectation are named."""
    path = tmp_path / "run.jsonl"
    path.write_text(text)

    with pytest.raises(LogError) as error:
        list(read_log(path))

    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [b"", b'{"ev', b'{"event": "run-st'])
def test_a_log_without_an_event_is_refused(tmp_path: Path, content: bytes) -> None:
    """A run whose target does not start leaves an empty file, of which there is nothing to report."""
    path = tmp_path / "run.jsonl"
    path.write_bytes(content)

    with pytest.raises(LogError, match="contains no event: the run was cut short before it began"):
        list(read_log(path))


@pytest.mark.parametrize("content", [bytes(1000), b"[" * 1000, b"a text without an end of line"])
def test_a_file_without_lines_that_is_no_log_is_refused(tmp_path: Path, content: bytes) -> None:
    """Nothing was cut short: it never was one."""
    path = tmp_path / "run.jsonl"
    path.write_bytes(content)

    with pytest.raises(LogError, match="expected a log, whose first line is an event in JSON, got"):
        list(read_log(path))


def test_a_pipe_through_which_nothing_comes_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log of the run before may be one, if somebody put it there."""
    monkeypatch.setattr(pipes, "FIRST_SECONDS", 0)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(OSError, match="nothing came through the pipe"):
        list(read_log(pipe))


def test_two_narrow_runs_do_not_cost_the_log_of_a_whole_one(tmp_path: Path) -> None:
    """One earlier log is kept: the one that judged more cases, and of two with as many the later one."""
    path, aside = tmp_path / "run.jsonl", tmp_path / "run.jsonl.before"

    def run(*cases: str, seed: int) -> tuple[Path | None, bool]:
        start = dataclasses.replace(started("framing.x", cases=[*cases]), seed=seed)
        with LogWriter(path, keep=True) as log:
            for event in (start, *(judged(case, passing(case, "framing.x")) for case in cases), RunEnded(1.0)):
                log.write(event)
        return log.before, log.earlier

    def kept() -> int:
        first = next(iter(read_log(aside)))
        assert isinstance(first, RunStarted)
        return first.seed

    assert run("a", "b", "c", seed=1) == (None, False)
    assert (run("a", seed=2), kept()) == ((aside, False), 1)
    assert (run("b", seed=3), kept()) == ((aside, True), 1)
    assert (run("c", "b", "a", seed=4), kept()) == ((aside, True), 1)
    assert (run("a", seed=5), kept()) == ((aside, False), 4)


def test_what_is_no_log_is_set_aside(tmp_path: Path) -> None:
    """It may be a file of the user's, at a path that was mistyped."""
    path = written(tmp_path / "run.jsonl.before", EVENTS).with_suffix("")
    path.write_text("my notes\n")

    with LogWriter(path, keep=True) as log:
        log.write(EVENTS[0])

    assert path.with_name("run.jsonl.before").read_text() == "my notes\n"


def test_a_log_in_a_log_is_refused(tmp_path: Path) -> None:
    """Two runs that were written into one file are not one run."""
    path = written(tmp_path / "run.jsonl", [*EVENTS, *EVENTS])

    with pytest.raises(LogError, match="line 6: expected only one 'run-started', got 'run-started' again"):
        list(read_log(path))


@pytest.mark.parametrize(
    "edited",
    [
        lambda lines: [*lines[:2], *lines[3:]],
        lambda lines: [*lines[:2], lines[1], *lines[2:]],
        lambda lines: [lines[0], lines[2], lines[1], *lines[3:]],
        lambda lines: [*lines[:1], lines[1].replace(b"3 messages", b"4 messages"), *lines[2:]],
        lambda lines: [lines[0].replace(b'"seed":7', b'"seed":8'), *lines[1:]],
        lambda lines: [lines[0], lines[1].rstrip() + b" \n", *lines[2:]],
    ],
    ids=["removed", "repeated", "moved", "edited", "edited first", "with a space more"],
)
def test_a_change_in_a_complete_log_is_noticed(tmp_path: Path, edited: Callable[[list[bytes]], list[bytes]]) -> None:
    """The last line holds the digest of the others."""
    path = written(tmp_path / "run.jsonl", EVENTS)
    path.write_bytes(b"".join(edited(path.read_bytes().splitlines(keepends=True))))

    with pytest.raises(LogChangedError, match="the lines before it are not those that the run wrote"):
        list(read_log(path))


def test_a_line_after_the_end_is_noticed(tmp_path: Path) -> None:
    """The digest says nothing of it."""
    path = written(tmp_path / "run.jsonl", [*EVENTS, EVENTS[1]])

    with pytest.raises(LogChangedError, match="line 6: expected no line after 'run-ended', got 'case-judged'"):
        list(read_log(path))


def test_a_log_of_an_older_suite_has_no_digest(tmp_path: Path) -> None:
    """It is read all the same."""
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(log_module.event_to_json(event)) + "\n" for event in EVENTS))

    assert list(read_log(path)) == EVENTS


@pytest.mark.parametrize("generated", [-1, 10**18])
def test_no_run_draws_so_many_cases(tmp_path: Path, generated: int) -> None:
    """A report would name each of them."""
    path = written(tmp_path / "run.jsonl", [dataclasses.replace(started("a"), generated=generated)])

    with pytest.raises(LogError, match=f"expected 0 to 10000000 generated cases, got {generated}"):
        list(read_log(path))


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("run-started", "deadline_multiplier"),
        ("case-judged", "seconds"),
        ("case-judged", "at"),
        ("run-ended", "seconds"),
    ],
)
@pytest.mark.parametrize("value", [-1e308, -0.001, 1e308, "Infinity", "-Infinity", "NaN"])
def test_a_time_is_a_number_of_seconds(tmp_path: Path, kind: str, name: str, value: float | str) -> None:
    """Reports add and print it: the sum of two such times would be no time."""
    path = tmp_path / "run.jsonl"
    lines = [log_module.event_to_json(event) for event in EVENTS]
    next(line for line in lines if line[log_module.TAG_KEY] == kind)[name] = value
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    with pytest.raises(LogError, match=rf"line \d+: {name}: expected seconds from 0 to 1e\+11 but got"):
        list(read_log(path))


@pytest.mark.parametrize(
    "now", [-1, 10**30, 10**400, 10**17], ids=["before", "late", "no float", "too late with its call"]
)
def test_an_exchange_of_a_client_is_at_an_instant(tmp_path: Path, now: int) -> None:
    """Its calls are put in order by its time and theirs: the sentence names the line and the time that is none."""
    call = Call(0, "", "ReadRows", b"", started=1.0)
    recorded = ExchangeRecorded(
        Case("call.000001", "", Table((), ()), steps=()),
        Exchange("call.000001", "mine", (call,), asked_by=Asker(AskerKind.PROXY, "grpc")),
    )
    lines = [log_module.event_to_json(event) for event in (EVENTS[0], recorded)]
    lines[1]["exchange"]["now"] = now
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    with pytest.raises(LogError, match=r"line 2: exchange\.now: expected 0 to 1e\+17 microseconds.*, got -?\d"):
        list(read_log(path))


def test_an_exchange_of_the_driver_is_at_a_time_that_fits_a_float(tmp_path: Path) -> None:
    """Clauses compute with it; a clock before 1970 is a clock."""
    case = Case("mine", "", Table((), ()), steps=())
    for now, refused in ((-1, False), (10**400, True), (-(10**400), True)):
        path = tmp_path / "run.jsonl"
        events = (EVENTS[0], ExchangeRecorded(case, Exchange("mine", "mine", now=now)))
        path.write_text("".join(json.dumps(log_module.event_to_json(event)) + "\n" for event in events))

        with pytest.raises(LogError, match=r"line 2: exchange\.now") if refused else contextlib.nullcontext():
            list(read_log(path))


def test_a_line_is_read_up_to_a_bound(tmp_path: Path) -> None:
    """A line of a gibibyte is not taken into memory to find that it is none."""
    path = tmp_path / "run.jsonl"
    with path.open("wb") as file:
        file.truncate(1 << 30)

    with pytest.raises(LogError, match="line 1: expected an event of at most 64 MiB, got more"):
        list(read_log(path))


def test_a_line_is_written_up_to_that_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be read back is not written; the longest line that can be read is."""
    longest = len(written(tmp_path / "one.jsonl", EVENTS[:1]).read_bytes())
    monkeypatch.setattr(log_module, "LONGEST", longest)
    assert list(read_log(written(tmp_path / "one.jsonl", EVENTS[:1]))) == EVENTS[:1]

    monkeypatch.setattr(log_module, "LONGEST", 1 << 20)
    with pytest.raises(LogError, match=r"run\.jsonl: expected events of at most 1 MiB, got 3 MiB"):
        written(
            tmp_path / "run.jsonl", [EVENTS[0], CounterexampleSaved("c", "framing.x", "x" * (3 << 20), "c.json", 12)]
        )
    assert list(read_log(tmp_path / "run.jsonl")) == EVENTS[:1]


@pytest.mark.parametrize("fits", range(4))
def test_a_full_disk_ends_the_log_and_not_the_run(fits: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was judged until then can be reported; without even the first event there is nothing to report."""
    write, full = LogWriter.write, DiskError("no space")

    def narrow(log: LogWriter, event: Event) -> None:
        if log._written >= fits:
            raise full
        write(log, event)

    monkeypatch.setattr(LogWriter, "write", narrow)
    with LogWriter(tmp_path / "run.jsonl") as log:
        if not fits:
            with pytest.raises(DiskError) as raised:
                next(log.copy(EVENTS))
            assert raised.value is full
            return
        assert list(log.copy(EVENTS)) == EVENTS[: fits + 1]
        assert log.failure is full

    assert list(read_log(tmp_path / "run.jsonl")) == EVENTS[:fits]


def test_a_second_writer_is_refused_before_it_truncates(tmp_path: Path) -> None:
    """Two runs never write into one log."""
    path = tmp_path / "run.jsonl"
    with LogWriter(path) as log:
        log.write(EVENTS[0])

        with pytest.raises(InUseError, match="is in use by process"), LogWriter(path):
            pytest.fail("opened twice")
        assert list(read_log(path)) == EVENTS[:1]


def test_a_log_is_replaced_by_its_first_event(tmp_path: Path) -> None:
    """A run that ends before it begins leaves the one of before."""
    path = written(tmp_path / "run.jsonl", EVENTS)
    with LogWriter(path) as log:
        before = list(read_log(path))
        log.write(EVENTS[0])
        after = list(read_log(path))

    assert (before, after) == (EVENTS, EVENTS[:1])


def test_a_lone_surrogate_has_a_form_in_the_log(tmp_path: Path) -> None:
    """The escape that JSON has for it; it ended a run before."""
    path = written(tmp_path / "run.jsonl", [EVENTS[0], SuiteBroke("b\ud800", "")])

    assert [event.TAG for event in read_log(path)] == ["run-started", "suite-broke"]


def test_every_line_obeys_the_published_schema(tmp_path: Path) -> None:
    """Another program can read the log by its schema alone."""
    event = judged("a", failing("a", "framing.x", "3 messages"))
    line = Line(0, "ff ff ff ff", "continuation", "marks a message", marked=True)
    fields = {name: getattr(event, name) for name in event.__slots__} | {
        "evidence": (Evidence(FINDING, "batch", (line,)),)
    }
    path = written(tmp_path / "run.jsonl", [*EVENTS, type(event)(**fields)])
    validator = jsonschema.Draft202012Validator(log_schema())

    errors = [
        error.message for text in path.read_text().splitlines() for error in validator.iter_errors(json.loads(text))
    ]

    assert errors == []


def test_the_schema_refuses_unknown_keys_and_events() -> None:
    """A schema that accepts anything documents nothing."""
    validator = jsonschema.Draft202012Validator(log_schema())

    assert not validator.is_valid({"event": "run-ended", "seconds": 1.0, "extra": 1})
    assert not validator.is_valid({"event": "run-paused", "seconds": 1.0})


def test_what_was_left_out_is_in_the_log(tmp_path: Path) -> None:
    """A report made later can still say what was not run."""
    start = started("framing.x")
    left_out = (LeftOut("case", "b", "no --select pattern matches it"),)
    fields = {name: getattr(start, name) for name in start.__slots__} | {"left_out": left_out}

    (event,) = read_log(written(tmp_path / "run.jsonl", [RunStarted(**fields)]))

    assert isinstance(event, RunStarted)
    assert event.left_out == left_out


def test_a_judged_case_gets_the_time_of_its_event(tmp_path: Path) -> None:
    """In the log and in the events that go on; one that a shard noted stays."""
    times = iter([100.0, 103.5])
    early = dataclasses.replace(judged("b"), at=2.0)

    with LogWriter(tmp_path / "log.jsonl", clock=lambda: next(times)) as log:
        copied = list(log.copy([started("a.x"), judged("a"), early]))

    assert [event.at for event in copied if isinstance(event, CaseJudged)] == [3.5, 2.0]
    assert list(read_log(log.path)) == copied


def test_a_log_that_another_program_removed_is_no_log_of_the_run(tmp_path: Path) -> None:
    """The run says so at its end: it prints the path."""
    path = tmp_path / "run.jsonl"
    with LogWriter(path) as log:
        for event in log.copy(EVENTS):
            if event == EVENTS[0]:
                path.unlink()

        assert "removed or replaced" in str(log.failure)
