"""The reference of writes: it is clean, also over connections, and its deviations are found by name."""

from __future__ import annotations

from contextlib import closing

import pytest

from conformance.contract.clause import CLAUSES, load_chapters
from conformance.contract.judge import judge
from conformance.engine.corpus import load_corpus
from conformance.generate import materialise
from conformance.protocol import plugin
from conformance.records import Case, Exchange, Outcome
from conformance.reference.plugin import ReferencePlugin
from conformance.targets import Target, open_target

REFERENCE = plugin(ReferencePlugin, "storage-write")
CASES = load_corpus(protocol="storage-write")
load_chapters()
OWN = [one for one in CLAUSES.values() if one.profiles == ("storage-write",)]


def _failed(case: Case, exchange: Exchange) -> set[str]:
    table = materialise(case.table)
    verdicts = judge(case, exchange, table, clauses=OWN, profile="storage-write")
    assert any(one.outcome is Outcome.PASS for one in verdicts)
    return {one.clause for one in verdicts if one.outcome in (Outcome.FAIL, Outcome.ERROR)}


def _driven(target: Target, case: Case) -> set[str]:
    exchange = target.drive(case, materialise(case.table))
    assert not exchange.untestable
    return _failed(case, exchange)


@pytest.mark.parametrize("name", CASES)
def test_the_reference_is_clean(name: str) -> None:
    """In this process."""
    with closing(REFERENCE.target(None)) as target:
        assert _driven(target, CASES[name]) == set()


@pytest.mark.parametrize("name", ["committed", "pending", "buffered", "offsets", "ahead", "types.record"])
def test_connections_change_nothing(name: str) -> None:
    """Over gRPC and HTTP, the answers are the same."""
    with REFERENCE.listening(None) as spec, open_target(spec) as target:
        assert _driven(target, CASES[f"storage-write.{name}"]) == set()


@pytest.mark.parametrize(
    ("mutant", "name", "clause"),
    [
        ("joined-and-opened", "framing.streams", "storage-write-framing.refused-or-stored"),
        ("one-batch-read", "framing.two-batches", "storage-write-framing.refused-or-stored"),
        ("offset-behind-the-rows", "offsets", "storage-write-offset.is-that-of-the-first-row"),
        ("flush-inserts-again", "buffered", "storage-write-visible.each-row-once"),
        ("commit-one-by-one", "two-streams", "storage-write-visible.failed-commit-shows-nothing"),
    ],
)
def test_what_public_emulators_do_is_found_by_name(mutant: str, name: str, clause: str) -> None:
    """Two ways to decode requests, and three faults of one emulator."""
    with closing(REFERENCE.target(f"storage-write.{mutant}")) as target:
        assert clause in _driven(target, CASES[f"storage-write.{name}"])


@pytest.mark.parametrize("name", REFERENCE.variations())
def test_legal_variations_are_clean(name: str) -> None:
    """On the cases about connections, framing and types of streams."""
    with closing(REFERENCE.target(name)) as target:
        for case in CASES.values():
            if ".types." not in case.id:
                assert _driven(target, case) == set()


def test_a_deviation_that_does_not_exist_is_not_found() -> None:
    """Commands say so in a sentence."""
    with pytest.raises(KeyError, match="no-such"):
        REFERENCE.service("storage-write.no-such")
