"""What synthesis has to do for a table's columns, whatever the recipe: worked out once, for many cases share columns.

A *region* is all that has one number of slots: what stands outside of every list, or inside of one list. Values are
small and tables are many, so a region's choices are made for all of its nodes at once.
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
from conformance.records import BqType, Column, Mode

__all__ = ["ROW_ID", "Outline", "OutlineNode", "Region", "is_row_id", "outline"]

ROW_ID: Final = "row_id"
"""A top-level REQUIRED INT64 column of this name counts the rows from 0, so that rows can be told apart."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class OutlineNode:
    """A column, or the items of one, at its ``place`` in its region.

    ``items`` is the region inside of a list, whose node has the list's own slots; ``children`` are the fields of a
    record. ``nullable`` says whether a slot may be NULL, which a list's item never is.
    """

    place: int
    path: str
    column: Column
    arrow: pa.DataType
    nullable: bool
    children: tuple[OutlineNode, ...] = ()
    items: Region | None = None


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Region:
    """The nodes of a region in pre-order, and those at its ``top``.

    ``parents`` are pairs of places, a field's and its record's. ``strikable`` says for each node, as a column, whether
    the null pattern strikes there: a NULL, or a list without items. ``least`` is the least that is picked for a node
    that shows: index 0 of a pool stands where nothing does, while a list may well have a length of 0.
    """

    nodes: tuple[OutlineNode, ...]
    top: tuple[OutlineNode, ...]
    parents: tuple[tuple[int, int], ...]
    strikable: npt.NDArray[np.bool_]
    least: npt.NDArray[np.intp]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """The schema of a table and the region of what has a slot for each row; ``row_ids`` are not in it."""

    schema: pa.Schema
    region: Region
    row_ids: tuple[bool, ...]


def is_row_id(column: Column) -> bool:
    """Whether a top-level column counts the rows."""
    return column.name == ROW_ID and column.type is BqType.INT64 and column.mode is Mode.REQUIRED


@once_per_object
def outline(columns: tuple[Column, ...]) -> Outline:
    """The outline of a table with ``columns``."""
    schema = arrow_schema(columns)
    row_ids = tuple(map(is_row_id, columns))
    reported = zip(columns, schema.types, row_ids, strict=True)
    region = _region((column, column.name, arrow) for column, arrow, counts in reported if not counts)
    return Outline(schema, region, row_ids)


def _region(columns: Iterable[tuple[Column, str, pa.DataType]], *, items: bool = False) -> Region:
    """The region of these columns, or of their items: ``(column, path, type)``."""
    nodes: dict[int, OutlineNode] = {}
    top = [_node(column, path, arrow, nodes, item=items) for column, path, arrow in columns]
    in_order = [nodes[place] for place in range(len(nodes))]
    return Region(
        nodes=tuple(in_order),
        top=tuple(top),
        parents=tuple((child.place, node.place) for node in in_order for child in node.children),
        strikable=np.array([[node.nullable or node.items is not None] for node in in_order], np.bool_),
        least=np.array([[node.items is None] for node in in_order], np.intp),
    )


def _node(
    column: Column, path: str, arrow: pa.DataType, nodes: dict[int, OutlineNode], *, item: bool = False
) -> OutlineNode:
    """A column's node, put among ``nodes`` before those of its fields."""
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
"""What keeps the place of a record whose fields are not there yet."""
