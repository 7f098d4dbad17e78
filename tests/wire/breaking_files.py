"""For every rule on files and tensors, bytes that break it: a part of the table in :mod:`tests.wire.breaking`."""

from __future__ import annotations

from collections.abc import Callable

from conformance.wire.faults import Fault, Rule
from conformance.wire.file import read_file
from conformance.wire.tensors import read_tensor
from tests.wire.forge import batch_message, field, i4, schema_message, type_code
from tests.wire.sealing import (
    BATCH,
    DELTA,
    INT,
    SCHEMA,
    VALUES,
    Sealed,
    coo,
    csf,
    csx,
    encoded,
    plain,
    sparse_message,
    tensor_message,
)

FILES: dict[Rule, bytes] = {}
TENSORS: dict[Rule, bytes] = {}


def cases() -> dict[Rule, Callable[[], list[Fault]]]:
    """The faults of each entry, read as what it is."""
    made: dict[Rule, Callable[[], list[Fault]]] = {}
    made |= {rule: lambda data=data: read_file(data).faults for rule, data in FILES.items()}  # type: ignore[misc]
    made |= {rule: lambda data=data: read_tensor(data).faults for rule, data in TENSORS.items()}  # type: ignore[misc]
    return made


# --- magic and footer -----------------------------------------------------------------------------------

_PLAIN = plain()
_FIRST, _SECOND = _PLAIN.blocks[1:]
GOOD_FILE = _PLAIN.seal(batches=[_FIRST, _SECOND])
"""A file without a fault."""
_END = len(GOOD_FILE) - 10

FILES[Rule.FILE_MAGIC_START] = b"ARROW2" + GOOD_FILE[6:]
FILES[Rule.FILE_MAGIC_PADDING] = b"ARROW1!!" + GOOD_FILE[8:]
_LATER = plain(head=b"ARROW1".ljust(64, b"\0"))
FILES[Rule.FILE_STREAM_START] = _LATER.seal(batches=_LATER.blocks[1:])
FILES[Rule.FILE_MAGIC_END] = GOOD_FILE[:-1]
_LONGER = Sealed([SCHEMA, batch_message(200, [(200, 0)], [b"", i4(*range(200))])])
FILES[Rule.FILE_OVERWRITTEN] = GOOD_FILE + _LONGER.seal(batches=_LONGER.blocks[1:])[len(GOOD_FILE) :]
FILES[Rule.FILE_END_MISSING] = plain(end=b"").seal(batches=[_FIRST, _SECOND])
FILES[Rule.FOOTER_LENGTH_NOT_POSITIVE] = GOOD_FILE[:_END] + i4(0) + b"ARROW1"
FILES[Rule.FOOTER_OUT_OF_RANGE] = GOOD_FILE[:_END] + i4(_END - 7) + b"ARROW1"
FILES[Rule.FOOTER_VERSION_DIFFERS] = _PLAIN.seal(batches=[_FIRST, _SECOND], version=3)
FILES[Rule.FOOTER_SCHEMA_MISSING] = _PLAIN.seal(batches=[_FIRST, _SECOND], schema=None)
FILES[Rule.FOOTER_SCHEMA_DIFFERS] = _PLAIN.seal(
    batches=[_FIRST, _SECOND], schema={"fields": [field("y", "Int", bitWidth=32, is_signed=1)]}
)
_PAIRS = [{"key": key, "value": "v"} for key in "ab"]
_SAYING = Sealed([schema_message(INT, message={"custom_metadata": _PAIRS}), BATCH, BATCH])
FILES[Rule.FOOTER_METADATA_DIFFERS] = _SAYING.seal(
    batches=_SAYING.blocks[1:], custom_metadata=[*_PAIRS[:1], {"key": "own", "value": "v"}]
)

# --- blocks ---------------------------------------------------------------------------------------------


def _block(rule: Rule, offset: int = 0, metadata: int = 0, body: int = 0) -> None:
    """The second block, moved and stretched."""
    moved = _SECOND[0] + offset, _SECOND[1] + metadata, _SECOND[2] + body
    FILES[rule] = _PLAIN.seal(batches=[_FIRST, moved])


_block(Rule.BLOCK_OFFSET_NOT_MULTIPLE_OF_8, offset=4)
_block(Rule.BLOCK_METADATA_LENGTH_NOT_MULTIPLE_OF_8, metadata=-4)
_block(Rule.BLOCK_OUT_OF_FILE, offset=1 << 40)
_block(Rule.BLOCK_NO_MESSAGE, offset=16)
_block(Rule.BLOCK_METADATA_LENGTH_DIFFERS, metadata=-8)
_block(Rule.BLOCK_BODY_LENGTH_DIFFERS, body=-8)
FILES[Rule.BLOCK_HEADER_KIND] = _PLAIN.seal(batches=[_PLAIN.blocks[0], _FIRST, _SECOND])
FILES[Rule.BLOCK_REPEATED] = _PLAIN.seal(batches=[_FIRST, _SECOND, _SECOND])
FILES[Rule.BLOCK_ORDER] = _PLAIN.seal(batches=[_SECOND, _FIRST])
FILES[Rule.BLOCK_UNLISTED] = _PLAIN.seal(batches=[_FIRST])


