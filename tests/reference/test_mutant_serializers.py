"""Each mutant of bytes is a serializer that a target file can name."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.records import BqType, Case, Column, Recipe, Table
from conformance.reference.mutants import serializers
from conformance.reference.serializer import REFERENCE
from conformance.targets import open_target
from conformance.targets.spec import SerializerSpec, TargetKind, TargetSpec

CASE = Case("c", "", Table((Column("n", BqType.INT64),), recipe=Recipe(rows=3)))
ROWS = pa.table({"n": pa.array([1, 2, 3], pa.int64())})


def test_a_target_file_names_a_mutant() -> None:
    """The entry is the module and the mutant's name; the bytes have the fault."""
    entry = "conformance.reference.mutants.serializers:batch.empty"
    spec = TargetSpec(name="liar", kind=TargetKind.SERIALIZER, serializer=SerializerSpec(entry))

    with open_target(spec) as target:
        exchange = target.drive(CASE, ROWS)

    schema, *batches = (call.responses for call in exchange.calls)
    assert schema == (REFERENCE.serialize_schema(ROWS.schema),)
    assert set(batches) == {(b"",)}


@pytest.mark.parametrize("name", ["nothing", "batch.nothing", "session.no-streams"])
def test_a_name_without_a_lie_about_bytes_is_none(name: str) -> None:
    """Misspelt names, and mutants that only a server can have."""
    group, _, rest = name.partition(".")

    with pytest.raises(AttributeError, match="no mutant"):
        getattr(getattr(serializers, group), rest or "x")
