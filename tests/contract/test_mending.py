"""A clause on framing names the call of each library that writes what it requires."""

from __future__ import annotations

import pyarrow as pa
import pytest

from conformance.contract.mending import mending_of


def test_the_call_in_python_writes_one_message() -> None:
    """For a schema and for a batch, each without the other and without an end marker."""
    schema = pa.schema([("a", pa.int64())])
    known = {"schema": schema, "batch": pa.record_batch([[1]], schema=schema)}
    for what in ("schema", "batch"):
        call = mending_of(f"framing.{what}-single-message")["Python (pyarrow)"]
        reader = pa.ipc.MessageReader.open_stream(eval(call, dict(known)))  # the suite's own text

        assert [message.type for message in reader] == ["schema" if what == "schema" else "record batch"]


@pytest.mark.parametrize("clause", ["body.padding-zero", "framing.unknown", "rows.none-is-missing"])
def test_other_clauses_have_no_such_call(clause: str) -> None:
    """Their faults are mended in the server."""
    assert mending_of(clause) == {}
