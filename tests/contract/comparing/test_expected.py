from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from conformance.contract import mapping
from conformance.contract.comparing.expected import (
    expected_columns,
    expected_rows,
    expected_table,
    project,
    visible_rows,
)
from conformance.contract.view import View
from conformance.records import AppendRows, BqType, Case, Column, CreateSession, Expect, Mode
from tests.contract.exchanges import Obedient, case_of

LINES = Column(
    "Lines",
    BqType.RECORD,
    Mode.REPEATED,
    fields=(Column("item", BqType.STRING), Column("count", BqType.INT64)),
)
PLACE = Column("Place", BqType.RECORD, fields=(Column("town", BqType.STRING), Column("zip", BqType.INT64), LINES))
COLUMNS = (Column("id", BqType.INT64), PLACE, Column("note", BqType.STRING))
TABLE = pa.Table.from_pylist(
    [
        {"id": 1, "Place": {"town": "a", "zip": 1, "Lines": [{"item": "x", "count": 2}]}, "note": "n"},
        {"id": 2, "Place": None, "note": None},
        {"id": 3, "Place": {"town": None, "zip": 3, "Lines": []}, "note": "m"},
    ],
    schema=mapping.arrow_schema(COLUMNS),
)


def outline(columns: tuple[Column, ...] | None) -> Any:
    """Names with the names below them."""
    return None if columns is None else [(c.name, outline(c.fields)) if c.fields else c.name for c in columns]


@pytest.mark.parametrize(
    ("selected", "expected"),
    [
        ((), ["id", ("Place", ["town", "zip", ("Lines", ["item", "count"])]), "note"]),
        (("note", "id"), ["id", "note"]),
        (("NOTE",), ["note"]),
        (("note", "note"), ["note"]),
        (("Place",), [("Place", ["town", "zip", ("Lines", ["item", "count"])])]),
        (("place.zip",), [("Place", ["zip"])]),
        (("place.zip", "place.town"), [("Place", ["town", "zip"])]),
        (("place.lines.count",), [("Place", [("Lines", ["count"])])]),
        (("place.zip", "place"), [("Place", ["town", "zip", ("Lines", ["item", "count"])])]),
        (("other",), None),
        (("id", "other"), None),
        (("place.other",), None),
        (("place.other", "place"), None),
        (("id.zip",), None),
    ],
)
def test_selected_fields_give_columns_in_the_tables_order(selected: tuple[str, ...], expected: Any) -> None:
    """Order and spelling are the table's, paths into one record merge, an unknown name gives None."""
    assert outline(expected_columns(COLUMNS, selected)) == expected


def test_a_projection_keeps_values_nulls_and_lists_at_every_level() -> None:
    """The projected rows are those of the table without what was not selected, under the types of the contract."""
    columns = expected_columns(COLUMNS, ["place.lines.count", "place.zip"])
    assert columns is not None

    projected = project(TABLE, columns)

    projected.validate(full=True)
    assert projected.schema == mapping.arrow_schema(columns)
    assert projected.to_pylist() == [
        {"Place": {"zip": 1, "Lines": [{"count": 2}]}},
        {"Place": None},
        {"Place": {"zip": 3, "Lines": []}},
    ]


def test_a_projection_of_a_part_is_the_part_of_the_projection() -> None:
    """Slices do not shift nested values."""
    columns = expected_columns(COLUMNS, ["place.lines.item", "id"])
    assert columns is not None

    assert project(TABLE.slice(1), columns).to_pylist() == project(TABLE, columns).to_pylist()[1:]


def sessions(case: Case) -> View:
    """The view of what an obedient server answers."""
    server = Obedient(case)
    return View(case, server.freeze(server.run()), server.table)


def test_appended_rows_are_visible_to_later_sessions_only() -> None:
    """The seed has the rows that AppendRows steps do not append; each session sees the rows from before it."""
    view = sessions(
        case_of(
            CreateSession(label="a"),
            AppendRows(2),
            CreateSession(label="b"),
            AppendRows(3),
            CreateSession(label="c"),
            CreateSession(label="d", snapshot="before-append"),
        )
    )

    assert [len(visible_rows(view, session)) for session in view.sessions] == [5, 7, 10, 5]


def test_expected_rows_are_the_cases_or_all_that_are_visible() -> None:
    """Rows written in the case win; they and the selected fields make the table, once."""
    step = CreateSession(selected_fields=("name",), row_restriction="id > 7", expect=Expect(rows=(8, 9)))
    view = sessions(case_of(step, CreateSession()))

    assert expected_rows(view, view.sessions[0]) == (8, 9)
    assert expected_table(view, view.sessions[0]).to_pylist() == [{"name": "name 8"}, {"name": "name 9"}]
    assert expected_table(view, view.sessions[0]) is expected_table(view, view.sessions[0])
    assert expected_table(view, view.sessions[1]).num_rows == 10
