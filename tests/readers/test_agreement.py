"""Comparison: conforming bytes differ in nothing, every real difference has its kind."""

from __future__ import annotations

import dataclasses
import decimal
import math

import pyarrow as pa
import pytest

from conformance.generate.materialise import materialise
from conformance.readers import READERS, ReaderPool, Takes
from conformance.readers.agreement import Camp, DifferenceKind, Disagreement, differences, disagreements, reported
from conformance.readers.tables import from_pandas, to_stream_bytes
from conformance.records import (
    BqType,
    Case,
    Column,
    Exchange,
    Mode,
    NullPattern,
    Reading,
    ReadingOutcome,
    Recipe,
    Table,
    ValueProfile,
)
from tests.readers.recorded import (
    EOS,
    batch,
    bytes_of,
    case,
    create,
    exchange,
    of_calls,
    read,
    response,
    stream,
)

LEAVES = [kind for kind in BqType if kind not in (BqType.RECORD, BqType.RANGE)]
STREAMS = {name for name, info in READERS.items() if info.takes is Takes.STREAM}
POLARS_TAKES = [kind for kind in LEAVES if kind not in READERS["polars.stream"].cannot]


def every_type(leaves: list[BqType]) -> tuple[Column, ...]:
    """A column of every type in every mode, at the top and two levels down."""
    flat = [Column(f"{kind}_{mode}".lower(), kind, mode) for kind in leaves for mode in Mode]
    ranges = [Column(f"range_{mode}".lower(), BqType.RANGE, mode, range_of=BqType.TIMESTAMP) for mode in Mode]
    inner = Column("inner", BqType.RECORD, Mode.REPEATED, fields=tuple(flat))
    return (*flat, *ranges, Column("outer", BqType.RECORD, fields=(inner,)))


def record(table: pa.Table, case_: Case, *, rows_each: int, streams: int) -> Exchange:
    """The exchange of a conforming server that splits the table like this, streams taking turns."""
    schema = bytes_of(table.schema)
    batches = table.to_batches(max_chunksize=rows_each) if table.num_rows else []
    names = [stream(index) for index in range(streams)]
    calls = [
        read(name, [response(bytes_of(one), one.num_rows, schema=schema) for one in batches[index::streams]])
        for index, name in enumerate(names)
    ]
    return dataclasses.replace(of_calls(create(schema, names), *calls), case_id=case_.id)


@pytest.mark.parametrize("leaves", [LEAVES, POLARS_TAKES], ids=["every type", "those of polars"])
@pytest.mark.parametrize("values", [ValueProfile.BOUNDARY, ValueProfile.RANDOM])
@pytest.mark.parametrize("nulls", [NullPattern.NONE, NullPattern.SOME, NullPattern.ALL])
@pytest.mark.parametrize("split", [(0, 1, 1), (1, 1, 1), (23, 5, 1), (23, 4, 3)], ids=str)
def test_conforming_bytes_differ_in_nothing(
    pool: ReaderPool, leaves: list[BqType], values: ValueProfile, nulls: NullPattern, split: tuple[int, int, int]
) -> None:
    """Every reader reads what a conforming server sends for every type, and no two readers disagree."""
    rows, rows_each, streams = split
    table = Table(every_type(leaves), recipe=Recipe(rows, seed=11, nulls=nulls, values=values))
    one, expected = Case("case", "every type", table), materialise(table)

    readings = pool.read(one, record(expected, one, rows_each=rows_each, streams=streams))

    assert [str(difference) for reading in readings for difference in differences(reading, expected)] == []
    assert [str(disagreement) for disagreement in disagreements(readings)] == []
    unavailable = {reading.reader for reading in readings if reading.outcome is ReadingOutcome.UNAVAILABLE}
    assert unavailable == ({"polars.stream"} if leaves is LEAVES else set())


# --- single differences ---------------------------------------------------------------------------


def reading(table: pa.Table | pa.RecordBatch, reader: str = "pyarrow.slots") -> Reading:
    """A reading that holds this table."""
    whole = table if isinstance(table, pa.Table) else pa.Table.from_batches([table])
    return Reading(reader, "case", "s", ReadingOutcome.TABLE, table=to_stream_bytes(whole))


def kinds(one: Reading, expected: pa.Table | pa.RecordBatch) -> list[tuple[DifferenceKind, int]]:
    """Kind and number of rows of every difference."""
    whole = expected if isinstance(expected, pa.Table) else pa.Table.from_batches([expected])
    return [(difference.kind, difference.rows) for difference in differences(one, whole)]


