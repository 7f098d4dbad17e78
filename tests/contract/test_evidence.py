"""The evidence for each clause: every MUST has enough, and no clause rests on the defect of one emulator."""

from __future__ import annotations

import re
from typing import Final

import pytest

from conformance.contract import sources
from conformance.contract.clause import CLAUSES, clause, evidence_for, load_chapters
from conformance.contract.closed import EvidenceKind
from conformance.contract.sources import RECORDED, STORAGE_PROTO, WRITES_RECORDED, Inferred, evidence_of
from conformance.records import Level

load_chapters()

EMULATOR: Final = re.compile(r"https://github\.com/[^/]+/(?:bigquery-emulator|bqemulator)/")
ALL: Final = list(CLAUSES.values())


def test_each_clause_has_the_evidence_that_its_level_needs() -> None:
    """A clause has evidence; a MUST was recorded or measured, or a specification or a client requires it."""
    assert len(ALL) > 600
    assert [one.id for one in ALL if not one.evidence] == []
    musts = [one for one in ALL if one.level is Level.MUST]
    assert [one.id for one in musts if not any(kind.carries_must for kind in one.evidence)] == []


def test_no_clause_has_a_report_on_one_emulator_as_its_source() -> None:
    """Recordings of the service in an emulator's repository are a source; its defects, code and changes are not."""
    found = {one.id: [address for address in (one.source, *one.also) if EMULATOR.match(address)] for one in ALL}

    assert {
        name: addresses for name, addresses in found.items() if not {RECORDED, WRITES_RECORDED}.issuperset(addresses)
    } == {}


def test_a_clause_names_no_source_twice() -> None:
    """The further sources of a clause differ from its first one and from each other."""
    assert [one.id for one in ALL if len({one.source, *one.also}) != 1 + len(one.also)] == []


def test_each_kind_carries_some_clause() -> None:
    """The set of kinds has no member that no clause uses."""
    assert {kind for one in ALL for kind in one.evidence} == set(EvidenceKind)


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("https://arrow.apache.org/docs/format/Columnar.html#null-layout", EvidenceKind.NORMATIVE),
        ("https://arrow.apache.org/docs/python/generated/pyarrow.ipc.ReadStats.html", EvidenceKind.DOCUMENTATION),
        (STORAGE_PROTO, EvidenceKind.DOCUMENTATION),
        (Inferred(STORAGE_PROTO), EvidenceKind.INFERRED),
        (RECORDED, EvidenceKind.RECORDED),
        ("https://github.com/flink-gcp/flink-connector-gcp", EvidenceKind.RECORDED),
        ("https://github.com/flink-gcp/flink-connector-gcp/tree/main/docs/adr", EvidenceKind.MEASURED),
        ("https://github.com/abdolence/bigquery-rs", EvidenceKind.MEASURED),
        ("https://github.com/abdolence/bigquery-rs/tree/main/tests", EvidenceKind.RECORDED),
    ],
)
def test_the_longest_beginning_decides_the_kind(address: str, kind: EvidenceKind) -> None:
    """A folder of a repository may be evidence of another kind than the repository."""
    assert evidence_of(address) is kind


def test_each_named_address_has_a_kind() -> None:
    """No address of the table is without a kind."""
    named = {text for text in vars(sources).values() if isinstance(text, str) and text.startswith("https://")}

    assert named
    assert all(evidence_of(address) in EvidenceKind for address in named)


def test_an_address_of_no_known_kind_is_refused() -> None:
    """The author of a clause has to say what kind of evidence a new address is."""
    with pytest.raises(ValueError, match=r"known kind of evidence, got 'https://example\.org'"):
        clause("x.y", over=lambda _: [], source="https://example.org", says="x")(lambda _: [])
    assert "x.y" not in CLAUSES


@pytest.mark.parametrize(
    ("breaks", "is_evidence"),
    [
        ("pyarrow 26.0.1: `EOFError`", True),
        ("Go and Node (from their source)", True),
        ("types differ: https://github.com/apache/arrow-adbc/pull/2446", True),
        ("every client: wrong numbers", False),
        ("", False),
    ],
)
def test_a_client_counts_if_it_is_said_how_it_is_known(breaks: str, *, is_evidence: bool) -> None:
    """The version that was run, the source of the client, or a public report; a guess is no evidence."""
    expected = (EvidenceKind.CLIENT, EvidenceKind.DOCUMENTATION) if is_evidence else (EvidenceKind.DOCUMENTATION,)

    assert evidence_for((STORAGE_PROTO,), breaks) == expected


def test_kinds_are_listed_strongest_first() -> None:
    """The order does not depend on the order of the sources."""
    assert evidence_for((Inferred(STORAGE_PROTO), RECORDED), "") == (EvidenceKind.RECORDED, EvidenceKind.INFERRED)
