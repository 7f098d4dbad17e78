"""Systematic mutation: every field of every message on the path, changed in every simple way.

Named mutants are faults that somebody has seen or thought of. These are the others: each slot of each FlatBuffers
table and each field of each protobuf message is made absent, default, off by one, extreme, negative, or exchanged with
a sibling, one change at a time. The clauses decide whether a change is a fault.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.wire.tables import STRUCTS, TABLES, UNIONS, WIDTHS, Slot, SlotKind

__all__ = ["Edit", "edit_protobuf", "edit_tree"]


@dataclasses.dataclass(frozen=True, slots=True)
class Edit:
    """One change: the dotted ``path`` of the field (indices as ``[n]``), the kind of change, and the result."""

    path: str
    change: str
    result: Any


_SIGNED: Final = {"i8": 7, "i16": 15, "i32": 31, "i64": 63}


def _numbers(kind: str, value: int) -> Iterator[tuple[str, int]]:
    """Other values of a scalar: off by one, zero, extreme, negative; each at most once, none the value itself."""
    bits = _SIGNED.get(kind, 8 * WIDTHS[kind])
    top = 1 if kind == "bool" else (1 << bits) - 1
    bottom = -(1 << bits) if kind in _SIGNED else 0
    wanted = [("+1", value + 1), ("-1", value - 1), ("zero", 0), ("maximal", top), ("minimal", bottom)]
    if kind in _SIGNED:
        wanted.append(("negative", -1))
    seen = {value}
    for change, number in wanted:
        if bottom <= number <= top and number not in seen:
            seen.add(number)
            yield change, number


def edit_tree(table: str, tree: Mapping[str, Any], path: str = "") -> Iterator[Edit]:
    """Every single-slot change of a metadata tree (:mod:`conformance.reference.flatbuffers` says what a tree is)."""
    path = path or table
    for slot in TABLES[table].slots:
        at = f"{path}.{slot.name}"
        value = tree.get(slot.name)
        if value is not None and value != slot.default:
            reported = _reported(table, slot, tree)
            yield Edit(at, "absent", {key: kept for key, kept in reported.items() if key != slot.name})
        for inner in _slot_edits(slot, value, tree, at):
            yield Edit(inner.path, inner.change, {**_reported(table, slot, tree), slot.name: inner.result})
    yield from _exchanged(table, tree, path)


def _reported(table: str, slot: Slot, tree: Mapping[str, Any]) -> Mapping[str, Any]:
    """The tree with the union named whose type byte ``slot`` is, so that its value stays what it was."""
    name = slot.name.removesuffix("_type")
    if name == slot.name or name not in tree:
        return tree
    union = TABLES[table].slots[TABLES[table].index[name]]
    return {**tree, name: (UNIONS[union.of][tree[slot.name]], tree[name])}


def _exchanged(table: str, tree: Mapping[str, Any], path: str) -> Iterator[Edit]:
    """Two scalar slots of one type, both present, with each other's values."""
    scalars = [slot for slot in TABLES[table].slots if slot.kind is SlotKind.SCALAR and slot.name in tree]
    scalars = [slot for slot in scalars if not slot.name.endswith("_type")]
    for first, second in itertools.combinations(scalars, 2):
        if first.of == second.of and tree[first.name] != tree[second.name]:
            swapped = {**tree, first.name: tree[second.name], second.name: tree[first.name]}
            yield Edit(f"{path}.{first.name}", f"exchanged with {second.name}", swapped)


def _slot_edits(slot: Slot, value: Any, tree: Mapping[str, Any], path: str) -> Iterator[Edit]:
    match slot.kind:
        case SlotKind.SCALAR:
            current = slot.default if value is None else value
            assert current is not None, "scalars have defaults"
            yield from (Edit(path, change, number) for change, number in _numbers(slot.of, int(current)))
        case SlotKind.STRING if value is not None:
            text = value if isinstance(value, bytes) else value.encode()
            yield from (Edit(path, change, other) for change, other in _texts(text) if other != text)
        case SlotKind.TABLE if value is not None:
            yield from edit_tree(slot.of, value, path)
        case SlotKind.UNION if value is not None:
            yield from edit_tree(UNIONS[slot.of][tree[f"{slot.name}_type"]], value, path)
        case SlotKind.TABLES | SlotKind.STRUCTS | SlotKind.SCALARS if value is not None:
            yield from _vector_edits(slot, value, path)


def _texts(text: bytes) -> list[tuple[str, bytes]]:
    return [("empty", b""), ("longer", text + b"x"), ("upper case", text.upper())]


def _vector_edits(slot: Slot, value: Sequence[Any], path: str) -> Iterator[Edit]:
    items = list(value)
    for change, other in _shuffled(items):
        yield Edit(path, change, other)
    for index, item in enumerate(items):
        for edit in _item_edits(slot, item, f"{path}[{index}]"):
            yield Edit(edit.path, edit.change, [*items[:index], edit.result, *items[index + 1 :]])


