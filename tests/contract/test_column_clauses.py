"""The clauses on schemas, types and values: each passes on the case's data and fails on a fault in it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping

import pyarrow as pa
import pytest

from conformance.contract import mapping
from conformance.contract.chapters.values import _texts
from conformance.contract.clause import CLAUSES, load_chapters
from conformance.contract.files import judge_bytes
from conformance.contract.judge import judge
from conformance.generate.materialise import materialise
from conformance.protocols.storage_read.reference.mutants import MUTANTS
from conformance.records import (
    BqType,
    Call,
    Case,
    Column,
    CreateSession,
    Exchange,
    Mode,
    Outcome,
    ReadRows,
    Recipe,
    Table,
    ValueProfile,
)
from conformance.reference.serializer import REFERENCE, Serializer
from tests.contract.exchanges import Obedient, read, responses_of, session

load_chapters()
CHAPTERS = {"schema", "types", "values"}
SCALARS = [kind for kind in BqType if kind not in (BqType.RANGE, BqType.RECORD)]
COLUMNS = (
    *(Column(f"{kind.lower()}_n", kind) for kind in SCALARS),
    *(Column(f"{kind.lower()}_q", kind, Mode.REQUIRED) for kind in SCALARS),
    Column("numeric_10_2", BqType.NUMERIC, precision=10, scale=2),
    Column("bignumeric_40_2", BqType.BIGNUMERIC, precision=40, scale=2),
    Column("range_n", BqType.RANGE, range_of=BqType.DATE),
    Column("ranges", BqType.RANGE, Mode.REPEATED, range_of=BqType.TIMESTAMP),
    Column("numbers", BqType.INT64, Mode.REPEATED),
    Column("documents", BqType.JSON, Mode.REPEATED),
    Column("record", BqType.RECORD, fields=(Column("a", BqType.INT64), Column("b", BqType.STRING, Mode.REPEATED))),
    Column("records", BqType.RECORD, Mode.REPEATED, fields=(Column("a", BqType.DATETIME, Mode.REQUIRED),)),
)
CASE = Case("c", "Every type and mode", Table(COLUMNS, recipe=Recipe(rows=40, seed=7, values=ValueProfile.BOUNDARY)))


@functools.cache
def table() -> pa.Table:
    """The rows of the case."""
    return materialise(CASE.table).combine_chunks()


def serialized(serializer: Serializer) -> Exchange:
    """The case's rows from a serializer, in one batch."""
    (batch,) = table().to_batches()
    messages = (
        ("SerializeSchema", serializer.serialize_schema(batch.schema)),
        ("SerializeBatch", serializer.serialize_batch(batch)),
    )
    return Exchange(CASE.id, "x", tuple(Call(0, "", method, b"", (data,)) for method, data in messages))


def failed(exchange: Exchange, chapters: Iterable[str] = CHAPTERS) -> dict[str, str]:
    """The clauses of the chapters that an exchange fails, and what was observed first."""
    verdicts = judge(CASE, exchange, table(), clauses=[one for one in CLAUSES.values() if one.chapter in chapters])
    return {one.clause: one.findings[0].observed for one in verdicts if one.outcome is Outcome.FAIL}


# --- faulty serializers -------------------------------------------------------------------------------


def _retyped(change: Callable[[pa.Field], pa.Field | None]) -> Serializer:
    """The serializer that sends columns under other fields, with the same bits."""

    def reshape(batch: pa.RecordBatch) -> pa.RecordBatch:
        fields = [change(field) or field for field in batch.schema]
        columns = [
            column if column.type == field.type else column.view(field.type)
            for column, field in zip(batch.columns, fields, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))

    return dataclasses.replace(REFERENCE, reshape=reshape)


OWN: Mapping[str, Serializer] = {
    "types.datetime": _retyped(lambda f: f.with_type(pa.timestamp("ns")) if f.name == "datetime_n" else None),
    "types.bignumeric-parameters": _retyped(
        lambda f: f.with_type(pa.decimal256(41, 2)) if f.name == "bignumeric_40_2" else None
    ),
    "schema.metadata-keys": _retyped(
        lambda f: f.with_metadata({"BIGQUERY:type": "x"}) if f.name == "int64_n" else None
    ),
}
"""Faults that the mutants of the reference do not have."""


@functools.cache
def reported() -> Mapping[str, frozenset[str]]:
    """For each fault, the clauses that fail on it."""
    faults = {name: mutant.serializer for name, mutant in MUTANTS.items() if mutant.serializer is not None} | OWN
    return {name: frozenset(failed(serialized(fault))) for name, fault in faults.items()}


BY_SERVERS = {"values.json-compact", "values.geography-form"}
"""How a server writes text is not asked of a serializer."""


OF_LOOSE_BATCHES = {"values.date-limits", "values.timestamp-limits"}
"""Limits are asked where there is nothing to compare with."""


