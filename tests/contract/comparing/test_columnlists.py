"""The difference of columns comes first, and a class of failure has nothing of the columns."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.contract.comparing.columnlists import MAX_LISTED, names_differ, names_listed
from conformance.engine.outcomes import finding_class, shape
from conformance.protocols.flight.contract.subjects import columns_differ, listed
from conformance.records import Finding, Outcome


@pytest.mark.parametrize(
    ("wanted", "came", "said"),
    [
        ("ab", "ab", ""),
        ("ab", "ba", "in another order"),
        ("abc", "ca", "without ['b']"),
        ("ab", "abb", "with ['b']"),
        ("ab", "xb", "without ['a'] and with ['x']"),
        ("ab", "", "without ['a', 'b']"),
    ],
)
def test_names_that_differ_are_told_before_the_order(wanted: str, came: str, said: str) -> None:
    """A column that is missing explains more than the order of the others."""
    assert names_differ([*wanted], [*came]) == said


def test_a_long_list_is_cut() -> None:
    """The class of a cut list is that of a whole one."""
    many = [f"c{at}" for at in range(MAX_LISTED + 1)]

    assert names_listed(many).endswith("'c99', …]")
    assert shape(f"without {names_listed(many)}") == shape("without ['a']") == "without <…>"


def test_one_fault_of_many_tables_is_one_class() -> None:
    """A server that turns the columns round has one fault, whatever columns its tables have."""
    tables = (
        pa.schema([("a", pa.int64()), ("b", pa.string())]),
        pa.schema([("at", pa.timestamp("us", "UTC")), ("words", pa.list_(pa.string())), ("{odd'", pa.int8())]),
        pa.schema([("n", pa.decimal128(5, 2)), ("of", pa.struct([("x", pa.int8()), ("y", pa.list_(pa.int8()))]))]),
    )
    findings = [
        Finding("flight-info.schema-is-that-of-the-stream", f"the columns of the info: {listed(one)}", said)
        for one in tables
        if (said := columns_differ(one, pa.schema([*one][::-1])))
    ]

    assert len(findings) == len(tables)
    assert {finding_class(Outcome.FAIL, one) for one in findings} == {
        "fail: in another order: <…> (required: the columns of the info: <…>)"
    }


def test_a_type_that_differs_is_named_by_its_column() -> None:
    """Only if the names are right the types are compared; a dictionary is its values."""
    wanted = pa.schema([("a", pa.int64()), ("b", pa.string())])
    coded = pa.schema([("a", pa.int64()), ("b", pa.dictionary(pa.int8(), pa.string()))])

    assert columns_differ(wanted, coded) == ""
    assert columns_differ(wanted, pa.schema([("a", pa.int64()), ("b", pa.int8())])) == (
        "with another type of ['b']: {'a': int64, 'b': int8}"
    )
    assert columns_differ(wanted, pa.schema([])) == "without ['a', 'b']: no columns"
