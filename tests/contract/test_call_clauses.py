"""Completeness of the clauses on calls: each has a text, a source, a fault that it finds, and a case."""

from __future__ import annotations

import fnmatch
import random
from pathlib import Path

import pytest

from conformance.contract.clause import Clause
from conformance.generate.casefile import load_cases
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.records import AppendRows, CreateSession, ReadRows, SplitStream
from tests.contract.exchanges import Answer, call_clauses, case_of, deviations, verdicts, without_deviation

CASES = Path(__file__).resolve().parents[2] / "cases"
CLAUSES = call_clauses()


def test_every_clause_has_a_lie_that_it_tells() -> None:
    """A deviation that fails it, or a mutant, which the sampled proof then tries each time."""
    shown = {deviation.clause for deviation in deviations()}
    mutants = {clause for name in without_deviation() for clause in MUTANTS[name].kills}

    assert shown <= {clause.id for clause in CLAUSES} <= shown | mutants


def test_every_clause_is_failed_by_some_lie_alone() -> None:
    """For each clause but those that follow from others, some deviation fails it and nothing else."""
    shown = {deviation.clause for deviation in deviations()}
    alone = {deviation.clause for deviation in deviations() if not deviation.others}

    assert shown - alone == {
        "avro.counts-are-the-rows",  # as the count of each response, which is compared where its rows can be read
        "avro-schema.decimals-are-declared",  # without its digits a decimal is another type
        "avro.offset-leaves-the-rest",  # as the first
        "restriction.bad-one-yields-no-rows",
        "restriction.nothing-selected",  # as the form of the restriction
    }


def test_every_clause_is_named_by_a_case() -> None:
    """No clause waits for chance to be observed: a case in the repository names each."""
    named = {pattern for case in load_cases(CASES) for pattern in case.clauses}

    unnamed = {clause.id for clause in CLAUSES if not any(fnmatch.fnmatchcase(clause.id, name) for name in named)}

    assert unnamed == set()


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda clause: clause.id)
def test_every_clause_says_what_where_and_in_whose_words(clause: Clause) -> None:
    """A clause has an explanation of a sentence or more, and a public source."""
    assert clause.explanation.split("\n")[0].endswith((".", ":"))
    assert len(clause.explanation) > 60
    assert clause.source.startswith("https://")


HOSTILE = case_of(
    CreateSession(max_stream_count=2, response_compression="LZ4", trace_id="t"),
    ReadRows(),
    ReadRows(offset="inside"),
    SplitStream(),
    ReadRows(stream="x.primary"),
    AppendRows(2),
    CreateSession(label="again", snapshot="before-append", selected_fields=("note.size", "id")),
    ReadRows(session="again"),
)


@pytest.mark.parametrize("seed", range(60))
def test_no_answer_makes_a_clause_raise(seed: int) -> None:
    """Whatever bytes a target answers with, every clause comes to a verdict."""
    source = random.Random(seed)

    def damage(answers: list[Answer]) -> None:
        for answer in source.sample(answers, 3):
            for index, response in enumerate(answer.responses):
                data = bytearray(response.SerializeToString())
                for _ in range(source.randrange(1, 4)):
                    data[source.randrange(len(data))] = source.randrange(256)
                answer.responses[index] = bytes(data[: source.randrange(len(data) // 2, len(data) + 1)])
            answer.status = source.choice(["OK", "OK", "OK", "UNKNOWN", "", "NOT_A_STATUS"])

    found = verdicts(HOSTILE, damage, streams=2)

    assert {verdict.clause for verdict in found} >= {"calls.end-in-time"}
