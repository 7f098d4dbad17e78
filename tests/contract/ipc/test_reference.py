"""The clauses on the reference's legal variations and mutants: variations pass, mutants fail."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Final

import pytest

from conformance.contract.clause import CLAUSES, IPC, Clause, Role
from conformance.contract.closed import Tier, Validity
from conformance.contract.ipc.expectation import Expectation
from conformance.contract.ipc.expecting import expect
from conformance.contract.ipc.judging import ipc_clauses, judge_ipc
from conformance.contract.ipc.rules import clauses_of_rules
from conformance.records import Level, Outcome
from conformance.reference.ipc.mutants import IPC_MUTANTS
from conformance.reference.ipc.register import IpcMutant, IpcVariation, Made
from conformance.reference.ipc.samples import SAMPLES
from conformance.reference.ipc.variations import IPC_VARIATIONS
from conformance.wire import Kind, plain_table

DISCOURAGED: Final[Mapping[str, set[str]]] = {
    "body.padding-dirty": {"body.padding-zero"},
    "body.struct-children-longer": {"body.child-lengths-exact"},
    "dictionary.late": {"dictionary.before-batches"},
    "dictionary.never": {"dictionary.before-batches"},
    "file.batch-unlisted": {"file.blocks-complete"},
    "file.blocks-reordered": {"file.block-order"},
    "file.dictionary-blocks-reordered": {"file.block-order"},
    "file.embedded": {"file.magic"},
    "file.legacy-end": {"stream.one-framing"},
    "file.magic-padding": {"file.magic-padding"},
    "file.magic-to-64": {"file.stream-start"},
    "file.no-end": {"file.end-marker"},
    "schema.fields-absent": {"structure.fields-listed"},
    **{
        f"{place}metadata-{absent}": {"structure.metadata-pairs"}
        for place in ("schema.", "schema.field-", "message.", "file.footer-")
        for absent in ("value-absent", "key-absent", "pair-empty")
    },
    "stream.bytes-after-end": {"stream.nothing-after-end"},
    "stream.end-twice": {"stream.nothing-after-end"},
    "stream.framing-mixed": {"stream.one-framing"},
    "stream.legacy-end": {"stream.one-framing"},
    "stream.metadata-padding-dirty": {"framing.metadata-padding"},
    "stream.twice": {"stream.nothing-after-end"},
    "tensor.aligned-8": {"sparse.aligned", "tensor.aligned"},
    "tensor.data-later": {"tensor.padding"},
    "tensor.of-booleans": {"tensor.whole-bytes"},
}
"""Legal variations that writers should not choose, with the clauses that say so.

