"""Protobuf messages as plain values: nothing is lost, and what has no plain form stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.contract import proto
from conformance.truth.plainmessages import RAW, PlainFormError, from_plain, to_plain

SESSION = proto.ReadSession.DESCRIPTOR
SPLIT = proto.SplitReadStreamRequest.DESCRIPTOR
ROWS = proto.ReadRowsResponse.DESCRIPTOR


@given(st.binary(max_size=80))
def test_any_bytes_come_back(data: bytes) -> None:
    """Whatever a server sends is stored without loss, message or not."""
    assert from_plain(ROWS, to_plain(ROWS, data)) == data


def test_a_message_is_shown_by_its_fields() -> None:
    """Text, numbers, lists and bytes have the names of the API."""
    made = proto.ReadSession(name="s", data_format=2, estimated_row_count=-1)
    made.streams.add(name="a")
    made.arrow_schema.serialized_schema = b"\x00\x01"

    assert to_plain(SESSION, made.SerializeToString()) == {
        "name": "s",
        "data_format": 2,
        "arrow_schema": {"serialized_schema": "AAE="},
        "streams": [{"name": "a"}],
        "estimated_row_count": -1,
    }


def test_an_unknown_field_is_kept() -> None:
    """A field that the suite does not know has its number and its wire type."""
    data = b"\x0a\x01s" + b"\xfa\x01\x02hi" + b"\x80\x02\x05"

    plain = to_plain(SESSION, data)

    assert plain == {"name": "s", "#31": [{"base64": "aGk="}], "#32": [{"varint": 5}]}
    assert from_plain(SESSION, plain) == data


@pytest.mark.parametrize(("fraction", "shown"), [(0.5, 0.5), (float("nan"), "NaN"), (float("-inf"), "-Infinity")])
def test_a_number_that_json_does_not_have_is_a_text(fraction: float, shown: object) -> None:
    """A pack is JSON; such a fraction is what the case asks for."""
    data = proto.SplitReadStreamRequest(name="s", fraction=fraction).SerializeToString()

    plain = to_plain(SPLIT, data)

    assert plain == {"name": "s", "fraction": shown}
    assert from_plain(SPLIT, plain) == data


@pytest.mark.parametrize("fraction", ["nan", "", True, None, [], 10**400])
def test_what_is_no_number_is_refused(fraction: object) -> None:
    """Also a number beyond the largest double."""
    with pytest.raises(PlainFormError, match="fraction: expected a value of the field"):
        from_plain(SPLIT, {"fraction": fraction})


@pytest.mark.parametrize("data", [b"\x0a\x05s", b"\x0a\x01\xff", b"\x18\x82\x00", b"\x0a\x01a\x0a\x01b"])
def test_bytes_without_a_plain_form_stay_bytes(data: bytes) -> None:
    """Cut short, no UTF-8, a varint that is longer than it needs to be, a singular field twice."""
    assert set(to_plain(SESSION, data)) == {RAW}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"naem": "s"}, "at.naem: expected a field of ReadSession"),
        ({"name": 7}, "at.name: expected a value of the field, got 7"),
        ({"streams": {}}, "at.streams: expected a list, got {}"),
        ({"bytes": "?"}, "at.bytes: expected base64 text, got '?'"),
        ({"#x": []}, "at.#x: expected #NUMBER and a list of values"),
        ({"#9": [{"varint": -1}]}, "at.#9: expected an unsigned number, got -1"),
        ([], "at: expected an object (ReadSession), got []"),
    ],
)
def test_what_is_no_message_is_refused_with_its_place(value: object, said: str) -> None:
    """Packs come from anybody."""
    with pytest.raises(PlainFormError) as error:
        from_plain(SESSION, value, "at")

    assert str(error.value) == said