@pytest.mark.parametrize(
    ("got", "expected", "found"),
    [
        (batch(3, 1, 2), batch(1, 2, 3), []),
        (batch(1, 1), batch(1, 1), []),
        (batch(1, 2), batch(1, 2, 3), [(DifferenceKind.LOST, 1)]),
        (batch(), batch(1, 2, 3), [(DifferenceKind.LOST, 3)]),
        (batch(1, 2, 2, 2), batch(1, 2), [(DifferenceKind.REPEATED, 2)]),
        (batch(1, 9), batch(1), [(DifferenceKind.FOREIGN, 1)]),
        (batch(1, 9), batch(1, 2), [(DifferenceKind.CHANGED, 1)]),
        (batch(1, None), batch(1, 2), [(DifferenceKind.CHANGED, 1)]),
    ],
)
def test_rows(got: pa.RecordBatch, expected: pa.RecordBatch, found: list[tuple[DifferenceKind, int]]) -> None:
    """Rows are compared as a multiset: lost, repeated, foreign, changed."""
    assert kinds(reading(got), expected) == found


def floats(*values: float | None) -> pa.Table:
    """A table of one FLOAT64 column."""
    return pa.table({"x": pa.array(values, pa.float64())})


def test_minus_zero_is_not_zero() -> None:
    """Minus zero is another value than zero."""
    assert kinds(reading(floats(0.0)), floats(-0.0)) == [(DifferenceKind.CHANGED, 1)]


def test_nan_is_nan_and_not_null() -> None:
    """NaN equals NaN, and NULL is neither."""
    assert kinds(reading(floats(math.nan)), floats(math.nan)) == []
    assert kinds(reading(floats(None)), floats(math.nan)) == [(DifferenceKind.CHANGED, 1)]


def test_wide_decimals_are_compared_to_the_last_bit() -> None:
    """Decimals of 77 digits are compared as integers."""
    low, high = (pa.array([(n).to_bytes(32, "little", signed=True)], pa.binary(32)) for n in (-(2**255), 1 - 2**255))
    expected = pa.table({"x": low.view(pa.decimal256(76, 38))})

    assert kinds(reading(expected), expected) == []
    assert kinds(reading(pa.table({"x": high.view(pa.decimal256(76, 38))})), expected) == [(DifferenceKind.CHANGED, 1)]


def test_columns_by_name_and_order() -> None:
    """A column more, a column less and another order are differences of the columns."""
    expected = pa.table({"a": [1], "b": ["x"]})

    assert kinds(reading(expected.select(["b", "a"])), expected) == [(DifferenceKind.COLUMNS, 0)]
    assert kinds(reading(expected.select(["a"])), expected) == [(DifferenceKind.COLUMNS, 0)]
    assert kinds(reading(expected.append_column("c", [[1]])), expected) == [(DifferenceKind.COLUMNS, 0)]


def test_type_that_no_rewrite_explains() -> None:
    """A column of another type is named, with both types."""
    (difference,) = differences(reading(pa.table({"a": pa.array([1], pa.int32())})), pa.table({"a": [1]}))

    assert (difference.kind, difference.field) == (DifferenceKind.TYPE, "a")
    assert str(difference) == "pyarrow.slots gives another type: a: expected int64, got int32"


def test_only_the_readers_own_rewrites_are_undone() -> None:
    """The documented changes of polars are accepted from polars alone."""
    expected = pa.table({"a": ["x"], "b": [[b"y"]]})
    rewritten = expected.cast(pa.schema([("a", pa.string_view()), ("b", pa.large_list(pa.binary_view()))]))

    assert kinds(reading(rewritten, "polars.stream"), expected) == []
    assert kinds(reading(rewritten, "arro3.stream"), expected) == [(DifferenceKind.TYPE, 0)] * 2


@pytest.mark.parametrize("outcome", [ReadingOutcome.ERROR, ReadingOutcome.CRASH, ReadingOutcome.HANG])
def test_no_table_is_a_difference(outcome: ReadingOutcome) -> None:
    """An error, a crash and a hang are differences that say what happened."""
    one = Reading("pyarrow.slots", "case", "s", outcome, error_class="EOFError", error_text="End of Arrow stream")

    (difference,) = differences(one, pa.table({"a": [1, 2]}))

    assert (
        str(difference)
        == f"pyarrow.slots gives no table: expected 2 rows, got {outcome} (EOFError: End of Arrow stream)"
    )


def test_unavailable_differs_in_nothing() -> None:
    """A reader that was not asked has not differed."""
    one = Reading("polars.stream", "case", "s", ReadingOutcome.UNAVAILABLE, error_text="BIGNUMERIC: …")

    assert differences(one, floats(1.0)) == []


