"""Faulty serializers in a campaign: each is found, with the same verdicts as in every other run."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from typing import Final

import pytest

from conformance.campaign.campaignjob import DECODERS, CampaignJob
from conformance.campaign.done import Done
from conformance.campaign.guidance import draw
from conformance.campaign.phases import Stepper
from conformance.campaign.sandboxed import Sandbox
from conformance.campaign.storedrows import passed_bits, places, verdicts
from conformance.engine.casestep import CaseStep, CaseWork, Driver, Reader
from conformance.engine.selection import all_clauses
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.readers import ReaderPool
from conformance.records import Outcome
from conformance.targets import open_target
from conformance.targets.spec import SerializerSpec, TargetKind, TargetSpec

ENOUGH: Final = 400
"""Enough cases for every fault that a serializer of plain batches can have."""

_NO_COLUMN = (
    "date64.",
    "dictionary.",
    "fixed-size-list.",
    "list-views.",
    "map.",
    "null.",
    "run-ends.",
    "union.",
    "views.",
)
"""Layouts that no column of BigQuery's has: no case asks for them."""
_NO_CASE: Final = frozenset({"batch.no-columns-no-rows", "name.cut"})
"""Drawn tables have columns, with names of at most 128 characters."""

FAULTY_SERVERS: Final = sorted(
    name
    for name, mutant in MUTANTS.items()
    if mutant.serializer is not None and not name.startswith(_NO_COLUMN) and name not in _NO_CASE
)
"""The mutants that a campaign judges."""


def job(name: str, *readers: str) -> CampaignJob:
    """A job for a mutant's serializer; without decoders, which may crash on its bytes, unless in a sandbox."""
    entry = f"conformance.reference.mutants.serializers:{name}"
    spec = TargetSpec(name="liar", kind=TargetKind.SERIALIZER, serializer=SerializerSpec(entry))
    return CampaignJob(
        spec, cases=ENOUGH, seed=11, profile="arrow", clauses=tuple(all_clauses()), readers=readers, family=8
    )


def failing(one: CampaignJob) -> Iterator[set[str]]:
    """The clauses that fail, case by case."""
    with open_target(one.spec, alone=True) as target:
        stepper = Stepper(one, target, weights=None, mark=lambda index, what: None)
        for index in range(one.cases):
            done = stepper.step(index, ended={})
            yield {row["clause"] for row in done.verdicts if row["outcome"] == Outcome.FAIL}


def prove(name: str) -> None:
    """A campaign over a mutant comes to a failure that the mutant may cause."""
    mutant = MUTANTS[name]
    wanted = (*mutant.kills, *mutant.also)

    assert any(fnmatch.fnmatchcase(clause, glob) for found in failing(job(name)) for clause in found for glob in wanted)


@pytest.mark.parametrize("name", FAULTY_SERVERS[::9])
def test_a_campaign_finds_a_lie(name: str) -> None:
    """By clauses that the mutant names."""
    prove(name)


@pytest.mark.slow(env="campaign")
@pytest.mark.parametrize("name", FAULTY_SERVERS)
def test_a_campaign_finds_every_lie(name: str) -> None:
    """The faults are those that a serializer can have."""
    prove(name)


@pytest.mark.parametrize("name", FAULTY_SERVERS[::6])
def test_a_case_is_judged_as_in_every_other_run(name: str) -> None:
    """The loop of a campaign takes short ways; they lead to the verdicts of every run, findings included."""
    one = job(name)
    with open_target(one.spec, alone=True) as target:
        stepper = Stepper(one, target, weights=None, mark=lambda index, what: None)
        for index in range(0, 40, 5):
            compare(one, stepper.step(index, ended={}), target, None)


def test_a_case_is_read_as_in_every_other_run() -> None:
    """Decoders in the sandbox and decoders in their own processes read the same."""
    one = job("value.list-reversed", *DECODERS)
    with Sandbox(one) as sandbox, ReaderPool(1, readers=one.readers) as readers, open_target(one.spec) as target:
        for done in sandbox.run(0, 12):
            compare(one, done, target, readers)


def compare(one: CampaignJob, done: Done, target: Driver, readers: Reader | None) -> None:
    """Assert that the rows of a case say what the step of every run says of it."""
    register = all_clauses()
    step = CaseStep([register[clause] for clause in one.clauses], target, readers)
    index = done.judge["index"]
    whole = step.verdicts(step.take(CaseWork(draw(one, index, None))))

    passed = [verdict.clause for verdict in whole if verdict.outcome is Outcome.PASS]
    assert done.judge["passed"] == passed_bits(passed, places(one.clauses))
    assert done.verdicts == verdicts(index, whole)
