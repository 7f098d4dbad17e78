"""Shards: each case in exactly one, the same one everywhere, and no false alarm about what another shard runs."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.engine.corpus import load_corpus
from conformance.engine.events import RunEnded
from conformance.engine.result import fold
from conformance.engine.selection import OTHER_SHARD, LeftOut, Selection, SelectionError, plan
from conformance.engine.shards import Shard, ShardError
from conformance.generate import generated_id
from conformance.records import Outcome
from conformance.targets import ExpectedFailure
from tests.engine.samples import failing, judged, passing, sample_case, sample_clause, started

CLAUSES = {"framing.x": sample_clause("framing.x")}


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_the_shards_of_the_corpus_are_the_corpus(count: int) -> None:
    """Every case is in exactly one shard."""
    corpus = list(load_corpus().values())

    parts = [plan(corpus, CLAUSES, Selection(shard=Shard(index + 1, count))).cases for index in range(count)]

    assert sorted(case.id for part in parts for case in part) == [case.id for case in corpus]


def test_the_assignment_is_pinned() -> None:
    """The same on every machine and in every version: a shard's cache and history stay its own."""
    shards = {case_id: str(Shard.of(case_id, 5)) for case_id in ("types.int64", "rows.none", "größe")}

    assert shards == {"types.int64": "3/5", "rows.none": "2/5", "größe": "1/5"}


def test_generated_cases_are_spread_over_all_shards() -> None:
    """No shard of eight is left without its share of a thousand cases."""
    ids = [generated_id(0, index, profile="server") for index in range(1000)]

    counts = [sum(Shard(index + 1, 8).holds(case_id) for case_id in ids) for index in range(8)]

    assert sum(counts) == 1000
    assert min(counts) > 80


@pytest.mark.parametrize("text", ["", "0/3", "4/3", "1", "1/0", "-1/3", "1/3 ", "a/b"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    """One sentence says what would be one."""
    with pytest.raises(ShardError) as error:
        Shard.parse(text)

    assert str(error.value) == f"expected a shard I/N with I from 1 to N, as in 2/4, but got {text!r}"


def test_a_shard_says_what_it_left_to_the_others() -> None:
    """A part of a run must not look like a whole one."""
    cases = [sample_case(f"case-{index}") for index in range(6)]
    shard = Shard.of("case-0", 2)

    left_out = plan(cases, CLAUSES, Selection(shard=shard)).left_out

    assert left_out == tuple(LeftOut("case", case.id, OTHER_SHARD) for case in cases if not shard.holds(case.id))
    assert 0 < len(left_out) < 6


def test_an_empty_shard_is_refused() -> None:
    """A run of nothing is no success."""
    other = Shard(3 - Shard.of("alone", 2).index, 2)

    with pytest.raises(SelectionError) as error:
        plan([sample_case("alone")], CLAUSES, Selection(shard=other))

    assert str(error.value) == f"shard {other} contains none of the selected cases; use fewer shards"


@pytest.mark.parametrize("case", ["elsewhere", "*"])
def test_an_expected_failure_of_another_shard_is_no_surprise(case: str) -> None:
    """The clause passes here; whether the entry is needed is for the shard that runs its case to say."""
    entry = ExpectedFailure("framing.x", "fail: *", case=case)
    start = started("framing.x", cases=["here"], expectations=[entry])
    start = dataclasses.replace(start, shard="1/2", left_out=(LeftOut("case", "elsewhere", OTHER_SHARD),))

    result = fold([start, judged("here", passing("here", "framing.x")), RunEnded(1.0)])

    assert (result.fails, result.problems) == (False, ())


def test_an_expected_failure_of_a_generated_case_of_another_shard_is_not_stale() -> None:
    """Generated cases of other shards are not listed in the log, and still exist."""
    other = next(name for index in range(9) if not Shard(1, 2).holds(name := generated_id(7, index, profile="server")))
    start = started("framing.x", expectations=[ExpectedFailure("framing.x", "fail: *", case=other)])
    start = dataclasses.replace(start, shard="1/2", generated=9)

    result = fold([start, judged("here", passing("here", "framing.x")), RunEnded(1.0)])

    assert not result.fails


def test_an_expected_failure_of_this_shard_is_judged_here() -> None:
    """An entry that names a case of this shard has to excuse something in it."""
    entries = [ExpectedFailure("framing.x", "fail: *", case="here"), ExpectedFailure("rows.x", "fail: *", case="here")]
    start = started("framing.x", "rows.x", cases=["here"], expectations=entries)
    start = dataclasses.replace(start, shard="1/2", left_out=(LeftOut("case", "elsewhere", OTHER_SHARD),))
    verdicts = (failing("here", "framing.x", "3 messages"), passing("here", "rows.x"))

    result = fold([start, judged("here", *verdicts), RunEnded(1.0)])

    assert result.outcomes == {Outcome.EXPECTED_FAIL: 1, Outcome.UNEXPECTED_PASS: 1}
