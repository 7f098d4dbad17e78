"""Lines for a terminal: no wider than it is, and broken between words."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from rich.console import Console

from conformance.contract.clause import load_chapters
from conformance.engine.result import Result
from conformance.records import Outcome, Verdict
from conformance.report.card import MOST
from conformance.report.overview import print_concise, print_overview
from conformance.report.terminal import print_report, terminal
from conformance.report.terminallayout import UNBOUNDED, columns, commanded, cut, flowed, tabled
from tests.engine.samples import failing, passing
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
    """On a narrow terminal the command that repeats a case takes three lines, and the card still has seven."""
    name = "restriction.statement-in-a-literal-of-a-long-name"
    made = result_of(failing(name, "restriction.comparison", "UNIMPLEMENTED: " + "no filters " * 9), target="t" * 40)

    card = printed(print_overview, made, 60).partition("✗ 1 ")[2].partition("\n\n")[0].splitlines()

    assert len(card) <= MOST
    assert "conformance explain" in "\n".join(card)


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
