"""Maps with text keys travel like every other annotation: as objects in JSON, as maps in Arrow rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pyarrow as pa
import pytest

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
