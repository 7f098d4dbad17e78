"""The streams and connections of the reference, and what an append ends in."""

from __future__ import annotations

import dataclasses
from typing import Any

import pyarrow as pa

from conformance import wire
from conformance.protocols.storage_write.contract.classes import CLASSES
from conformance.protocols.storage_write.reference.store import WrittenTable
from conformance.protocols.storage_write.wire.messages import ERRORS, STORAGE_ERROR

__all__ = ["AppendRefusedError", "WriteConnection", "WriteStream", "storage_error"]

NAMES = {"INVALID_ARGUMENT": 3, "ALREADY_EXISTS": 6, "OUT_OF_RANGE": 11, "INTERNAL": 13}
"""The numbers of statuses (https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto)."""


@dataclasses.dataclass(slots=True)
class WriteStream:
    """A stream: ``kind`` is its type, and ``rows`` are its rows in the order of their offsets, visible or not.

    ``shown`` is the number of rows that are visible. ``created`` and ``committed`` are microseconds since the Unix
    epoch; None before the commit, and of the default stream.
    """

    name: str
    table: WrittenTable
    kind: str
    created: int | None = None
    committed: int | None = None
    finalized: bool = False
    rows: list[pa.Table] = dataclasses.field(default_factory=list)
    shown: int = 0

    @property
    def end(self) -> int:
        """The offset of the next row."""
        return sum(rows.num_rows for rows in self.rows)

    @property
    def is_default(self) -> bool:
        """True for the default stream of a table."""
        return self.name.endswith("/_default")

    def part(self, first: int, end: int) -> pa.Table:
        """The rows from an offset to another."""
        return pa.concat_tables(self.rows).slice(first, end - first) if self.rows else self.table.rows.slice(0, 0)


@dataclasses.dataclass(slots=True)
class WriteConnection:
    """What the requests of one connection share: the name of the stream, and the schema of the first request."""

    name: str = ""
    schema: wire.Schema | None = None
    written: bytes = b""
    """The message of this schema."""
    asked: str = ""
    """The stream that the request names, as it spells it; empty if it names none."""


class AppendRefusedError(Exception):
    """An append ends in an error in its answer: no row of it is written. ``kind`` is the code of a StorageError."""

    def __init__(self, code: str, text: str, *, kind: str = "", rows: dict[int, str] | None = None) -> None:
        super().__init__(text)
        self.code = NAMES[code]
        self.kind = kind
        self.rows = rows or {}


def storage_error(kind: str, entity: str, text: str) -> Any:
    """A StorageError; ``kind`` is its code."""
    return CLASSES["StorageError"](code=ERRORS[kind], entity=entity, error_message=text)


def put_error(response: Any, error: AppendRefusedError, entity: str) -> None:
    """Set the error of an answer."""
    response.error.code = error.code
    response.error.message = f"{error} Entity: {entity}"
    if error.kind:
        detail = storage_error(error.kind, entity, str(error))
        response.error.details.add(type_url=STORAGE_ERROR, value=detail.SerializeToString())
    for index, text in error.rows.items():
        response.row_errors.add(index=index, code=1, message=text)
