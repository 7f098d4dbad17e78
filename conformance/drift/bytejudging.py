"""Judging of bytes, and digests of their content that do not depend on a codec, both with this package's own reader."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final

from conformance.contract.clause import CLAUSES
from conformance.contract.ipc.judging import judge_ipc
from conformance.contract.raised import sound
from conformance.records import Level, Outcome
from conformance.wire import Kind
from conformance.wire.batch import BatchMessage
from conformance.wire.faults import Rule, WireRule
from conformance.wire.file import FileReading, read_file
from conformance.wire.stream import StreamReading, read_stream

__all__ = ["broken_rules", "content_digest", "failing_clauses"]


def read(container: str, data: bytes) -> StreamReading | FileReading:
    """Read a stream or a file with this package's own reader."""
    return read_stream(data) if container == "stream" else read_file(data)


PROMISES: Final = frozenset({Rule.SCHEMA_EXTENSION_STORAGE, Rule.SCHEMA_EXTENSION_PARAMETERS, Rule.SCHEMA_TIME_ZONE})
"""Rules on names that say what a schema means: a version that does not know the name reads such bytes."""


def broken_rules(container: str, data: bytes, *, promises: bool = False) -> tuple[WireRule, ...]:
    """The rules of the format that the bytes break, each once, sorted by code; :data:`PROMISES` only on request.

    Whoever has bytes that only break a promise has to know which version begins to refuse them.
    """
    found = {fault.rule for fault in read(container, data).violations}
    return tuple(sorted(found if promises else found - PROMISES))


def failing_clauses(container: str, data: bytes) -> tuple[str, ...]:
    """The clauses of level MUST that the bytes fail under the contract on streams and files."""
    verdicts = sound(judge_ipc(data, Kind(container)))
    failed = {verdict.clause for verdict in verdicts if verdict.outcome is Outcome.FAIL}
    return tuple(sorted(clause for clause in failed if CLAUSES[clause].level is Level.MUST))


def content_digest(container: str, data: bytes) -> str:
    """A digest of the content of the bytes with decompressed buffers, without their positions.

    Two versions of a codec compress the same buffer to different lengths, so that it and later buffers are moved.
    """
    reading = read(container, data)
    digest = hashlib.sha256()
    stream = reading if isinstance(reading, StreamReading) else reading.stream
    messages = stream.messages if stream is not None else []
    parts: list[object] = [(one.header, one.legacy, one.version, one.custom_metadata) for one in messages]
    broken = [fault for fault in reading.violations if fault.rule not in PROMISES]
    parts += [str(reading.schema), len(broken)]
    digest.update(repr(parts).encode())
    for one in reading.dictionaries:
        digest.update(repr((one.id, one.delta)).encode())
        _feed(digest.update, one.batch)
    for batch in reading.batches:
        _feed(digest.update, batch)
    return digest.hexdigest()


def _feed(update: Callable[[bytes], None], batch: BatchMessage) -> None:
    update(repr((batch.length, batch.codec, batch.nodes)).encode())
    for content in batch.body.contents if batch.body is not None else ():
        update(b"?" if content is None else len(content).to_bytes(8, "little") + bytes(content))
