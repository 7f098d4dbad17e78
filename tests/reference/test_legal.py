"""Legal subjects: many, of every kind, and nothing in them breaks a rule that binds."""

from __future__ import annotations

from conformance.contract.files import judge_bytes
from conformance.contract.ipc.judging import judge_ipc
from conformance.engine.selection import all_clauses
from conformance.generate.subject import LegalBytes
from conformance.records import Level, Outcome, Verdict
from conformance.reference.ipc.variations.files import EMBEDDED
from conformance.reference.legal import legal_subjects
from conformance.wire import Kind


def judged(subject: LegalBytes) -> list[Verdict]:
    """The verdicts on a subject as it is."""
    if subject.kind is Kind.MESSAGE:
        return judge_bytes(subject.parts[0], subject.parts[1:], profile=subject.profile)
    return judge_ipc(subject.parts[0], subject.kind)


def test_every_kind_has_many_subjects_of_different_names() -> None:
    """A name says which subject it is."""
    known = legal_subjects()
    names = [subject.name for subjects in known.values() for subject in subjects]

    assert all(len(known[kind]) > 50 for kind in Kind)
    assert len({*names}) == len(names)


def test_subjects_break_no_rule_that_binds() -> None:
    """Inputs are legal before they are changed; variations break at most a SHOULD."""
    levels = {clause.id: clause.level for clause in all_clauses().values()}
    broken = [
        (subject.name, verdict.clause)
        for subjects in legal_subjects().values()
        for subject in subjects
        if EMBEDDED not in subject.name  # bytes that are more than a file
        for verdict in judged(subject)
        if verdict.outcome is not Outcome.PASS and levels[verdict.clause] is Level.MUST
    ]

    assert broken == []
