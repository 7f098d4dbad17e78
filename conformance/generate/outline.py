"""The outline of a table's columns: the part of synthesis without the recipe, computed once because cases share
columns.

A *region* is all nodes with the same number of slots: those outside of every list, or those inside of one list.
Values are small and tables are many, so a region's choices are made for all of its nodes at once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from conformance.contract.mapping import arrow_schema
from conformance.contract.remembered import once_per_object
from conformance.records import ROW_ID, BqType, Column, Mode, is_row_id

__all__ = ["ROW_ID", "Outline", "OutlineNode", "OutlineRegion", "is_row_id", "outline"]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class OutlineNode:
    """A column, or the items of one, at its ``place`` in its region.

    ``items`` is the region inside of a list, whose node has the list's own slots; ``children`` are the fields of a
    record.
    ``nullable`` is True if a slot may be NULL, which a list's item never is.
    """

    place: int
    path: str
    column: Column
    arrow: pa.DataType
    nullable: bool
    children: tuple[OutlineNode, ...] = ()
    items: OutlineRegion | None = None


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class OutlineRegion:
    """The nodes of a region in pre-order, and its outermost nodes in ``top``.

    ``parents`` are pairs of places, a field's and its record's.
    ``strikable`` is True for each node (one per row of a column vector) at which the null pattern has an effect: a
    NULL, or a list without items.
    ``least`` is the least number picked for a visible slot of a node: 1 for pools, whose index 0 is the zero under a
    NULL, and 0 for lists, whose number is their length.
    """

    nodes: tuple[OutlineNode, ...]
    top: tuple[OutlineNode, ...]
    parents: tuple[tuple[int, int], ...]
    strikable: npt.NDArray[np.bool_]
    least: npt.NDArray[np.intp]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """The schema of a table, the region with a slot per row, and the row counters, which are in no region.

    ``row_ids`` is True for each column that is a row counter.
    """

    schema: pa.Schema
    region: OutlineRegion
    row_ids: tuple[bool, ...]


@once_per_object
def outline(columns: tuple[Column, ...]) -> Outline:
    """Return the outline of a table with ``columns``."""
    schema = arrow_schema(columns)
    row_ids = tuple(map(is_row_id, columns))
    reported = zip(columns, schema.types, row_ids, strict=True)
    region = _region((column, column.name, arrow) for column, arrow, counts in reported if not counts)
    return Outline(schema, region, row_ids)


def _region(columns: Iterable[tuple[Column, str, pa.DataType]], *, items: bool = False) -> OutlineRegion:
    """Return the region of these columns, given as ``(column, path, type)``, or of their items."""
    nodes: dict[int, OutlineNode] = {}
    top = [_node(column, path, arrow, nodes, item=items) for column, path, arrow in columns]
    in_order = [nodes[place] for place in range(len(nodes))]
    return OutlineRegion(
        nodes=tuple(in_order),
        top=tuple(top),
        parents=tuple((child.place, node.place) for node in in_order for child in node.children),
        strikable=np.array([[node.nullable or node.items is not None] for node in in_order], np.bool_),
        least=np.array([[node.items is None] for node in in_order], np.intp),
    )


def _node(
    column: Column, path: str, arrow: pa.DataType, nodes: dict[int, OutlineNode], *, item: bool = False
) -> OutlineNode:
    """Return a column's node, which is put into ``nodes`` before those of its fields."""
    place = len(nodes)
    nodes[place] = _PENDING
    if column.mode is Mode.REPEATED and not item:
        inside = _region([(column, f"{path}[]", arrow.value_type)], items=True)
        node = OutlineNode(place, path, column, arrow, nullable=False, items=inside)
    else:
        children = tuple(
            _node(field, f"{path}.{field.name}", arrow.field(index).type, nodes)
            for index, field in enumerate(column.fields)
        )
        nullable = column.mode is Mode.NULLABLE and not item
        node = OutlineNode(place, path, column, arrow, nullable=nullable, children=children)
    nodes[place] = node
    return node


_PENDING: Final = OutlineNode(-1, "", Column("", BqType.INT64), pa.null(), nullable=False)
"""The placeholder of a record while the nodes of its fields are made."""
