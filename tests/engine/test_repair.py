"""The list of expected failures is rewritten from a run, and reads back as what was written."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.engine.events import RunEnded
from conformance.engine.expectations import ProblemKind
from conformance.engine.repair import describe_changes, repaired, rewrite
from conformance.engine.result import Result, fold
from conformance.engine.selection import NOT_OF_PROFILE, LeftOut
from conformance.records import Verdict
from conformance.targets import ExpectedFailure, TargetError
from tests.engine.samples import failing, judged, passing, started

FILE = """\
# My server.
name = "mine"  # a remark

[[expected_failures]]
# why this one is tolerated
clause = "rows.once"
reason = "fail: # rows (required: one message)"

# how it is started
[start]
command = ["serve", "[[expected_failures]]"]

[[ "expected_failures" ]]  # the second
clause = "framing.batch"
reason = "fail: *"
# the end
"""
REST = """\
# My server.
name = "mine"  # a remark


# how it is started
[start]
command = ["serve", "[[expected_failures]]"]
"""
THREE = "fail: # messages (required: one message)"

texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=20)
entries = st.builds(
    ExpectedFailure, clause=texts, reason=texts, case=texts, note=texts, issue=texts, sometimes=st.booleans()
)


def run_of(*verdicts: Verdict, expectations: tuple[ExpectedFailure, ...] = ()) -> Result:
    """The result of a run of one case with ``verdicts``."""
    start = started(*dict.fromkeys(verdict.clause for verdict in verdicts), expectations=expectations)
    return fold([start, judged("a", *verdicts), RunEnded(1.0)])


def test_rewriting_touches_nothing_but_the_list(tmp_path: Path) -> None:
    """Comments and other tables stay where they are, byte by byte."""
    file = tmp_path / "mine.toml"
    file.write_text(FILE)

    rewrite(file, [ExpectedFailure("b.c", "fail: x", note="known"), ExpectedFailure("a.b", 'fail: "q"')])

    assert file.read_text() == REST + (
        '\n[[expected_failures]]\nclause = "a.b"\nreason = "fail: \\"q\\""\n'
        '\n[[expected_failures]]\nclause = "b.c"\nreason = "fail: x"\nnote = "known"\n'
    )


def test_rewriting_with_nothing_removes_the_list(tmp_path: Path) -> None:
    """A target without known defects has no table for them."""
    file = tmp_path / "mine.toml"
    file.write_text(FILE)

    rewrite(file, [])

    assert file.read_text() == REST


@given(st.lists(entries, max_size=4))
def test_what_was_written_reads_back(tmp_path_factory: pytest.TempPathFactory, listed: list[ExpectedFailure]) -> None:
    """Whatever characters an entry holds, TOML gives them back."""
    file = tmp_path_factory.getbasetemp() / "round-trip.toml"
    file.write_text(FILE)

    rewrite(file, listed)

    tables = tomllib.loads(file.read_text(encoding="utf-8")).get("expected_failures", [])
    assert sorted(map(str, listed)) == sorted(str(ExpectedFailure(**table)) for table in tables)


def test_a_list_in_another_notation_is_refused_and_the_file_left_alone(tmp_path: Path) -> None:
    """An inline array cannot be cut out line by line; better no change than a broken file."""
    file = tmp_path / "mine.toml"
    text = 'name = "mine"\nexpected_failures = [{clause = "a", reason = "b"}]\n'
    file.write_text(text)

    with pytest.raises(TargetError, match=r"failures that are not \[\[expected_failures\]\] tables"):
        rewrite(file, [ExpectedFailure("a.b", "fail: x")])

    assert file.read_text() == text


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_all_else_stays_byte_for_byte_and_new_lines_end_as_the_others(tmp_path: Path, end: str) -> None:
    """Also lines that look like the header of a table, and other characters that may end a line elsewhere."""
    text = 'name = "x"\n# a\u2028[[expected_failures]]\ntitle = """a\n[[expected_failures]]\nb"""\n\n\n'.replace(
        "\n", end
    )
    path = tmp_path / "t.toml"
    path.write_bytes(text.encode())
    rewrite(path, [ExpectedFailure("a.b", "fail: r"), ExpectedFailure("a.c", "fail: r")])
    written = path.read_bytes().decode()
    assert written.startswith(text)
    assert written.count("\n") == written.count(end)
    rewrite(path, [ExpectedFailure("a.b", "fail: s")])
    written = path.read_bytes().decode()
    assert written.startswith(text)
    assert written.count("\n") == written.count(end)
    rewrite(path, [])
    assert path.read_bytes().decode() == text.rstrip("\r\n") + end


def test_a_failure_that_nothing_excuses_comes_in() -> None:
    """The new entry has the words that excuse exactly this class."""
    result = run_of(failing("a", "framing.batch", "3 messages"), passing("a", "rows.once"))

    assert repaired(result, ()) == [ExpectedFailure("framing.batch", THREE)]


def test_a_failure_in_another_form_alone_is_excused_there() -> None:
    """A run in Arrow, on which it does not occur, stays clean. An entry of another form is no matter of such a run."""
    failure = failing("a@avro", "rows.once", "3 messages")
    start = dataclasses.replace(started("rows.once"), form="both")
    both = fold([start, judged("a", passing("a", "rows.once")), judged("a@avro", failure), RunEnded(1.0)])

    listed = tuple(repaired(both, ()))

    assert listed == (ExpectedFailure("rows.once", THREE, case="*@avro"),)
    arrow = run_of(passing("a", "rows.once"), expectations=listed)
    assert not arrow.fails
    assert repaired(arrow, listed) == list(listed)


def test_a_run_with_the_repaired_list_is_clean() -> None:
    """Repairing is a fixed point: the same failures, listed, fail nothing."""
    verdicts = (failing("a", "framing.batch", "3 messages", "none"), failing("a", "rows.once", "2 rows"))
    listed = tuple(repaired(run_of(*verdicts), ()))

    again = run_of(*verdicts, expectations=listed)

    assert not again.fails
    assert repaired(again, listed) == list(listed)


def test_an_entry_that_excuses_nothing_goes() -> None:
    """A fixed defect leaves the list."""
    listed = (ExpectedFailure("framing.batch", THREE), ExpectedFailure("rows.once", "fail: *"))
    result = run_of(failing("a", "framing.batch", "3 messages"), passing("a", "rows.once"), expectations=listed)

    entries = repaired(result, listed)

    assert describe_changes(listed, entries) == ["- rows.once: fail: *"]


def test_an_entry_that_stays_keeps_its_place_and_its_comments(tmp_path: Path) -> None:
    """A reason in the words of an older suite is replaced where it stands; new entries come last."""
    file = tmp_path / "mine.toml"
    file.write_text(FILE)
    kept, added = ExpectedFailure("framing.batch", "fail: *"), ExpectedFailure("a.b", "fail: y")

    rewrite(file, [ExpectedFailure("rows.once", "fail: x"), kept, added])

    migrated = FILE.replace('reason = "fail: # rows (required: one message)"', 'reason = "fail: x"')
    assert file.read_text() == migrated + '\n[[expected_failures]]\nclause = "a.b"\nreason = "fail: y"\n'


def test_a_reason_of_an_older_suite_is_migrated() -> None:
    """The clause and the case still fail, so the entry is for the same defect; its note stays."""
    listed = (ExpectedFailure("framing.*", "fail: # of # (required: one)", case="a", note="known"),)
    result = run_of(failing("a", "framing.batch", "3 messages"), expectations=listed)

    assert repaired(result, listed) == [ExpectedFailure("framing.*", THREE, case="a", note="known")]
    assert [problem.kind for problem in result.problems] == [ProblemKind.OTHER_REASON]
    assert "`conformance expect --write` writes the new reason" in result.problems[0].text


@pytest.mark.parametrize(
    "entry",
    [
        ExpectedFailure("framing.batch", "crash: the target died", note="known"),
        ExpectedFailure("framing.batch", "fail: # of #", case="b", note="known"),
        ExpectedFailure("rows.once", "fail: # of #", note="known"),
    ],
    ids=["another outcome", "another case", "another clause"],
)
def test_a_reason_is_migrated_for_its_own_failure_only(entry: ExpectedFailure) -> None:
    """A failure that the entry does not cover gets an entry of its own, without the note."""
    verdicts = (failing("a", "framing.batch", "3 messages"), passing("a", "rows.once"))

    assert repaired(run_of(*verdicts, expectations=(entry,)), (entry,)) == [ExpectedFailure("framing.batch", THREE)]


def test_notes_stay_with_their_entries() -> None:
    """The owner's notes on a defect are kept."""
    listed = (ExpectedFailure("framing.batch", THREE, note="known", issue="https://example.org/1"),)
    result = run_of(failing("a", "framing.batch", "3 messages"), expectations=listed)

    assert repaired(result, listed) == list(listed)


