"""View columns: inline and long values, shared buffers, and slots that are not judged."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.wire import Fault, Rule, Schema, read_batch, read_schema
from tests.wire.forge import batch_message, field, i4, schema_message

LONG = "quinze \u00e9t\u00e9s et plus".encode()


def _schema(kind: str) -> Schema:
    schema = read_schema(schema_message(field("x", kind), field("y", "Int", bitWidth=32, is_signed=1))).schema
    assert schema is not None
    return schema


def _faults(kind: str, views: bytes, *data: bytes, bitmap: bytes = b"", nulls: int = 0) -> list[Fault]:
    length = len(views) // 16
    buffers = [bitmap, views, *data, b"", i4(*range(length))]
    counts: dict[str, Any] = {"variadicBufferCounts": [len(data)]}
    return read_batch(
        batch_message(length, [(length, nulls), (length, 0)], buffers, batch=counts), _schema(kind)
    ).faults


def short(text: bytes) -> bytes:
    """A view of a value that fits into it."""
    return i4(len(text)) + text.ljust(12, b"\0")


def long(text: bytes, offset: int = 0, buffer: int = 0) -> bytes:
    """A view of a value in a data buffer."""
    return i4(len(text)) + text[:4] + i4(buffer, offset)


def test_views_are_legal_in_any_order_and_overlap() -> None:
    """Values may share bytes, and the columns after a view column are found behind its data buffers."""
    views = long(LONG, 3, 1) + short(b"") + long(LONG, 0, 0) + long(LONG, 3, 1) + short(b"twelve bytes")

    assert _faults("Utf8View", views, LONG, b"abc" + LONG) == []


def test_views_under_nulls_are_free() -> None:
    """The format says nothing of a view in a null slot."""
    assert _faults("Utf8View", i4(99, 99, 99, 99) + short(b"ok"), bitmap=b"\2", nulls=1) == []


@pytest.mark.parametrize(
    ("view", "data"),
    [
        pytest.param(short(b"\xc3"), b"", id="inline"),
        pytest.param(long(LONG[:-1] + b"\xff"), LONG[:-1] + b"\xff", id="long"),
        pytest.param(long(LONG[8:], 8), LONG, id="starts inside a character"),
    ],
)
def test_text_of_views_is_judged(view: bytes, data: bytes) -> None:
    """Text in views is UTF-8, inline and in data buffers; bytes in views are free."""
    assert [fault.rule for fault in _faults("Utf8View", short(b"ok") + view, data)] == [Rule.UTF8_INVALID]
    assert _faults("BinaryView", short(b"ok") + view, data) == []


def test_bytes_between_views_are_free() -> None:
    """A data buffer may hold bytes that no view shows."""
    assert _faults("Utf8View", long(LONG, 2), b"\xff\xff" + LONG + b"\xff") == []
