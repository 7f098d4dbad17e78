"""From a schema to the plan by which its batches are judged; compiled once per schema.

The table of layouts below is the columnar format's list of buffers per type.
"""

from __future__ import annotations

from typing import Final

from conformance.wire.closed import BufferRole, Layout
from conformance.wire.faults import Rule
from conformance.wire.layout import LayoutPlan, Op
from conformance.wire.types import Field, Schema, Type, TypeKind
from conformance.wire.values import DecimalBounds

__all__ = ["plan_of"]

_BITMAP: Final = (BufferRole.VALIDITY,)
_FIXED: Final = (BufferRole.VALIDITY, BufferRole.DATA)
_VARIABLE: Final = (BufferRole.VALIDITY, BufferRole.OFFSETS, BufferRole.DATA)

_LAYOUTS: Final[dict[TypeKind, tuple[Layout, tuple[BufferRole, ...], int]]] = {
    TypeKind.NULL: (Layout.NULL, (), 0),
    TypeKind.BOOL: (Layout.BOOL, _FIXED, 0),
    TypeKind.BINARY: (Layout.BINARY, _VARIABLE, 4),
    TypeKind.UTF8: (Layout.BINARY, _VARIABLE, 4),
    TypeKind.LARGE_BINARY: (Layout.BINARY, _VARIABLE, 8),
    TypeKind.LARGE_UTF8: (Layout.BINARY, _VARIABLE, 8),
    TypeKind.BINARY_VIEW: (Layout.VIEW, (BufferRole.VALIDITY, BufferRole.VIEWS), 16),
    TypeKind.UTF8_VIEW: (Layout.VIEW, (BufferRole.VALIDITY, BufferRole.VIEWS), 16),
    TypeKind.LIST: (Layout.LIST, (BufferRole.VALIDITY, BufferRole.OFFSETS), 4),
    TypeKind.MAP: (Layout.LIST, (BufferRole.VALIDITY, BufferRole.OFFSETS), 4),
    TypeKind.LARGE_LIST: (Layout.LIST, (BufferRole.VALIDITY, BufferRole.OFFSETS), 8),
    TypeKind.LIST_VIEW: (Layout.LIST_VIEW, (BufferRole.VALIDITY, BufferRole.OFFSETS, BufferRole.SIZES), 4),
    TypeKind.LARGE_LIST_VIEW: (Layout.LIST_VIEW, (BufferRole.VALIDITY, BufferRole.OFFSETS, BufferRole.SIZES), 8),
    TypeKind.FIXED_SIZE_LIST: (Layout.FIXED_SIZE_LIST, _BITMAP, 0),
    TypeKind.STRUCT: (Layout.STRUCT, _BITMAP, 0),
    TypeKind.RUN_END_ENCODED: (Layout.RUN_END_ENCODED, (), 0),
}
"""Layout, buffers, and offset (or view) width per kind; kinds of fixed width and unions are worked out."""

_DAY: Final = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def plan_of(schema: Schema, *, union_validity: bool = False) -> LayoutPlan:
    """How a batch of ``schema`` is laid out, compiled on first use.

    ``union_validity`` gives unions the validity bitmap that they have under V4.
    """
    plan: LayoutPlan | None = schema.memo.get((plan_of, union_validity))
    if plan is None:
        plan = schema.memo[plan_of, union_validity] = _compile(schema, union_validity=union_validity)
    return plan


def _compile(schema: Schema, *, union_validity: bool) -> LayoutPlan:
    compiler = _Compiler(union_validity=union_validity)
    for field in schema.fields:
        compiler.add(field, None)
    views = sum(op.layout is Layout.VIEW for op in compiler.ops)
    return LayoutPlan(schema, tuple(compiler.ops), compiler.buffers, views, tuple(op.first for op in compiler.ops))


class _Compiler:
    def __init__(self, *, union_validity: bool) -> None:
        self.union_validity = union_validity
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
        if field.dictionary is None:
            for child in field.children:
                self.add(child, op)

    def layout(self, field: Field) -> tuple[Layout, tuple[BufferRole, ...], int]:
        if field.dictionary is not None:
            return Layout.FIXED, (BufferRole.VALIDITY, BufferRole.INDICES), field.dictionary.index_type.bit_width // 8
        if field.type.kind is TypeKind.UNION:
            bitmap = _BITMAP if self.union_validity else ()
            if field.type.mode == "sparse":
                return Layout.SPARSE_UNION, (*bitmap, BufferRole.TYPE_IDS), 1
            return Layout.DENSE_UNION, (*bitmap, BufferRole.TYPE_IDS, BufferRole.OFFSETS), 1
        fixed = Layout.FIXED, _FIXED, field.type.byte_width or field.type.bit_width // 8
        return _LAYOUTS.get(field.type.kind, fixed)


def _null_rule(field: Field, parent: Op | None) -> Rule | None:
    if parent is not None and parent.field.type.kind is TypeKind.MAP:
        return Rule.MAP_NULL_ENTRY
    if parent is not None and parent.layout is Layout.RUN_END_ENCODED and not parent.children:
        return Rule.RUN_ENDS_NULLS
    above = parent.parent if parent is not None else None
    if above is not None and above.field.type.kind is TypeKind.MAP and parent is not None and not parent.children:
        return Rule.MAP_NULL_KEY
    return None if field.nullable else Rule.BATCH_NULLS_IN_NON_NULLABLE


def _constrain(op: Op) -> None:
    """Attaches the rule on values that the op's type has, if it has one."""
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
        op.parameter = True  # the variable-size judges check text only
