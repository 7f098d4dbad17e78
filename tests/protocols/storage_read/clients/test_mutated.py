"""Mutants become situations by a rule: the first case in which a client sees them."""

from __future__ import annotations

import pytest

from conformance.contract import proto
from conformance.engine.corpus import load_corpus
from conformance.engine.selection import all_clauses
from conformance.protocols.storage_read.clients.mutated import INTERRUPTED, RACES, Mutated, mutated, served_digest
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.readers.registry import client_readers
from conformance.wire import read_schema

CHOSEN = (
    "batch.schema-first",
    "offset.ignored",
    "batch.whole-stream",
    "compression.buffers-refused",
    "session.plain-refused",
)


@pytest.fixture(scope="module")
def found() -> dict[str, Mutated]:
    """The chosen mutants that become situations."""
    all_clauses()
    chosen = [MUTANTS[name] for name in CHOSEN if name in MUTANTS]
    return {one.mutant: one for one in mutated(chosen, load_corpus(), client_readers().values())}


def test_a_clause_has_one_mutant(found: dict[str, Mutated]) -> None:
    """Two of the chosen are made for one clause; the first of them takes part."""
    assert MUTANTS["batch.schema-first"].kills[0] == MUTANTS["batch.whole-stream"].kills[0]
    assert "batch.schema-first" in found
    assert "batch.whole-stream" not in found


def test_a_defect_that_shows_in_a_resumed_read_is_interrupted(found: dict[str, Mutated]) -> None:
    """A server that ignores offsets serves every whole read as the reference does."""
    asked = found["offset.ignored"].asked

    assert asked.read.case_id == INTERRUPTED.id
    assert len(asked.plan) == 1


def test_a_mutant_that_embeds_a_schema_embeds_that_of_the_table(found: dict[str, Mutated]) -> None:
    """So a client fails on the frame of the batch, and on nothing else."""
    asked = found["batch.schema-first"].asked
    (tape,) = asked.tapes
    response = proto.ReadRowsResponse.FromString(tape.streams[0].responses[0])

    made = read_schema(response.arrow_record_batch.serialized_record_batch).schema

    assert made is not None
    assert [field.name for field in made.fields] == asked.expected.column_names


def test_a_mutant_without_rows_has_a_table_with_rows(found: dict[str, Mutated]) -> None:
    """A client that counts the rows in tables.get asks for them, and meets the defect."""
    asked = found["session.plain-refused"].asked
    (tape,) = asked.tapes

    assert tape.described is not None
    assert (tape.streams, tape.described.rows) == ((), asked.expected.num_rows)


def test_the_same_mutant_is_the_same_situation_again(found: dict[str, Mutated]) -> None:
    """What is measured is the same in each run."""
    mutant = MUTANTS["offset.ignored"]

    (again,) = mutated([mutant], load_corpus(), client_readers().values())

    assert served_digest(again.asked) == served_digest(found["offset.ignored"].asked)


def test_a_defect_in_an_option_that_few_clients_set_takes_no_part(found: dict[str, Mutated]) -> None:
    """The recording of a refused session would be served to clients that never set the option."""
    assert "compression.buffers-refused" in MUTANTS
    assert "compression.buffers-refused" not in found


def test_a_defect_that_serves_other_rows_in_each_run_takes_no_part() -> None:
    """What was on its way when a read ended is another number of responses each time."""
    races = [MUTANTS[name] for name in sorted(RACES)]

    assert [*mutated(races, load_corpus(), client_readers().values())] == []
