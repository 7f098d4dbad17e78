"""The messages of the Storage Read API are those that Google's client has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from conformance.contract import proto

Field = tuple[int, str, int, bool, bool, str, str]


@pytest.fixture(scope="module")
def google() -> dict[str, Any]:
    """The descriptors of the client's messages, nested ones too, by their last name."""
    types = pytest.importorskip("google.cloud.bigquery_storage_v1.types")
    files = {getattr(types, name).pb().DESCRIPTOR.file for name in ("ReadSession", "ReadRowsResponse", "ArrowSchema")}
    files |= {types.AvroSchema.pb().DESCRIPTOR.file}
    return {one.name: one for file in files for one in _nested(file.message_types_by_name.values())}


def _nested(some: Any) -> Iterator[Any]:
    for one in some:
        yield one
        yield from _nested(one.nested_types)


def fields(descriptor: Any) -> dict[int, Field]:
    """The fields of a message by their number: all that their encoding and their presence depend on."""
    return {
        field.number: (
            field.number,
            field.name,
            field.type,
            field.is_repeated,
            field.has_presence,
            field.containing_oneof.name if field.containing_oneof is not None else "",
            field.message_type.name if field.message_type is not None else "",
        )
        for field in descriptor.fields
    }


@pytest.mark.parametrize("name", proto._CLASSES)
def test_a_message_has_the_fields_of_googles(name: str, google: dict[str, Any]) -> None:
    """Number, name, type, presence and oneof, of every field that both have."""
    ours, theirs = fields(proto._CLASSES[name].DESCRIPTOR), fields(google[name])
    both = ours.keys() & theirs.keys()

    assert both
    assert [ours[number] for number in sorted(both)] == [theirs[number] for number in sorted(both)]


@pytest.mark.parametrize(
    ("numbers", "message", "enum"),
    [
        (proto.DATA_FORMAT, None, "DataFormat"),
        (proto.COMPRESSION, "ArrowSerializationOptions", "CompressionCodec"),
        (proto.RESPONSE_COMPRESSION, "TableReadOptions", "ResponseCompressionCodec"),
    ],
)
def test_a_choice_has_the_number_of_googles(
    numbers: dict[str, int], message: str | None, enum: str, google: dict[str, Any]
) -> None:
    """The empty name means that the request chooses nothing."""
    file = google["ReadSession"].file
    known = file.enum_types_by_name[enum] if message is None else google[message].enum_types_by_name[enum]

    for name, number in numbers.items():
        assert known.values_by_number[number].name.endswith(name or "UNSPECIFIED")


def test_methods_have_their_messages() -> None:
    """Of each method, what is asked and what is answered."""
    asked = {method: kind.DESCRIPTOR.full_name for method, kind in proto.REQUESTS.items()}
    answered = {method: kind.DESCRIPTOR.full_name for method, kind in proto.RESPONSES.items()}

    package = "google.cloud.bigquery.storage.v1"
    assert asked == {name: f"{package}.{name}Request" for name in ("CreateReadSession", "ReadRows", "SplitReadStream")}
    assert answered == {
        "CreateReadSession": f"{package}.ReadSession",
        "ReadRows": f"{package}.ReadRowsResponse",
        "SplitReadStream": f"{package}.SplitReadStreamResponse",
    }


def test_the_declaration_names_the_file_that_it_needs() -> None:
    """A descriptor may only refer to messages of its own file and of those that it imports."""
    imported = proto._CLASSES["ReadSession"].DESCRIPTOR.file.dependencies

    assert [file.name for file in imported] == ["google/protobuf/timestamp.proto"]


def test_an_enum_has_the_numbers_of_googles(google: dict[str, Any]) -> None:
    """A number that is not declared would be shown as a bare number."""
    compared = 0
    for name, made in proto._CLASSES.items():
        for field in made.DESCRIPTOR.fields:
            theirs = google[name].fields_by_number.get(field.number)
            if field.enum_type is not None and theirs is not None:
                compared += 1
                assert set(field.enum_type.values_by_number) == set(theirs.enum_type.values_by_number), field.name

    assert compared >= 4
