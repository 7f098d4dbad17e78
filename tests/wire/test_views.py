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


def test_a_fault_shows_its_view() -> None:
    """The fault spans the view, and shows its 16 bytes by words with the number of slots that break the rule."""
    views = short(b"ok") + i4(-1, 2, 3, 4) + i4(-5, 0, 0, 0)

    (fault,) = _faults("BinaryView", views)

    assert fault.observed == "the view ffffffff 02000000 03000000 04000000 in slot 1 (2 such slots)"
    assert fault.path == "x views"
    assert fault.end - fault.start == 16


@pytest.mark.parametrize(
    ("view", "rules"),
    [
        pytest.param(short(b"twelve bytes"), [], id="twelve bytes"),
        pytest.param(long(LONG), [], id="all of the buffer"),
        pytest.param(long(LONG, 0, 1), [Rule.VIEW_BUFFER_INDEX], id="one buffer too far"),
        pytest.param(long(LONG, 0, -1), [Rule.VIEW_BUFFER_INDEX], id="a negative buffer"),
        pytest.param(long(LONG, 1), [Rule.VIEW_RANGE], id="one byte too far"),
        pytest.param(long(LONG, -1), [Rule.VIEW_RANGE], id="a negative offset"),
        pytest.param(i4(-1, 0, 0, 0), [Rule.VIEW_LENGTH_NEGATIVE], id="a negative length"),
        pytest.param(i4(11) + b"twelve bytes", [Rule.VIEW_INLINE_PADDING], id="padding that is not zero"),
        pytest.param(i4(0, 0, 0, 1 << 24), [Rule.VIEW_INLINE_PADDING], id="last byte that is not zero"),
        pytest.param(i4(len(LONG)) + LONG[:3] + b"\0" + i4(0, 0), [Rule.VIEW_PREFIX], id="fourth byte of the prefix"),
    ],
)
def test_views_are_judged_to_the_byte(view: bytes, rules: list[Rule]) -> None:
    """One step beyond what is legal is a fault of one rule, after a view without a fault."""
    assert [fault.rule for fault in _faults("BinaryView", short(b"ok") + view, LONG)] == rules


def test_views_are_not_judged_without_their_data() -> None:
    """Where a data buffer lies outside the body, only that is reported: no view can be followed."""
    views = long(LONG, 0, 0) + long(LONG, 0, 1)
    places = [(0, 0), (0, 32), (1 << 20, 24), (32, len(LONG)), (0, 0), (56, 8)]
    body = views + LONG.ljust(24, b"\0") + i4(0, 1)
    message = batch_message(2, [(2, 0), (2, 0)], [], places=places, body=body, batch={"variadicBufferCounts": [2]})

    assert [fault.rule for fault in read_batch(message, _schema("BinaryView")).faults] == [Rule.BUFFER_OUT_OF_BODY]


def test_views_need_16_bytes_each() -> None:
    """A buffer of views that is one byte short is too small."""
    buffers = [b"", (short(b"ok") * 2)[:-1], b"", i4(0, 1)]
    message = batch_message(2, [(2, 0), (2, 0)], buffers, batch={"variadicBufferCounts": [0]})

    assert [fault.rule for fault in read_batch(message, _schema("Utf8View")).faults] == [Rule.DATA_TOO_SMALL]
