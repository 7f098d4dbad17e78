"""Two schemas are compared even if their contents are not text."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.contract.comparing.violations import _contents
from conformance.wire import Field, read_schema


def fields(metadata: dict[bytes, bytes]) -> tuple[Field, ...]:
    """The fields of a schema whose one column has that metadata, as they were decoded."""
    message = pa.schema([pa.field("a", pa.int64(), metadata=metadata)]).serialize().to_pybytes()
    schema = read_schema(message).schema
    assert schema is not None
    return schema.fields


@pytest.mark.parametrize("odd", [b"\xff", b"\xed\xa0\x80"])
def test_keys_that_are_no_text_stand_in_any_order(odd: bytes) -> None:
    """A key that is not UTF-8 is decoded to None, which cannot be ordered among texts."""
    one, other = fields({odd: b"1", b"k": b"2"}), fields({b"k": b"2", odd: b"1"})

    assert _contents(one) == _contents(other)


def test_other_metadata_is_other() -> None:
    """Values count as well."""
    assert _contents(fields({b"k": b"1"})) != _contents(fields({b"k": b"2"}))
