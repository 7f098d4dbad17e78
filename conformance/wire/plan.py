"""Derivation of a layout plan from a schema; the judging of batches follows the plan. Computed once per schema.

The table of layouts is the columnar format's list of buffers per type
(https://arrow.apache.org/docs/format/Columnar.html#buffer-listing-for-each-layout).
"""

from __future__ import annotations

from typing import Final

from conformance.wire.closed import BufferRole, Layout
from conformance.wire.faults import Rule
from conformance.wire.layout import LayoutPlan, Op
from conformance.wire.types import Field, Schema, Type, TypeKind
from conformance.wire.values import DecimalBounds

__all__ = ["V4", "V4_WITH_RUNS", "V5", "plan_of"]

_BITMAP: Final = (BufferRole.VALIDITY,)
_FIXED: Final = (BufferRole.VALIDITY, BufferRole.DATA)
_VARIABLE: Final = (BufferRole.VALIDITY, BufferRole.OFFSETS, BufferRole.DATA)

_LISTS: Final = (BufferRole.VALIDITY, BufferRole.OFFSETS)
_VIEWS: Final = (BufferRole.VALIDITY, BufferRole.VIEWS)
_LIST_VIEWS: Final = (BufferRole.VALIDITY, BufferRole.OFFSETS, BufferRole.SIZES)

_LAYOUTS: Final[dict[TypeKind, tuple[Layout, tuple[BufferRole, ...]]]] = {
    TypeKind.NULL: (Layout.NULL, ()),
    TypeKind.BOOL: (Layout.BOOL, _FIXED),
    TypeKind.BINARY: (Layout.BINARY, _VARIABLE),
    TypeKind.UTF8: (Layout.BINARY, _VARIABLE),
    TypeKind.LARGE_BINARY: (Layout.BINARY, _VARIABLE),
    TypeKind.LARGE_UTF8: (Layout.BINARY, _VARIABLE),
    TypeKind.BINARY_VIEW: (Layout.VIEW, _VIEWS),
    TypeKind.UTF8_VIEW: (Layout.VIEW, _VIEWS),
    TypeKind.LIST: (Layout.LIST, _LISTS),
    TypeKind.MAP: (Layout.LIST, _LISTS),
    TypeKind.LARGE_LIST: (Layout.LIST, _LISTS),
    TypeKind.LIST_VIEW: (Layout.LIST_VIEW, _LIST_VIEWS),
    TypeKind.LARGE_LIST_VIEW: (Layout.LIST_VIEW, _LIST_VIEWS),
    TypeKind.FIXED_SIZE_LIST: (Layout.FIXED_SIZE_LIST, _BITMAP),
    TypeKind.STRUCT: (Layout.STRUCT, _BITMAP),
    TypeKind.RUN_END_ENCODED: (Layout.RUN_END_ENCODED, ()),
}
"""Layout and buffers per kind; fixed-width kinds share one layout, and those of unions depend on the version."""

_WIDTHS: Final = {
    **dict.fromkeys((TypeKind.BINARY, TypeKind.UTF8, TypeKind.LIST, TypeKind.MAP, TypeKind.LIST_VIEW), 4),
    **dict.fromkeys((TypeKind.LARGE_BINARY, TypeKind.LARGE_UTF8), 8),
    **dict.fromkeys((TypeKind.LARGE_LIST, TypeKind.LARGE_LIST_VIEW), 8),
    **dict.fromkeys((TypeKind.BINARY_VIEW, TypeKind.UTF8_VIEW), 16),
}
"""Width of an offset or view in bytes, for the kinds that have one."""

_DAY: Final = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


V5: Final[frozenset[TypeKind]] = frozenset()
"""The kinds of types with a validity bitmap of their own that V5 does not have: none."""
V4: Final = frozenset({TypeKind.UNION})
"""Those that V4 gives one (Schema.fbs, enum MetadataVersion)."""
V4_WITH_RUNS: Final = V4 | {TypeKind.RUN_END_ENCODED}
"""Those of writers that give runs one in V4, too: runs are newer than V4, and no text says which of the two is right.

Arrow C++ and arrow-rs write the bitmap.
"""


