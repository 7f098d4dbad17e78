"""The Arrow project's integration form: written and read back equal, refused where it is not of the form."""

from __future__ import annotations

import copy
import io
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from conformance.wire import UndecodableError, differences, plain_table, plain_values, read_stream
from conformance.wire.integration import IntegrationError, read_integration, schema_from, write_integration
from conformance.wire.intervals import DAY_TIME, YEAR_MONTH
from tests.wire.corpus import decodable
from tests.wire.test_decoding import _ENCODED_WIDELY, _one


def _there_and_back(*batches: pa.RecordBatch) -> None:
    document = json.loads(json.dumps(write_integration(batches), allow_nan=False))

    read = read_integration(document)

    assert read.schema.equals(batches[0].schema, check_metadata=True)
    for batch in read.batches:
        batch.validate(full=True)
    assert differences(plain_table(batches), plain_table(read.batches)) == []
    assert write_integration(read.batches) == document


@pytest.mark.parametrize("name", [name for name in decodable() if "many" not in name])
def test_batches_survive(name: str) -> None:
    """Every type, nulls, slices and all, reads back as the values that were written."""
    _there_and_back(decodable()[name], decodable()[name])


@pytest.mark.parametrize("name", list(_ENCODED_WIDELY))
def test_dictionaries_survive(name: str) -> None:
    """A dictionary-encoded field may be anywhere."""
    _there_and_back(_one(_ENCODED_WIDELY[name]))


def test_intervals_survive() -> None:
    """The suite's own types for intervals are intervals in the integration form, and come back unchanged."""
    months = pa.ExtensionArray.from_storage(YEAR_MONTH, pa.array([1, None], pa.int32()))
    days = pa.ExtensionArray.from_storage(DAY_TIME, pa.array([None, 7 << 32 | 3], pa.int64()))
    batch = pa.record_batch([months, days], names=["m", "d"])

    document = write_integration([batch])

    assert [field["type"]["unit"] for field in document["schema"]["fields"]] == ["YEAR_MONTH", "DAY_TIME"]
    assert document["batches"][0]["columns"][1]["DATA"][1] == {"days": 3, "milliseconds": 7}
    _there_and_back(batch)


def test_changing_dictionaries_become_one() -> None:
    """The form has one dictionary of each id: batches keep their values, and share one."""
    rows = [["a", "b"], ["z", None], ["z", "a"], ["a", "b"]]
    parts = [_one(pa.array(values).dictionary_encode()) for values in rows]
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, parts[0].schema) as writer:
        for part in parts:
            writer.write_batch(part)

    for document in (write_integration(parts), write_integration(read_stream(sink.getvalue()))):
        assert len(document["dictionaries"]) == 1
        assert [plain_values(batch.column(0)) for batch in read_integration(document).batches] == rows


def test_dictionary_that_outgrows_its_indices_is_refused() -> None:
    """Values that no index of the field's type can reach are not silently lost."""
    parts = [
        _one(pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array(range(at, at + 100))))
        for at in (0, 100, 200)
    ]
    with pytest.raises(IntegrationError, match="one dictionary"):
        write_integration(parts)


def test_schema_alone_survives() -> None:
    """No batches are a document too, with metadata of schema and field."""
    schema = pa.schema([pa.field("x", pa.int8(), nullable=False, metadata={"a": "b"})], metadata={"c": "d"})

    read = read_integration(write_integration([], schema=schema))

    assert read.schema.equals(schema, check_metadata=True)
    assert read.batches == []
    with pytest.raises(IntegrationError, match="expected at least one batch, or a schema"):
        write_integration([])


def test_values_under_nulls_do_not_show() -> None:
    """Equal values make equal documents, whatever bytes are under nulls."""
    bitmap = pa.py_buffer(b"\1")
    made = [
        pa.Array.from_buffers(pa.int32(), 2, [bitmap, pa.array([7, hidden], pa.int32()).buffers()[1]])
        for hidden in (0, 99)
    ]
    assert write_integration([_one(made[0])]) == write_integration([_one(made[1])])


def test_floats_that_are_no_numbers_are_words() -> None:
    """JSON has no such numbers, so the document says them as text."""
    document = write_integration([_one(pa.array([float("nan"), float("inf"), float("-inf"), 0.1], pa.float32()))])

    assert document["batches"][0]["columns"][0]["DATA"][:3] == ["NaN", "inf", "-inf"]


