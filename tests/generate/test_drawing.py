from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator

import pytest

from conformance.generate.choices import Seeded, one_in
from conformance.generate.drawing import draw_case, profiles
from conformance.generate.materialise import materialise
from conformance.records import (
    BqType,
    Case,
    Column,
    CreateSession,
    Mode,
    NullPattern,
    ReadRows,
    SplitStream,
    ValueProfile,
    to_json,
)


def every(columns: tuple[Column, ...]) -> Iterator[tuple[int, Column]]:
    """Every column at every level, with its depth."""
    for column in columns:
        yield 1, column
        yield from ((depth + 1, field) for depth, field in every(column.fields))


@pytest.fixture(scope="module", params=sorted(profiles()))
def profile(request: pytest.FixtureRequest) -> str:
    """Each profile."""
    return str(request.param)


@functools.cache
def drawn(profile: str) -> list[Case]:
    """Enough cases of a profile for everything to turn up; several tests look at them."""
    return [draw_case(3, index, profile=profile) for index in range(1000)]


@pytest.fixture(scope="module")
def cases(profile: str) -> list[Case]:
    """The cases of each profile."""
    return drawn(profile)


def test_cases_can_be_drawn_in_any_order(profile: str, cases: list[Case]) -> None:
    """A case follows from seed, index and profile alone."""
    again = [draw_case(3, index, profile=profile) for index in (999, 7, 700)]

    assert again == [cases[999], cases[7], cases[700]]
    assert draw_case(4, 7, profile=profile) != cases[7]


def test_drawn_cases_are_the_same_everywhere() -> None:
    """The digest of drawn cases is pinned: no machine and no Python may draw others."""
    digest = hashlib.sha256()
    for name in sorted(profiles()):
        for index in range(100):
            digest.update(json.dumps(to_json(draw_case(2026, index, profile=name)), sort_keys=True).encode())

    assert digest.hexdigest() == "50f94876dd190a16600cc427a4f6dd284daf4d837d7b6597adb4022d263b10b4"


def test_a_case_may_ask_for_more_columns_than_there_are_names() -> None:
    """Case 1827 of seed 2026 has fourteen columns, each with a name of its own."""
    names = [column.name for column in draw_case(2026, 1827, profile="server").table.columns]

    assert len(names) == len(set(names)) == 14


def test_everything_turns_up(profile: str, cases: list[Case]) -> None:
    """Every type in every mode, null pattern, value profile and row count is drawn; records nest to full depth."""
    columns = [pair for case in cases for pair in every(case.table.columns)]
    recipes = [case.table.recipe for case in cases if case.table.recipe]

    assert {(column.type, column.mode) for _depth, column in columns} == {
        (kind, mode) for kind in {*profiles()[profile].types, BqType.RECORD} for mode in Mode
    }
    assert max(depth for depth, _column in columns) == profiles()[profile].depth + 1 > 4
    assert {recipe.nulls for recipe in recipes} == set(NullPattern)
    assert {recipe.values for recipe in recipes} == set(ValueProfile)
    assert {recipe.rows for recipe in recipes} == set(profiles()[profile].rows)


def test_tables_are_bigquery_tables(profile: str, cases: list[Case]) -> None:
    """Siblings differ in their names without case, records are not empty, tables stay within their leaves."""
    for case in cases:
        leaves = [column for _depth, column in every(case.table.columns) if column.type is not BqType.RECORD]
        records = [case.table.columns, *(column.fields for _depth, column in every(case.table.columns))]

        assert 1 <= len(leaves) <= profiles()[profile].leaves + profiles()[profile].depth + 1
        for fields in records:
            names = [field.name.casefold() for field in fields]
            assert len(set(names)) == len(names)


def test_values_can_be_made(cases: list[Case]) -> None:
    """Every drawn table can be made, with the rows that its recipe says."""
    for case in cases[:300]:
        if case.table.recipe is None:  # a table made for restrictions has its rows written out
            assert len(case.table.rows or ()) == materialise(case.table).num_rows
            continue
        assert materialise(case.table).num_rows == case.table.recipe.rows


def test_serializer_cases_have_no_requests_of_their_own() -> None:
    """The arrow profile draws tables; its steps are the default ones."""
    assert all(len(draw_case(3, index, profile="arrow").steps) == 2 for index in range(50))


def test_server_cases_vary_their_requests() -> None:
    """The server profile draws projections with nested paths, restrictions, compression, offsets and splits."""
    cases = drawn("server")[:600]
    steps = [step for case in cases for step in case.steps]
    sessions = [step for step in steps if isinstance(step, CreateSession)]
    offsets = {step.offset for step in steps if isinstance(step, ReadRows)}

    assert any("." in path for session in sessions for path in session.selected_fields)
    assert {session.buffer_compression for session in sessions} == {"", "LZ4_FRAME", "ZSTD"}
    assert {session.max_stream_count for session in sessions} == {0, 1, 2, 5}
    assert offsets == {"0", "inside", "boundary", "last", "end", "end+1", "end+100"}
    assert any(isinstance(step, SplitStream) for step in steps)
    assert any(session.row_restriction for session in sessions)


def test_an_offset_past_the_end_is_to_be_refused() -> None:
    """Only reads past the end expect a refusal."""
    cases = drawn("server")[:600]
    reads = [step for case in cases for step in case.steps if isinstance(step, ReadRows)]

    assert all(("OK" not in read.expect.codes) == read.offset.startswith("end+") for read in reads)


def test_most_server_tables_number_their_rows() -> None:
    """Nine server tables out of ten begin with row_id."""
    cases = drawn("server")[:1000]

    numbered = sum(case.table.columns[0].name == "row_id" for case in cases)

    assert 850 < numbered < 950


def test_selected_paths_exist_and_do_not_overlap() -> None:
    """Every selected path names a column, and none is inside another."""
    for case in drawn("server")[:600]:
        session = case.steps[0]
        if case.needs:  # a query, which selects every column
            continue
        assert isinstance(session, CreateSession)
        for path in session.selected_fields:
            columns = case.table.columns
            for name in path.split("."):
                [column] = [column for column in columns if column.name == name]
                columns = column.fields
            others = [other for other in session.selected_fields if other != path]
            assert not any(path.startswith(f"{other}.") for other in others)
            assert others.count(path) == 0


def test_seeded_choices_cover_their_range() -> None:
    """Integers reach both bounds, and one_in happens about as often as it says."""
    choices = Seeded(1, 2, "x")

    assert {choices.integer(3, 6) for _ in range(200)} == {3, 4, 5, 6}
    assert {choices.pick("abc") for _ in range(100)} == set("abc")
    assert 150 < sum(one_in(choices, 5) for _ in range(1000)) < 250
