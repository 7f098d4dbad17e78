"""The first screen after a run."""

from __future__ import annotations

import dataclasses
import io
import math

import pytest

from conformance.contract.clause import CLAUSES, Role, load_chapters
from conformance.contract.wholecase import WHOLE_CASE
from conformance.disk.files import data_file
from conformance.engine.events import RunEnded
from conformance.engine.result import Result, fold
from conformance.records import Finding, Outcome, Verdict
from conformance.report.document import document
from conformance.report.overview import print_concise, print_overview
from conformance.report.terminal import terminal
from conformance.targets import ExpectedFailure
from tests.engine.samples import failing, judged, passing, started
from tests.report.samples import result_of

COLUMNS, LINES = 80, 40


def printed(result: Result, run: str | None = "LOG", *, width: int = COLUMNS) -> str:
    """The first screen as plain text."""
    buffer = io.StringIO()
    print_overview(terminal(file=buffer, width=width), result, run=run)
    return buffer.getvalue()


def lines_on_screen(text: str) -> int:
    """The lines that a terminal needs, which wraps long ones."""
    return sum(max(1, math.ceil(len(line) / COLUMNS)) for line in text.splitlines())


def many_causes(count: int) -> Result:
    """A run with long texts and names, and something in every other list."""
    finding = Finding("", "one message " * 20, "3 messages " * 30, call=0)
    clauses = [f"restriction.a-clause-with-a-very-long-name-{number}" for number in range(count - 1)]
    clauses.append("body.padding-zero")
    verdicts = [Verdict("a", one, Outcome.FAIL, (dataclasses.replace(finding, clause=one),)) for one in clauses]
    entries = [ExpectedFailure(f"gone.{number}", "*") for number in range(9)]
    start = dataclasses.replace(started(*clauses, cases=["a"], expectations=entries), target="a server " * 9)
    case = dataclasses.replace(judged("a", *verdicts), blocked=tuple(f"types.x{number}" for number in range(100)))
    return fold([start, case, RunEnded(1234.5, ("a remark " * 20,) * 9)])


def test_ten_causes_fit_a_terminal() -> None:
    """Whatever their texts, and whatever else there is to say."""
    assert lines_on_screen(printed(many_causes(10))) <= LINES


@pytest.mark.parametrize("shows_links", [True, False])
def test_a_clause_leads_to_its_source(*, shows_links: bool) -> None:
    """In a terminal, as a link that those without OSC 8 do not show; a file or a pipe has plain text."""
    buffer = io.StringIO()
    options = {"force_terminal": True, "color_system": "standard", "legacy_windows": False} if shows_links else {}
    console = terminal(file=buffer, width=COLUMNS, **options)
    load_chapters()

    print_overview(console, many_causes(1))

    source = CLAUSES["body.padding-zero"].source
    assert (f";{source}\x1b\\" in buffer.getvalue()) == shows_links
    assert ("\x1b" in buffer.getvalue()) == shows_links


class Unread(io.StringIO):
    """A pipe whose reader has gone."""

    def write(self, text: str) -> int:
        """Fail as the system does."""
        raise BrokenPipeError(f"{len(text)} characters that nobody reads")


def test_a_reader_that_went_away_ends_the_printing_alone() -> None:
    """By itself, the library that prints would end the process with status 1, which says that there are findings."""
    with pytest.raises(BrokenPipeError):
        print_overview(terminal(file=Unread(), width=COLUMNS), many_causes(1))


def test_more_than_ten_are_counted_and_fit_as_well() -> None:
    """The rest is in the complete report."""
    text = printed(many_causes(57), "")

    assert "FIX FIRST, the first 10 of 57\n" in text
    assert "\n10 MUST   restriction.a-clause-with-" in text
    assert "a line each: conformance report --format concise" in " ".join(text.split())
    assert lines_on_screen(text) <= LINES


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_commands_for_more_than_ten_fit_the_terminal(width: int) -> None:
    """However narrow it is."""
    text = printed(many_causes(57), "logs/of-a-server.jsonl", width=width)

    assert [line for line in text.splitlines() if len(line) > width] == []


