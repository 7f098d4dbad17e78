"""Schemas and rows for tests: every type of BigQuery in Avro, and strategies for what fastavro writes."""

from __future__ import annotations

import datetime as dt
import decimal as dec
import io
import itertools
import json
from collections.abc import Sequence
from typing import Any, Final

import fastavro
from hypothesis import strategies as st

from tests.formats.avro.breaking import array, decimal, logical

PLAIN: Final = (
    *("boolean", "long", "double", "bytes", "string"),
    logical("int", "date"),
    logical("long", "time-micros"),
    logical("long", "timestamp-micros"),
    logical("string", "datetime"),
    {"type": "string", "sqlType": "JSON"},
    decimal(38, 9),
    decimal(77, 38),
    decimal(5, 2),
)


_VALUES: Final[dict[str, st.SearchStrategy[Any]]] = {
    "boolean": st.booleans(),
    "long": st.integers(-(1 << 63), (1 << 63) - 1),
    "double": st.floats(),
    "bytes": st.binary(max_size=9),
    "string": st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
    "date": st.dates(),
    "time-micros": st.times(),
    "timestamp-micros": st.datetimes(timezones=st.just(dt.UTC)),
    "datetime": st.datetimes().map(dt.datetime.isoformat),
}


def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type, as fastavro takes them."""
    if isinstance(kind, list):
        return st.none() | values_of(kind[1])
    if isinstance(kind, str):
        return _VALUES[kind]
    if kind["type"] == "record":
        return st.fixed_dictionaries({field["name"]: values_of(field["type"]) for field in kind["fields"]})
    if kind["type"] == "array":
        return st.lists(values_of(kind["items"]), max_size=4)
    return _decimals(kind) if kind.get("precision") else _VALUES[kind.get("logicalType", kind["type"])]


def _decimals(kind: Any) -> st.SearchStrategy[dec.Decimal]:
    bound = 10 ** min(kind["precision"], 76) - 1
    context = dec.Context(prec=100)
    return st.integers(-bound, bound).map(lambda value: dec.Decimal(value).scaleb(-kind["scale"], context))


def kinds(names: Any, depth: int = 2) -> st.SearchStrategy[Any]:
    """Types as BigQuery declares them: nullable, required and repeated, with records."""
    value = st.sampled_from(PLAIN)
    if depth:
        value |= records(names, depth - 1)
    return value | value.map(lambda kind: ["null", kind]) | value.map(array)


def records(names: Any, depth: int) -> st.SearchStrategy[Any]:
    """Records with a new name each."""
    fields = st.lists(st.deferred(lambda: kinds(names, depth)), min_size=1, max_size=4)
    return fields.map(
        lambda drawn: {
            "type": "record",
            "name": f"__s_{next(names)}",
            "fields": [{"name": f"f{place}", "type": kind} for place, kind in enumerate(drawn)],
        }
    )


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, Any], list[Any]]:
    """A schema and rows."""
    schema = draw(records(itertools.count(), 2)) | {"name": "__root__"}
    rows = draw(st.lists(values_of(schema), max_size=5))
    return schema, rows


def written(schema: dict[str, Any], rows: Sequence[Any]) -> bytes:
    """The rows one after the other, as fastavro writes them."""
    parsed = fastavro.parse_schema(json.loads(json.dumps(schema)))
    sink = io.BytesIO()
    for row in rows:
        fastavro.schemaless_writer(sink, parsed, row)
    return sink.getvalue()


def plain(value: Any, kind: Any) -> Any:
    """A value as pyarrow gives it."""
    if isinstance(kind, list):
        return None if value is None else plain(value, kind[1])
    if not isinstance(kind, dict):
        return value
    if kind["type"] == "record":
        return {field["name"]: plain(value[field["name"]], field["type"]) for field in kind["fields"]}
    if kind["type"] == "array":
        return [plain(item, kind["items"]) for item in value]
    return dt.datetime.fromisoformat(value) if kind.get("logicalType") == "datetime" else value