def test_the_case_itself_is_clean() -> None:
    """The reference's own serializer fails no clause, and every clause that asks a serializer has a subject."""
    verdicts = judge(CASE, serialized(REFERENCE), table())

    assert {one.outcome for one in verdicts if not one.clause.startswith("layouts.")} == {Outcome.PASS}
    asked = {one for one in CLAUSES if one.partition(".")[0] in CHAPTERS}
    assert asked - {one.clause for one in verdicts} == BY_SERVERS | OF_LOOSE_BATCHES


ELSEWHERE = BY_SERVERS | OF_LOOSE_BATCHES | {"schema.little-endian", "schema.no-metadata", "types.known"}
"""Clauses that a test of their own shows to fail."""


@pytest.mark.parametrize(
    "clause_id", [one for one in CLAUSES if one.partition(".")[0] in CHAPTERS and one not in ELSEWHERE]
)
def test_a_lie_fails_the_clause(clause_id: str) -> None:
    """For every clause there is a serializer that it fails."""
    faults = [name for name, clauses in reported().items() if clause_id in clauses]

    assert faults


@pytest.mark.parametrize("clause_id", OWN)
def test_a_lie_of_this_module_is_told_once(clause_id: str) -> None:
    """Each fault made here fails its own clause, and no other."""
    assert reported()[clause_id] == {clause_id}


def test_schema_flags_are_told_once() -> None:
    """A big-endian flag and metadata of the schema's own fail one clause each."""
    assert reported()["schema.big-endian"] == {"schema.little-endian"}
    assert reported()["schema.own-metadata"] == {"schema.no-metadata"}


def test_exchanged_columns_are_told_once() -> None:
    """Two columns that keep their names and exchange their values fail the clause on that, and none on values."""
    assert reported()["columns.values-swapped"] == {"values.follow-names"}


# --- what stays open ------------------------------------------------------------------------------------

SERVED = Case(
    "served",
    "A server may write text in its own way",
    Table(
        (
            Column("k", BqType.INT64, Mode.REQUIRED),
            Column("j", BqType.JSON),
            Column("g", BqType.GEOGRAPHY),
            Column("r", BqType.RANGE, Mode.REQUIRED, range_of=BqType.DATE),
        ),
        rows=tuple(
            {
                "k": row,
                "j": '{"a":1,"b":[null,2.50]}',
                "g": "LINESTRING(1 2, 3 4)",
                "r": {"start": None, "end": "2024-01-01"},
            }
            for row in range(4)
        ),
    ),
    steps=(CreateSession(), ReadRows()),
)


def served(change: Callable[[pa.Table], pa.Table]) -> dict[str, str]:
    """The clauses that a server fails which sends ``change`` of the case's rows."""
    server = Obedient(SERVED)
    answers = server.run()
    sent = change(server.table.combine_chunks())
    session(answers).arrow_schema.serialized_schema = sent.schema.serialize().to_pybytes()
    read(answers).responses = responses_of(sent)
    verdicts = judge(
        SERVED,
        server.freeze(answers),
        server.table,
        clauses=[one for one in CLAUSES.values() if one.chapter in CHAPTERS],
    )
    return {one.clause: one.findings[0].observed for one in verdicts if one.outcome is Outcome.FAIL}


def _with(rows: pa.Table, name: str, values: list[object]) -> pa.Table:
    index = rows.schema.get_field_index(name)
    field = rows.schema.field(index)
    return rows.set_column(index, field, pa.array(values, field.type))


def test_rows_of_a_server_come_in_any_order() -> None:
    """The order of rows is no matter of values."""
    assert served(lambda rows: rows.take([2, 0, 3, 1])) == {}


def test_json_may_be_written_in_another_way() -> None:
    """White space and the order of keys change no value, and white space is reported as such."""
    found = served(lambda rows: _with(rows, "j", ['{"b": [null, 2.5], "a": 1.0}'] * 4))

    assert set(found) == {"values.json-compact"}


def test_json_of_another_document_is_another_value() -> None:
    """A changed number inside of a document is found."""
    found = served(lambda rows: _with(rows, "j", ['{"a":2,"b":[null,2.50]}'] * 4))

    assert set(found) == {"values.json"}


def test_wkt_may_be_spaced_in_another_way() -> None:
    """Spaces in WKT change no value, and are reported as such."""
    found = served(lambda rows: _with(rows, "g", ["LINESTRING (1 2,3 4.0)"] * 4))

    assert set(found) == {"values.geography-form"}


def test_bytes_in_place_of_a_text_have_another_form() -> None:
    """WKB in an array of GEOGRAPHY is seen by the clause on the form of texts, though the type is wrong as well."""
    assert _texts(pa.table({"g": [[b"\x01\xff"], []]}), "g.item") == ["\x01\\xff"]


