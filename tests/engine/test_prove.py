"""The proof, sampled: ``conformance prove`` for a part of its mutants, chosen by a seed.

``faulty_servers.json`` lists the MUST clauses that each faulty server holds on a sixth of the cases, and ``python -m
publish.refresh servers`` writes it. A change of that file changes what the suite lets pass, and must be explained
clause by clause. The published proof lists what they hold on all cases.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import random
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance._globs import matches
from conformance.contract import clause as register
from conformance.contract.clause import CLAUSES, load_chapters
from conformance.engine import prove as proving
from conformance.engine.corpus import load_corpus
from conformance.engine.proof import ProofFixture, Trial, is_heavy, try_mutant
from conformance.engine.prove import Proof, prove
from conformance.protocols.storage_read.reference.mutants import FAULTY_SERVERS, MUTANTS
from conformance.protocols.storage_read.reference.servicevariations import SERVICE_VARIATIONS
from conformance.records import Level
from conformance.reference.variations import VARIATIONS
from tests.contract.exchanges import without_deviation
from tests.engine import servers
from tests.engine.thinning import THIN
from tests.studies import sample

load_chapters()
pytestmark = pytest.mark.timeout(900)  # the first test waits for the whole sample, on a busy machine for long
ROOT = Path(__file__).parents[2]
CASES = tuple(load_corpus().values())
KNOWN = json.loads(servers.KNOWN.read_text())
SEED = 20261121
BYTES = [name for name, mutant in MUTANTS.items() if mutant.serializer is not None]
LIGHT = [case for case in CASES if not is_heavy(case)]
ANSWERS = [
    name
    for name, mutant in MUTANTS.items()
    if mutant.service is not None
    and not mutant.process
    and all(any(matches(clause, case.clauses) for case in LIGHT) for clause in mutant.kills)
]
"""Mutants of behaviour that light cases show."""

PROVEN = sorted({clause for name in BYTES for clause in MUTANTS[name].kills if not clause.startswith("rows.")})
GUTTED = random.Random(SEED).sample(PROVEN, 5)  # a sample that is the same every time
"""Clauses, chosen by the seed, for which there are mutants of bytes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Size:
    """How large a sampled proof is: its mutants of bytes and of behaviour, those that wait, and the step between the
    changes, and between the cases that the legal variations share.
    """

    byte_mutants: int
    answers: int
    waiting: tuple[str, ...]
    every: int
    share: int


SIZES = {"small": Size(6, 2, (), 100, 2), "large": Size(12, 3, ("calls.split-hangs",), 80, 1)}


@pytest.fixture(scope="module", params=sample(SIZES, ("small",), env="thorough"))
def proof(request: pytest.FixtureRequest) -> Proof:
    """A proof with a few mutants of bytes, every mutant of behaviour that no test of the clauses has and a few others,
    a part of the changes, and all variations and servers.
    """
    size, chosen = SIZES[request.param], random.Random(SEED)  # a sample that is the same every time
    mutants = [*chosen.sample(BYTES, size.byte_mutants), *chosen.sample(ANSWERS, size.answers), "reader.loses-rows",
               *size.waiting, *without_deviation()]  # fmt: skip
    return prove(CASES, workers=1, mutants=mutants, every=size.every, thin=THIN, share=size.share)


ALIKE = {
    "responses.stay-within-128-mb",
    "rows.read-is-served",
    "rows.response-is-a-message",
    "rows.every-response-has-a-payload",
    "rows.payload-is-of-the-format",
    "rows.uncompressed-size-is-unset",
    "rows.first-response-has-the-schema",
    "rows.progress-is-a-fraction",
    "rows.rereading-repeats",
}
"""What any two correct reads have in common, and what the answer before shows if it was to the same request."""


