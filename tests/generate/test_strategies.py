from __future__ import annotations

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.contract.mapping import arrow_schema
from conformance.generate import explicit, materialise, to_json_rows
from conformance.generate.drawing import profiles
from conformance.generate.strategies import cases, columns, recipes, tables
from conformance.records import Case, Column, Json, Recipe, Table, from_json, to_json

RULES = settings(max_examples=40, suppress_health_check=tuple(HealthCheck))


def messages(table: pa.Table) -> list[bytes]:
    """The table's batches as bytes."""
    return [batch.serialize().to_pybytes() for batch in table.to_batches()]


@RULES
@given(tables())
def test_tables_have_the_schema_of_their_columns(table: Table) -> None:
    """A drawn table has exactly the contract's schema, and Arrow validates its structure."""
    made = materialise(table)

    made.validate()
    assert made.schema.equals(arrow_schema(table.columns), check_metadata=True)


@RULES
@given(columns(), recipes().filter(lambda recipe: recipe.rows < 130))
def test_rows_written_out_make_the_same_bytes(drawn: tuple[Column, ...], recipe: Recipe) -> None:
    """Materialising what was written out from a table gives the table again, byte for byte."""
    made = materialise(Table(drawn, recipe=recipe))

    again = materialise(Table(drawn, rows=tuple(map(Json, to_json_rows(made, drawn)))))

    assert messages(again) == messages(made)


@RULES
@given(st.sampled_from(sorted(profiles())).flatmap(cases))
def test_cases_survive_their_json_form(case: Case) -> None:
    """A drawn case is the same after a trip through JSON, as a recipe and written out."""
    assert from_json(Case, to_json(case)) == case
    assert case.table.recipe is not None
    if case.table.recipe.rows < 130:
        written = explicit(case)
        assert repr(from_json(Case, to_json(written))) == repr(written)


def test_hypothesis_shrinks_to_one_plain_column() -> None:
    """The simplest table is one NULLABLE column without rows."""
    found: list[Table] = []

    @settings(RULES, max_examples=5)
    @given(tables())
    def collect(table: Table) -> None:
        found.append(table)

    collect()

    assert found[0].recipe is not None
    assert (len(found[0].columns), found[0].recipe.rows) == (1, 0)
