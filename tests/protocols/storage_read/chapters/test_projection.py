from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from conformance.records import CreateSession, Expect, ReadRows
from tests.contract.exchanges import Answer, Deviation, Spoil, case_of, create, prove, read, session, verdicts


def selecting(*fields: str, **more: Any) -> Any:
    """A case that selects fields and reads them."""
    return case_of(CreateSession(selected_fields=fields, **more), ReadRows())


SWAPPED = selecting("city", "name")
UNKNOWN = Expect(codes=("INVALID_ARGUMENT",), reason="unknown-column")
EITHER = Expect(codes=("OK", "INVALID_ARGUMENT"))
FILTERED = selecting("name", row_restriction="id > 6", expect=Expect(rows=(7, 8, 9)))


def reshaped(change: Callable[[pa.Table], pa.Table]) -> Spoil:
    """Session and read have other columns."""

    def spoil(answers: list[Answer]) -> None:
        answer = read(answers)
        assert answer.table is not None
        answer.send(change(answer.table))
        session(answers).arrow_schema.serialized_schema = answer.table.schema.serialize().to_pybytes()

    return spoil


def without_child(table: pa.Table) -> pa.Table:
    """The record with its first field only."""
    index = table.schema.get_field_index("note")
    records = [{"kind": note["kind"]} for note in table.column("note").to_pylist()]
    return table.set_column(index, "note", pa.array(records))


def with_children_swapped(table: pa.Table) -> pa.Table:
    """The record with its fields in the other order."""
    index = table.schema.get_field_index("note")
    records = [{"size": note["size"], "kind": note["kind"]} for note in table.column("note").to_pylist()]
    return table.set_column(index, "note", pa.array(records))


def with_child(table: pa.Table) -> pa.Table:
    """The record with both its fields."""
    index = table.schema.get_field_index("note")
    records = [{"kind": "k", "size": 1} for _ in range(table.num_rows)]
    return table.set_column(index, "note", pa.array(records))


def swapped_values(answers: list[Answer]) -> None:
    """The values of each column under the name of the other."""
    table = read(answers).table
    assert table is not None
    read(answers).send(pa.table([table.column(1), table.column(0)], schema=table.schema))


def more_rows(answers: list[Answer]) -> None:
    """The rows of the whole table, the filter ignored."""
    table = read(answers).table
    assert table is not None
    read(answers).send(pa.table({"name": [f"name {n}" for n in range(10)]}, schema=table.schema))


DEVIATIONS = (
    Deviation("projection.known-columns-are-served", SWAPPED, lambda a: create(a).refuse()),
    Deviation(
        "projection.only-the-selected",
        SWAPPED,
        reshaped(lambda t: t.append_column("id", pa.array(range(10)))),
    ),
    Deviation("projection.all-the-selected", SWAPPED, reshaped(lambda t: t.select(["city"]))),
    Deviation("projection.order-is-the-tables", SWAPPED, reshaped(lambda t: t.select(["city", "name"]))),
    Deviation("projection.nested-path-keeps-its-record", selecting("note.size"), reshaped(with_child)),
    Deviation("projection.nested-path-keeps-its-record", selecting("note.size"), lambda a: create(a).refuse()),
    Deviation("projection.paths-into-one-record-merge", selecting("note.size", "note.kind"), reshaped(without_child)),
    Deviation(
        "projection.paths-into-one-record-merge",
        selecting("note.size", "note.kind"),
        reshaped(with_children_swapped),
    ),
    Deviation(
        "projection.paths-into-one-record-merge",
        selecting("note.size", "note.kind"),
        lambda a: create(a).refuse(),
    ),
    Deviation("projection.record-comes-whole", selecting("note"), reshaped(without_child)),
    Deviation("projection.record-comes-whole", selecting("note"), lambda a: create(a).refuse()),
    Deviation("projection.case-does-not-matter", selecting("NAME"), lambda a: create(a).refuse()),
    Deviation(
        "projection.case-does-not-matter",
        selecting("NAME"),
        reshaped(lambda t: t.rename_columns(["NAME"])),
    ),
    Deviation(
        "projection.a-name-twice-gives-no-column-twice",
        selecting("name", "name", expect=EITHER),
        reshaped(lambda t: pa.table([t.column(0), t.column(0)], names=["name", "name"])),
    ),
    Deviation(
        "projection.unknown-column-is-refused",
        case_of(CreateSession(selected_fields=("name", "nope"), expect=UNKNOWN)),
        lambda a: setattr(create(a), "status", "OK"),
    ),
    Deviation("projection.values-follow-their-names", SWAPPED, swapped_values),
    Deviation("projection.filter-may-use-other-columns", FILTERED, more_rows),
    Deviation("projection.filter-may-use-other-columns", FILTERED, lambda a: create(a).refuse()),
    Deviation("projection.filter-may-use-other-columns", FILTERED, lambda a: read(a).refuse()),
)


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_one_lie_is_told_by_its_clause_alone(deviation: Deviation) -> None:
    """A single deviation from an obedient answer fails the clause on it, and no other."""
    prove(deviation)


def test_a_name_twice_may_be_refused() -> None:
    """The contract leaves open whether a name that is selected twice is served."""
    found = verdicts(selecting("name", "name", expect=EITHER), lambda a: (create(a).refuse(), a.pop()))

    assert {verdict.clause for verdict in found if verdict.findings} == set()
