"""The cases that a target file of a Flight server describes: one for each flight that exists, with the rows of a file.

The rows are those of the implementer, so that the suite judges the server by what its owner says is in it.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from conformance.contract.mapping import arrow_schema
from conformance.disk.files import read_text, read_whole
from conformance.generate import to_json_rows
from conformance.protocols.flight.contract.scenarios import FLIGHT_SCENARIOS, scenario_of
from conformance.protocols.flight.records import Descriptor, DoGet, GetFlightInfo, GetSchema, SqlQuery
from conformance.protocols.flight.records.calls import KNOWN
from conformance.protocols.flight.table.spec import FlightSpec, KnownFlight
from conformance.records import BqType, Case, Column, Expect, Json, Step, Table
from conformance.targets import TargetError, TargetSpec

__all__ = ["described_alone", "known_cases", "played", "with_scenario"]

MOST_ROWS: Final = 10_000
"""The most rows of a known flight: a case holds them one by one."""

_TYPES: Final = (
    (pa.types.is_integer, BqType.INT64),
    (pa.types.is_floating, BqType.FLOAT64),
    (pa.types.is_boolean, BqType.BOOL),
    (pa.types.is_date, BqType.DATE),
    (lambda kind: pa.types.is_string(kind) or pa.types.is_large_string(kind), BqType.STRING),
    (lambda kind: pa.types.is_binary(kind) or pa.types.is_large_binary(kind), BqType.BYTES),
    (lambda kind: pa.types.is_timestamp(kind) and kind.tz is not None, BqType.TIMESTAMP),
    (lambda kind: pa.types.is_timestamp(kind) and kind.tz is None, BqType.DATETIME),
)
"""The type of a case's column for a type of a file; others are refused."""
_REFUSED: Final = Expect(("OK", "UNIMPLEMENTED", "INVALID_ARGUMENT", "UNKNOWN", "INTERNAL", "FAILED_PRECONDITION"))


def known_cases(spec: TargetSpec) -> list[Case]:
    """The cases of the known flights of a target, in the order of its file; that of its scenario, if it serves one.

    Raises:
        TargetError: a file with rows cannot be read, or has rows that a case cannot hold.
    """
    flight = FlightSpec.of(spec)
    if flight.scenario is not None:
        return [FLIGHT_SCENARIOS[flight.scenario].case]
    return [_case(spec, known) for known in flight.known]


def with_scenario(spec: TargetSpec, name: str) -> TargetSpec:
    """A Flight target as the server of a scenario of Arrow's integration tests."""
    return dataclasses.replace(spec, own=dataclasses.replace(FlightSpec.of(spec), scenario=name))


def described_alone(spec: TargetSpec) -> bool:
    """True for the server of a scenario, which is asked nothing else."""
    return FlightSpec.of(spec).scenario is not None


def played(spec: TargetSpec, cases: Iterable[str]) -> TargetSpec:
    """A target as the server of the scenario that one of these cases stands for; as it is if there is none."""
    found = next(filter(None, map(scenario_of, cases)), None)
    return spec if found is None else with_scenario(spec, found.name)


def _case(spec: TargetSpec, known: KnownFlight) -> Case:
    columns, rows = _rows(spec.here / known.rows)
    every = Expect(rows=tuple(range(len(rows))))
    steps: tuple[Step, ...]
    if known.sql:
        steps = (SqlQuery(known.sql, expect=every), SqlQuery(known.sql, schema=True, expect=_REFUSED))
    else:
        named = Descriptor(known.path, known.command.encode(), known=True)
        steps = (GetFlightInfo(named, expect=every), GetSchema(named, expect=_REFUSED))
    return Case(
        f"{KNOWN}{known.name}",
        f"The flight {known.name} has the rows of {known.rows}",
        Table(columns, rows=rows),
        (*steps, DoGet()),
        clauses=("flight-rows.*", "flight-info.*", "flight-data.*"),
        protocol="flight",
    )


def _rows(file: Path) -> tuple[tuple[Column, ...], tuple[Json, ...]]:
    try:
        table = _read(file)
    except (OSError, ValueError, pa.ArrowException, RecursionError) as error:
        raise TargetError(f"{file}: cannot read the rows of a known flight: {error}") from None
    if table.num_rows > MOST_ROWS:
        raise TargetError(f"{file}: expected at most {MOST_ROWS} rows of a known flight but got {table.num_rows}")
    columns = tuple(_column(field, file) for field in table.schema)
    try:
        cast = table.cast(arrow_schema(columns))
    except pa.ArrowInvalid as error:
        raise TargetError(f"{file}: a value is outside of the types of a case: {error}") from None
    return columns, tuple(map(Json, to_json_rows(cast, columns)))


def _read(file: Path) -> pa.Table:
    match file.suffix:
        case ".parquet":
            return pyarrow.parquet.read_table(pa.BufferReader(read_whole(file)))
        case ".json" | ".jsonl":
            return pa.Table.from_pylist(_objects(read_text(file)))
        case ".arrows":
            return pyarrow.ipc.open_stream(read_whole(file)).read_all()
        case _:
            return pyarrow.ipc.open_file(read_whole(file)).read_all()


def _objects(text: str) -> list[Mapping[str, Any]]:
    """One object in each line, or a list of objects."""
    if text.lstrip().startswith("["):
        return list(json.loads(text))
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _column(field: pa.Field, file: Path) -> Column:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    for applies, bq in _TYPES:
        if applies(kind):
            return Column(field.name, bq)
    wanted = "integers, floats, texts, bytes, booleans, dates or timestamps"
    raise TargetError(f"{file}: expected columns of {wanted} but {field.name} has {field.type}")
