"""Each clause on a server belongs to one profile, and the cases that show it ask for that profile and no other."""

from __future__ import annotations

import dataclasses
import fnmatch
import functools

import pytest

from conformance._globs import matches
from conformance.contract.clause import CLAUSES
from conformance.contract.offers import asked, check_not_offered, optional, profile_of, profile_titles
from conformance.contract.profilerow import CORE, ProfileRow
from conformance.engine.corpus import load_corpus
from conformance.engine.selection import PROFILE, all_clauses
from conformance.protocol import DEFAULT_PROTOCOL, protocol_names
from conformance.protocols.flight.records import SendMessages
from conformance.records import Case, CreateSession, ReadRows, RecordError, Step, Table

CASES = tuple(load_corpus(protocol=None).values())
SERVED = [clause_id for clause_id, clause in all_clauses().items() if PROFILE in clause.profiles]
FLOWN = [clause_id for clause_id, clause in all_clauses().items() if clause.protocol]
ROWS = [(name, row) for name in protocol_names() for row in optional(name).values()]


@functools.cache
def naming(clause_id: str) -> list[Case]:
    """The cases that are there to show the clause."""
    return [case for case in CASES if matches(clause_id, case.clauses)]


def _refusable(step: Step) -> bool:
    """True of bare messages that a server without the method may refuse."""
    return isinstance(step, SendMessages) and "UNIMPLEMENTED" in step.expect.codes


def test_a_clause_belongs_to_one_profile_at_most() -> None:
    """The rows of the table do not overlap, so that their order means nothing."""
    rows = {
        clause_id: [
            part.profile
            for _, part in ROWS
            if any(fnmatch.fnmatchcase(clause_id, glob) for glob in part.clauses)
            and not any(fnmatch.fnmatchcase(clause_id, glob) for glob in part.unless)
        ]
        for clause_id in CLAUSES
    }

    assert len(rows) > 600
    assert {
        name: found for name, found in rows.items() if found != [one for one in (profile_of(name),) if one != CORE]
    } == {}


@pytest.mark.parametrize(("protocol", "part"), ROWS, ids=[row.profile for _, row in ROWS])
def test_every_glob_of_a_profile_matches_a_clause(protocol: str, part: ProfileRow) -> None:
    """A renamed chapter must not move its clauses to core."""
    clauses = SERVED if protocol == DEFAULT_PROTOCOL else FLOWN

    assert [glob for glob in (*part.clauses, *part.unless) if not fnmatch.filter(clauses, glob)] == []


@pytest.mark.parametrize("clause_id", [clause_id for clause_id in SERVED if naming(clause_id)])
def test_a_clause_can_be_shown_by_a_server_that_offers_its_profile(clause_id: str) -> None:
    """Some case that names the clause asks for its profile, so that a server without the profile is not judged by it.

    A clause of core has a case that asks for nothing else.
    """
    asks = {frozenset(asked(case)) for case in naming(clause_id)}
    profile = profile_of(clause_id)

    if profile == CORE:
        assert frozenset() in asks
    else:
        assert all(profile in one for one in asks)


@pytest.mark.parametrize("clause_id", [one for one in FLOWN if naming(one) and profile_of(one) != CORE])
def test_a_clause_on_flight_is_shown_by_a_case_that_asks_for_its_profile(clause_id: str) -> None:
    """Tables come in by DoPut or by statements, so that a case may ask for another profile as well.

    Bare messages are put to every server, which may say that it lacks the method.
    """
    profile = profile_of(clause_id)

    assert any(profile in asked(case) or all(map(_refusable, case.steps)) for case in naming(clause_id))


@pytest.mark.parametrize("profile", optional(DEFAULT_PROTOCOL))
def test_a_profile_has_cases_that_ask_for_nothing_else(profile: str) -> None:
    """A server that offers core and this profile is judged on it."""
    assert [case.id for case in CASES if asked(case) == (profile,)] != []


def test_every_profile_has_a_title() -> None:
    """`list profiles` shows all of them, core first."""
    assert next(iter(profile_titles())) == CORE
    assert {row.profile for _, row in ROWS} == set(profile_titles()) - {CORE}


def test_a_part_of_flight_is_no_part_of_storage_read() -> None:
    """Each protocol has its own names, and only tables of BigQuery have its types."""
    check_not_offered("target.not_offered", ("actions", "sql-metadata"), "flight")
    for name, protocol in (("actions", DEFAULT_PROTOCOL), ("splits", "flight")):
        with pytest.raises(RecordError, match="no profile is called"):
            check_not_offered("target.not_offered", (name,), protocol)
    with pytest.raises(RecordError, match="no profile is called 'JSON'"):
        check_not_offered("target.not_offered", ("JSON",), "flight")


def test_a_case_asks_for_what_its_requests_need() -> None:
    """Generated cases are known by their requests, because they name no clause."""
    session = CreateSession(selected_fields=("a",), row_restriction="a > 1")

    plain = Case("a.b", "", Table((), rows=()))

    assert asked(dataclasses.replace(plain, steps=(session, ReadRows()))) == ("filters", "projection")
    assert asked(plain) == ()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("core", "core is what every client needs but got 'core'"),
        ("split", "did you mean splits?"),
        ("xyz", "no profile is called 'xyz'"),
    ],
)
def test_a_name_that_cannot_be_left_out_is_refused(name: str, said: str) -> None:
    """The message names the nearest profile."""
    with pytest.raises(RecordError) as error:
        check_not_offered("target.not_offered", ("filters", name), DEFAULT_PROTOCOL)

    assert said in str(error.value)
