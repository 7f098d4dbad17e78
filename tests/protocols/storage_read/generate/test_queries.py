"""Drawn queries: which servers are asked them, and what they ask."""

from __future__ import annotations

from conformance.generate import draw_case, draw_scenario
from conformance.protocols.storage_read.generate.queries import CAPABILITY, draw_query_case, is_result
from conformance.protocols.storage_read.generate.steps import check_steps
from conformance.records import BqType, Column, QueryStatement, ReadResult, RunQuery


def test_a_server_without_query_results_is_asked_none() -> None:
    """The case of the same index is another one then, and so is the scenario."""
    cases = [draw_case(0, index, profile="server", not_offered=[CAPABILITY]) for index in range(16)]
    scenarios = [draw_scenario(0, index, not_offered=[CAPABILITY]) for index in range(40)]

    assert not any(one.needs for one in (*cases, *scenarios))
    assert any(draw_case(0, index, profile="server").needs for index in range(16))
    assert any(draw_scenario(0, index).needs for index in range(40))


def test_the_steps_of_drawn_queries_fit_each_other() -> None:
    """Every statement, codec, form of times and place is drawn, and no case is refused."""
    cases = [draw_query_case(7, index, case_id=f"drawn.i{index}") for index in range(120)]
    for case in cases:
        check_steps(case)
    steps = [step for case in cases for step in case.steps]
    queries = [step for step in steps if isinstance(step, RunQuery)]

    assert {step.statement for step in queries} == {
        QueryStatement.SELECT,
        QueryStatement.ORDERED,
        QueryStatement.NOTHING,
    }
    assert {step.buffer_compression for step in queries} == {"", "LZ4_FRAME", "ZSTD"}
    assert {step.timestamps for step in queries} == {"", "MICROS", "PICOS"}
    assert {step.offset for step in steps if isinstance(step, ReadResult)} >= {"page", "inside", "last", "end", "0"}
    assert any(step.listed for step in steps if isinstance(step, ReadResult))


def test_a_column_with_parameters_has_no_known_result() -> None:
    """Nested ones count too."""
    plain = Column("a", BqType.STRING)
    record = Column("r", BqType.RECORD, fields=(Column("a", BqType.STRING, max_length=3),))

    assert is_result(plain)
    assert not is_result(record)