class TestSample:
    """Every gate of the proof holds for the sample, and what each faulty server holds is listed and explained.

    One class, for pytest-xdist gives a class to one worker, and the proof is made once.
    """

    def test_every_mutant_is_killed_by_its_clause(self, proof: Proof) -> None:
        """The intended clauses fail on each mutant."""
        assert {trial.name: trial.survived for trial in proof.survived} == {}

    def test_no_mutant_fails_what_it_does_not_declare(self, proof: Proof) -> None:
        """A clause that fails in addition to the intended one is declared, with the reason."""
        assert {trial.name: trial.surplus for trial in proof.broad} == {}

    def test_no_legal_variation_fails_anything(self, proof: Proof) -> None:
        """Neither what real encoders do nor the reference itself is accused, at any level."""
        assert proof.alarms == {}
        assert proof.variations == len(VARIATIONS) + len(SERVICE_VARIATIONS) >= 20

    def test_no_change_survives(self, proof: Proof) -> None:
        """Each change is rejected or permitted."""
        assert proof.survivors == ()
        assert sum(proof.changes.values()) > 50

    def test_no_type_passes_for_another_and_no_clause_raises(self, proof: Proof) -> None:
        """A wrong type, at any depth, fails a clause on types."""
        assert proof.raised == ()
        assert set(proof.types) == {"rejected"}
        assert proof.types["rejected"] > 50

    @pytest.mark.parametrize("faulty", FAULTY_SERVERS)
    def test_it_holds_the_must_clauses_that_are_known(self, proof: Proof, faulty: str) -> None:
        """Neither one more nor one less."""
        assert list(proof.faulty_servers[faulty]) == KNOWN[faulty]

    def test_noise_holds_nothing_about_what_messages_hold(self, proof: Proof) -> None:
        """Bytes that are no message show nothing about metadata, bodies, schemas, types and values."""
        chapters = {clause.partition(".")[0] for clause in proof.faulty_servers["liar.noise"]}

        assert not chapters & {"structure", "body", "buffers", "layouts", "schema", "types", "values", "readers"}

    @pytest.mark.parametrize("faulty", ["liar.null", "liar.always-refuse"])
    def test_who_answers_nothing_or_refuses_everything_holds_nothing(self, proof: Proof, faulty: str) -> None:
        """An empty answer and a refusal show something only next to rows that come."""
        assert proof.faulty_servers[faulty] == ()

    def test_who_repeats_the_previous_answer_holds_its_bytes_alone(self, proof: Proof) -> None:
        """The messages are those of a correct answer to another request: their bytes are right.

        Its refusals are right, too, and do not count, for the requests next to them get the wrong rows.
        """
        # The first answer of a server is right: in this sample, one case asks a query.
        held = [one for one in proof.faulty_servers["liar.previous-answer"] if not one.startswith("query-results.")]
        chapters = {clause.partition(".")[0] for clause in held if clause not in ALIKE}

        assert chapters <= {"encoding", "framing", "structure", "types"}

    def test_each_fails_at_least_one_clause_of_its_lie(self, proof: Proof) -> None:
        """No faulty server holds the whole suite."""
        musts = sum(clause.level is Level.MUST for clause in CLAUSES.values())

        assert max(map(len, proof.faulty_servers.values())) < musts


def test_mutants_that_hang_are_tried_beside_what_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    """One process tries them, one after the other: if all waited at once, no core would compute."""
    crews: list[tuple[int, list[str]]] = []

    @contextlib.contextmanager
    def fake(workers: int, *_stage: Any) -> Iterator[Any]:
        names: list[str] = []
        crews.append((workers, names))

        def submit(_function: Any, kind: str, _protocol: str, name: str, _step: int) -> Future[Any]:
            names.append(name)
            future: Future[Any] = Future()
            future.set_result((Trial(name, {}) if kind == "mutant" else {}, 0.0))
            return future

        yield SimpleNamespace(submit=submit)

    monkeypatch.setattr(proving, "crew", fake)
    mutants = ["calls.split-hangs", "abandon.dies", BYTES[0]]
    prove(CASES, workers=3, mutants=mutants, clauses=[clause for name in mutants for clause in MUTANTS[name].kills])

    (computing, names), waiting = crews
    assert waiting == (1, ["calls.split-hangs", "abandon.dies"])
    assert computing == 3
    assert BYTES[0] in names


class TestGutted:
    """A clause that checks nothing makes the proof fail."""

    @pytest.mark.parametrize("name", GUTTED)
    def test_a_clause_without_a_body_lets_its_mutants_survive(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Every mutant that is made for it survives, and the proof does not hold."""
        killers = [mutant for mutant in BYTES if name in MUTANTS[mutant].kills]
        gutted = dataclasses.replace(CLAUSES[name], check=lambda _subject: ())
        monkeypatch.setitem(register._REGISTER, name, gutted)
        proof_fixture = ProofFixture.of(
            itertools.islice((case for case in CASES if not case.isolated), 12), CLAUSES.values()
        )

        trials = tuple(try_mutant(proof_fixture, MUTANTS[mutant]) for mutant in killers)

        assert [trial.survived for trial in trials] == [(name,)] * len(killers)
        assert not Proof(trials, {}, {}, (), (), {}, {}, (), (), 0).holds