def _inner() -> Sealed:
    """A batch whose only value is another batch's message."""
    text = batch_message(1, [(1, 0)], [b"", i4(0, len(BATCH)), BATCH])
    return Sealed([SCHEMA, text])


_OUTER = _inner().blocks[1]
_INNER = _OUTER[0] + _OUTER[1] + 8, _FIRST[1], _FIRST[2]
FILES[Rule.BLOCK_NOT_IN_STREAM] = _inner().seal(batches=[_INNER])
FILES[Rule.BLOCK_OVERLAP] = _inner().seal(batches=[_OUTER, _INNER])

_TWICE = encoded(VALUES, VALUES, BATCH)
FILES[Rule.FILE_DICTIONARY_REPLACED] = _TWICE.seal(_TWICE.blocks[1:3], _TWICE.blocks[3:])
_DELTAS = encoded(VALUES, DELTA, DELTA, BATCH)
_BASE, _ONE, _TWO, _LAST = _DELTAS.blocks[1:]
FILES[Rule.FILE_DELTA_ORDER] = _DELTAS.seal([_BASE, _TWO, _ONE], [_LAST])

# --- tensors --------------------------------------------------------------------------------------------

GOOD_TENSOR = tensor_message(2, 3)
"""A tensor without a fault."""
TENSORS[Rule.TENSOR_TYPE] = tensor_message(2, type_type=type_code("Utf8"), type={})
TENSORS[Rule.TENSOR_TYPE_BOOL] = tensor_message(2, type_type=type_code("Bool"), type={})
TENSORS[Rule.TENSOR_SHAPE_NEGATIVE] = tensor_message(-2, 3)
TENSORS[Rule.TENSOR_STRIDES_COUNT] = tensor_message(2, 3, strides=[4])
TENSORS[Rule.TENSOR_STRIDE_NEGATIVE] = tensor_message(2, 3, strides=[12, -4])
TENSORS[Rule.TENSOR_DATA_OUT_OF_BODY] = tensor_message(2, 3, data=(8, 24))
TENSORS[Rule.TENSOR_DATA_TOO_SMALL] = tensor_message(2, 3, strides=[16, 4])
TENSORS[Rule.TENSOR_ALIGNMENT] = tensor_message(2, 3, ahead=8)

_COO = coo((0, 1), (1, 2))
_CSX = csx([0, 1, 3], [1, 0, 2])
_FIBERS = [[0, 1, 3]], [[0, 1], [1, 0, 2]]
_CSF = csf(*_FIBERS, [0, 1])
GOOD_SPARSE = (
    sparse_message([2, 3], [5, 6], _COO),
    sparse_message([2, 3], [5, 6, 7], _CSX),
    sparse_message([2, 3], [5, 6, 7], _CSF),
)
"""Sparse tensors without a fault, one of each index."""
TENSORS[Rule.SPARSE_LENGTH_NEGATIVE] = sparse_message([2, 3], [5, 6], _COO, non_zero_length=-1)
TENSORS[Rule.SPARSE_DIMENSIONS] = sparse_message([2, 3, 1], [5, 6, 7], _CSX)
TENSORS[Rule.SPARSE_BUFFER_COUNT] = sparse_message([2, 3, 1], [5, 6, 7], csf(*_FIBERS, [0, 1, 2]))
TENSORS[Rule.SPARSE_BUFFER_OUT_OF_BODY] = sparse_message([2, 3], [5, 6], coo((0, 1), (1, 2), indicesBuffer=(-8, 32)))
TENSORS[Rule.SPARSE_BUFFER_TOO_SMALL] = sparse_message([2, 3], [5, 6, 7], _COO)
TENSORS[Rule.SPARSE_BUFFER_OVERLAP] = sparse_message([2, 3], [5, 6], _COO, data=(0, 8))
TENSORS[Rule.SPARSE_ALIGNMENT] = sparse_message([2, 3], [5, 6], _COO, ahead=8)
TENSORS[Rule.SPARSE_STRIDES] = sparse_message([2, 3], [5, 6], coo((0, 1), (1, 2), indicesStrides=[16]))
TENSORS[Rule.SPARSE_INDEX_RANGE] = sparse_message([2, 3], [5, 6], coo((0, 1), (1, 3)))
TENSORS[Rule.SPARSE_INDEX_ORDER] = sparse_message([2, 3], [5, 6, 7], csx([0, 1, 3], [1, 2, 0]))
TENSORS[Rule.SPARSE_NOT_CANONICAL] = sparse_message([2, 3], [5, 6], coo((1, 2), (0, 1), isCanonical=1))
TENSORS[Rule.SPARSE_POINTERS] = sparse_message([2, 3], [5, 6, 7], csx([0, 4, 3], [1, 0, 2]))
TENSORS[Rule.SPARSE_AXIS_ORDER] = sparse_message([2, 3], [5, 6, 7], csf(*_FIBERS, [0, 0]))
