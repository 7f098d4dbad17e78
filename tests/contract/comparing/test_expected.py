from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from conformance.contract import mapping
from conformance.contract.comparing.expected import expected_columns, project
from conformance.records import BqType, Column, Mode

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
