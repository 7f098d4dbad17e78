"""Writing of the integration form: the verified buffers of a stream or file as lists of numbers and texts."""

from __future__ import annotations

import dataclasses
import io
import itertools
import math
import struct
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conformance.wire.arrow import UndecodableError
from conformance.wire.batch import BatchMessage
from conformance.wire.body import Body
from conformance.wire.closed import Layout
from conformance.wire.dictionaries import DictionaryMessage
from conformance.wire.integration.form import IntegrationError, schema_to
from conformance.wire.intervals import DAY_TIME, YEAR_MONTH
from conformance.wire.layout import Op
from conformance.wire.liveness import bits, live, numbers
from conformance.wire.plan import plan_of
from conformance.wire.stream import read_stream
from conformance.wire.types import Field, Schema, Type, TypeKind

__all__ = ["write_integration"]


class Readable(Protocol):
    """The result of reading a stream or file."""

    schema: Schema | None
    dictionaries: list[DictionaryMessage]
    batches: list[BatchMessage]

    def to_batches(self) -> list[pa.RecordBatch]:
        """The decoded record batches."""
        ...


def write_integration(
    source: Readable | Sequence[pa.RecordBatch], *, schema: pa.Schema | None = None
) -> dict[str, Any]:
    """A stream or file, or record batches of one schema, as a document of the integration form.

    ``schema`` is needed if there may be no batches to take it from. Values under nulls are written as zeros and empty
    texts, so that equal values give equal documents. The form has one dictionary per id: if dictionaries change between
    batches, all batches get one dictionary with the values of all. A float for which JSON has no number is the text
    ``NaN``, ``inf`` or ``-inf``; this is an extension of this package.

    Raises :class:`IntegrationError` for content that the form cannot represent, such as text that is not UTF-8, and the
    errors of :meth:`~conformance.wire.stream.StreamReading.to_batches` if buffers are unsafe to follow.
    """
    reading = _written(source, schema) if isinstance(source, Sequence) else source
    if len({made.id for made in reading.dictionaries}) < len(reading.dictionaries):
        batches = source if isinstance(source, Sequence) else source.to_batches()
        reading = _written(_with_one_dictionary(batches), None)
    if reading.schema is None:
        raise UndecodableError("there is no schema that batches could be read by")
    declared = _declared(reading.schema)
    document: dict[str, Any] = {
        "schema": schema_to(declared),
        "batches": [{"count": batch.length, "columns": _columns(batch, declared)} for batch in reading.batches],
    }
    if reading.dictionaries:
        document["dictionaries"] = [_dictionary(made) for made in reading.dictionaries]
    return document


def _dictionary(made: DictionaryMessage) -> dict[str, Any]:
    (column,) = _columns(made.batch, _declared(made.batch.schema))
    data = {"count": made.batch.length, "columns": [column | {"name": f"DICT{made.id}"}]}
    return {"id": made.id, "data": data}


def _written(batches: Sequence[pa.RecordBatch], schema: pa.Schema | None) -> Readable:
    if not batches and schema is None:
        raise IntegrationError("expected at least one batch, or a schema")
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, batches[0].schema if batches else schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return read_stream(sink.getvalue())


