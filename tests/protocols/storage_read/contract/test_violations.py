"""Two schemas are compared even if their contents are not text."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pyarrow as pa
import pytest

from conformance.contract.clause import Violation
from conformance.contract.comparing.matching import match_rows
from conformance.protocols.storage_read.contract.sessions import SessionRead
from conformance.protocols.storage_read.contract.violations import _contents, exactly
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


NUMBERS = pa.table({"n": [10, 11, 12, 13], "t": ["a", "b", "c", "d"]})
OTHER = pa.table({"n": [99], "t": ["z"]})


@pytest.mark.parametrize(
    ("got", "found"),
    [
        (NUMBERS.take([3, 0, 1, 2]), []),
        (NUMBERS.take([3, 2]), [("all 4 rows", "2 rows missing, such as {'n': 10, 't': 'a'}")]),
        (NUMBERS.take([0, 1, 2, 3, 2, 1]), [("no more than the 4 rows", "2 rows more, such as {'n': 12, 't': 'c'}")]),
        (pa.concat_tables([NUMBERS, OTHER]), [("no more than the 4 rows", "1 row more, such as {'n': 99, 't': 'z'}")]),
        (
            NUMBERS.take([0, 0, 0, 1]),
            [
                ("all 4 rows", "2 rows missing, such as {'n': 12, 't': 'c'}"),
                ("no more than the 4 rows", "2 rows more, such as {'n': 10, 't': 'a'}"),
            ],
        ),
    ],
    ids=["order", "missing", "repeated", "foreign", "both"],
)
def test_rows_that_are_missing_and_rows_too_many_are_counted(got: pa.Table, found: list[tuple[str, str]]) -> None:
    """Each with the first of them, in any order of the rows."""
    whole = cast(SessionRead, SimpleNamespace(match=match_rows(NUMBERS, got), expected=NUMBERS, got=got))

    assert list(exactly(whole)) == [Violation(required, observed) for required, observed in found]
