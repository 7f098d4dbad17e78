"""The register of mutants: what one has to say of itself, and that each says it."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.protocols.storage_read.reference.mutants import FAULTY_SERVERS, MUTANTS, service_class
from conformance.reference.message import DraftMessage
from conformance.reference.register import Mutant, batch_mutant, fields_mutant, first, rows_mutant
from conformance.reference.serializer import REFERENCE
from conformance.reference.variations import VARIATIONS

load_chapters()
BATCH = pa.record_batch({"n": pa.array([1, None], pa.int64())})


@pytest.fixture(autouse=True)
def _register_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test's registrations are undone after it."""
    from conformance.reference import register  # noqa: PLC0415  # its private register is what is replaced

    monkeypatch.setattr(register, "_REGISTER", dict(MUTANTS))


def test_a_mutant_states_its_lie_and_names_clauses_that_exist() -> None:
    """A mutant has a sentence, a dotted name, clauses to kill it, and ids of public defects."""
    wrong = {
        name: [said for said, holds in _properties(mutant).items() if not holds] for name, mutant in MUTANTS.items()
    }

    assert len(wrong) > 400
    assert {name: found for name, found in wrong.items() if found} == {}


def _properties(mutant: Mutant) -> dict[str, bool]:
    return {
        "a dotted name": re.fullmatch(r"[a-z0-9-]+\.[a-z0-9-]+", mutant.name) is not None,
        "a sentence": mutant.fault.endswith("."),
        "clauses to kill it": bool(mutant.kills),
        "clauses that exist": set(mutant.kills) <= set(CLAUSES),
        "reasons": all(len(reason) > 20 for reason in mutant.also.values()),
        "ids of defects": all(re.fullmatch(r"[A-Z]-\d+", defect) for defect in mutant.defects),
        "a source": not mutant.source or mutant.source.startswith("https://"),
    }


def test_every_clause_has_a_mutant() -> None:
    """The mutants are made for all clauses on what a server sends; streams, files and readers have others."""
    on_messages = {clause.id for clause in CLAUSES.values() if clause.on_messages}

    assert {clause for mutant in MUTANTS.values() for clause in mutant.kills} == on_messages


def test_there_are_enough_of_them() -> None:
    """The catalogue keeps its size: mutants, legal variations and faulty servers."""
    assert len(MUTANTS) >= 300
    assert len(VARIATIONS) >= 20
    assert len(FAULTY_SERVERS) == 8


def test_a_lie_without_a_sentence_is_refused() -> None:
    """The docstring describes the fault, so it must exist."""

    def silent(message: DraftMessage) -> DraftMessage:
        return message

    with pytest.raises(ValueError, match="expected a docstring that describes the fault"):
        batch_mutant("test.silent", kills="body.node-count")(silent)


def test_a_name_is_taken_once() -> None:
    """Two mutants of one name would hide each other."""

    def again(message: DraftMessage) -> DraftMessage:
        """A fault."""
        return message

    with pytest.raises(ValueError, match="the name is taken"):
        batch_mutant("batch.empty", kills="body.node-count")(again)


def test_a_lie_that_does_not_apply_leaves_the_message_alone() -> None:
    """A mutant of lists leaves input without a list unchanged."""
    from conformance.reference import register  # noqa: PLC0415  # as above

    @batch_mutant("test.patient", kills="body.node-count")
    def about_lists(message: DraftMessage) -> DraftMessage:
        """A fault in lists."""
        raise LookupError(f"no list in {len(message.parts)} buffers")

    serializer = register._REGISTER["test.patient"].serializer  # what the fixture replaced

    assert serializer is not None
    assert serializer.serialize_batch(BATCH) == REFERENCE.serialize_batch(BATCH)


def test_a_lie_about_rows_is_followed_by_its_schema() -> None:
    """The schema message agrees with the changed batch of a mutant of rows."""
    from conformance.reference import register  # noqa: PLC0415  # as above

    @rows_mutant("test.renamed", kills="schema.names")
    def renamed(batch: pa.RecordBatch) -> pa.RecordBatch:
        """Columns have other names."""
        return batch.rename_columns([f"{name}_" for name in batch.schema.names])

    serializer = register._REGISTER["test.renamed"].serializer  # what the fixture replaced

    assert serializer is not None
    assert pa.ipc.read_schema(pa.py_buffer(serializer.serialize_schema(BATCH.schema))).names == ["n_"]


def test_a_lie_may_be_stated_in_the_call() -> None:
    """Mutants that share their code have no docstring each; an argument describes the fault."""
    from conformance.reference import register  # noqa: PLC0415  # as above

    batch_mutant("test.stated", kills="body.node-count", fault="Nothing is said.")(lambda _: b"")

    assert register._REGISTER["test.stated"].fault == "Nothing is said."  # what the fixture replaced


def test_a_lie_about_fields_is_told_of_those_inside_others() -> None:
    """A change of fields is asked of the items of lists and the fields of records as well."""
    from conformance.reference import register  # noqa: PLC0415  # as above

    seen = []

    @fields_mutant("test.fields", kills="schema.names")
    def reported(field: pa.Field, array: pa.Array) -> tuple[pa.Field, pa.Array]:
        """Nothing is changed."""
        seen.append(field.name)
        return field, array

    serializer = register._REGISTER["test.fields"].serializer  # what the fixture replaced
    assert serializer is not None
    serializer.serialize_batch(pa.record_batch({"record": pa.array([{"inner": 1}])}))

    assert seen == ["inner", "record"]


def test_a_lie_with_nothing_to_be_told_of_does_not_apply() -> None:
    """An empty list raises the error by which a mutant says that it does not apply, with its own text."""
    assert first(iter("ab"), "no letter") == "a"
    with pytest.raises(LookupError, match="no letter"):
        first((), "no letter")


def test_an_unknown_mutant_is_named() -> None:
    """The error for a misspelt mutant names it, and the command that lists the existing ones."""
    with pytest.raises(KeyError, match=r"no mutant is called 'batch\.emtpy'; `conformance serve --mutants`"):
        service_class("batch.emtpy")
