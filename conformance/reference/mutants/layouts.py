"""Mutants of the layouts of types that BigQuery does not have: views, list-views, unions, maps, run ends."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from conformance.reference.body import FieldNode, Part
from conformance.reference.message import DraftMessage
from conformance.reference.register import batch_mutant, first, schema_mutant


def _node(message: DraftMessage, path: str) -> FieldNode:
    return first((node for node in message.nodes if node.path == path), f"no field {path}")


def _patched(part: Part, form: str, at: int, value: int) -> None:
    data = bytearray(part.data)
    struct.pack_into("<" + form, data, at, value)
    part.data = bytes(data)


def _field(message: DraftMessage, kind: int) -> dict[str, Any]:
    return first(
        (field for field in message.header["fields"] if field["type_type"] == kind), f"no field of type {kind}"
    )


def _with(part: tuple[str, ...], form: str, at: int, value: int) -> Callable[[DraftMessage], DraftMessage]:
    """The message with one number replaced in the buffer of a role (and of a path, if given)."""

    def change(message: DraftMessage) -> DraftMessage:
        _patched(message.part(*part), form, at, value)
        return message

    return change


_MAP, _RUN_ENDS, _UNION = 17, 22, 14


@batch_mutant(
    "views.counts-missing",
    kills="layouts.view-buffer-counts",
    defects=("I-84",),
    source="https://github.com/apache/arrow-go/pull/631",
)
def counts_missing(message: DraftMessage) -> DraftMessage:
    """A batch with view fields gives no count of data buffers for any of them."""
    message.part("views")
    message.header["variadicBufferCounts"] = []
    return message


@batch_mutant(
    "views.counts-negative",
    kills="layouts.view-buffer-counts",
    defects=("I-103",),
    source="https://github.com/apache/arrow/pull/48901",
)
def counts_negative(message: DraftMessage) -> DraftMessage:
    """A view field has minus one data buffers."""
    message.part("views")
    message.header["variadicBufferCounts"] = [-1]
    return message


# fmt: off
batch_mutant("views.length-negative", kills="layouts.views-inside",
          fault="A view's length is negative.")(_with(("views",), "i", 0, -1))
batch_mutant("views.buffer-unknown", kills="layouts.views-inside",
          fault="A long view names a data buffer that its field does not have.")(_with(("views",), "i", 2 * 16 + 8, 7))
batch_mutant("views.beyond-buffer", kills="layouts.views-inside",
          fault="A long view ends beyond its data buffer.")(_with(("views",), "i", 2 * 16 + 12, 1000))
batch_mutant("views.prefix-wrong", kills="layouts.view-prefix",
          fault="The prefix in a long view is not that of its value.")(_with(("views",), "I", 2 * 16 + 4, 0x58585858))
batch_mutant("views.padding-not-zero", kills="layouts.view-prefix",
          defects=("I-85",), source="https://github.com/apache/arrow-julia/pull/548",
          fault="The bytes after a short value in its view are not zero.")(_with(("views",), "B", 15, 0x58))
batch_mutant("list-views.beyond-child", kills="layouts.list-views-inside",
          fault="A list-view's size reaches beyond its child.")(_with(("sizes",), "i", 0, 1000))
# fmt: on


@batch_mutant("fixed-size-list.child-short", kills="layouts.fixed-size-lists")
def fixed_child_short(message: DraftMessage) -> DraftMessage:
    """The child of a fixed-size list lacks the slots of the last list."""
    _node(message, "fixed.item").length -= 2
    return message


@schema_mutant("map.key-nullable", kills="layouts.map-fields")
def map_key_nullable(message: DraftMessage) -> DraftMessage:
    """A map's key is nullable."""
    _field(message, _MAP)["children"][0]["children"][0]["nullable"] = 1
    return message


@schema_mutant("map.entries-not-a-pair", kills="layouts.map-fields", defects=("I-110",))
def map_of_one(message: DraftMessage) -> DraftMessage:
    """A map's entries have a key and no value."""
    _field(message, _MAP)["children"][0]["children"].pop()
    return message


@batch_mutant("map.key-null", kills="layouts.map-entries")
def map_key_null(message: DraftMessage) -> DraftMessage:
    """A map has a key that is null."""
    node = _node(message, "map.entries.key")
    node.null_count = 1
    part = next(part for part in message.parts if (part.path, part.role) == (node.path, "validity"))
    part.data = bytes([0xFE])
    return message


@batch_mutant("null.counted-none", kills="layouts.null-columns")
def null_counted_none(message: DraftMessage) -> DraftMessage:
    """The field node of a Null column counts no null."""
    _node(message, "null").null_count = 0
    return message


# fmt: off
batch_mutant("date64.part-of-a-day", kills="layouts.whole-days",
          fault="A date in milliseconds has an hour in it.")(_with(("data", "days"), "q", 0, 3_600_000))
batch_mutant("run-ends.decreasing", kills="layouts.run-ends",
          defects=("I-86",), source="https://github.com/apache/arrow-go/pull/992",
          fault="The second run ends before the first.")(_with(("data", "runs.run_ends"), "i", 0, 9))
# fmt: on


@batch_mutant("run-ends.short", kills="layouts.run-ends")
def run_ends_short(message: DraftMessage) -> DraftMessage:
    """The last run ends before the field does."""
    part = message.part("data", "runs.run_ends")
    _patched(part, "i", len(part.data) - 4, 2)
    _patched(part, "i", 0, 1)
    return message


@schema_mutant("run-ends.unsigned", kills="layouts.run-end-type")
def run_ends_unsigned(message: DraftMessage) -> DraftMessage:
    """Run ends are unsigned."""
    _field(message, _RUN_ENDS)["children"][0]["type"]["is_signed"] = 0
    return message


@schema_mutant("union.type-id-twice", kills="layouts.union-type-ids")
def type_id_twice(message: DraftMessage) -> DraftMessage:
    """Two children of a union have the same type id."""
    _field(message, _UNION)["type"]["typeIds"] = [1, 1]
    return message


# fmt: off
batch_mutant("union.type-id-unknown", kills="layouts.union-slots",
          defects=("I-87",), source="https://github.com/apache/arrow-rs/pull/3654",
          fault="A slot of a union has a type id that the union does not declare.")(_with(("type ids",), "b", 0, 9))
batch_mutant("union.offset-beyond", kills="layouts.union-slots",
          fault="A dense union's offset lies beyond its child.")(_with(("offsets", "dense"), "i", 0, 99))
# fmt: on


@batch_mutant(
    "union.sparse-child-long",
    kills="layouts.sparse-union-children",
    source="https://github.com/apache/arrow/issues/41140",
)
def sparse_child_long(message: DraftMessage) -> DraftMessage:
    """A child of a sparse union has a slot more than the union."""
    numbers = message.part("data", "sparse.0")
    numbers.data += bytes(8)
    _node(message, "sparse.0").length += 1
    return message


@batch_mutant("union.nulls-of-its-own", kills="layouts.union-nulls")
def union_nulls(message: DraftMessage) -> DraftMessage:
    """A union counts a null of its own."""
    _node(message, "sparse").null_count = 1
    return message
