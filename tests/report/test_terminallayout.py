"""Lines for a terminal: no wider than it is, and broken between words."""

from __future__ import annotations

import dataclasses
import io
import re
import shlex
from collections.abc import Callable

import pytest
from rich.console import Console

from conformance.contract.clause import load_chapters
from conformance.engine.events import CaseJudged, Evidence, Line, RunEnded
from conformance.engine.result import Result, fold
from conformance.records import Finding, Outcome, Verdict
from conformance.report.card import MOST
from conformance.report.overview import print_concise, print_overview
from conformance.report.terminal import print_report, terminal
from conformance.report.terminallayout import UNBOUNDED, columns, commanded, cut, flowed, tabled
from tests.engine.samples import failing, judged, passing, started
from tests.report.samples import result_of
from tests.report.snapshots import _run

WIDTHS = (60, 80, 120, 200)
ADDED = {"\\"}
RUNS: dict[str, Callable[[], Result]] = {
    "passing": lambda: result_of(passing("a", "framing.x")),
    "failing": _run,
    "untestable": lambda: result_of(Verdict("a", "rows.x", Outcome.UNTESTABLE, reason="the tables cannot be seeded")),
}
PRINTERS = {"screen": print_overview, "concise": print_concise, "complete": print_report}


def printed(show: Callable[[Console, Result], None], result: Result, width: int) -> str:
    """What a terminal of this width shows."""
    screen = io.StringIO()
    show(terminal(file=screen, width=width), result)
    return screen.getvalue()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("show", PRINTERS)
def test_no_line_is_wider_than_the_terminal_and_no_word_is_broken(show: str, run: str, width: int) -> None:
    """Compared with the words of a terminal of 400 columns; a text may end after a word."""
    load_chapters()
    result = RUNS[run]()
    words = set(printed(PRINTERS[show], result, 400).split())

    text = printed(PRINTERS[show], result, width)

    assert [line for line in text.splitlines() if len(line) > width] == []
    broken = {word.removesuffix("…") for word in text.split()} - words - {word.rstrip(",;:") for word in words} - ADDED
    parts = {word for word in broken if any(word in long for long in words if len(long) > width - 24)}
    assert broken - parts <= {""}


@pytest.mark.parametrize("width", WIDTHS)
def test_a_cause_has_at_most_seven_lines(width: int) -> None:
    """However long its texts are."""
    text = printed(print_overview, _run(), width)

    card = re.split(r"\n\n|\n +2 ", text.partition("✗ 1 ")[2])[0].splitlines()

    assert 1 < len(card) <= MOST
    assert any("conformance explain " in line for line in card)


def test_a_long_command_leaves_no_room_for_notes() -> None:
    """On a narrow terminal the command that repeats a case takes three lines, and the card has one line more."""
    name = "restriction.statement-in-a-literal-of-a-long-name"
    made = result_of(failing(name, "restriction.comparison", "UNIMPLEMENTED: " + "no filters " * 9), target="t" * 40)

    card = printed(print_overview, made, 60).partition("✗ 1 ")[2].partition("\n\n")[0].splitlines()

    assert len(card) <= MOST + 1
    assert "conformance explain" in "\n".join(card)


def marked(width: int) -> list[str]:
    """The bytes at fault of a card."""
    finding = Finding("framing.x", "no end of stream " * 9, "8 bytes " * 20, call=0, start=0x110, end=0x118)
    lines = (
        Line(0x10C, "00 00 00 00", "padding", "4 bytes"),
        Line(0x110, "ff ff ff ff", "prefix", "continuation word = Arrow 0.15 and later", marked=True),
        Line(0x114, "00 00 00 00", "prefix", "metadata length = end of stream", marked=True),
    )
    case = CaseJudged(
        *("a", "Case a", "a"),
        (Verdict("a", "framing.x", Outcome.FAIL, (finding,)),),
        (Evidence(finding, "a message", lines),),
    )
    start = dataclasses.replace(started("framing.x", cases=["a"]), target_file="a-target-of-a-long-name.toml")
    text = printed(print_overview, fold([start, case, RunEnded(1.0)]), width)
    return [line for line in text.splitlines() if line.startswith("  > ")]


def test_bytes_at_fault_keep_their_meaning() -> None:
    """The column of bytes becomes narrow first, then the arrow goes, and only then are words left out."""
    first = "prefix: continuation word = Arrow 0.15 and later"
    second = "prefix: metadata length = end of stream"
    arrow = "  ← these 8 bytes"

    wide, narrow = f"ff ff ff ff{' ' * 16}", "ff ff ff ff  "
    assert marked(120) == [f"  > 0x0110  {wide}{first}{arrow}", f"  > 0x0114  {wide.replace('f', '0')}{second}"]
    assert marked(100) == [f"  > 0x0110  {narrow}{first}{arrow}", f"  > 0x0114  {narrow.replace('f', '0')}{second}"]
    assert marked(80) == [f"  > 0x0110  {narrow}{first}", f"  > 0x0114  {narrow.replace('f', '0')}{second}"]
    assert marked(60) == [
        f"  > 0x0110  {narrow}prefix: continuation word = Arrow…",
        f"  > 0x0114  {narrow.replace('f', '0')}prefix: metadata length = end of…",
    ]