def test_a_cause_has_its_key_its_reach_its_case_and_its_title() -> None:
    """Two lines."""
    clauses = ("framing.x", "rows.x", "types.x", "body.x")
    text = printed(result_of(*(failing("a", one, f"{one} is wrong") for one in clauses)))

    first, title = text.partition("\n 2 MUST")[2].splitlines()[:2]

    assert first.split()[1:] == ["1", "case"]
    assert first.split()[0].startswith("rows.x~")
    assert title == "   in a: rows.x is wrong; required: one message"


def test_a_single_cause_is_shown_in_full() -> None:
    """There is room for it."""
    text = printed(result_of(failing("a", "framing.x", "3 messages")))

    assert "✗ 1 framing.x  MUST  a, call 0\n  got       3 messages      want  one message\n" in text
    assert "  more      conformance explain LOG 1 · conformance replay a --target fake.toml\n" in text


def test_it_says_how_to_see_more() -> None:
    """With the log of this run, ready to be copied."""
    text = printed(result_of(failing("a", "framing.x", "3 messages")), "my logs/a.jsonl")

    assert "more      conformance explain 'my logs/a.jsonl' 1\n" in text


def test_a_cause_of_the_last_run_needs_no_path() -> None:
    """Its number is enough."""
    assert "more      conformance explain 1 " in printed(result_of(failing("a", "framing.x", "3 messages")), "")


def test_a_run_without_a_log_explains_the_clause() -> None:
    """A replay keeps no log: its causes have no number that another command knows."""
    clauses = ("framing.x", "rows.x", "types.x", "body.x")
    text = printed(result_of(*(failing("a", one, f"{one} is wrong") for one in clauses)), None)

    assert f"  more      conformance explain {text.partition('✗ 1 ')[2].split()[0]}\n" in text
    assert "\n--all shows everything\n" in text


def test_a_codec_that_is_ignored_may_be_declared() -> None:
    """A server that does not offer codecs may ignore a request for one: the card says what to write."""
    text = printed(result_of(failing("a", "compression.payload-size-is-set", "no size")))

    assert '  or        declare it: not_offered = ["response-compression"] in the' in text


def test_a_feature_that_is_not_implemented_may_be_declared() -> None:
    """A server need not offer filters: the card says what to write. Another status, or a clause of core, is a fault."""
    told = '  or        declare it: not_offered = ["filters"] in the target file\n'
    absent, broken = "UNIMPLEMENTED: no filters", "INTERNAL: no filters"

    assert told in printed(result_of(failing("a", "restriction.comparison", absent)))
    assert told not in printed(result_of(failing("a", "restriction.comparison", broken)))
    assert "not_offered" not in printed(result_of(failing("a", "session.plain-request-is-served", absent)))


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("field", ["", "name"])
def test_two_texts_that_are_cut_are_not_shown_as_equal(field: str, width: int) -> None:
    """Where both would end before they differ, each has its length and what differs."""
    same = "x" * 150
    finding = Finding("values.string", f"'{same}one {same}'", f"'{same}two {same}'", call=0, field=field)
    verdict = Verdict("a", "values.string", Outcome.FAIL, (finding,))
    result = fold([started("values.string", cases=["a"]), judged("a", verdict), RunEnded(1.0)])

    text = printed(result, width=width)

    assert "characters, from 151 on: two xxx" in text
    assert "characters, from 151 on: one xxx" in text


def test_the_path_of_a_field_takes_a_part_of_a_line() -> None:
    """One of 2,000 levels is longer than any terminal is wide."""
    finding = Finding("values.string", "one " * 40, "two " * 40, call=0, field="a." * 2000)
    verdict = Verdict("a", "values.string", Outcome.FAIL, (finding,))

    text = printed(fold([started("values.string", cases=["a"]), judged("a", verdict), RunEnded(1.0)]))

    assert "got       a.a.a.a.a" in text
    assert "…: two two" in text
    assert max(map(len, text.splitlines())) <= COLUMNS


