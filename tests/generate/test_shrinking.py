from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import pytest

from conformance.generate import draw_case, materialise, shrink, to_json_rows
from conformance.generate.choices import Seeded
from conformance.generate.simplify import simpler_recipe, simpler_rows, simpler_shape
from conformance.records import (
    AppendRows,
    BqType,
    Case,
    Column,
    CreateSession,
    Expect,
    Json,
    Mode,
    NullPattern,
    ReadRows,
    Recipe,
    RunQuery,
    SplitStream,
    Table,
    ValueProfile,
    from_json,
    to_json,
)


def every(columns: tuple[Column, ...]) -> Iterator[Column]:
    """Every column at every level."""
    for column in columns:
        yield column
        yield from every(column.fields)


def has_interval_in_three_rows(case: Case) -> bool:
    """An imaginary defect: INTERVAL columns, once there are three rows."""
    return materialise(case.table).num_rows >= 3 and any(
        column.type is BqType.INTERVAL for column in every(case.table.columns)
    )


def first_case(fails: Callable[[Case], bool], profile: str) -> Case:
    """The first drawn case that fails."""
    return next(case for index in range(5000) if fails(case := draw_case(5, index, profile=profile)))


def test_shrinks_to_what_fails() -> None:
    """A case shrinks to the failing column's path, plain modes, the rows needed, and nothing else."""
    case = first_case(has_interval_in_three_rows, "arrow")

    small = shrink(case, has_interval_in_three_rows, budget=200)

    columns = list(every(small.table.columns))
    assert has_interval_in_three_rows(small)
    assert [column.type for column in columns if column.type is not BqType.RECORD] == [BqType.INTERVAL]
    assert {column.mode for column in columns} == {Mode.NULLABLE}
    assert small.table.rows is not None
    assert len(small.table.rows) == 3


def test_shrinks_values() -> None:
    """Cells that do not matter become NULL, rows that do not matter go."""
    rows = [{"a": number, "b": "x", "c": [1, 2, 3]} for number in range(40)]
    columns = (Column("a", BqType.INT64), Column("b", BqType.STRING), Column("c", BqType.INT64, Mode.REPEATED))
    case = Case("a", "t", Table(columns, rows=tuple(map(Json, rows))))

    small = shrink(case, lambda case: "17" in repr(case.table.rows) and "'b'" in repr(case.table.rows), budget=400)

    assert to_json(small.table)["rows"] == [{"a": 17, "b": None}]


def test_shrinks_requests() -> None:
    """Options and steps that do not matter go; what a step that stays refers to stays as well."""
    columns = (Column("row_id", BqType.INT64, Mode.REQUIRED), Column("a", BqType.STRING), Column("b", BqType.BOOL))
    case = Case(
        "a",
        "t",
        Table(columns, recipe=Recipe(50)),
        (
            CreateSession(selected_fields=("b", "a"), buffer_compression="ZSTD", max_stream_count=5),
            ReadRows(),
            ReadRows(times=2, together=True),
            SplitStream(fraction=0.9),
            ReadRows(stream="x.primary"),
            ReadRows(stream="x.remainder", offset="1"),
        ),
    )

    def fails(case: Case) -> bool:
        return any(isinstance(step, ReadRows) and step.stream == "x.remainder" for step in case.steps)

    small = shrink(case, fails, budget=200)

    assert small.steps == (CreateSession(), SplitStream(fraction=0.9), ReadRows(stream="x.remainder"))
    assert len(small.table.columns) == 1
    assert small.table.rows == ()


def test_known_answers_follow_the_rows() -> None:
    """Where a restriction stays, its column stays, and its rows are renumbered as others go."""
    columns = (Column("row_id", BqType.INT64, Mode.REQUIRED), Column("a", BqType.STRING), Column("b", BqType.BOOL))
    session = CreateSession(row_restriction="row_id >= 30", expect=Expect(rows=tuple(range(30, 50))))
    case = Case("a", "t", Table(columns, recipe=Recipe(50, nulls=NullPattern.NONE)), (session, ReadRows()))

    def fails(case: Case) -> bool:
        rows = to_json_rows(materialise(case.table), case.table.columns)
        [create] = [step for step in case.steps if isinstance(step, CreateSession)]
        if create.expect.rows is None:
            return False
        kept = [index for index, row in enumerate(rows) if row["row_id"] >= 30]
        assert list(create.expect.rows) == kept
        return any(rows[index]["row_id"] == 41 for index in kept)

    small = shrink(case, fails, budget=300)

    assert to_json(small.table)["rows"] == [{"row_id": 41}]
    assert small.steps == (dataclasses.replace(session, expect=Expect(rows=(0,))), ReadRows())


