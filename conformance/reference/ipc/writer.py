"""Record batches to IPC streams and files, by the reference's own code.

pyarrow supplies the arrays and the codecs; the messages, the order of dictionaries and the Footer are written here,
so that agreement with another reader is independent evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from conformance.reference.body import Part
from conformance.reference.ipc.dictionaries import WrittenDictionaries, dictionary_count
from conformance.reference.ipc.endian import swap
from conformance.reference.ipc.models import UNSHARED, FileModel, StreamModel
from conformance.reference.ipc.options import CODECS, VERSIONS, WriterOptions
from conformance.reference.message import END_OF_STREAM, DraftMessage, batch_message, schema_message

__all__ = ["file_model", "stream_model", "write_file", "write_stream"]

DEFAULTS: Final = WriterOptions()


def write_stream(
    batches: Sequence[pa.RecordBatch], options: WriterOptions = DEFAULTS, *, schema: pa.Schema | None = None
) -> bytes:
    """The bytes of a stream of ``batches``; ``schema`` is needed where there are none.

    Raises:
        TypeError: a column's type is one that the reference does not write.
        ValueError: there is no schema, a batch has another one, or fields that share an id do not share a dictionary.
    """
    return stream_model(batches, options, schema=schema).encode()


def write_file(
    batches: Sequence[pa.RecordBatch], options: WriterOptions = DEFAULTS, *, schema: pa.Schema | None = None
) -> bytes:
    """The bytes of a file of ``batches``, as :func:`write_stream` takes them.

    Raises:
        TypeError: as :func:`write_stream`.
        ValueError: as :func:`write_stream`, or the file would have to replace a dictionary.
    """
    return file_model(batches, options, schema=schema).encode()


def stream_model(
    batches: Sequence[pa.RecordBatch],
    options: WriterOptions = DEFAULTS,
    *,
    schema: pa.Schema | None = None,
    replacements: bool = True,
) -> StreamModel:
    """The model of what :func:`write_stream` writes."""
    schema = _schema(batches, schema)
    count = dictionary_count(schema)
    ids = range(count) if options.ids is None else options.ids
    if len(ids) != count:
        raise ValueError(f"ids: expected one for each of the {count} dictionaries of the schema, got {len(ids)}")
    dictionaries = WrittenDictionaries(ids, deltas=options.deltas, replacements=replacements)
    opening = schema_message(schema, ids)
    opening.header["endianness"] = int(options.big_endian)
    _add_metadata(opening, options.opening_metadata)
    messages = [opening]
    for batch in batches:
        for message in (*dictionaries.messages(batch), batch_message(batch)):
            _choose(message, options)
            messages.append(message)
    for message in messages:
        message.tree["version"] = VERSIONS[options.version]
        message.alignment = options.alignment
        message.layout = UNSHARED
        message.continuation = b"" if options.legacy else message.continuation
    marker = bytes(4) if options.legacy else END_OF_STREAM
    return StreamModel(list(messages), marker if options.end == "marker" else b"")


def file_model(
    batches: Sequence[pa.RecordBatch], options: WriterOptions = DEFAULTS, *, schema: pa.Schema | None = None
) -> FileModel:
    """The model of what :func:`write_file` writes."""
    stream = stream_model(batches, options, schema=schema, replacements=False)
    opening = stream.schema
    footer: dict[str, Any] = {"version": opening.tree["version"], "schema": opening.header}
    if "custom_metadata" in opening.tree:
        footer["custom_metadata"] = opening.tree["custom_metadata"]
    return FileModel(stream, footer)


def _schema(batches: Sequence[pa.RecordBatch], schema: pa.Schema | None) -> pa.Schema:
    if schema is None:
        if not batches:
            raise ValueError("expected a schema where there are no batches, got none")
        schema = batches[0].schema
    for number, batch in enumerate(batches):
        if not batch.schema.equals(schema, check_metadata=True):
            raise ValueError(f"batch {number}: expected the stream's schema {schema}, got {batch.schema}")
    return schema


def _choose(message: DraftMessage, options: WriterOptions) -> None:
    """Writes a batch or dictionary batch with the options."""
    message.codec = CODECS[options.codec]
    message.savings = options.min_space_savings or 0.0
    _add_metadata(message, options.message_metadata)
    if options.version == "V4":
        message.parts = list(_with_union_bitmaps(message.parts))
    if options.validity == "always":
        _fill_bitmaps(message.parts)
    if options.big_endian:
        for part in message.parts:
            swap(part)


def _add_metadata(message: DraftMessage, pairs: Mapping[str, str]) -> None:
    if pairs:
        message.tree["custom_metadata"] = [{"key": key, "value": value} for key, value in pairs.items()]


def _with_union_bitmaps(parts: Sequence[Part]) -> Iterator[Part]:
    """The buffers as V4 requires them: a union has a validity bitmap, which is empty since it has no nulls."""
    for part in parts:
        if part.role == "type ids":
            yield Part(part.path, "validity", b"")
        yield part


def _fill_bitmaps(parts: Sequence[Part]) -> None:
    """Fills in every bitmap that was left out, with ones."""
    for part in parts:
        if part.role == "validity" and not part.data:
            part.data = np.packbits(np.ones(part.slots, np.uint8), bitorder="little").tobytes()
