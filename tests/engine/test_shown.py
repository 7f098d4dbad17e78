"""A narrowed run decides an expected failure only if its failure could have shown on no other case."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.engine import shown
from conformance.engine.corpus import load_corpus
from conformance.engine.events import RunEnded
from conformance.engine.result import Result, fold
from conformance.engine.selection import NOT_OF_PROFILE, OTHER_SHARD, LeftOut, Selection, all_clauses, plan
from conformance.engine.shown import FEW, decided, shown_by
from conformance.records import Outcome
from conformance.targets import ExpectedFailure
from publish import shown as published
from tests.engine.samples import judged, passing, started

RARE, COMMON = "framing.rare", "framing.common"
CASES = frozenset({"x.one", "x.two", "y.one", "y.two"})
CHOSEN = (RARE, COMMON)


@pytest.fixture
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus of four cases, two of which can show the one clause; the other clause shows everywhere."""
    monkeypatch.setattr(shown, "shown_by", lambda: (CASES, {RARE: frozenset({"x.one", "x.two"})}))


def left_out(*cases: str, reason: str = "no --select pattern matches it") -> list[LeftOut]:
    """These cases were not chosen."""
    return [LeftOut("case", case, reason) for case in cases]


@pytest.mark.usefixtures("_few")
@pytest.mark.parametrize(
    ("entry", "missing", "settled"),
    [
        (ExpectedFailure(RARE, "*"), ["y.one", "y.two"], True),
        (ExpectedFailure(RARE, "*"), ["y.one", "x.two"], False),
        (ExpectedFailure(RARE, "*", case="x.one"), ["y.one", "x.two"], True),
        (ExpectedFailure(RARE, "*", case="y.*"), ["y.one"], False),
        (ExpectedFailure(COMMON, "*"), ["y.one"], False),
        (ExpectedFailure("framing.*", "*"), ["y.one"], False),
        (ExpectedFailure("rows.*", "*"), ["y.one"], False),
        (ExpectedFailure(RARE, "*"), ["y.one", "a.case.of.the.user"], False),
        (ExpectedFailure(RARE, "*", case="x.*"), ["y.one", "a.case.of.the.user"], True),
    ],
)
def test_the_cases_that_could_show_a_failure_decide(
    entry: ExpectedFailure, missing: list[str], *, settled: bool
) -> None:
    """Every clause of the entry has known cases, none of which is missing; unknown cases could show anything."""
    assert decided([entry], CHOSEN, left_out(*missing)) == ((0,) if settled else ())


@pytest.mark.usefixtures("_few")
@pytest.mark.parametrize(("reason", "settled"), [("its level is may", False), (NOT_OF_PROFILE, True)])
def test_a_clause_that_was_left_out_leaves_its_entries_open(reason: str, *, settled: bool) -> None:
    """Unless no run of this profile has it."""
    missing = [*left_out("y.one"), LeftOut("clause", "framing.rarest", reason)]

    assert decided([ExpectedFailure("framing.rare*", "*")], CHOSEN, missing) == ((0,) if settled else ())


@pytest.mark.usefixtures("_few")
def test_cases_of_other_shards_are_not_left_out() -> None:
    """The merged run has them; the log of one shard alone decides nothing."""
    missing = [*left_out("y.one"), *left_out("x.two", reason=OTHER_SHARD)]

    assert decided([ExpectedFailure(RARE, "*")], CHOSEN, missing) == (0,)


def narrowed(*, ended: bool = True, shard: str = "") -> Result:
    """A run without one case, whose one entry is decided and passes."""
    start = started(RARE, cases=["x.one", "x.two"], expectations=[ExpectedFailure(RARE, "fail: *")])
    start = dataclasses.replace(start, left_out=tuple(left_out("y.one")), decided=(0,), shard=shard)
    events = [judged("x.one", passing("x.one", RARE))] if shard or not ended else []
    events = events or [judged(case, passing(case, RARE)) for case in start.cases]
    return fold([start, *events, *([RunEnded(1.0)] if ended else [])])


def test_a_decided_entry_that_passes_fails_the_run() -> None:
    """The repair shows in a narrowed run, too."""
    result = narrowed()

    assert result.outcomes == {Outcome.UNEXPECTED_PASS: 2}
    assert result.fails
    assert result.remarks == ()


@pytest.mark.parametrize("arguments", [{"ended": False}, {"shard": "1/2"}])
def test_a_part_of_a_run_decides_no_entry(arguments: dict[str, object]) -> None:
    """An interrupted run and a shard have not put every chosen case to the target."""
    result = narrowed(**arguments)  # type: ignore[arg-type]  # either argument

    assert result.outcomes == {Outcome.PASS: 1}
    assert result.remarks == (
        "1 of 1 expected failure did not occur, but could occur on what was left out: only a run of all cases decides",
    )


def test_entries_that_were_not_looked_at_are_counted_in_every_report() -> None:
    """The remark is among those of the run."""
    entries = [ExpectedFailure(clause, "fail: *") for clause in (RARE, "rows.one", "rows.two")]
    start = dataclasses.replace(
        started(RARE, cases=["x.one"], expectations=entries), left_out=tuple(left_out("y.one")), decided=()
    )

    result = fold([start, judged("x.one", passing("x.one", RARE)), RunEnded(1.0, ("it is slow",))])

    assert result.remarks[:2] == (
        "it is slow",
        "2 of 3 expected failures were not looked at: this run judged nothing that they cover",
    )
    assert not result.fails


def test_the_published_cases_exist() -> None:
    """Each clause has few cases, and the corpus is the one that ships."""
    corpus, few_cases = shown_by()

    assert corpus == set(load_corpus())
    assert set(few_cases) <= set(all_clauses())
    assert all(0 < len(cases) <= FEW and cases <= corpus for cases in few_cases.values())


@pytest.mark.slow(env="thorough")
def test_the_published_cases_are_those_that_show_the_clauses() -> None:
    """``python -m publish.shown`` writes what the reference, the proof and the cases say."""
    assert published.SHOWN.read_text(encoding="utf-8") == published.text()


def test_one_clause_of_the_suite_is_decided_by_its_only_case() -> None:
    """From the selection to the decision, with the published file."""
    chosen = plan([*load_corpus().values()], all_clauses(), Selection(cases=("errors.format-unspecified",)))
    entries = [ExpectedFailure("errors.unspecified-format-is-refused", "*"), ExpectedFailure("framing.*", "*")]

    assert decided(entries, [clause.id for clause in chosen.clauses], chosen.left_out) == (0,)