def test_empty_reads_need_no_columns_from_some_clients() -> None:
    """A client that has no columns for an empty read is forgiven only then."""
    nothing, client = pa.table({}), "bqstorage.to-arrow-sessionless"

    assert kinds(reading(nothing, client), batch()) == []
    assert kinds(reading(nothing, client), batch(1)) == [(DifferenceKind.COLUMNS, 0), (DifferenceKind.LOST, 1)]
    assert kinds(reading(nothing), batch()) == [(DifferenceKind.COLUMNS, 0)]


def test_rows_without_columns_are_not_counted() -> None:
    """A table without columns cannot say how many rows it has."""
    columnless = pa.Table.from_batches([pa.RecordBatch.from_struct_array(pa.array([{}, {}], pa.struct([])))])

    assert kinds(reading(pa.table({})), columnless) == []


def test_pandas_hides_what_it_documents_and_no_more() -> None:
    """Through pandas, NULL in place of NaN is accepted; another value is not."""
    expected = pa.table({"n": pa.array([1, None, 3]), "d": pa.array([decimal.Decimal("1.5"), None, None])})
    other = expected.set_column(0, "n", pa.array([1, None, 4]))

    assert kinds(reading(from_pandas(expected.to_pandas()), "bqstorage.to-dataframe"), expected) == []
    assert kinds(reading(from_pandas(other.to_pandas()), "bqstorage.to-dataframe"), expected) == [
        (DifferenceKind.CHANGED, 1)
    ]


def test_pandas_sees_null_where_a_number_was_due() -> None:
    """Types that pandas makes from the values are no difference of their own, the values are."""
    expected = pa.table({"n": pa.array([1, 2])})
    got = from_pandas(pa.table({"n": pa.array([1, None])}).to_pandas())

    assert kinds(reading(got, "bqstorage.to-dataframe"), expected) == [(DifferenceKind.CHANGED, 1)]


# --- readers against readers ----------------------------------------------------------------------


def test_markers_divide_the_readers(pool: ReaderPool) -> None:
    """An end-of-stream marker after each batch divides slot readers from stream readers."""
    readings = pool.read(case(rows=6), exchange(bytes_of(batch(1, 2, 3)) + EOS, bytes_of(batch(4, 5, 6)) + EOS))

    (found,) = disagreements(readings)

    assert found.label == "s"
    assert [camp.made for camp in found.camps] == ["6 rows", "3 rows"]
    assert set(found.camps[1].readers) == STREAMS


def test_schema_missing_divides_the_clients(pool: ReaderPool) -> None:
    """Readers that fail are one camp, whatever their words."""
    readings = pool.read(case(), exchange(bytes_of(batch(1, 2, 3)), schema_in_response=False))

    (found,) = disagreements(readings)

    assert set(found.camps[1].readers) == {"bigquery.list-rows", "bqstorage.to-arrow-sessionless"}
    assert found.camps[1].made.startswith("error (TypeError: ")


def test_camps_say_where_they_differ() -> None:
    """Camps with as many rows show a row in which they differ."""
    names = ["pyarrow.slots", "pyarrow.stream", "arro3.stream"]
    readings = [reading(batch(1, 2), name) for name in names[:2]] + [reading(batch(1, 7), names[2])]

    assert disagreements(readings) == [
        Disagreement("s", (Camp(tuple(names[:2]), "2 rows"), Camp((names[2],), _row(7))))
    ]


def _row(number: int) -> str:
    return f"2 rows, among them {{'id': {number}, 'name': 'row {number}'}}"


def test_agreement_is_silent() -> None:
    """Readers of one mind, and those that were not asked, make no disagreement."""
    silent = Reading("polars.stream", "case", "s", ReadingOutcome.UNAVAILABLE)
    through_pandas = reading(from_pandas(pa.Table.from_batches([batch(2, 1)]).to_pandas()), "bqstorage.to-dataframe")

    assert disagreements([reading(batch(1, 2)), through_pandas, silent]) == []


def test_readings_are_told_how_they_differ(pool: ReaderPool) -> None:
    """A compared reading carries its differences and its camp; one that nothing is known about stays as it is."""
    readings = pool.read(case(rows=2), exchange(bytes_of(batch(1)) + EOS, bytes_of(batch(2)), counts=[1, 1]))

    found = {one.reader: one for one in reported(readings, {"s": pa.Table.from_batches([batch(1, 2)])})}

    assert {name for name, one in found.items() if one.differences} == STREAMS
    assert {one.camp for name, one in found.items() if name in STREAMS} == {"arro3.stream"}
    assert len({one.camp for one in found.values()}) == 2
    assert reported(readings, {}) == readings