def test_the_path_of_a_field_is_whole_where_there_is_room() -> None:
    """The text before it may be short."""
    finding = Finding("values.string", "row_count 0 or 1", "row_count 2", call=0, field="arrow_record_batch.row_count")
    verdict = Verdict("a", "values.string", Outcome.FAIL, (finding,))

    text = printed(fold([started("values.string", cases=["a"]), judged("a", verdict), RunEnded(1.0)]), width=80)

    assert "got       arrow_record_batch.row_count: row_count 2" in text


def test_a_method_of_flight_that_is_not_implemented_may_be_declared() -> None:
    """Its findings name the method before the status."""
    text = printed(
        result_of(failing("a", "flight-exchange.nothing-is-lost", "call 0, DoExchange: ended in UNIMPLEMENTED: no"))
    )

    assert '  or        declare it: not_offered = ["exchange"] in the target file\n' in text


def test_everything_is_shown_without_another_run() -> None:
    """By the command that reads the log."""
    clauses = ("framing.x", "rows.x", "types.x", "body.x")
    result = result_of(*(failing("a", one, f"{one} is wrong") for one in clauses))

    assert "next: conformance explain 2 · all: conformance report --all\n" in printed(result, "")
    assert "explain a.log 2 · all: conformance report a.log --all" in " ".join(printed(result, "a.log").split())


def test_the_concise_form_has_a_line_for_each_cause() -> None:
    """And the verdict."""
    screen = io.StringIO()
    result = result_of(failing("a", "framing.x", "3 messages"), failing("a", "rows.x", "no message"))

    print_concise(terminal(file=screen, width=400), result)

    first, second, last = screen.getvalue().splitlines()
    assert first == "1 MUST framing.x~ec75 a: 3 messages; required: one message"
    assert second.startswith("2 MUST rows.x~")
    assert last.startswith("FAILED: 2 causes")


def test_a_clean_run_needs_few_lines() -> None:
    """What was judged, and that nothing was found."""
    text = printed(result_of(passing("a", "framing.x"), Verdict("b", "rows.x", Outcome.UNTESTABLE, reason="no")))

    assert text.splitlines() == [
        "target    fake 1.0 (fake.toml)",
        "selection 2 of 3 cases, 3 of 3 clauses",
        "cases     1 of 2 could not be judged (50 %), and the reasons are below",
        "clauses   MUST 1 pass · 0 fail · 2 not judged",
        "1 case could not be judged (untestable):",
        "  b: no",
        "",
        "PASSED: 1 verdict on 2 cases (1 untestable) in 2.0 s, nothing unexpected",
    ]


def test_what_fails_a_run_and_is_no_cause_is_named() -> None:
    """Unexpected passes, stale entries, and the suite's own defects."""
    entries = [ExpectedFailure("framing.x", "fail: *"), ExpectedFailure("gone", "*")]
    error = Verdict("b", "case", Outcome.ERROR, reason="KeyError: 1")

    text = printed(result_of(passing("a", "framing.x"), error, expectations=entries))

    assert "FIX FIRST" not in text
    assert "\nthe suite itself broke on 1 case; please report it" in text
    assert "\nunexpected pass: framing.x: " in text
    assert "\nstale: the expected failure of 'gone'" in text


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        ("flight-data.header-without-prefix", "MUST (library)"),
        ("flight-put.is-found", "MUST (application)"),
        ("framing.batch-single-message", "MUST  a"),
    ],
)
def test_a_failure_of_a_flight_server_says_whose_fault_it_is(clause: str, said: str) -> None:
    """The library's, under every application, or the application's; a server of Storage Read is one thing."""
    load_chapters()
    result = fold([started(clause, cases=["a"]), judged("a", failing("a", clause, "nothing")), RunEnded(1.0)])

    assert said in printed(result)
    roles = [item.role for item in document(result).clauses]
    assert roles == [None if "  a" in said else Role(said.partition("(")[2].rstrip(")"))]