def plan_of(schema: Schema, bitmaps: frozenset[TypeKind] = V5) -> LayoutPlan:
    """The layout plan of a batch of ``schema``; computed on first use and then remembered.

    ``bitmaps`` is :data:`V5`, :data:`V4` or :data:`V4_WITH_RUNS`.
    """
    plan: LayoutPlan | None = schema.memo.get((plan_of, bitmaps))
    if plan is None:
        plan = schema.memo[plan_of, bitmaps] = _compile(schema, bitmaps)
    return plan


def _compile(schema: Schema, bitmaps: frozenset[TypeKind]) -> LayoutPlan:
    compiler = _Compiler(bitmaps)
    for field in schema.fields:
        compiler.add(field, None)
    ops = tuple(compiler.ops)
    views = sum(op.layout is Layout.VIEW for op in ops)
    return LayoutPlan(schema, ops, compiler.buffers, views, tuple(op.first for op in ops), bitmaps)


class _Compiler:
    def __init__(self, bitmaps: frozenset[TypeKind]) -> None:
        self.bitmaps = bitmaps
        self.ops: list[Op] = []
        self.buffers = 0

    def add(self, field: Field, parent: Op | None) -> None:
        layout, roles, width = self.layout(field)
        op = Op(
            index=len(self.ops),
            field=field,
            parent=parent,
            layout=layout,
            roles=roles,
            first=self.buffers,
            width=width,
            null_rule=_null_rule(field, parent),
        )
        _constrain(op)
        self.ops.append(op)
        self.buffers += len(roles)
        if parent is not None:
            parent.children.append(op)
        # The children of a dictionary-encoded field are in its dictionary batches; here it has only indices.
        if field.dictionary is None:
            for child in field.children:
                self.add(child, op)

    def layout(self, field: Field) -> tuple[Layout, tuple[BufferRole, ...], int]:
        if field.dictionary is not None:
            return Layout.FIXED, (BufferRole.VALIDITY, BufferRole.INDICES), field.dictionary.index_type.bit_width // 8
        bitmap = _BITMAP if field.type.kind in self.bitmaps else ()
        if field.type.kind is TypeKind.UNION:
            if field.type.mode == "sparse":
                return Layout.SPARSE_UNION, (*bitmap, BufferRole.TYPE_IDS), 1
            return Layout.DENSE_UNION, (*bitmap, BufferRole.TYPE_IDS, BufferRole.OFFSETS), 1
        layout, roles = _LAYOUTS.get(field.type.kind, (Layout.FIXED, _FIXED))
        width = _WIDTHS.get(field.type.kind) or field.type.byte_width or field.type.bit_width // 8
        return layout, (*bitmap, *roles), width


def _null_rule(field: Field, parent: Op | None) -> Rule | None:
    """The rule that a null in ``field`` breaks: map entries, map keys and run ends have rules of their own."""
    # `parent.children` is empty while the first child is added: the run ends, or the keys of a map's entries.
    if parent is not None and parent.field.type.kind is TypeKind.MAP:
        return Rule.MAP_NULL_ENTRY
    if parent is not None and parent.layout is Layout.RUN_END_ENCODED and not parent.children:
        return Rule.RUN_ENDS_NULLS
    above = parent.parent if parent is not None else None
    if above is not None and above.field.type.kind is TypeKind.MAP and parent is not None and not parent.children:
        return Rule.MAP_NULL_KEY
    return None if field.nullable else Rule.BATCH_NULLS_IN_NON_NULLABLE


def _constrain(op: Op) -> None:
    """Set the rule on values that applies to the op's type, if there is one."""
    made: Type = op.field.type
    if op.field.dictionary is not None:
        if op.field.dictionary.index_type.signed:
            op.value_rule = Rule.DICTIONARY_INDEX_NEGATIVE
    elif made.kind is TypeKind.DECIMAL:
        op.value_rule, op.parameter = Rule.DECIMAL_PRECISION, DecimalBounds.of(made.bit_width, made.precision)
    elif made.kind is TypeKind.TIME:
        op.value_rule, op.parameter = Rule.TIME_RANGE, _DAY[made.unit]
    elif made.kind is TypeKind.DATE and made.unit == "ms":
        op.value_rule = Rule.DATE64_WHOLE_DAYS
    elif made.kind in (TypeKind.UTF8, TypeKind.LARGE_UTF8, TypeKind.UTF8_VIEW):
        op.parameter = True  # for variable-size values, the parameter says that they are text
