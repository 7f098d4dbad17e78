"""Types inside types: as deep as recursion goes, and dictionaries that contain themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from conformance.reference.body import FieldNode, Part
from conformance.reference.flatbuffers import SHARED_FIRST
from conformance.reference.ipc.hostile.register import hostile, register
from conformance.reference.ipc.models import StreamModel
from conformance.reference.ipc.samples import SAMPLES
from conformance.reference.message import V5, DraftMessage

__all__ = ["DEPTHS"]

DEPTHS: Final = (40, 63, 64, 65, 127, 128, 129, 200, 500, 1000, 2000)
"""Levels: around the limits of 64 (Arrow C++ types) and 128 (its FlatBuffers verifier), and where stacks end."""

_INT32: Final = {"name": "n", "nullable": 1, "type_type": 2, "type": {"bitWidth": 32, "is_signed": 1}}
_LIST, _STRUCT, _FIXED, _MAP = 12, 13, 16, 17
_OFFSETS: Final = b"\0\0\0\0\x01\0\0\0"


def _field(code: int, kind: dict[str, Any], child: dict[str, Any]) -> dict[str, Any]:
    return {"name": "x", "nullable": 1, "type_type": code, "type": kind, "children": [child]}


def _nested(depth: int, code: int, kind: dict[str, Any], parts: Callable[[], list[Part]]) -> bytes:
    """A stream of one row in ``depth`` levels around a number."""
    field: dict[str, Any] = {**_INT32, "children": []}
    for _ in range(depth):
        field = _field(code, kind, field)
    schema = DraftMessage({"version": V5, "header_type": 1, "header": {"fields": [field]}}, layout=SHARED_FIRST)
    batch = DraftMessage({"version": V5, "header_type": 3, "header": {"length": 1}})
    for _ in range(depth):
        batch.nodes.append(FieldNode("x", 1, 0))
        batch.parts += parts()
    batch.nodes.append(FieldNode("n", 1, 0))
    batch.parts += [Part("n", "validity", b""), Part("n", "data", b"\x07\0\0\0")]
    return StreamModel([schema, batch]).encode()


def _validity() -> list[Part]:
    return [Part("x", "validity", b"")]


def _lists() -> list[Part]:
    return [Part("x", "validity", b""), Part("x", "offsets", _OFFSETS)]


def _deep(name: str, code: int, kind: dict[str, Any], parts: Callable[[], list[Part]]) -> None:
    for depth in DEPTHS:

        def make(depth: int = depth) -> bytes:
            return _nested(depth, code, kind, parts)

        register(f"nesting.{name}-{depth}", f"{depth} {name} inside each other, with one row.", make)


_deep("lists", _LIST, {}, _lists)
_deep("structs", _STRUCT, {}, _validity)
_deep("fixed-size-lists", _FIXED, {"listSize": 1}, _validity)


@hostile("nesting.schema-alone-2000")
def schema_alone() -> bytes:
    """A schema of 2000 structs inside each other, and no batch."""
    field: dict[str, Any] = {**_INT32, "children": []}
    for _ in range(2000):
        field = _field(_STRUCT, {}, field)
    return StreamModel(
        [DraftMessage({"version": V5, "header_type": 1, "header": {"fields": [field]}}, layout=SHARED_FIRST)]
    ).encode()


@hostile("nesting.widest-lists")
def exponential() -> bytes:
    """Forty fixed-size lists of two, inside each other: 2^40 slots from one row."""
    return _nested(40, _FIXED, {"listSize": 2}, _validity)


def _cyclic(name: str, what: str, on: str, change: Callable[[StreamModel], None]) -> None:
    def make() -> bytes:
        model = SAMPLES[on].stream()
        change(model)
        return model.encode()

    register(f"nesting.{name}", what, make, source="https://issues.apache.org/jira/browse/ARROW-10525")


def _inside(field: dict[str, Any]) -> dict[str, Any]:
    """The encoded field inside an encoded one."""
    child: dict[str, Any] = field["children"][0]
    return child if "dictionary" in child else _inside(child)


def _own_id(model: StreamModel) -> None:
    outer = model.schema.header["fields"][0]
    _inside(outer)["dictionary"]["id"] = outer["dictionary"]["id"]
    model.messages = [model.messages[0], *model.dictionaries[1:], *model.batches]


def _swapped_ids(model: StreamModel) -> None:
    outer = model.schema.header["fields"][0]
    inner = _inside(outer)
    inner["dictionary"]["id"], outer["dictionary"]["id"] = outer["dictionary"]["id"], inner["dictionary"]["id"]


def _outer_first(model: StreamModel) -> None:
    model.messages = [model.messages[0], *model.dictionaries[::-1], *model.batches]


def _delta_of_outer(model: StreamModel) -> None:
    outer = model.dictionaries[-1]
    again = DraftMessage({**outer.tree, "header": {**outer.header, "isDelta": 1}}, outer.nodes, outer.parts)
    model.messages.insert(model.place(outer) + 1, again)


def _inner_replaced(model: StreamModel) -> None:
    model.messages.insert(len(model.messages) - 1, model.dictionaries[0])


_cyclic(
    "dictionary-in-itself", "The values of a dictionary point into that dictionary.", "dictionary.nested-list", _own_id
)
_cyclic(
    "dictionary-ids-swapped",
    "Outer and inner dictionary have each other's ids.",
    "dictionary.nested-list",
    _swapped_ids,
)
_cyclic(
    "dictionary-outer-first",
    "A nested dictionary is sent before the one that it points into.",
    "dictionary.nested-thrice",
    _outer_first,
)
_cyclic(
    "dictionary-delta-of-outer",
    "A delta appends to a dictionary of encoded lists.",
    "dictionary.nested-list",
    _delta_of_outer,
)
_cyclic(
    "dictionary-inner-again",
    "The inner dictionary is replaced, the outer is not.",
    "dictionary.nested-list",
    _inner_replaced,
)
