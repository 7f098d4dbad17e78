"""What the tables are made from: no public defect is without a mutant or a reason, and the score counts."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.disk.files import data_file
from conformance.engine.corpus import load_corpus
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.records import Case
from conformance.reference.variations import VARIATIONS
from publish.tables.defects import DEFECTS, Defect, reported_by
from publish.tables.probes import PROBES, Probe
from publish.tables.results import score
from tests.fixtures import ROOT


def test_docs_holds_documents() -> None:
    """Programs that make them are elsewhere; those in ``docs/examples`` are there to be read."""
    examples = ROOT / "docs" / "examples"
    programs = list((ROOT / "docs").rglob("*.py"))

    assert programs
    assert [path for path in programs if not path.is_relative_to(examples)] == []


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda each: each.id)
def test_a_defect_has_a_mutant_or_a_reason(defect: Defect) -> None:
    """A defect that a writer of responses can commit is committed by a mutant; any other says why not."""
    assert bool(reported_by(defect)) != bool(defect.apart)


def test_mutants_name_known_defects() -> None:
    """A defect that a mutant reproduces is in one of the two tables."""
    known = {defect.id for defect in DEFECTS} | {name for probe in PROBES for name in probe.defects}

    assert {name for mutant in MUTANTS.values() for name in mutant.defects} <= known


def test_an_id_is_given_once() -> None:
    """No two defects share an id, and no two probes a name."""
    assert len({defect.id for defect in DEFECTS}) == len(DEFECTS)
    assert len({probe.name for probe in PROBES}) == len(PROBES)


def test_every_source_is_a_public_address() -> None:
    """A reader can look each of them up."""
    sources = [source for defect in DEFECTS for source in defect.source]
    sources += [source for probe in PROBES for source in probe.source]

    assert [source for source in sources if not source.startswith("https://")] == []


@pytest.fixture(scope="module")
def cases() -> Mapping[str, Case]:
    """The suite's own cases."""
    return load_corpus(data_file("cases"))


@pytest.mark.parametrize("probe", PROBES, ids=lambda each: each.name)
def test_a_probe_is_produced_or_says_why_not(probe: Probe, cases: Mapping[str, Case]) -> None:
    """Its cases and variations exist; a probe that nothing produces has a reason."""
    assert bool(probe.cases or probe.variations or probe.samples) != bool(probe.apart)
    assert set(probe.cases) <= set(cases)
    assert set(probe.variations) <= set(VARIATIONS)


def test_the_score_counts_what_a_proof_found() -> None:
    """A surviving mutant, an over-broad one and an alarm each lower the score."""
    mutants = {
        "good": {"survived": [], "surplus": []},
        "deaf": {"survived": ["framing.batch-prefix"], "surplus": []},
        "broad": {"survived": [], "surplus": ["body.node-count"]},
    }
    proof = {"mutants": mutants, "unproven": ["a.b"], "changes": {"rejected": 7}, "survivors": [], "variations": 9,
             "alarms": {"align-64": {}}}  # fmt: skip

    results = [line.split(" | ")[1].removesuffix(" |\n") for line in [*score(proof)][1:]]

    assert results == ["2 of 3", "1", "1", "0 of 7", "1 of 9"]
