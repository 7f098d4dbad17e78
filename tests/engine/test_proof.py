"""The result of a trial, the cases that the fixture tries, and the permitted changes."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable
from typing import Any

import pytest

from conformance.contract import proto
from conformance.contract.clause import CLAUSES, PROFILES, Violation, load_chapters
from conformance.contract.judge import Judge
from conformance.engine import proof
from conformance.engine.fates import Fate, Permission
from conformance.engine.proof import (
    ProofFixture,
    Trial,
    _serialized,
    by_bytes,
    by_readings,
    by_server,
    note_failures,
    try_mutant,
)
from conformance.engine.selection import all_clauses
from conformance.protocol import protocol_names
from conformance.protocols.storage_read.engine.substituted import type_fates
from conformance.protocols.storage_read.engine.systematic import (
    PERMITTED,
    _call_trials,
    _fate,
    _message_trials,
    conversations,
    fates,
)
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.records import (
    BqType,
    Call,
    Case,
    Column,
    Exchange,
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


class TestSystematic:
    """A change is rejected by clauses, or permitted by a text, or survives."""

    def test_a_change_that_nothing_rejects_or_permits_survives(self) -> None:
        """There is no fourth fate."""
        permission = Permission("a.b", "*", "it is free", "https://example.com")

        assert Fate("a.b", "+1").survived
        assert not Fate("a.b", "+1", clauses=("x.y",)).survived
        assert not Fate("a.b", "+1", permission=permission).survived

    def test_changes_are_shared_out_by_their_number(self) -> None:
        """Each process makes every n-th change from its own first one on, so that together they make each once."""
        trials = itertools.chain(_message_trials(), *(_call_trials(*one) for one in conversations()))
        every = [(trial.edit.path, trial.edit.change) for trial in trials]

        for first, step in ((0, 1000), (7, 900), (1, 2500)):
            made = [(fate.path, fate.change) for fate in fates((), (first, step))]
            assert made == every[first::step]

    @pytest.mark.parametrize(("path", "changed"), [("Schema.version", True), ("RecordBatch.version", False)])
    def test_a_changed_message_is_in_its_own_call(self, path: str, *, changed: bool) -> None:
        """The schema is the answer of the first step, the batch that of the second, as serializers have them."""
        trial = next(trial for trial in _message_trials() if trial.edit.path == path)
        calls = trial.exchange().calls
        sound = _serialized(trial.tried, REFERENCE).calls

        shown = [[(call.step, call.method, call.label) for call in some] for some in (calls, sound[:2])]
        assert shown[0] == shown[1]
        assert (calls[0].responses != sound[0].responses) is changed

    def test_each_response_of_a_conversation_is_changed_in_its_place(self) -> None:
        """All else of the exchange stays as it was recorded."""
        tried = next(PROOF_FIXTURE.served(()))
        response = proto.ReadRowsResponse(row_count=2).SerializeToString()
        calls = [Call(step, "s/0", "ReadRows", b"", (b"", response)) for step in (1, 2)]
        exchange = Exchange(CASE.id, "by hand", tuple(calls))

        changed = [trial.exchange() for trial in _call_trials(tried, exchange)]

        places = [
            (number, place)
            for other in changed
            for number, (before, after) in enumerate(zip(exchange.calls, other.calls, strict=True))
            for place, pair in enumerate(zip(before.responses, after.responses, strict=True))
            if pair[0] != pair[1]
        ]
        assert len(places) == len(changed)
        assert set(places) >= {(0, 1), (1, 1)}

    def test_a_permission_is_of_paths_and_changes(self) -> None:
        """Indices are in angle brackets in its pattern."""
        permission = Permission("a.buffers<*>.offset", "* of nothing", "it is free", "https://example.com")

        assert permission.covers("a.buffers[3].offset", "+1 of nothing")
        assert not permission.covers("a.buffers[3].offset", "+1")
        assert not permission.covers("a.nodes[3].offset", "+1 of nothing")

    def test_every_permission_has_a_text_and_its_place(self) -> None:
        """A permission without a source is a survivor in disguise."""
        assert all(len(one.reason) > 10 and "/" in one.source for one in PERMITTED)

    def test_a_sample_of_the_changes_survives_nowhere(self) -> None:
        """Every fiftieth change is rejected, or permitted for a reason."""
        tried = list(fates(CLAUSES.values(), (7, 50)))

        assert len(tried) > 80
        assert [(one.path, one.change) for one in tried if one.survived] == []
        assert {one.permission is None for one in tried} == {True, False}


class TestTypes:
    """A type in the place of another is rejected by a clause on types, and raises in none."""

    def test_a_sample_of_them_is_rejected_and_raises_nowhere(self) -> None:
        """Every fiftieth, as a serializer wrote it and as a server answered with it."""
        tried = list(type_fates(CLAUSES.values(), (3, 50)))

        assert len(tried) > 150
        assert {path.partition(", ")[2] for path in (one.path for one in tried)} == {"serialized", "served"}
        assert [(one.path, one.change) for one in tried if one.survived] == []
        assert [(one.path, one.change, one.errors) for one in tried if one.errors] == []

    def test_what_a_clause_raises_is_told(self) -> None:
        """It is no rejection: the clause on types passes or fails by itself."""

        def broken(_subject: object) -> Iterable[Violation]:
            raise ZeroDivisionError("of ours")

        gutted = dataclasses.replace(CLAUSES["types.int64"], check=broken)

        (serialized, served) = type_fates([gutted], (0, 1 << 20))

        assert serialized.survived
        assert served.survived
        assert "types.int64: the suite raised ZeroDivisionError: of ours" in serialized.errors[0]


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
