from __future__ import annotations

import dataclasses

import pytest

from conformance.generate import draw_case
from conformance.generate.casecheck import check_case
from conformance.generate.drawing import profiles
from conformance.protocols.flight.records import Descriptor, GetFlightInfo
from conformance.records import (
    AppendRows,
    BqType,
    Case,
    Column,
    CreateSession,
    Expect,
    Happening,
    Meanwhile,
    QueryStatement,
    ReadResult,
    ReadRows,
    Recipe,
    RecordError,
    RunQuery,
    SplitStream,
    Step,
    Table,
)

A = Column("a", BqType.INT64)


def case(*columns: Column, recipe: Recipe | None = None, steps: tuple[Step, ...] = (CreateSession(),)) -> Case:
    """A case of ten rows, unless a recipe says otherwise."""
    return Case("a", "t", Table(columns or (A,), recipe=recipe or Recipe(10)), steps)


def flight(*steps: Step) -> Case:
    """A case of Flight that asks for an info first."""
    asked = GetFlightInfo(Descriptor(path=("f",)))
    return dataclasses.replace(case(steps=(asked, *steps)), protocol="flight")


@pytest.mark.parametrize("profile", sorted(profiles()))
def test_drawn_cases_pass(profile: str) -> None:
    """Whatever is drawn fits together."""
    for index in range(300):
        check_case(draw_case(12, index, profile=profile))