One of them does not begin as a file: the file is at the end of something bigger.
"""

EVERY_TYPE: Final = {"types.string-view", "types.list-view", "types.decimal32"} <= set(SAMPLES)

BESIDE: Final[Mapping[str, set[str]]] = {
    "block.offset-odd": {"framing.metadata-alignment"},
    "file.magic-unpadded": {"file.magic-padding", "stream.prefixes"},
    "message.batch.bare-flatbuffer": {"stream.prefixes"},
    "message.batch.trailing-bytes": {"stream.prefixes"},
    "message.batch.whole-stream": {"stream.nothing-after-end"},
    "message.schema.bare-flatbuffer": {"stream.prefixes"},
    "stream.is-a-file": {"stream.prefixes"},
    "stream.json": {"stream.prefixes"},
    "tensor.without-prefix": {"stream.prefixes"},
}
"""Mutants that fail clauses other than those of their rules: of noise, only the framing clause fails."""


@dataclasses.dataclass(frozen=True)
class Tried:
    """The outcome of one sample of a variation or mutant."""

    made: Made
    failed: frozenset[str]
    expectation: Expectation


def tried(made: IpcVariation | IpcMutant) -> tuple[Tried, ...]:
    """Every sample, judged once; clauses on writers are asked as well."""
    found = _all_tried(isinstance(made, IpcMutant), made.name)
    if not found and not EVERY_TYPE:
        pytest.skip("this pyarrow lacks the types that it is tried on")
    return found


@functools.cache
def _all_tried(is_mutant: bool, name: str) -> tuple[Tried, ...]:  # noqa: FBT001  # a key of the cache
    made = IPC_MUTANTS[name] if is_mutant else IPC_VARIATIONS[name]
    return tuple(_tried(one, Kind(made.kind)) for one in made.make())


def _tried(made: Made, kind: Kind) -> Tried:
    verdicts = judge_ipc(made.data, kind, writer=True)
    found = frozenset(verdict.clause for verdict in verdicts if verdict.outcome is Outcome.FAIL)
    return Tried(made, found, expect(made.data, kind))


def failed(made: IpcVariation | IpcMutant) -> set[str]:
    """The clauses that fail on any of the samples."""
    return {clause_id for one in tried(made) for clause_id in one.failed}


@pytest.mark.parametrize("name", IPC_VARIATIONS)
def test_a_legal_variation_fails_nothing(name: str) -> None:
    """Not one clause, but for those that advise writers against it; they bind as advice does."""
    found = failed(IPC_VARIATIONS[name])

    assert found == DISCOURAGED.get(name, set())
    assert name == "file.embedded" or all(CLAUSES[one].level is not Level.MUST for one in found)


@pytest.mark.parametrize("name", IPC_VARIATIONS)
def test_readers_may_expect_a_legal_variation(name: str) -> None:
    """No variation is to be refused; the rows of one are those that it says."""
    for one in tried(IPC_VARIATIONS[name]):
        assert one.expectation.tier is not Tier.STRUCTURE
        assert (one.expectation.result is Validity.INVALID) is (name == "file.embedded")
        if one.made.batches and one.expectation.rows is not None:
            assert plain_table(one.made.batches) == one.expectation.rows


@pytest.mark.parametrize("name", IPC_MUTANTS)
def test_a_mutant_is_told_by_the_clauses_of_its_rules(name: str) -> None:
    """At least one of its own clauses fails, and none that it does not declare."""
    mutant = IPC_MUTANTS[name]
    lookup = clauses_of_rules(f"ipc-{mutant.kind}")
    own = {lookup[rule] for rule in mutant.rules if rule in lookup} | set(mutant.kills) | BESIDE.get(name, set())
    also = {lookup[rule] for rule in mutant.also if rule in lookup}

    found = failed(mutant)

    assert found & own
    assert found <= own | also


def test_readers_may_not_expect_a_mutant() -> None:
    """Input that breaks a MUST is not legal, and input that breaks only a SHOULD is not invalid."""
    expected = []
    for name in IPC_MUTANTS:
        for one in _all_tried(True, name):  # noqa: FBT003  # as above
            musts = {clause_id for clause_id in one.failed if CLAUSES[clause_id].level is Level.MUST}
            if one.expectation.result is (Validity.VALID if musts else Validity.INVALID):
                expected.append((name, one.expectation.result, musts))

    assert len(IPC_MUTANTS) > 300
    assert expected == []


@pytest.mark.skipif(not EVERY_TYPE, reason="this pyarrow lacks types that clauses are about")
def test_every_clause_is_proven() -> None:
    """Each MUST on bytes fails on a mutant, each SHOULD on a mutant or on what is legal and discouraged."""
    found = {one for mutant in IPC_MUTANTS.values() for one in failed(mutant)}
    advised = {one for name in DISCOURAGED for one in failed(IPC_VARIATIONS[name])}

    def unproven(level: Level, by: set[str]) -> set[str]:
        return {one.id for one in _on_bytes() if one.level is level} - by

    assert unproven(Level.MUST, found) == set()
    assert unproven(Level.SHOULD, found | advised) <= ELSEWHERE


ELSEWHERE: Final = {
    "buffers.expansion",
    "buffers.frame-length",
    "structure.booleans",
    "structure.no-stale-bytes",
}
"""Advice against which nothing here goes: the tests of clauses on messages and on metadata do."""


def _on_bytes() -> list[Clause]:
    return [
        one
        for profile in IPC
        for one in ipc_clauses(profile, writer=True)
        if one.role is not Role.READER and one.chapter != "written"
    ]