def test_old_spellings_are_read() -> None:
    """Before 1.0 a decimal had no width, a union a bitmap, metadata the shape of a mapping."""
    byte = {"name": "int", "bitWidth": 8, "isSigned": True}
    document: dict[str, Any] = {
        "schema": {
            "fields": [
                {"name": "d", "nullable": True, "type": {"name": "decimal", "precision": 3, "scale": 1}},
                {
                    "name": "u",
                    "nullable": True,
                    "type": {"name": "union", "mode": "SPARSE"},
                    "children": [{"name": "i", "nullable": True, "type": byte}],
                },
            ],
            "metadata": {"k": "v"},
        },
        "batches": [
            {
                "count": 1,
                "columns": [
                    {"name": "d", "count": 1, "VALIDITY": [1], "DATA": ["-5"]},
                    {
                        "name": "u",
                        "count": 1,
                        "VALIDITY": [1],
                        "TYPE_ID": [0],
                        "children": [{"name": "i", "count": 1, "VALIDITY": [1], "DATA": [4]}],
                    },
                ],
            }
        ],
    }  # fmt: skip

    schema, batches = read_integration(document)

    assert schema.metadata == {b"k": b"v"}
    assert schema_from(document["schema"]).fields[1].type.type_ids == (0,)
    assert plain_table(batches).columns == ([{"decimal": "-5"}], [4])


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda doc: doc.pop("schema"), "fields"),
        (lambda doc: doc["schema"]["fields"][0].pop("name"), "name"),
        (lambda doc: doc["schema"]["fields"][0]["type"].update(name="word"), "expected a type name .* got 'word'"),
        (
            lambda doc: doc["schema"]["fields"][1]["type"].update(unit="FORTNIGHT"),
            "unit 'FORTNIGHT' of timestamp; expected one of SECOND, MILLISECOND, MICROSECOND, NANOSECOND$",
        ),
        (lambda doc: doc["batches"][0]["columns"].pop(), "batch 0"),
        (lambda doc: doc["batches"][0].update(count=3), "its count"),
        (lambda doc: doc["batches"][0]["columns"][0]["VALIDITY"].pop(), "VALIDITY"),
        (lambda doc: doc["batches"][0]["columns"][0]["DATA"].pop(), "DATA"),
        (lambda doc: doc["batches"][0]["columns"][0]["OFFSET"].append(9), "OFFSET"),
        (lambda doc: doc["batches"][0]["columns"][0].pop("OFFSET"), "batch 0"),
        (lambda doc: doc["dictionaries"].pop(), "does not contain"),
    ],
)
def test_document_of_another_form_is_refused(change: Any, match: str) -> None:
    """A missing or unfit part is named, and nothing is guessed."""
    arrays = [pa.array(["a", None]), pa.array([1, 2], pa.timestamp("s")), pa.array(["b", "c"]).dictionary_encode()]
    document = copy.deepcopy(write_integration([pa.record_batch(arrays, names=["a", "b", "c"])]))
    change(document)

    with pytest.raises(IntegrationError, match=match):
        read_integration(document)


def test_stream_that_cannot_be_followed_is_refused() -> None:
    """No document is made of broken bytes."""
    with pytest.raises(UndecodableError):
        write_integration(read_stream(b"\0"))


@pytest.mark.parametrize("kind", ["string_view", "binary_view"])
def test_views_are_written_as_text_or_as_digits(kind: str) -> None:
    """An inline value has its own length; a long one has its first four bytes and its place in a buffer."""
    if f"{kind}, no rows" not in decodable():
        pytest.skip("this pyarrow does not build views of buffers")
    values = [b"", b"short", b"", b"twelve bytes", b"thirteen byte"]
    texts = [value.decode() for value in values]
    array = pa.array(texts, mask=np.arange(5) == 2).cast(getattr(pa, kind)())

    column = write_integration([_one(array)])["batches"][0]["columns"][0]

    inlined = [value.decode() if kind == "string_view" else value.hex().upper() for value in values[:4]]
    assert column["VALIDITY"] == [1, 1, 0, 1, 1]
    assert [view["SIZE"] for view in column["VIEWS"]] == [0, 5, 0, 12, 13]
    assert [view["INLINED"] for view in column["VIEWS"][:4]] == inlined
    long, (data,) = column["VIEWS"][4], map(bytes.fromhex, column["VARIADIC_DATA_BUFFERS"])
    assert (long["PREFIX_HEX"], long["BUFFER_INDEX"]) == (b"thir".hex().upper(), 0)
    assert data[long["OFFSET"] :][:13] == b"thirteen byte"
