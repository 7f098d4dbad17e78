"""The messages of BigQueryWrite are those of the public library."""

from __future__ import annotations

import pytest

from conformance.protocols.storage_write.contract.classes import CLASSES
from conformance.protocols.storage_write.wire.messages import ERRORS, FIELD_TYPES, STORAGE_ERROR

_NAMES = {"Int64Value", "Status", "ArrowData", "AppendResult", "FieldElementType"}
"""Messages of other packages, or inside of others."""


@pytest.mark.parametrize("name", sorted(set(CLASSES) - _NAMES))
def test_a_message_has_the_numbers_of_the_library(name: str) -> None:
    """A field of our table has the number and the kind that Google's library gives it."""
    types = pytest.importorskip("google.cloud.bigquery_storage_v1.types")
    theirs = getattr(types, name).pb().DESCRIPTOR.fields_by_name

    for field in CLASSES[name].DESCRIPTOR.fields:
        its = theirs.get(field.name) or theirs[f"{field.name}_"]  # the library renames what is a word of Python
        assert (field.number, field.is_repeated) == (its.number, its.is_repeated)


def test_enums_have_the_numbers_of_the_library() -> None:
    """The suite calls FLOAT64 and RECORD what the proto calls DOUBLE and STRUCT."""
    types = pytest.importorskip("google.cloud.bigquery_storage_v1.types")
    others = {"FLOAT64": "DOUBLE", "RECORD": "STRUCT"}

    assert {name: types.TableFieldSchema.Type[others.get(name, name)].value for name in FIELD_TYPES} == FIELD_TYPES
    assert {name: types.StorageError.StorageErrorCode[name].value for name in ERRORS} == ERRORS
    assert STORAGE_ERROR.rpartition("/")[2] == types.StorageError.pb().DESCRIPTOR.full_name