@pytest.mark.parametrize(
    ("path", "texts"),
    [
        ("g", []),
        ("t", ["a", None, "b"]),
        ("s.t", ["x", None, "y"]),
        ("s.n", []),
        ("s.none", []),
        ("l.item.t", ["p", "q"]),
        ("t.t", []),
        ("none", []),
        ("none.item", []),
    ],
)
def test_texts_are_found_at_their_path(path: str, texts: list[str | None]) -> None:
    """In records and lists; where there is no such column, or one of another type, are none."""
    table = pa.table(
        {
            "g": [1, 2, 3],
            "t": ["a", None, "b"],
            "s": [{"t": "x", "n": 1}, {"t": None, "n": 2}, {"t": "y", "n": None}],
            "l": [[{"t": "p"}], [], [{"t": "q"}]],
        }
    )

    assert _texts(table, path) == texts


def test_text_that_is_no_utf8_is_a_wrong_value() -> None:
    """Bytes that are not text are reported, and do not stop the judge."""
    spoilt = pa.array([b"{\xff}"] * 4).view(pa.utf8())

    found = served(lambda rows: rows.set_column(1, rows.schema.field(1), spoilt))

    assert "values.json" in found


def test_two_columns_of_one_name_do_not_stop_the_judge() -> None:
    """Of several columns with one name the first is compared, and the others are reported as surplus."""
    found = served(lambda rows: rows.append_column(rows.schema.field(0), rows.column(0)))

    assert set(found) == {"schema.columns-known"}
    assert "a second field of this name" in found["schema.columns-known"]


@pytest.mark.parametrize("of", [BqType.DATE, BqType.DATETIME, BqType.TIMESTAMP])
def test_bounds_of_datetimes_may_be_marked(of: BqType) -> None:
    """The metadata of a DATETIME column is permitted on the bounds of its range, and reported on those of another."""
    marks = {"ARROW:extension:name": "google:sqlType:datetime"}
    bound = mapping.arrow_field(Column("start", of)).type
    struct = pa.struct([pa.field("start", bound), pa.field("end", bound, metadata=marks)])
    schema = pa.schema([pa.field("r", struct, metadata={"google:sqlType": "range"})])
    case = Case("ranges", "A range", Table((Column("r", BqType.RANGE, range_of=of),), rows=({"r": None},)))
    sent = pa.table([pa.nulls(1, struct)], schema=schema)
    (batch,) = sent.to_batches()
    messages = (
        ("SerializeSchema", REFERENCE.serialize_schema(schema)),
        ("SerializeBatch", REFERENCE.serialize_batch(batch)),
    )
    exchange = Exchange("ranges", "x", tuple(Call(0, "", method, b"", (data,)) for method, data in messages))

    verdicts = judge(case, exchange, sent, clauses=[CLAUSES["types.range"]])

    found = [(one.field, one.observed) for verdict in verdicts for one in verdict.findings]
    assert found == ([] if of is BqType.DATETIME else [("r.end", f"metadata {marks}")])


def test_an_unbounded_end_of_a_required_range_is_open() -> None:
    """The value for a missing bound of a REQUIRED range is not judged; an existing bound is."""
    date = pa.scalar(0, pa.date32()).as_py()

    epoch = served(lambda rows: _with(rows, "r", [{"start": date, "end": r["end"]} for r in rows["r"].to_pylist()]))
    wrong = served(lambda rows: _with(rows, "r", [{"start": None, "end": date} for _ in range(4)]))

    assert epoch == {}
    assert set(wrong) == {"values.range"}


@pytest.mark.parametrize(
    ("clause_id", "kind", "within", "beyond"),
    [
        ("values.date-limits", pa.date32(), (-719_162, 2_932_896), (-719_163, 2_932_897)),
        (
            "values.timestamp-limits",
            pa.timestamp("us", "UTC"),
            (-62_135_596_800_000_000, 253_402_300_799_999_999),
            (-62_135_596_800_000_001, 253_402_300_800_000_000),
        ),
    ],
)
def test_limits_hold_without_a_case(
    clause_id: str, kind: pa.DataType, within: tuple[int, int], beyond: tuple[int, int]
) -> None:
    """In messages from files, dates and times stay inside of BigQuery's calendar, at any depth."""

    def found(values: tuple[int, int]) -> list[str]:
        column = pa.array([[value] for value in values], pa.list_(pa.int64() if kind.bit_width == 64 else pa.int32()))
        batch = pa.RecordBatch.from_pydict({"c": column.cast(pa.list_(kind))})
        verdicts = judge_bytes(batch.schema.serialize().to_pybytes(), [batch.serialize().to_pybytes()])
        assert clause_id in {one.clause for one in verdicts}
        return [one.clause for one in verdicts if one.outcome is Outcome.FAIL]

    assert found(within) == []
    assert found(beyond) == [clause_id]


def test_every_type_has_a_clause_of_its_own() -> None:
    """The chapters on types, values and field metadata cover every BigQuery type."""
    kinds = {kind.lower() for kind in BqType}

    assert {f"types.{kind}" for kind in kinds} <= set(CLAUSES)
    assert {f"values.{kind}" for kind in kinds} <= set(CLAUSES)
    marked = {column.type.lower() for column in COLUMNS if mapping.field_metadata(column)}
    assert {f"schema.metadata-{kind}" for kind in marked} <= set(CLAUSES)