@pytest.mark.parametrize("budget", [0, 1, 25])
def test_keeps_to_its_budget(budget: int) -> None:
    """No more tries than allowed; what comes back is a case that failed."""
    case = first_case(has_interval_in_three_rows, "arrow")
    tried: list[Case] = []

    def fails(candidate: Case) -> bool:
        tried.append(candidate)
        return has_interval_in_three_rows(candidate)

    small = shrink(case, fails, budget=budget)

    assert len(tried) <= budget
    assert small == case or small in [candidate for candidate in tried if has_interval_in_three_rows(candidate)]


def test_is_deterministic() -> None:
    """Two runs try the same cases in the same order and end in the same one."""
    case = first_case(has_interval_in_three_rows, "server")
    runs: list[list[Case]] = [[], []]

    def recorded(tried: list[Case]) -> Callable[[Case], bool]:
        def fails(candidate: Case) -> bool:
            tried.append(candidate)
            return has_interval_in_three_rows(candidate)

        return fails

    small = [shrink(case, recorded(tried), budget=100) for tried in runs]

    assert small[0] == small[1]
    assert runs[0] == runs[1]


def test_nothing_simpler_fails() -> None:
    """Where no simpler case fails, the case comes back as it was."""
    case = draw_case(5, 1, profile="server")

    assert shrink(case, lambda _case: False, budget=50) == case


@pytest.mark.parametrize("simplifier", [simpler_shape, simpler_recipe, simpler_rows])
@pytest.mark.parametrize("profile", ["arrow", "server"])
def test_simpler_cases_are_sound(simplifier: Callable[..., Case], profile: str) -> None:
    """Whatever is decided, the simpler case can be made, refers to nothing that is gone, and survives JSON."""
    for index in range(150):
        case = draw_case(6, index, profile=profile)

        simpler = simplifier(Seeded(1, index, "simpler"), case)

        table = materialise(simpler.table)
        names = {column.name for column in simpler.table.columns}
        assert from_json(Case, to_json(simpler)) == simpler
        assert any(isinstance(step, RunQuery if case.needs else ReadRows) for step in simpler.steps)
        for step in simpler.steps:
            if isinstance(step, CreateSession):
                assert {path.split(".")[0] for path in step.selected_fields} <= names
                assert all(row < table.num_rows for row in step.expect.rows or ())


def test_appended_rows_stay_the_last_ones() -> None:
    """Of the rows that an AppendRows step brings the first ones stay, and the step says how many."""
    recipe = Table((Column("a", BqType.INT64),), recipe=Recipe(20, values=ValueProfile.CONSTANT))
    steps = (CreateSession(), AppendRows(7), ReadRows())
    for table in (recipe, Table(recipe.columns, rows=tuple(Json({"a": number}) for number in range(20)))):
        for index in range(100):
            case = Case("a", "t", table, steps)

            simpler = simpler_rows(Seeded(0, index, "rows"), simpler_recipe(Seeded(0, index, "recipe"), case))

            count = sum(step.count for step in simpler.steps if isinstance(step, AppendRows))
            assert materialise(simpler.table).num_rows >= count
            if simpler.table.rows is not None and count:
                assert simpler.table.rows[-count:] == (table.rows or ())[13 : 13 + count]


def test_a_refused_request_keeps_its_options() -> None:
    """A step that expects a refusal is refused for its options, so they stay."""
    refused = CreateSession(max_stream_count=-1, expect=Expect(codes=("INVALID_ARGUMENT",), reason="negative"))
    case = Case("a", "t", Table((Column("a", BqType.INT64),), recipe=Recipe(2)), (refused, CreateSession(), ReadRows()))

    for index in range(50):
        simpler = simpler_shape(Seeded(0, index, "shape"), case)
        assert all(
            step == refused for step in simpler.steps if isinstance(step, CreateSession) and step.max_stream_count
        )
