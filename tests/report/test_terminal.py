"""The text on the screen at the end of a run."""

from __future__ import annotations

import dataclasses
import io

from conformance.engine.events import CaseJudged, Evidence, Line, RunEnded, SuiteBroke
from conformance.engine.result import Result, fold
from conformance.engine.selection import LeftOut
from conformance.records import Finding, Outcome, Verdict
from conformance.report.terminal import print_report, terminal
from conformance.targets import ExpectedFailure
from tests.engine.samples import failing, judged, passing, started

FINDING = Finding("framing.x", "one message", "3 messages", call=1, response=0, field="rows", start=4, end=8)
EVIDENCE = Evidence(
    FINDING,
    "record batch message of call 1, 24 bytes",
    (Line(0, "ff ff ff ff", "continuation", "a message follows"), Line(4, "10 00 00 00", "length", "16", marked=True)),
)


def printed(result: Result) -> str:
    """The report as plain text."""
    buffer = io.StringIO()
    print_report(terminal(file=buffer, width=400), result)
    return buffer.getvalue()


def test_a_failure_reads_from_clause_to_replay() -> None:
    """Everything that a person needs to act, in one block."""
    verdict = Verdict("a", "framing.x", Outcome.FAIL, (FINDING,))
    events = [
        CaseJudged("a", "Case a", "a", (verdict,), (EVIDENCE,)),
        judged("b", failing("b", "framing.x", "2 messages")),
    ]

    text = printed(fold([started("framing.x"), *events, RunEnded(2.0)]))

    assert (
        """
FAILED (1)

framing.x fail MUST
  case      a and 1 more case
  where     call 1, response 0, field rows
  required  one message
  observed  3 messages
  class     fail: # messages (required: one message)
  bytes     record batch message of call 1, 24 bytes
    0x0000  ff ff ff ff                continuation: a message follows
  > 0x0004  10 00 00 00                length: 16
  replay    conformance replay a --target fake.toml
"""
        in text
    )


def test_the_header_says_what_was_run() -> None:
    """Enough to run it again."""
    text = printed(fold([started("framing.x", cases=["a"]), judged("a", passing("a", "framing.x")), RunEnded(2.0)]))

    assert text.startswith(
        """\
suite     conformance 0.1.0, Python 3.11.7, pyarrow 26.0.1, Linux x86_64
target    fake 1.0 (fake.toml)
selection 1 of 3 cases, 1 of 1 clause
seed      7
readers   off
"""
    )


def test_what_was_left_out_is_counted_by_reason() -> None:
    """A narrow run cannot be taken for a whole one."""
    left_out = [LeftOut("case", name, "no --select pattern matches it") for name in "bc"]
    start = dataclasses.replace(
        started("framing.x"), left_out=(*left_out, LeftOut("clause", "x.y", "its level is may"))
    )

    text = printed(fold([start, judged("a", passing("a", "framing.x")), RunEnded(2.0, ("it claims too much",))]))

    assert (
        """
left out  2 cases: no --select pattern matches it
left out  1 clause: its level is may
remark    it claims too much
"""
        in text
    )


def test_the_other_lists_have_a_line_per_member() -> None:
    """Unexpected passes, expected failures, what was not judged, problems with entries."""
    entries = [
        ExpectedFailure("framing.x", "fail: *"),
        ExpectedFailure("rows.once", "fail: *"),
        ExpectedFailure("gone", "*"),
    ]
    verdicts = [
        failing("a", "framing.x", "3 messages"),
        passing("a", "rows.once"),
        Verdict("a", "types.x", Outcome.UNTESTABLE, reason="cannot seed"),
    ]
    start = started("framing.x", "rows.once", "types.x", expectations=entries)

    text = printed(fold([start, judged("a", *verdicts), RunEnded(2.0)]))

    assert (
        """
UNEXPECTED PASSES (1)
  rows.once (unexpected-pass, 1 case, first a): listed as an expected failure (fail: *), and it passes; remove the entry

EXPECTED FAILURES (1)
  framing.x (expected-fail, 1 case, first a): 3 messages

NOT JUDGED (1)
  types.x (untestable, 1 case, first a): cannot seed

PROBLEMS WITH EXPECTED FAILURES (1)
  stale: the expected failure of 'gone' covers nothing that was judged in this run; remove it or correct its globs
"""
        in text
    )
    assert text.endswith(
        "FAILED: 1 unexpected pass, 1 stale expected failure; 2 verdicts on 1 case (1 untestable) in 2.0 s\n"
    )


def test_the_summary_counts_clauses_by_chapter_and_level() -> None:
    """Held of owed; the others are counted by standing."""
    verdicts = [
        failing("a", "framing.x", "3 messages"),
        passing("a", "framing.y"),
        Verdict("a", "types.x", Outcome.UNTESTABLE, reason="cannot seed"),
    ]

    text = printed(fold([started("framing.x", "framing.y", "types.x"), judged("a", *verdicts), RunEnded(2.0)]))

    assert (
        """
chapter  MUST  SHOULD  MAY  pass where judged  fail  expected  not judged
framing   1/2       -    -                  -     1         -           -
types     0/1       -    -                  -     -         -           1
"""
        in text
    )


def test_a_defect_of_the_suite_shows_its_traceback_once() -> None:
    """It is ours, and we want to hear of it."""
    errors = [judged(name, Verdict(name, "case", Outcome.ERROR, reason="KeyError: 1")) for name in "ab"]
    broke = [SuiteBroke(name, "Traceback …\nKeyError: 1\n") for name in "ab"]

    text = printed(fold([started("framing.x"), *errors, *broke, RunEnded(2.0)]))

    assert text.count("Traceback …") == 1


def test_a_run_that_was_cut_short_says_so() -> None:
    """Half a run is no pass."""
    text = printed(fold([started("framing.x"), judged("a", passing("a", "framing.x"))]))

    assert text.endswith("INCOMPLETE: the run was cut short after 1 verdict on 1 case in 0.5 s\n")