def test_a_should_from_which_a_must_follows_is_counted_as_a_must() -> None:
    """The verdict and the card have the stronger level, and the card says where it comes from."""
    load_chapters()
    padded, reader = failing("a", "buffers.frame-length", "5"), failing("a", "readers.read-without-error", "refused")
    start = started("buffers.frame-length", "readers.read-without-error", cases=["a"])

    shown = printed(fold([start, judged("a", padded, reader), RunEnded(1.0)]))

    assert "buffers.frame-length  MUST through another clause" in shown
    assert "FAILED: 1 cause (1 MUST)" in shown


def test_a_failure_of_a_case_as_a_whole_says_what_was_required() -> None:
    """No clause reports it, and so nothing else would say it."""
    died = Verdict("a", WHOLE_CASE, Outcome.CRASH, reason="the process exited with status 2")

    shown = printed(fold([started("framing.x", cases=["a"]), judged("a", died), RunEnded(1.0)]))

    assert "got       the process exited with status 2" in shown
    assert "an answer, from a process that lives on" in shown


def test_cases_that_could_not_be_judged_are_at_the_top_if_they_are_many() -> None:
    """More than a tenth of all; fewer are at the end alone."""
    lost = Verdict("x", "rows.x", Outcome.UNTESTABLE, reason="no")

    def first(judged_cases: int) -> str:
        return printed(result_of(lost, *(passing(f"c{number}", "rows.x") for number in range(judged_cases))))

    assert "\ncases     1 of 9 could not be judged (11 %), and the reasons are below\n" in first(8)
    assert "\ncases " not in first(9)
    assert "(1 untestable)" in first(9)


def test_a_case_that_was_judged_in_part_is_not_at_the_top() -> None:
    """Nearly every case has a clause for which there was nothing to see; a number of them would alarm for nothing."""
    lost = Verdict("x", "rows.x", Outcome.UNTESTABLE, reason="nothing in the exchange shows it")

    text = printed(result_of(passing("x", "framing.x"), lost))

    assert "\ncases " not in text
    assert "1 case could not be judged, or not in full (untestable):\n  x: no answer showed what" in text


def test_levels_of_which_no_clause_was_met_are_left_out() -> None:
    """A line of zeros says nothing; MUST is always there, and the label is said once."""
    load_chapters()
    may = next(one.id for one in CLAUSES.values() if one.level == "may")
    should = next(one.id for one in CLAUSES.values() if one.level == "should")

    def counts(*verdicts: Verdict) -> str:
        return printed(result_of(*verdicts, clauses=("framing.x", should, may))).partition("clauses   ")[2]

    assert counts(passing("a", "framing.x")).startswith("MUST 1 pass · 0 fail · 0 not judged\n\nPASSED")
    assert counts(passing("a", should), passing("a", may)).startswith(
        "MUST   0 pass · 0 fail · 1 not judged\n"
        "          SHOULD 1 pass · 0 fail · 0 not judged\n"
        "          MAY    1 pass · 0 fail · 0 not judged\n"
    )


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.0, "in less than 0.001 s"), (0.0413, "in 0.041 s"), (0.25, "in 0.2 s"), (63.52, "in 63.5 s")],
)
def test_no_run_takes_no_time(seconds: float, said: str) -> None:
    """A run of one case takes milliseconds, and 0.0 s reads as if nothing had been done."""
    events = [started("framing.x", cases=["a"]), judged("a", passing("a", "framing.x")), RunEnded(seconds)]

    assert f"{said}, nothing unexpected\n" in printed(fold(events))


def test_of_a_target_that_ships_its_name_is_enough() -> None:
    """Where its file was installed is long, and the same for everybody."""
    start = started("framing.x", cases=["a"])
    ships = dataclasses.replace(start, target="broken 0.4", target_file=str(data_file("targets") / "broken.toml"))

    text = printed(fold([ships, judged("a", passing("a", "framing.x")), RunEnded(1.0)]))

    assert text.startswith("target    broken 0.4\n")
