"""Rows become an Avro file with the logical types that the service converts, and come back unchanged."""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import pytest

from conformance.generate.materialise import materialise
from conformance.protocols.storage_read.reference.loading import read_rows
from conformance.records import BqType, Column, Json, Mode, Table
from conformance.targets.avrofile import AVRO_OPTIONS, avro_file
from conformance.targets.targeterrors import CannotSeed

AVRO = {"sourceFormat": "AVRO", **AVRO_OPTIONS}

VALUES: dict[BqType, list[Any]] = {
    BqType.INT64: [-(1 << 63), 0],
    BqType.FLOAT64: [0.1, "-Infinity"],
    BqType.BOOL: [True],
    BqType.STRING: ["", "ä\0b"],
    BqType.BYTES: ["AP8="],
    BqType.JSON: ['{"a": [1]}'],
    BqType.DATE: ["0001-01-01", "9999-12-31"],
    BqType.TIME: ["00:00:00", "23:59:59.999999"],
    BqType.DATETIME: ["0001-01-01T00:00:00", "9999-12-31T23:59:59.999999"],
    BqType.TIMESTAMP: ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59.999999Z"],
    BqType.NUMERIC: ["-99999999999999999999999999999.999999999", "0", "0.000000001"],
    BqType.BIGNUMERIC: ["-1.00000000000000000000000000000000000001", "128"],
}


def table_of(column: Column, values: list[Any]) -> Any:
    """The Arrow table of one column."""
    return materialise(Table((column,), rows=tuple(Json({column.name: value}) for value in values)))


@pytest.mark.parametrize("kind", [*VALUES])
@pytest.mark.parametrize("mode", [*Mode])
def test_values_come_back(kind: BqType, mode: Mode) -> None:
    """At both ends of a type's range, with NULL and in arrays."""
    column = Column("a", kind, mode)
    values = {
        Mode.REPEATED: [VALUES[kind], []],
        Mode.REQUIRED: VALUES[kind],
        Mode.NULLABLE: [*VALUES[kind], None],
    }[mode]
    table = table_of(column, values)

    assert read_rows(AVRO, avro_file((column,), table), (column,)).equals(table)


def test_records_nest_and_repeat() -> None:
    """Each record has a name of its own in the schema."""
    inner = Column("x", BqType.RECORD, Mode.REPEATED, fields=(Column("n", BqType.NUMERIC, precision=5, scale=2),))
    column = Column("a", BqType.RECORD, fields=(inner, Column("y", BqType.RECORD, fields=(Column("z", BqType.DATE),))))
    table = table_of(column, [{"x": [{"n": "1.25"}, {"n": None}], "y": {"z": "2026-01-02"}}, None])

    assert read_rows(AVRO, avro_file((column,), table), (column,)).equals(table)


def test_decimals_select_their_target_type() -> None:
    """Precision and scale of the file decide between NUMERIC and BIGNUMERIC, whatever the column declares."""
    columns = (Column("a", BqType.NUMERIC, precision=5, scale=2), Column("b", BqType.BIGNUMERIC, precision=5, scale=2))
    table = materialise(Table(columns, rows=()))

    schema = json.loads(json.dumps(fastavro.reader(io.BytesIO(avro_file(columns, table))).writer_schema))
    kinds = [field["type"][1] for field in schema["fields"]]

    assert [(kind["precision"], kind["scale"]) for kind in kinds] == [(38, 9), (77, 38)]


def test_a_name_that_avro_lacks_is_refused() -> None:
    """The table comes by another way then."""
    column = Column("größe", BqType.INT64)

    with pytest.raises(CannotSeed, match=r"^Avro has no field of the name 'größe'$"):
        avro_file((column,), table_of(column, [1]))


@pytest.mark.parametrize(
    ("load", "columns", "said"),
    [
        ({"sourceFormat": "AVRO"}, (Column("a", BqType.DATE),), "a plain integer without useAvroLogicalTypes"),
        ({"sourceFormat": "CSV"}, (Column("a", BqType.DATE),), "expected the sourceFormat PARQUET or AVRO, got 'CSV'"),
        (AVRO, (Column("b", BqType.DATE),), "the table has no column 'a'"),
        (AVRO, (Column("a", BqType.RANGE, range_of=BqType.DATE),), "Avro has no type for RANGE"),
        (AVRO, (Column("a", BqType.DATE, Mode.REQUIRED),), "the REQUIRED column 'a' is NULL"),
    ],
)
def test_the_reference_refuses_what_the_service_would(load: dict[str, Any], columns: Any, said: str) -> None:
    """So that a job that forgets an option is noticed here."""
    column = Column("a", BqType.DATE)

    with pytest.raises(ValueError, match=said):
        read_rows(load, avro_file((column,), table_of(column, [None, "2026-01-01"])), columns)
