"""Each change of a right answer is rejected by a clause, or permitted by a text; no type passes for another."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import pytest

from conformance.contract import proto
from conformance.contract.clause import CLAUSES, Violation, load_chapters
from conformance.engine.fates import Fate, Permission
from conformance.engine.proof import ProofFixture, _serialized
from conformance.protocols.storage_read.engine import systematic
from conformance.protocols.storage_read.engine.substituted import type_fates
from conformance.protocols.storage_read.engine.systematic import (
    PERMITTED,
    _call_trials,
    _message_trials,
    fates,
)
from conformance.records import BqType, Call, Case, Column, Exchange, Mode, Recipe, Table
from conformance.reference.serializer import REFERENCE

load_chapters()
COLUMNS = (Column("n", BqType.INT64, Mode.REQUIRED), Column("t", BqType.STRING))
CASE = Case("rows.plain", "", Table(COLUMNS, recipe=Recipe(rows=9, seed=1)), clauses=("rows.*",))
PROOF_FIXTURE = ProofFixture.of([CASE], CLAUSES.values())


class TestSystematic:
    """A change is rejected by clauses, or permitted by a text, or survives."""

    def test_a_change_that_nothing_rejects_or_permits_survives(self) -> None:
        """There is no fourth fate."""
        permission = Permission("a.b", "*", "it is free", "https://example.com")

        assert Fate("a.b", "+1").survived
        assert not Fate("a.b", "+1", clauses=("x.y",)).survived
        assert not Fate("a.b", "+1", permission=permission).survived

    def test_changes_are_shared_out_by_their_number(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each process makes every n-th change from its own first one on, so that together they make each once."""
        monkeypatch.setattr(systematic, "conversations", list)
        every = [(trial.edit.path, trial.edit.change) for trial in _message_trials()]

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
