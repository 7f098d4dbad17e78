"""The result of a trial, the cases that the fixture tries, and the permitted changes."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from conformance.contract.clause import CLAUSES, PROFILES, load_chapters
from conformance.contract.judge import Judge
from conformance.engine import proof
from conformance.engine.proof import (
    ProofFixture,
    Trial,
    by_bytes,
    by_readings,
    by_server,
    note_failures,
    try_mutant,
)
from conformance.engine.selection import all_clauses
from conformance.protocol import protocol_names
from conformance.protocols.storage_read.engine.systematic import (
    _fate,
    _message_trials,
)
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.records import (
    BqType,
    Case,
    Column,
    Mode,
    Outcome,
    Recipe,
    Table,
    ValueProfile,
    Verdict,
)
from conformance.reference.serializer import REFERENCE

load_chapters()
COLUMNS = (Column("n", BqType.INT64, Mode.REQUIRED), Column("t", BqType.STRING))
CASE = Case("rows.plain", "", Table(COLUMNS, recipe=Recipe(rows=9, seed=1)), clauses=("rows.*",))
HEAVY = Case("rows.many", "", Table(COLUMNS, recipe=Recipe(rows=5000)), clauses=("responses.many-*",))
WIDE = Case("rows.wide", "", Table(COLUMNS, recipe=Recipe(rows=2, values=ValueProfile.WIDE)), clauses=("rows.*",))
NEEDY = Case("rows.needy", "", Table(COLUMNS, recipe=Recipe(rows=1)), needs=("something",))
PROOF_FIXTURE = ProofFixture.of([CASE, HEAVY, WIDE, NEEDY], CLAUSES.values())


def names(kills: tuple[str, ...]) -> list[str]:
    """The cases that a server is asked for these clauses."""
    return [tried.case.id for tried in PROOF_FIXTURE.served(kills)]


class TestTrial:
    """A mutant survives where an intended clause passes; an undeclared failure is surplus."""

    def test_an_intended_clause_that_did_not_fail_survived(self) -> None:
        """Each of the intended clauses has to fail."""
        trial = Trial("m", {"a.one": ("c",)}, kills=("a.one", "a.two"))

        assert trial.survived == ("a.two",)

    def test_a_failure_that_is_not_declared_is_surplus(self) -> None:
        """Clauses that are declared, by name or by pattern, may fail; others may not."""
        trial = Trial("m", dict.fromkeys(("a.one", "b.two", "c.three"), ("c",)), kills=("a.one",), also=("b.*",))

        assert trial.surplus == ("c.three",)


def sized(**recipe: Any) -> Table:
    """A table made by such a recipe."""
    return Table(COLUMNS, recipe=Recipe(**recipe))


class TestProofFixture:
    """Light cases are tried on every mutant, heavy ones on the mutants that they were made for."""

    def test_light_cases_are_tried_on_every_lie(self) -> None:
        """A case that needs a capability is left to targets that have it."""
        assert names(("values.int64",)) == ["rows.plain"]

    def test_a_heavy_case_is_tried_where_no_light_one_serves(self) -> None:
        """Many rows and wide cells cost time, and are spent where they show something."""
        assert names(("responses.many-rows-arrive",)) == ["rows.plain", "rows.many"]
        assert names(("rows.none-is-missing",)) == ["rows.plain"]

    def test_a_mutant_in_a_sample_gets_all_cases_that_are_made_for_it(self) -> None:
        """And each third of the others; heavy cases stay, and with the step 1 so does everything."""
        cases = [dataclasses.replace(CASE, id=f"c.{n}", clauses=("a.*",) if n % 4 == 0 else ("b.*",)) for n in range(8)]
        fixture = ProofFixture.of([*cases, HEAVY], CLAUSES.values())

        sample = fixture.shared(3, ("a.one",))

        assert [one.case.id for one in sample.light] == ["c.0", "c.1", "c.4", "c.5"]
        assert sample.heavy == (HEAVY,)
        assert fixture.shared(1, ("a.one",)) == fixture

    @pytest.mark.parametrize(
        ("case", "heavy"),
        [
            (Case("x", "", sized(rows=2000)), False),
            (Case("x", "", sized(rows=2001)), True),
            (Case("x", "", sized(rows=1, values=ValueProfile.WIDE)), True),
            (Case("x", "", sized(rows=1, values=ValueProfile.WIDE, cell_bytes=1)), True),
            (Case("x", "", sized(rows=1), isolated=True), True),
            (Case("x", "", Table(COLUMNS, rows=())), False),
            (Case("x", "", Table(COLUMNS, rows=()), isolated=True), True),
        ],
    )
    def test_many_rows_wide_cells_and_a_server_of_its_own_are_heavy(self, case: Case, *, heavy: bool) -> None:
        """Two thousand rows are light; written-out rows are few."""
        fixture = ProofFixture.of([case], ())

        assert ([tried.case for tried in fixture.light], list(fixture.heavy)) == (
            ([], [case]) if heavy else ([case], [])
        )

    def test_a_process_gets_the_cases_made_for_it(self) -> None:
        """A mutant that hangs costs its deadline in each case, so it gets few cases."""
        made = [tried.case.id for tried in PROOF_FIXTURE.made_for(("rows.none-is-missing",))]

        assert made == ["rows.plain", "rows.wide"]


class TestTrying:
    """The reference passes, and each kind of fault is found."""

    def test_the_reference_serializer_fails_nothing(self) -> None:
        """The correct server has no finding."""
        assert by_bytes(PROOF_FIXTURE, REFERENCE) == {}

    def test_true_readings_fail_nothing(self) -> None:
        """Two readers that find what the bytes hold pass."""
        assert by_readings(PROOF_FIXTURE, lambda readings: readings) == {}

    @pytest.mark.parametrize("name", ["batch.end-of-stream", "value.int64-off-by-one", "reader.differs"])
    def test_a_lie_fails_its_clause_and_no_other(self, name: str) -> None:
        """A fault in bytes, in values, of a reader."""
        trial = try_mutant(PROOF_FIXTURE, MUTANTS[name])

        assert trial.survived == trial.surplus == ()

    def test_no_server_is_asked_for_what_bytes_show(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A server costs more than all cases in bytes; it is asked where a clause that has to fail did not."""
        asked: list[str] = []

        def none(_: ProofFixture, name: str, _kills: tuple[str, ...], _protocol: str) -> list[list[Verdict]]:
            asked.append(name)
            return []

        monkeypatch.setattr(proof, "by_server", none)
        shown = MUTANTS["batch.end-of-stream"]
        unseen = dataclasses.replace(shown, kills=(*shown.kills, "rows.none-is-missing"))

        assert try_mutant(PROOF_FIXTURE, shown).survived == ()
        assert asked == []
        assert try_mutant(PROOF_FIXTURE, unseen).survived == ("rows.none-is-missing",)
        assert try_mutant(PROOF_FIXTURE, MUTANTS["rows.count-zero"]).failures == {}
        assert asked == [shown.name, "rows.count-zero"]

    def test_a_lie_that_ends_the_server_is_told_by_a_process(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """What fails on the answers of the process is a failure of the mutant."""
        mutant = next(one for one in MUTANTS.values() if one.process)
        found = [Verdict("rows.plain", clause, Outcome.FAIL) for clause in mutant.kills]
        monkeypatch.setattr(proof, "by_process", lambda _fixture, _name, _kills, _kind: [found])

        trial = try_mutant(PROOF_FIXTURE, mutant)

        assert trial.failures == dict.fromkeys(mutant.kills, ("rows.plain",))

    def test_a_lie_of_a_server_is_told_by_a_server(self) -> None:
        """Behaviour shows in calls only."""
        trial = try_mutant(PROOF_FIXTURE, MUTANTS["rows.count-zero"])

        assert set(trial.failures) == {"rows.row-count-is-true"}
        assert trial.failures["rows.row-count-is-true"] == ("rows.plain",)


def test_an_error_in_a_clause_kills_no_mutant() -> None:
    """It is among the failures under a name that no mutant declares."""
    failures: dict[str, tuple[str, ...]] = {}

    note_failures([Verdict("a", "x.y", Outcome.ERROR, reason="it raised"), Verdict("a", "x.z", Outcome.FAIL)], failures)

    trial = Trial("m", failures, kills=("x.y", "x.z"))
    assert trial.survived == ("x.y",)
    assert trial.surplus == ("error in x.y: it raised",)


def test_no_mutant_excuses_what_it_is_made_for() -> None:
    """A clause is either one that has to fail or one that may."""
    assert [mutant.name for mutant in MUTANTS.values() if set(mutant.kills) & set(mutant.also)] == []


def test_a_batch_length_that_no_column_has_is_judged_as_that() -> None:
    """However large it is, it is no excess of rows, which would leave everything else unjudged."""
    judging = Judge(one for one in all_clauses().values() if PROFILES[0] in one.profiles)
    edits = [trial for trial in _message_trials() if trial.edit.path == "RecordBatch.header.length"]

    rejected = {trial.edit.change: _fate(trial, judging).clauses for trial in edits}

    assert "body.column-lengths" in rejected["maximal"]
    assert all(rejected.values())


@pytest.mark.parametrize("protocol", protocol_names())
def test_servers_of_each_protocol_get_scenarios_of_their_own(protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is drawn is asked for with the protocol: they have no steps in common."""
    asked: list[tuple[list[str], str]] = []

    def scenarios(_: ProofFixture, named: list[str], protocol: str) -> tuple[()]:
        asked.append((named, protocol))
        return ()

    monkeypatch.setattr(ProofFixture, "scenarios", scenarios)

    assert list(by_server(ProofFixture((), (), ()), None, ["combination.none-is-missing"], protocol)) == []
    assert asked == [(["combination.none-is-missing"], protocol)]