LEFT_OUT = (LeftOut("case", "b", "no --select pattern matches it"),)


@pytest.mark.parametrize(("decided", "kept"), [((), True), ((0,), False)])
def test_a_narrowed_run_removes_only_entries_that_it_decides(decided: tuple[int, ...], *, kept: bool) -> None:
    """Elsewhere the failure may still occur."""
    entry = ExpectedFailure("framing.batch", THREE)
    start = started("framing.batch", cases=["a"], expectations=[entry])
    start = dataclasses.replace(start, left_out=LEFT_OUT, decided=decided)
    result = fold([start, judged("a", passing("a", "framing.batch")), RunEnded(1.0)])

    assert repaired(result, [entry]) == ([entry] if kept else [])


def test_a_stale_entry_is_removed_although_every_run_leaves_some_clauses_out() -> None:
    """Clauses of other profiles say nothing about an entry for all cases."""
    entry = ExpectedFailure("rows.gone", THREE)
    start = dataclasses.replace(
        started("framing.batch", expectations=[entry]), left_out=(LeftOut("clause", "body.other", NOT_OF_PROFILE),)
    )

    assert repaired(fold([start, judged("a", passing("a", "framing.batch")), RunEnded(1.0)]), [entry]) == []


def test_a_failure_that_occurred_sometimes_gets_an_entry_that_says_so() -> None:
    """The next run may not show it."""
    start = dataclasses.replace(started("framing.batch", cases=["a"]), repeat=2)
    attempts = (failing("a", "framing.batch", "3 messages"), passing("a", "framing.batch"))
    result = fold([start, *(judged("a", verdict) for verdict in attempts), RunEnded(1.0)])

    (entry,) = repaired(result, [])

    assert entry == ExpectedFailure("framing.batch", THREE, sometimes=True)
    assert describe_changes([], [entry]) == [f"+ framing.batch: {THREE} (sometimes)"]


def test_an_entry_for_a_failure_that_occurs_sometimes_stays_while_it_passes() -> None:
    """It goes when its clause is judged no more."""
    entry = ExpectedFailure("framing.batch", THREE, sometimes=True)

    assert repaired(run_of(passing("a", "framing.batch"), expectations=(entry,)), [entry]) == [entry]
    assert repaired(run_of(passing("a", "rows.once"), expectations=(entry,)), [entry]) == []


def test_a_described_change_moves_no_cursor() -> None:
    """The entries may be those of a stranger's target file."""
    (line,) = describe_changes([ExpectedFailure("a\x1b[2J", "why\n::error::x", case="\x07")], [])

    assert line == "- a\\x1b[2J on \\x07: why\\n::error::x"
