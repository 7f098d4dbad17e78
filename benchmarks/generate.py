"""Measures nested cases per second and core: drawn and materialised from recipes, compared with Hypothesis.

Run: ``python benchmarks/generate.py``. Both sides make the same kind of result, a pyarrow table of nested BigQuery
columns under the contract's schema, and both are timed in this process on one core, after a warm-up. The bar is 1,000
cases per second for recipes (exit status 1 below it). Hypothesis draws value by value; its rate only shows the gain.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from conformance.generate import draw_case, materialise
from conformance.generate.strategies import columns
from conformance.generate.values import pool_values
from conformance.records import BqType, Column, Json, Mode, Table, ValueProfile

BAR: Final = 1000
RECIPE_CASES: Final = 4000
VALUE_CASES: Final = 150
WARM_UP: Final = 20
SEED: Final = 2026


def is_nested(case_columns: tuple[Column, ...]) -> bool:
    """True if a table has a record or a list; flat tables are easy to make and do not count."""
    return any(column.type is BqType.RECORD or column.mode is Mode.REPEATED for column in case_columns)


def nested_indices(profile: str, count: int) -> list[int]:
    """The first ``count`` indices whose case is nested, computed before the measurement."""
    nested = (index for index in itertools.count() if is_nested(draw_case(SEED, index, profile=profile).table.columns))
    return list(itertools.islice(nested, count))


def recipes(profile: str) -> tuple[float, list[pa.Table]]:
    """The processor seconds for drawing and materialising the nested cases of a profile, and their tables."""
    indices = nested_indices(profile, RECIPE_CASES)
    for index in indices[:300]:
        materialise(draw_case(SEED, index, profile=profile).table)
    start = time.process_time()
    tables = [materialise(draw_case(SEED, index, profile=profile).table) for index in indices]
    return time.process_time() - start, tables


@st.composite
def value_by_value(draw: st.DrawFn, *, most_rows: int) -> Table:
    """A table of the same columns in which Hypothesis draws each value on its own."""
    drawn_columns = draw(columns("arrow").filter(is_nested))
    rows = draw(st.integers(0, most_rows))
    return Table(drawn_columns, rows=tuple(Json(_members(draw, drawn_columns)) for _ in range(rows)))


def _members(draw: st.DrawFn, members: tuple[Column, ...]) -> dict[str, Any]:
    return {column.name: _value(draw, column) for column in members}


def _value(draw: st.DrawFn, column: Column) -> Any:
    if column.mode is Mode.REPEATED:
        return [_element(draw, column) for _ in range(draw(st.integers(0, 3)))]
    if column.mode is Mode.NULLABLE and draw(st.booleans()):
        return None
    return _element(draw, column)


def _element(draw: st.DrawFn, column: Column) -> Any:
    if column.type is BqType.RECORD:
        return _members(draw, column.fields)
    if column.type is BqType.INT64:
        return draw(st.integers(-(1 << 63), (1 << 63) - 1))
    if column.type is BqType.STRING and column.max_length is None:
        return draw(st.text(max_size=20))
    return draw(st.sampled_from(pool_values(column, ValueProfile.BOUNDARY)))


def values(most_rows: int) -> tuple[float, list[pa.Table]]:
    """The processor seconds for tables of the value-by-value strategy, without the warm-up, and the tables."""
    tables: list[pa.Table] = []
    marks: list[float] = []

    @settings(
        max_examples=VALUE_CASES + WARM_UP,
        phases=(Phase.generate,),
        database=None,
        derandomize=True,
        deadline=None,
        suppress_health_check=tuple(HealthCheck),
    )
    @given(value_by_value(most_rows=most_rows))
    def run(table: Table) -> None:
        tables.append(materialise(table))
        marks.append(time.process_time())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run()
    return marks[-1] - marks[WARM_UP - 1], tables[WARM_UP:]


def report(name: str, measure: Callable[[], tuple[float, list[pa.Table]]]) -> float:
    """Measure, print one line, and return the cases per second."""
    seconds, tables = measure()
    rate = len(tables) / seconds
    rows = [table.num_rows for table in tables]
    leaves = [sum(_leaves(field.type) for field in table.schema) for table in tables]
    print(
        f"{name:34} {rate:8.0f} cases/s   {len(tables):5} cases   rows: median {statistics.median(rows):g}, "
        f"mean {statistics.mean(rows):.0f}   leaf columns: mean {statistics.mean(leaves):.1f}"
    )
    return rate


def _leaves(arrow: pa.DataType) -> int:
    return sum(_leaves(arrow.field(index).type) for index in range(arrow.num_fields)) or 1


def main() -> int:
    """Print the rates; the exit status is 0 if recipes reach the bar."""
    print(f"pyarrow {pa.__version__}, one core, CPU time")
    rate = report("recipes, profile arrow", lambda: recipes("arrow"))
    server = report("recipes, profile server", lambda: recipes("server"))
    plain = report("value by value, up to 10 rows", lambda: values(10))
    larger = report("value by value, up to 50 rows", lambda: values(50))
    print(f"recipes are {rate / plain:.0f} times (up to 10 rows) and {rate / larger:.0f} times (up to 50) as fast")
    return 0 if min(rate, server) >= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
