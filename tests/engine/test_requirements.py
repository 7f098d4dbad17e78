"""The requirements of a version stay frozen: no id disappears unnoticed, comes back or gets a higher level."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.contract.clause import Clause
from conformance.disk.files import data_file
from conformance.engine.requirements import (
    Corpus,
    Frozen,
    FrozenError,
    Tombstone,
    complaints,
    corpus_of,
    file_name,
    freeze,
    read_frozen,
    write_frozen,
)
from conformance.engine.selection import all_clauses
from conformance.records import Level
from tests.engine.samples import sample_case, sample_clause

CORPUS = Corpus(1, "ab")
VERSION = file_name().removeprefix("clauses-").removesuffix(".json")


def register(**levels: Level) -> dict[str, Clause]:
    """Clauses ``framing.NAME`` with their levels."""
    return {f"framing.{name}": sample_clause(f"framing.{name}", level=level) for name, level in levels.items()}


BEFORE = freeze(register(a=Level.MUST, b=Level.SHOULD), CORPUS)


def found(clauses: dict[str, Clause], frozen: Frozen = BEFORE, corpus: Corpus = CORPUS) -> list[str]:
    """Requirements that are no longer met."""
    return list(complaints(frozen, clauses, corpus))


def ids(frozen: Frozen) -> set[str]:
    """Every id that was ever given."""
    return {item.id for item in frozen.clauses} | {item.id for item in frozen.tombstones}


def test_no_id_that_was_given_up_is_used_again() -> None:
    """Everything else that ``conformance freeze --check`` complains of, freezing mends."""
    frozen = read_frozen(data_file("golden") / file_name())

    assert [one.id for one in frozen.tombstones if one.id in all_clauses()] == []


def test_no_version_lost_an_id_without_a_tombstone() -> None:
    """Every id that was ever frozen is required now, or was given up."""
    now = read_frozen(data_file("golden") / file_name())
    known = ids(now)

    for path in data_file("golden").glob("clauses-*.json"):
        assert ids(read_frozen(path)) <= known


def test_what_was_not_changed_is_not_complained_of() -> None:
    """The same clauses, the same corpus."""
    assert found(register(a=Level.MUST, b=Level.SHOULD)) == []


@pytest.mark.parametrize(
    ("clauses", "message"),
    [
        (register(a=Level.MUST), f"framing.b was frozen in {VERSION} and is gone; restore it, or freeze its tombstone"),
        (
            register(a=Level.MUST, b=Level.MUST),
            "framing.b was frozen as SHOULD and is MUST now; freeze its rise",
        ),
        (
            register(a=Level.SHOULD, b=Level.SHOULD),
            "framing.a was frozen with another level or other profiles; freeze it again",
        ),
        (
            register(a=Level.MUST, b=Level.SHOULD, c=Level.MAY),
            f"framing.c is not among the clauses of {VERSION}; freeze it",
        ),
    ],
)
def test_a_change_of_the_contract_is_seen(clauses: dict[str, Clause], message: str) -> None:
    """One sentence each, with the cure."""
    assert found(clauses) == [message]


def test_a_change_of_the_corpus_is_seen() -> None:
    """Other cases are another test, though the clauses are the same."""
    (text,) = found(register(a=Level.MUST, b=Level.SHOULD), corpus=Corpus(2, "cd"))

    assert text == "the corpus of 2 cases is not the one that was frozen; freeze it"


def test_a_clause_that_is_gone_leaves_a_tombstone() -> None:
    """And its id is never used again."""
    after = freeze(register(a=Level.MUST), CORPUS, BEFORE)

    assert after.tombstones == (Tombstone("framing.b", Level.SHOULD, VERSION),)
    assert found(register(a=Level.MUST), after) == []
    assert found(register(a=Level.MUST, b=Level.MAY), after)[0] == (
        f"framing.b was given up in {VERSION} and is used again; give the clause another id"
    )


def test_a_rise_is_written_down() -> None:
    """The entry says from where, and goes on saying it when the same version is frozen again."""
    raised = register(a=Level.MUST, b=Level.MUST)

    twice = freeze(raised, CORPUS, freeze(raised, CORPUS, BEFORE))

    assert [item.raised_from for item in twice.clauses] == [None, Level.SHOULD]


def test_the_corpus_is_told_by_its_cases_in_any_order() -> None:
    """The digest is the same on every machine, and another one for another case."""
    a, b = sample_case("a"), sample_case("b")

    assert corpus_of([a, b]) == corpus_of([b, a])
    assert corpus_of([a, b]).sha256 != corpus_of([a, sample_case("c")]).sha256


def test_a_frozen_set_reads_back(tmp_path: Path) -> None:
    """One clause to a line, so that its diff can be read."""
    frozen = freeze(register(a=Level.MUST), CORPUS, BEFORE)

    write_frozen(frozen, tmp_path / "c.json")

    assert read_frozen(tmp_path / "c.json") == frozen
    assert '  {"id": "framing.a", "level": "must", "profiles": ["bq-arrow"]}\n' in (tmp_path / "c.json").read_text()


def test_another_file_is_refused(tmp_path: Path) -> None:
    """With its name."""
    (tmp_path / "c.json").write_text("[]")

    with pytest.raises(FrozenError, match="expected frozen requirements"):
        read_frozen(tmp_path / "c.json")