def test_case_without_columns_passes() -> None:
    """A table may have no columns: serializers can be given rows of none."""
    check_case(Case("a", "t", Table((), recipe=Recipe(3))))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            case(A, Column("A", BqType.STRING)),
            "Case.table.columns[1].name: expected a name that no sibling column has, ignoring case",
        ),
        (
            case(Column("r", BqType.RECORD, fields=(A, Column("", BqType.BOOL)))),
            "Case.table.columns[0].fields[1].name: expected a name that no sibling column has, ",
        ),
        (
            case(Column("r", BqType.RANGE, range_of=BqType.INT64)),
            "Case.table.columns[0].range_of: expected one of DATE, DATETIME, TIMESTAMP but got ",
        ),
        (
            case(Column("a", BqType.INT64, precision=3)),
            "Case.table.columns[0].precision: expected no value (only BIGNUMERIC and NUMERIC have it) but got 3",
        ),
        (
            case(Column("a", BqType.STRING, max_length=0)),
            "Case.table.columns[0].max_length: expected 1 or more but got 0",
        ),
        (
            case(Column("a", BqType.NUMERIC, precision=30)),
            "Case.table.columns[0].precision: expected max(1, scale) to scale + 29 with a scale of at most 9 for ",
        ),
        (
            case(Column("a", BqType.NUMERIC, scale=2)),
            "Case.table.columns[0].precision: expected max(1, scale) to scale",
        ),
        (case(recipe=Recipe(-1)), "Case.table.recipe.rows: expected 0 or more but got -1 (int)"),
        (case(recipe=Recipe(1, max_items=-1)), "Case.table.recipe.max_items: expected 0 or more but got -1 (int)"),
        (
            case(steps=(CreateSession(label="t"), ReadRows())),
            "Case.steps[1].session: expected the label of an earlier create-session step but got 's' (str)",
        ),
        (
            case(steps=(CreateSession(), ReadRows(stream="x.primary"), SplitStream())),
            "Case.steps[1].stream: expected a child (x.primary, x.remainder) of an earlier split but got 'x.primary'",
        ),
        (
            case(steps=(CreateSession(), SplitStream(), ReadRows(stream="x.rest"))),
            "Case.steps[2].stream: expected a child (x.primary, x.remainder) of an earlier split but got 'x.rest'",
        ),
        (
            case(steps=(CreateSession(expect=Expect(rows=(9, 10))),)),
            "Case.steps[0].expect.rows: expected indices into the table's 10 rows but got 10 (int)",
        ),
        (
            case(Column("\ud800", BqType.INT64)),
            "Case.table.columns[0].name: expected a text without lone surrogates but got",
        ),
        (
            case(steps=(CreateSession(expect=Expect(rows=(1, 0, 1))),)),
            "Case.steps[0].expect.rows: expected each index once but got 1 (int)",
        ),
        (
            case(steps=(AppendRows(1, again=True), CreateSession(snapshot="before-append"))),
            "Case.steps[1].snapshot: expected none after the table was made again, or after a meanwhile step: the time",
        ),
        (
            case(steps=(Meanwhile(Happening.RESTART), CreateSession(snapshot="before-append"))),
            "Case.steps[1].snapshot: expected none after the table was made again, or after a meanwhile step: the time",
        ),
        (
            case(steps=(Meanwhile(Happening.QUERY), AppendRows(1, again=True))),
            "Case.steps[1].again: expected no table made again after another was made of it but got",
        ),
        (
            case(steps=(Meanwhile(Happening.PARTITIONED),)),
            "Case.steps[0]: expected a column of type DATE to partition by but got",
        ),
        (
            case(steps=(RunQuery(), ReadResult(), Meanwhile(Happening.RESULT))),
            "Case.steps[2].what: expected a happening behind a read-result step that is described but got",
        ),
        (
            case(steps=(CreateSession(timestamps="SECONDS"),)),
            "Case.steps[0].timestamps: expected one of MICROS, NANOS, PICOS, or a number from 0 to",
        ),
        (
            case(steps=(CreateSession(), Meanwhile(Happening.EXPIRY), AppendRows(1))),
            "Case.steps[2]: expected no insertion after expiry: the server's clock is ahead then but got",
        ),
        (
            case(steps=(Meanwhile(Happening.HALFWAY),)),
            "Case.steps[0]: expected a happening of Storage Read, which has no infos but got",
        ),
        (
            case(steps=(RunQuery(), ReadResult("other"))),
            "Case.steps[1].query: expected the label of an earlier run-query step that has rows but got 'other' (str)",
        ),
        (
            case(steps=(RunQuery(statement=QueryStatement.CREATE), ReadResult())),
            "Case.steps[1].query: expected the label of an earlier run-query step that has rows but got 'q' (str)",
        ),
        (
            case(steps=(RunQuery(), ReadResult(location="\ud800"))),
            "Case.steps[1].location: expected a text without lone surrogates but got",
        ),
        (
            case(steps=(RunQuery(), Meanwhile(Happening.REMOVED), RunQuery())),
            "Case.steps[2]: expected only reads of results behind the removal of the table but got 'run-query' (str)",
        ),
        (
            case(steps=(RunQuery(wait=-1),)),
            "Case.steps[0].wait: expected a number of milliseconds from 0 to 2147483647 but got -1 (int)",
        ),
        (
            case(steps=(RunQuery(), ReadResult(during=1))),
            "Case.steps[1].during: expected a number of steps that follow but got 1 (int)",
        ),
        (case(steps=(RunQuery(), ReadResult(times=0))), "Case.steps[1].times: expected a number of calls from 1 to "),
        (
            case(steps=(RunQuery(), ReadResult(listed=True, times=2))),
            "Case.steps[1].times: expected a number of calls from 1 to 1 but got 2 (int)",
        ),
        (
            case(steps=(RunQuery(), ReadResult(described=True, times=2))),
            "Case.steps[1].times: expected a number of calls from 1 to 1 but got 2 (int)",
        ),
        (
            case(steps=(RunQuery(), ReadResult(timestamps="MILLIS"))),
            "Case.steps[1].timestamps: expected one of MICROS, NANOS, PICOS, or none but got 'MILLIS' (str)",
        ),
        (
            case(steps=(RunQuery(statement=QueryStatement.COPY),)),
            "Case.steps[0].statement: expected a statement behind the one that makes its table but got",
        ),
        (
            case(steps=(RunQuery(statement=QueryStatement.UNNAMED),)),
            "Case.steps[0].statement: expected a column row_id of INT64 but got",
        ),
        (
            case(steps=(RunQuery(statement=QueryStatement.FAILING),)),
            "Case.steps[0].statement: expected a written row with row_id 0, at which it fails but got",
        ),
        (case(steps=(RunQuery(results="arrow"),)), "Case.steps[0].results: expected one of ARROW, STRUCT_ENCODING"),
        (case(steps=(RunQuery(buffer_compression="GZIP"),)), "Case.steps[0].buffer_compression: expected one of LZ4"),
        (case(steps=(RunQuery(max_results=-1),)), "Case.steps[0].max_results: expected a number of rows from 0"),
        (
            case(steps=(RunQuery(), ReadResult(offset="+1"))),
            "Case.steps[1].offset: expected a number from -9223372036854775808 to ",
        ),
        (
            case(steps=(RunQuery(), ReadResult(offset="-9223372036854775809"))),
            "Case.steps[1].offset: expected a number from -9223372036854775808 to ",
        ),
        (
            case(steps=(CreateSession(), ReadRows(offset="9223372036854775808"))),
            "Case.steps[1].offset: expected a number from -9223372036854775808 to 9223372036854775807, or one of ",
        ),
        *(
            (case(steps=(CreateSession(**{key: value}),)), f"Case.steps[0].{key}: expected {expected} but got")  # type: ignore[arg-type]  # values of any key
            for key, value, expected in (
                ("max_stream_count", 1 << 31, "a number from -2147483648 to 2147483647"),
                ("preferred_min_stream_count", -(1 << 31) - 1, "a number from -2147483648 to 2147483647"),
                ("restriction_bytes", 10**12, "a number from 0 to 16777216"),
                ("restriction_bytes", -1, "a number from 0 to 16777216"),
                ("snapshot", "yesterday", "one of before-append, past, future, or none"),
                ("data_format", "PARQUET", "one of AVRO, ARROW, or a number from 0 to 2147483647"),
                ("buffer_compression", "2147483648", "one of LZ4_FRAME, ZSTD, or a number from 0 to 2147483647"),
                ("response_compression", "9" * 5000, "one of LZ4, or a number from 0 to 2147483647"),
                ("trace_id", "\ud800", "a text without lone surrogates"),
            )
        ),
        (
            case(steps=(CreateSession(selected_fields=("a", "\udfff")),)),
            "Case.steps[0].selected_fields[1]: expected",
        ),
        (
            case(steps=(CreateSession(), ReadRows(times=10**9))),
            "Case.steps[1].times: expected a number of calls from 1 to 1000 but got 1000000000 (int)",
        ),
        (
            case(steps=(CreateSession(), ReadRows(times=0))),
            "Case.steps[1].times: expected a number of calls from 1 to 1000 but got 0 (int)",
        ),
        (
            case(steps=(CreateSession(), ReadRows(offset="middle"))),
            "Case.steps[1].offset: expected a number from -9223372036854775808 to 9223372036854775807, or one of ",
        ),
        (
            case(steps=(RunQuery(statement=QueryStatement.ORDERED),)),
            "Case.steps[0].statement: expected written rows with another row_id in each but got ",
        ),
        (
            case(Column("r", BqType.RECORD, fields=(Column("a", BqType.STRING, max_length=3),)), steps=(RunQuery(),)),
            "Case.steps[0]: expected columns without precision, scale and max_length for a query but got 'r' (str)",
        ),
        (
            flight(Meanwhile(Happening.RESTART)),
            "Case.steps[1].what: expected one of expiry, halfway in a case of Flight but got",
        ),
        (
            flight(Meanwhile(Happening.EXPIRY, "j")),
            "Case.steps[1].info: expected the label of an earlier get-flight-info step but got 'j' (str)",
        ),
        (
            flight(Meanwhile(Happening.HALFWAY)),
            "Case.steps[1].info: expected the label of the info whose time passes but got '' (str)",
        ),
        (
            case(steps=(AppendRows(6), AppendRows(5))),
            "Case.steps[1].count: expected at most the table's 10 rows in all but got 5 (int)",
        ),
    ],
)
def test_parts_that_do_not_fit_are_refused(wrong: Case, message: str) -> None:
    """The message gives the place, the expected value and the actual value."""
    with pytest.raises(RecordError) as caught:
        check_case(wrong)

    assert str(caught.value).startswith(message)


def test_literal_stream_names_need_no_session() -> None:
    """A read of a stream by its literal name refers to nothing in the case."""
    check_case(case(steps=(ReadRows(name="projects/p/locations/l/sessions/s/streams/x"), SplitStream(name="x"))))