def _shuffled(items: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    if items:
        yield "empty", []
        yield "last dropped", items[:-1]
        yield "last doubled", [*items, items[-1]]
    if len(items) > 1 and items[0] != items[1]:
        yield "first two exchanged", [items[1], items[0], *items[2:]]


def _item_edits(slot: Slot, item: Any, path: str) -> Iterator[Edit]:
    if slot.kind is SlotKind.TABLES:
        yield from edit_tree(slot.of, item, path)
    elif slot.kind is SlotKind.SCALARS:
        yield from (Edit(path, change, number) for change, number in _numbers(slot.of, int(item)))
    else:
        # The offset of an empty buffer has no meaning: such changes get a name of their own.
        empty = " of nothing" if slot.of == "Buffer" and item[1] == 0 else ""
        for position, (name, kind, _) in enumerate(STRUCTS[slot.of].fields):
            for change, number in _numbers(kind, int(item[position])):
                yield Edit(f"{path}.{name}", change + empty, (*item[:position], number, *item[position + 1 :]))
        if len(item) == 2 and item[0] != item[1]:
            yield Edit(path, "fields exchanged", (item[1], item[0]))


def edit_protobuf(message: Any, path: str = "") -> Iterator[Edit]:
    """Every single-field change of a protobuf message, as serialized bytes; unset fields are set too."""
    path = path or message.DESCRIPTOR.name
    for field in message.DESCRIPTOR.fields:
        at = f"{path}.{field.name}"
        present = bool(getattr(message, field.name)) if _repeated(field) else _is_set(message, field)
        if present:
            other = _copy(message)
            other.ClearField(field.name)
            yield Edit(at, "absent", other.SerializeToString())
        if _repeated(field):
            yield from _repeated_edits(message, field, at)
        elif field.message_type is not None:
            if present:
                for inner in edit_protobuf(getattr(message, field.name), at):
                    other = _copy(message)
                    getattr(other, field.name).ParseFromString(inner.result)
                    yield Edit(inner.path, inner.change, other.SerializeToString())
        else:
            for change, value in _values(field, getattr(message, field.name)):
                other = _copy(message)
                setattr(other, field.name, value)
                yield Edit(at, change, other.SerializeToString())
    yield from _exchanged_fields(message, path)


def _copy(message: Any) -> Any:
    other = type(message)()
    other.CopyFrom(message)
    return other


def _repeated(field: Any) -> bool:
    # Newer releases of protobuf have a property, older ones the label only.
    return bool(field.is_repeated) if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED


def _is_set(message: Any, field: Any) -> bool:
    return bool(message.HasField(field.name)) if field.has_presence else bool(getattr(message, field.name))


def _values(field: Any, value: Any) -> Iterator[tuple[str, Any]]:
    """Other values of a singular scalar field."""
    if isinstance(value, bool):
        wanted: list[tuple[str, Any]] = [("inverted", not value)]
    elif isinstance(value, int):
        bits = 32 if field.type in (field.TYPE_INT32, field.TYPE_ENUM) else 64
        top = (1 << (bits - 1)) - 1
        wanted = [("+1", value + 1), ("-1", value - 1), ("zero", 0), ("maximal", top), ("minimal", -top - 1)]
        wanted = [(change, number) for change, number in wanted if -top - 1 <= number <= top]
    elif isinstance(value, float):
        wanted = [("+1", value + 1), ("-1", value - 1), ("zero", 0.0), ("not a number", float("nan"))]
    elif isinstance(value, str):
        wanted = [("empty", ""), ("longer", value + "x"), ("upper case", value.upper())]
    else:
        wanted = [
            ("empty", b""),
            ("longer", value + bytes(8)),
            ("shorter", value[:-1]),
            ("noise", b"\xa5" * len(value)),
        ]
    seen = [value]
    for change, other in wanted:
        if other not in seen:
            seen.append(other)
            yield change, other


def _repeated_edits(message: Any, field: Any, path: str) -> Iterator[Edit]:
    for change, items in _shuffled(list(getattr(message, field.name))):
        other = _copy(message)
        other.ClearField(field.name)
        getattr(other, field.name).extend(items)
        yield Edit(path, change, other.SerializeToString())
    if field.message_type is None:
        return
    for index, item in enumerate(getattr(message, field.name)):
        for inner in edit_protobuf(item, f"{path}[{index}]"):
            other = _copy(message)
            getattr(other, field.name)[index].ParseFromString(inner.result)
            yield Edit(inner.path, inner.change, other.SerializeToString())


def _exchanged_fields(message: Any, path: str) -> Iterator[Edit]:
    """Edits that exchange the values of two singular scalar fields of one type; both are set."""
    fields = [
        field
        for field in message.DESCRIPTOR.fields
        if field.message_type is None and not _repeated(field) and _is_set(message, field)
    ]
    for first, second in itertools.combinations(fields, 2):
        values = getattr(message, first.name), getattr(message, second.name)
        if first.type == second.type and values[0] != values[1]:
            other = _copy(message)
            setattr(other, first.name, values[1])
            setattr(other, second.name, values[0])
            yield Edit(f"{path}.{first.name}", f"exchanged with {second.name}", other.SerializeToString())
