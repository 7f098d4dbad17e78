"""One codec for every record: dataclass to JSON, to an Arrow row, and back.

The annotations of a record are its schema: nothing is declared twice. Unknown keys, missing keys and wrong types are
refused with their path, because a case file with a misspelt key must never be read as a case without it.

Supported: ``str``, ``int``, ``float``, ``bool``, ``bytes`` (base64 in JSON), ``StrEnum``, words of :class:`OneOf`,
records, ``tuple[X, ...]``, ``Mapping[str, X]``, ``X | None``, :data:`Json`, and unions of records that have a ``TAG``
class variable. What a union may hold is written out, or known at run time only (:class:`Members`).
JSON has no infinities and no NaN: they are texts there, as in the JSON form of protobuf.
"""

from __future__ import annotations

import base64
import binascii
import collections.abc
import dataclasses
import enum
import functools
import json
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import pyarrow as pa

from conformance._hints import Members
from conformance.contain.text import representation

R = TypeVar("R")

Json = typing.NewType("Json", object)
"""Any JSON value (a cell of a table, for example); in an Arrow row it is JSON text."""

TAG_KEY = "op"
"""The JSON key that names the member of a union of records."""


NO_NUMBERS = types.MappingProxyType({"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf})
"""The JSON form of the floats that JSON has no number for."""


class RecordError(ValueError):
    """A record could not be read; the message says where, what was expected and what was found."""

    def __init__(self, path: str, expected: str, got: object) -> None:
        found = f"{representation(got)} ({type(got).__name__})"
        super().__init__(f"{path or 'record'}: expected {expected} but got {found}")
        self.path = path


@dataclasses.dataclass(frozen=True, slots=True)
class _Codec:
    """Reads and writes one annotation; ``arrow`` is its column type in a row, ``optional`` is true if None is a
    value.
    """

    arrow: pa.DataType
    to_json: Callable[[Any], Any]
    from_json: Callable[[Any, str], Any]
    to_row: Callable[[Any], Any]
    from_row: Callable[[Any, str], Any]
    optional: bool = False


def to_json(record: object) -> dict[str, Any]:
    """The JSON form of ``record``: a dict of plain values, without fields that have their default value."""
    return typing.cast("dict[str, Any]", _record(type(record)).to_json(record))


def from_json(kind: type[R], data: object, *, path: str = "") -> R:
    """The ``kind`` record in a JSON form; raises :class:`RecordError` on anything unexpected."""
    return typing.cast(R, _record(kind).from_json(data, path or kind.__name__))


def arrow_schema(kind: type) -> pa.Schema:
    """The Arrow schema of a table whose rows are ``kind`` records, for Parquet and campaigns."""
    return pa.schema(list(_record(kind).arrow))


def to_row(record: object) -> dict[str, Any]:
    """The Arrow row of ``record``: a dict accepted by ``pyarrow`` under :func:`arrow_schema`."""
    return typing.cast("dict[str, Any]", _record(type(record)).to_row(record))


def from_row(kind: type[R], row: Mapping[str, Any]) -> R:
    """The ``kind`` record in an Arrow row; raises :class:`RecordError` on anything unexpected.

    A missing column, or a null in a field that cannot be None, was written before the field existed: the field gets
    its default.
    """
    return typing.cast(R, _record(kind).from_row(row, kind.__name__))


def _same(value: Any) -> Any:
    return value


def _scalar(kind: type, arrow: pa.DataType) -> _Codec:
    def read(value: Any, path: str) -> Any:
        if kind is float and type(value) is int:
            try:
                return float(value)
            except OverflowError:
                raise RecordError(path, "a number that a float can hold", f"{value.bit_length()} bits") from None
        if kind is float and isinstance(value, str) and value in NO_NUMBERS:
            return NO_NUMBERS[value]
        if type(value) is not kind:
            raise RecordError(path, kind.__name__, value)
        return value

    return _Codec(arrow, json_float if kind is float else _same, read, _same, read)


def json_float(value: float) -> float | str:
    """The JSON form of a float; NaN and infinities are the texts of :data:`NO_NUMBERS`."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _bytes() -> _Codec:
    def read(value: Any, path: str) -> bytes:
        try:
            return base64.b64decode(value, validate=True)
        except (TypeError, ValueError, binascii.Error):
            raise RecordError(path, "base64 text", value) from None

    def read_row(value: Any, path: str) -> bytes:
        if type(value) is not bytes:
            raise RecordError(path, "bytes", value)
        return value

    return _Codec(pa.binary(), lambda value: base64.b64encode(value).decode(), read, _same, read_row)


def _free() -> _Codec:
    def dump(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    return _Codec(pa.utf8(), _same, lambda value, _path: value, dump, lambda value, _path: json.loads(value))


def _enum(kind: type[enum.StrEnum]) -> _Codec:
    def read(value: Any, path: str) -> enum.StrEnum:
        try:
            return kind(value)
        except ValueError:
            raise RecordError(path, "one of " + ", ".join(kind), value) from None

    return _Codec(pa.utf8(), str, read, str, read)


def _one_of(words: Callable[[], Sequence[str]]) -> _Codec:
    def read(value: Any, path: str) -> Any:
        if value not in words():
            raise RecordError(path, "one of " + ", ".join(words()), value)
        return value

    return _Codec(pa.utf8(), _same, read, _same, read)


def _optional(inner: _Codec) -> _Codec:
    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda value, *path: None if value is None else function(value, *path)

    return _Codec(
        inner.arrow,
        wrap(inner.to_json),
        wrap(inner.from_json),
        wrap(inner.to_row),
        wrap(inner.from_row),
        optional=True,
    )


def _tuple(inner: _Codec) -> _Codec:
    def reader(read: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
        def read_all(value: Any, path: str) -> tuple[Any, ...]:
            if not isinstance(value, Sequence) or isinstance(value, str | bytes):
                raise RecordError(path, "a list", value)
            return tuple(read(item, f"{path}[{index}]") for index, item in enumerate(value))

        return read_all

    return _Codec(
        pa.list_(inner.arrow),
        lambda value: [inner.to_json(item) for item in value],
        reader(inner.from_json),
        lambda value: [inner.to_row(item) for item in value],
        reader(inner.from_row),
    )


def _mapping(inner: _Codec) -> _Codec:
    """A map with text keys: an object in JSON, a map in an Arrow row."""

    def read(value: Any, path: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise RecordError(path, "an object", value)
        return {key: inner.from_json(item, f"{path}.{key}") for key, item in value.items()}

    def read_row(value: Any, path: str) -> dict[str, Any]:
        return {key: inner.from_row(item, f"{path}.{key}") for key, item in value}

    return _Codec(
        pa.map_(pa.utf8(), inner.arrow),
        lambda value: {key: inner.to_json(item) for key, item in value.items()},
        read,
        lambda value: [(key, inner.to_row(item)) for key, item in value.items()],
        read_row,
    )


def _union(kinds: Callable[[], Sequence[type]]) -> _Codec:
    """A union of tagged records: an object with :data:`TAG_KEY` in JSON, JSON text in an Arrow row.

    ``kinds`` is asked when the first record is read: those of protocols that are not used need not be imported.
    """

    @functools.cache
    def tagged() -> dict[str, type]:
        return {kind.TAG: kind for kind in kinds()}  # type: ignore[attr-defined]  # checked by the caller

    def write(value: Any) -> dict[str, Any]:
        return {TAG_KEY: value.TAG, **to_json(value)}

    def read(value: Any, path: str) -> Any:
        by_tag = tagged()
        if not isinstance(value, Mapping) or value.get(TAG_KEY) not in by_tag:
            raise RecordError(path, f"an object whose {TAG_KEY!r} is one of {', '.join(by_tag)}", value)
        rest = {key: item for key, item in value.items() if key != TAG_KEY}
        return from_json(by_tag[value[TAG_KEY]], rest, path=path)

    return _Codec(
        pa.utf8(),
        write,
        read,
        lambda value: json.dumps(write(value), ensure_ascii=False, separators=(",", ":")),
        lambda value, path: read(json.loads(value), path),
    )


_RECORDS: dict[type, _Codec | None] = {}


def _record(kind: type) -> _Codec:
    """The codec of a record; a record inside itself (a column contains columns) is JSON text in an Arrow row."""
    if not dataclasses.is_dataclass(kind):
        message = f"{kind.__name__} is not a record"
        raise TypeError(message)
    if kind in _RECORDS:
        return _RECORDS[kind] or _text(kind)
    _RECORDS[kind] = None
    hints = typing.get_type_hints(kind, include_extras=True)
    codecs = {field.name: _codec(hints[field.name]) for field in dataclasses.fields(kind)}
    _RECORDS[kind] = codec = _struct(kind, codecs)
    return codec


def _text(kind: type) -> _Codec:
    return _Codec(
        pa.utf8(),
        to_json,
        lambda value, path: from_json(kind, value, path=path),
        lambda value: json.dumps(to_json(value), ensure_ascii=False, separators=(",", ":")),
        lambda value, path: from_json(kind, json.loads(value), path=path),
    )


def _struct(kind: type, codecs: Mapping[str, _Codec]) -> _Codec:
    fields = dataclasses.fields(kind)

    def default(field: dataclasses.Field[Any]) -> Any:
        if field.default_factory is not dataclasses.MISSING:
            return field.default_factory()
        return field.default

    def write(value: Any) -> dict[str, Any]:
        held = ((field, getattr(value, field.name)) for field in fields)
        return {field.name: codecs[field.name].to_json(item) for field, item in held if item != default(field)}

    def read(value: Any, path: str, *, row: bool) -> Any:
        if not isinstance(value, Mapping):
            raise RecordError(path, f"an object ({kind.__name__})", value)
        if unknown := sorted(set(value) - set(codecs)):
            raise RecordError(f"{path}.{unknown[0]}", f"one of the keys {', '.join(codecs)}", unknown[0])
        given: dict[str, Any] = {}
        for field in fields:
            codec = codecs[field.name]
            # A row that was stored before the field existed has null in its column.
            if field.name in value and (not row or codec.optional or value[field.name] is not None):
                take = codec.from_row if row else codec.from_json
                given[field.name] = take(value[field.name], f"{path}.{field.name}")
            elif default(field) is dataclasses.MISSING:
                raise RecordError(f"{path}.{field.name}", "a value", None)
        return kind(**given)

    return _Codec(
        pa.struct([pa.field(name, codec.arrow) for name, codec in codecs.items()]),
        write,
        lambda value, path: read(value, path, row=False),
        lambda value: {name: codec.to_row(getattr(value, name)) for name, codec in codecs.items()},
        lambda value, path: read(value, path, row=True),
    )


def _codec(hint: Any) -> _Codec:  # noqa: PLR0911  # one return per kind of annotation
    scalars = {str: pa.utf8(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    if hint in scalars:
        return _scalar(hint, scalars[hint])
    if hint is bytes:
        return _bytes()
    if hint is Json:
        return _free()
    if isinstance(hint, type) and issubclass(hint, enum.StrEnum):
        return _enum(hint)
    if dataclasses.is_dataclass(hint):
        return _record(typing.cast(type, hint))
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        held = arguments[1]
        return _union(held.kinds) if isinstance(held, Members) else _one_of(held.words)
    if origin is tuple:
        return _tuple(_codec(arguments[0]))
    if origin is collections.abc.Mapping:
        return _mapping(_codec(arguments[1]))
    if origin in (types.UnionType, typing.Union):
        members = [member for member in arguments if member is not types.NoneType]
        inner = _codec(members[0]) if len(members) == 1 else _union(lambda: members)
        return _optional(inner) if len(members) < len(arguments) else inner
    message = f"no codec for the annotation {hint!r}"
    raise TypeError(message)
