"""Maps with text keys travel like every other annotation: as objects in JSON, as maps in Arrow rows."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import pyarrow as pa
import pytest

from conformance._jsonschema import json_schema
from conformance.records import RecordError, arrow_schema, from_json, from_row, to_json, to_row


@dataclasses.dataclass(frozen=True, slots=True)
class Pocket:
    """A record with a map."""

    coins: Mapping[str, int] = dataclasses.field(default_factory=dict)


@pytest.mark.parametrize("coins", [{}, {"penny": 1, "groat": 4}])
def test_a_map_survives_json_and_an_arrow_row(coins: dict[str, int]) -> None:
    """A map reads back as it was written, through both forms."""
    pocket = Pocket(coins)
    row = pa.Table.from_pylist([to_row(pocket)], schema=arrow_schema(Pocket)).to_pylist()[0]

    assert from_json(Pocket, to_json(pocket)) == pocket
    assert from_row(Pocket, row) == pocket


@pytest.mark.parametrize(
    ("coins", "message"),
    [
        ([1], "Pocket.coins: expected an object but got [1] (list)"),
        ({"penny": "1"}, "Pocket.coins.penny: expected int but got '1' (str)"),
    ],
)
def test_a_wrong_map_is_refused_where_it_is_wrong(coins: object, message: str) -> None:
    """The message names the map, or the key in it."""
    with pytest.raises(RecordError) as raised:
        from_json(Pocket, {"coins": coins})

    assert str(raised.value) == message


@dataclasses.dataclass(frozen=True, slots=True)
class Scale:
    """A record with a number."""

    weight: float = 0.0


@pytest.mark.parametrize(("weight", "form"), [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity")])
def test_a_float_that_json_has_no_number_for_is_a_text(weight: float, form: str) -> None:
    """NaN and the infinities are the texts of protobuf's JSON, and read back as the same values."""
    scale = Scale(weight)

    assert to_json(scale) == {"weight": form}
    assert repr(from_json(Scale, {"weight": form})) == repr(scale)
    assert json_schema(Scale, title="scale")["$defs"]["Scale"]["properties"]["weight"]["anyOf"][1]["enum"] == [
        "NaN",
        "Infinity",
        "-Infinity",
    ]


def test_another_text_is_no_float() -> None:
    """Only the three texts stand for floats."""
    with pytest.raises(RecordError, match=r"expected float but got 'nan'"):
        from_json(Scale, {"weight": "nan"})


@dataclasses.dataclass(frozen=True, slots=True)
class Weight:
    """A record with a float."""

    kilograms: float


def test_an_integer_that_no_float_holds_is_refused() -> None:
    """JSON has no limit, and Python's conversion raises another error."""
    assert from_json(Weight, {"kilograms": 10**300}) == Weight(1e300)
    with pytest.raises(RecordError, match=r"Weight\.kilograms: expected a number that a float can hold"):
        from_json(Weight, {"kilograms": 10**400})