def _with_one_dictionary(batches: Sequence[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """The batches, with the dictionaries of each column joined into one."""
    schema = batches[0].schema
    try:
        columns = [_joined([batch.column(number) for batch in batches]) for number in range(len(schema))]
    except (pa.ArrowException, ValueError) as error:
        raise IntegrationError(
            f"the form has one dictionary of each id, and these cannot be joined: {error}"
        ) from error
    starts = itertools.accumulate((batch.num_rows for batch in batches), initial=0)
    return [
        pa.RecordBatch.from_arrays([column[start : start + batch.num_rows] for column in columns], schema=schema)
        for start, batch in zip(starts, batches, strict=False)
    ]


def _joined(parts: list[pa.Array]) -> pa.Array:
    made = parts[0].type
    if not pa.types.is_dictionary(made):
        return pa.concat_arrays(parts)
    distinct: list[pa.Array] = []
    indices = []
    for part in parts:
        known = next((number for number, each in enumerate(distinct) if each.equals(part.dictionary)), len(distinct))
        distinct += [part.dictionary] if known == len(distinct) else []
        base = sum(map(len, distinct[:known]))
        indices.append(pc.add_checked(part.indices, pa.scalar(base, made.index_type)))
    return pa.DictionaryArray.from_arrays(pa.concat_arrays(indices), pa.concat_arrays(distinct), ordered=made.ordered)


def _declared(schema: Schema) -> Schema:
    """``schema`` with real interval types in place of this package's substitutes."""
    return dataclasses.replace(schema, fields=tuple(map(_field, schema.fields)))


_STAND_INS: Final = {
    YEAR_MONTH.extension_name: Type(TypeKind.INTERVAL, bit_width=32, unit="year-month"),
    DAY_TIME.extension_name: Type(TypeKind.INTERVAL, bit_width=64, unit="day-time"),
}
_MARKS: Final = ("ARROW:extension:name", "ARROW:extension:metadata")


def _field(field: Field) -> Field:
    made = _STAND_INS.get(dict(field.metadata).get("ARROW:extension:name") or "")
    children = tuple(map(_field, field.children))
    if made is None:
        return dataclasses.replace(field, children=children)
    return dataclasses.replace(field, type=made, metadata=tuple(p for p in field.metadata if p[0] not in _MARKS))


def _columns(batch: BatchMessage, schema: Schema) -> list[dict[str, Any]]:
    body = batch.body
    if body is None or not batch.decodable:
        raise UndecodableError("the batch cannot be decoded: " + "; ".join(map(str, batch.violations[:3])))
    # `schema` names the real type of each field; the plan's positions are those that the body was judged by.
    plan = plan_of(schema, body.plan.bitmaps)
    return [_column(body, op) for op in plan.ops if op.parent is None]


def _column(body: Body, op: Op) -> dict[str, Any]:
    length, first = body.nodes[2 * op.index], body.starts[op.index]
    after = body.starts[op.index + 1] if op.index + 1 < len(body.starts) else len(body.contents)
    contents = [memoryview(b"") if content is None else content for content in body.contents[first:after]]
    made: dict[str, Any] = {"name": op.field.name, "count": length}
    shown = live(body, op, length)
    if shown is None:
        raise IntegrationError(f"{op.path} has {length} slots, which is too many to be written out")
    if op.has_validity:
        bitmap, *contents = contents
        valid = bits(bitmap, length) if len(bitmap) else np.ones(length, np.bool_)
        made["VALIDITY"] = valid.astype(int).tolist()
    made |= _LAYOUTS[op.layout](op, contents, shown)
    if op.children:
        made["children"] = [_column(body, child) for child in op.children]
    return made


def _nothing(_: Op, __: list[memoryview], ___: Any) -> dict[str, Any]:
    return {}


def _integers(content: memoryview, width: int, count: int, *, signed: bool = True) -> list[Any]:
    """Integers of a buffer; 64-bit integers as text, because JavaScript's numbers could not represent them exactly."""
    listed = numbers(content, f"{'i' if signed else 'u'}{width}", count).tolist()
    return [str(value) for value in listed] if width == 8 else listed


def _bool(_: Op, contents: list[memoryview], shown: Any) -> dict[str, Any]:
    return {"DATA": (bits(contents[0], len(shown)) & shown).tolist()}


def _fixed(op: Op, contents: list[memoryview], shown: Any) -> dict[str, Any]:
    made = op.field.dictionary.index_type if op.field.dictionary is not None else op.field.type
    width = op.width
    records = np.frombuffer(contents[0], np.uint8, len(shown) * width).reshape(len(shown), width)
    raw = np.where(shown[:, None], records, 0).astype(np.uint8).tobytes()
    spell = _interval if made.unit in ("day-time", "month-day-nano") else _SPELLED.get(made.kind)
    if spell is not None:
        return {"DATA": [spell(made, raw[at * width : (at + 1) * width]) for at in range(len(shown))]}
    signed = made.signed or made.kind is not TypeKind.INT
    return {"DATA": _integers(memoryview(raw), width, len(shown), signed=signed)}


def _float(made: Type, raw: bytes) -> float | str:
    value: float
    (value,) = struct.unpack({16: "<e", 32: "<f", 64: "<d"}[made.bit_width], raw)
    if math.isnan(value):
        return "NaN"
    return value if math.isfinite(value) else str(value)


def _interval(made: Type, raw: bytes) -> dict[str, Any]:
    if made.unit == "day-time":
        days, milliseconds = struct.unpack("<ii", raw)
        return {"days": days, "milliseconds": milliseconds}
    months, days, nanoseconds = struct.unpack("<iiq", raw)
    return {"months": months, "days": days, "nanoseconds": nanoseconds}


_SPELLED: Final[dict[TypeKind, Callable[[Type, bytes], Any]]] = {
    TypeKind.FLOATING_POINT: _float,
    TypeKind.DECIMAL: lambda _, raw: str(int.from_bytes(raw, "little", signed=True)),
    TypeKind.FIXED_SIZE_BINARY: lambda _, raw: raw.hex().upper(),
}


def _spell(op: Op, raw: bytes) -> str:
    if op.field.type.kind not in (TypeKind.UTF8, TypeKind.LARGE_UTF8, TypeKind.UTF8_VIEW):
        return raw.hex().upper()
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise IntegrationError(f"{op.path} has text that is not UTF-8: {error}") from error


def _binary(op: Op, contents: list[memoryview], shown: Any) -> dict[str, Any]:
    edges = numbers(contents[0], f"i{op.width}", len(shown) + 1)
    sizes = np.where(shown, np.diff(edges), 0)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    listed = zip(edges.tolist(), sizes.tolist(), strict=False)
    data = [_spell(op, bytes(contents[1][start : start + size])) for start, size in listed]
    return {"OFFSET": list(map(str, offsets)) if op.width == 8 else offsets, "DATA": data}


def _list(op: Op, contents: list[memoryview], shown: Any) -> dict[str, Any]:
    return {"OFFSET": _integers(contents[0], op.width, len(shown) + 1)}


def _list_view(op: Op, contents: list[memoryview], shown: Any) -> dict[str, Any]:
    pairs = zip(("OFFSET", "SIZE"), contents, strict=True)
    return {key: _integers(content, op.width, len(shown)) for key, content in pairs}


def _union(op: Op, contents: list[memoryview], shown: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"TYPE_ID": numbers(contents[0], "i1", len(shown)).tolist()}
    return made | ({"OFFSET": _integers(contents[1], 4, len(shown))} if op.layout is Layout.DENSE_UNION else {})


def _views(op: Op, contents: list[memoryview], shown: Any) -> dict[str, Any]:
    views: list[dict[str, Any]] = []
    raw = bytes(contents[0])
    for slot, is_shown in enumerate(shown.tolist()):
        view = raw[16 * slot : 16 * slot + 16] if is_shown else bytes(16)
        (size,) = struct.unpack_from("<i", view)
        if size <= 12:
            views.append({"SIZE": size, "INLINED": _spell(op, view[4 : 4 + size])})
        else:
            place, offset = struct.unpack_from("<ii", view, 8)
            prefix = view[4:8].hex().upper()
            views.append({"SIZE": size, "PREFIX_HEX": prefix, "BUFFER_INDEX": place, "OFFSET": offset})
    return {"VIEWS": views, "VARIADIC_DATA_BUFFERS": [bytes(content).hex().upper() for content in contents[1:]]}


_LAYOUTS: Final[dict[Layout, Callable[[Op, list[memoryview], Any], dict[str, Any]]]] = {
    Layout.BOOL: _bool,
    Layout.FIXED: _fixed,
    Layout.BINARY: _binary,
    Layout.VIEW: _views,
    Layout.LIST: _list,
    Layout.LIST_VIEW: _list_view,
    Layout.SPARSE_UNION: _union,
    Layout.DENSE_UNION: _union,
    **dict.fromkeys((Layout.NULL, Layout.STRUCT, Layout.FIXED_SIZE_LIST, Layout.RUN_END_ENCODED), _nothing),
}
