"""Known limits of readers: legal bytes on which a reader fails, which says nothing about the server that sent them.

A reader states such a limit in its ``INFO``, as it was measured. Only a reading that did fail so, on bytes of that
shape, is excused: a version without the defect is judged as on any other bytes.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from conformance.contract.bytefields import BatchBytes, SchemaBytes
from conformance.contract.view import View
from conformance.readers.info import LimitKind, ReaderInfo
from conformance.readers.registry import KNOWN
from conformance.records import CANNOT, Reading, ReadingOutcome
from conformance.wire.body import Body
from conformance.wire.closed import BufferRole, Layout
from conformance.wire.layout import Op
from conformance.wire.vtables import has_early_vtable

__all__ = ["excused"]


def excused(readings: Iterable[Reading], view: View, *, readers: Mapping[str, ReaderInfo] = KNOWN) -> list[Reading]:
    """The readings, with those that failed at a known limit of their reader as unavailable."""
    return [_excused(reading, view, readers) for reading in readings]


def _excused(reading: Reading, view: View, readers: Mapping[str, ReaderInfo]) -> Reading:
    if reading.outcome in (ReadingOutcome.TABLE, ReadingOutcome.UNAVAILABLE):
        return reading
    for limit in readers[reading.reader].limits:
        if limit.ends is reading.outcome and limit.says in reading.error_text and _SHOWN[limit.kind](view):
            return dataclasses.replace(
                reading, outcome=ReadingOutcome.UNAVAILABLE, error_class=CANNOT, error_text=limit.measured
            )
    return reading


def _left_out(view: View, *, packed: bool = False) -> Iterator[Op]:
    """The columns without slots whose offsets have 0 bytes, of all batches, or of those with compressed buffers."""
    for batch in view.batches:
        message = batch.message
        if message is None or not message.decodable or (packed and not message.codec):
            continue
        if (body := message.body) is not None:
            yield from (op for op in body.plan.ops if _is_left_out(body, op))


def _is_left_out(body: Body, op: Op) -> bool:
    if op.layout not in (Layout.BINARY, Layout.LIST) or body.nodes[2 * op.index]:
        return False
    return not body.contents[body.starts[op.index] + op.roles.index(BufferRole.OFFSETS)]


def _without_offsets(view: View) -> bool:
    return any(True for _ in _left_out(view))


def _packed_without_offsets(view: View) -> bool:
    return any(True for _ in _left_out(view, packed=True))


def _lists_without_offsets(view: View) -> bool:
    return any(one.layout is Layout.LIST for op in _left_out(view) for one in _below(op))


def _early_vtable(view: View) -> bool:
    return any(has_early_vtable(metadata) for metadata in _metadata(view))


def _metadata(view: View) -> Iterator[bytes]:
    """The metadata of each message, each once."""
    messages: list[SchemaBytes | BatchBytes] = [*view.schemas, *view.batches]
    places = ((one.data, one.first) for one in messages)
    yield from dict.fromkeys(bytes(data[at.metadata_start : at.metadata_end]) for data, at in places if at is not None)


def _below(op: Op) -> Iterator[Op]:
    for child in op.children:
        yield child
        yield from _below(child)


_SHOWN: Final[Mapping[LimitKind, Callable[[View], bool]]] = types.MappingProxyType(
    {
        LimitKind.WITHOUT_OFFSETS: _without_offsets,
        LimitKind.PACKED_WITHOUT_OFFSETS: _packed_without_offsets,
        LimitKind.LISTS_WITHOUT_OFFSETS: _lists_without_offsets,
        LimitKind.EARLY_VTABLE: _early_vtable,
    }
)
"""Whether the bytes of an exchange have the shape of a limit."""