def test_output_that_no_terminal_shows_has_no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fact is one line there; COLUMNS says otherwise, from 60 on."""
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("sys.stdout", io.StringIO())
    assert columns() == UNBOUNDED

    monkeypatch.setenv("COLUMNS", "30")
    assert columns() == 60


def test_a_command_stays_one_for_the_shell() -> None:
    """Each line but the last ends in a backslash."""
    assert commanded("conformance replay session.plain --target broken.toml", 40, head="  ") == [
        "  conformance replay session.plain \\",
        "    --target broken.toml",
    ]


@pytest.mark.parametrize("width", WIDTHS)
def test_a_command_that_is_copied_from_a_terminal_is_the_one_that_was_meant(width: int) -> None:
    """No line ends inside a word, quoted or not: a backslash in single quotes would be one of its characters."""
    words = (
        *("conformance", "replay", ".conformance/counterexamples/types.timestamp-utc-cd470f02.json", "--target"),
        *("grpc://localhost:9060?rest=http://localhost:9050", "--name", "it's a long name of two or more words"),
    )

    lines = commanded(shlex.join(words), width, head="  replay    ")

    assert shlex.split("\n".join(lines).replace("\\\n", ""))[1:] == list(words)
    assert all(len(line) <= width or len(line.removesuffix(" \\").split()) == 1 for line in lines)


def test_a_quote_that_nothing_closes_is_a_character() -> None:
    """Such as in an example that is no command."""
    assert commanded("it's one that is too long", 20) == ["it's one that is \\", "  too long"]


@pytest.mark.parametrize("width", WIDTHS)
def test_every_command_on_a_screen_is_whole(width: int) -> None:
    """On one line, or on several that a shell takes for one."""
    target = "grpc://localhost:9060?rest=http://localhost:9050"
    start = dataclasses.replace(started(*(f"rows.x{n}" for n in range(12)), cases=["one.case"]), target_file=target)
    verdicts = [failing("one.case", f"rows.x{n}", f"wrong {n}") for n in range(12)]
    result = fold([start, judged("one.case", *verdicts), RunEnded(1.0)])
    screen = io.StringIO()
    print_overview(terminal(file=screen, width=width), result, run="logs/a run.jsonl")

    text = screen.getvalue().replace(" \\\n", "")

    for command in (
        "conformance explain 'logs/a run.jsonl' 1",
        "conformance explain 'logs/a run.jsonl' 2",
        "conformance report 'logs/a run.jsonl' --format concise",
        f"conformance replay one.case --target '{target}'",
    ):
        assert any(command in re.sub(r" {2,}", " ", line) for line in text.splitlines()), command


def test_a_head_that_leaves_no_room_flows_as_its_text_does() -> None:
    """A foreign name may have any length."""
    lines = flowed("text", 60, head="  " + "x" * 200 + " ")

    assert [line for line in lines if len(line) > 60] == []
    assert "".join("".join(lines).split()) == "x" * 200 + "text"


def test_a_word_that_is_longer_than_a_line_is_broken_at_its_joints() -> None:
    """Such as an address."""
    assert flowed("see https://example.org/a-long-path/to.html", 24) == [
        "see https://example.org/",
        "a-long-path/to.html",
    ]


def test_a_line_of_foreign_text_is_no_command_for_a_build_service() -> None:
    """Wherever the text is broken."""
    assert flowed("foreign words ::error::x", 14) == ["foreign words", "\\x3a:error::x"]


def test_a_cut_text_ends_after_a_word() -> None:
    """Or, if it has only one, in it."""
    assert cut("one two three", 12) == "one two…"
    assert cut("abcdef", 4) == "abc…"


def test_a_cut_text_has_a_character_where_there_is_no_room() -> None:
    """A long name in front of it may take more than all."""
    assert [cut("abcdef", width) for width in (1, 0, -90)] == ["…"] * 3


def test_texts_go_below_their_names_where_these_leave_no_room() -> None:
    """Otherwise they are behind them."""
    assert list(tabled([("a", "one"), ("bb", "two")], 60)) == ["a   one", "bb  two"]
    assert list(tabled([("a" * 50, "one two three")], 60)) == ["a" * 50, "    one two three"]
