"""Values do not change under the hands of those who share them."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Iterator

import conformance.contain
import conformance.contract
import conformance.engine
import conformance.formats
import conformance.protocols
import conformance.records
import conformance.report
import conformance.wire

# Filled by the function that makes it, or counted down, while it reads bytes; one that is made too often to be frozen;
# and the tables and jobs of a server, which change as its clients ask.
CHANGEABLE = {
    "conformance.formats.avro.cursor.ReadingLimit",
    "conformance.wire.arrays._Decoder",
    "conformance.engine.causes._Group",
    "conformance.protocols.flight.engine.sqlrecordings._Handle",
    "conformance.protocols.storage_read.model.tables.GrowingTable",
    "conformance.protocols.storage_read.reference.catalogue.StoredTable",
    "conformance.protocols.storage_read.reference.jobs._Hidden",
    "conformance.protocols.storage_read.reference.jobs._Job",
    "conformance.protocols.storage_write.contract.state.StreamState",
    "conformance.protocols.storage_write.contract.view._Held",
    "conformance.protocols.storage_write.generate.histories._Stream",
    "conformance.protocols.storage_write.reference.store.WrittenTable",
    "conformance.protocols.storage_write.reference.streams.WriteConnection",
    "conformance.protocols.storage_write.reference.streams.WriteStream",
    "conformance.wire.batch.BatchMessage",
    "conformance.wire.decoding._Generation",
    "conformance.wire.file.FileReading",
    "conformance.wire.flatbuf.FlatTable",
    "conformance.wire.layout.Op",
    "conformance.wire.stream.StreamReading",
    "conformance.wire.tensors.TensorReading",
}


def _dataclasses() -> Iterator[type]:
    for package in (
        conformance.contain,
        conformance.contract,
        conformance.engine,
        conformance.formats,
        conformance.protocols,
        conformance.records,
        conformance.report,
        conformance.wire,
    ):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, type) and dataclasses.is_dataclass(value) and value.__module__ == module.name:
                    yield value


def test_values_are_frozen() -> None:
    """Code that gets a value may keep it, hash it and hand it to another thread."""
    changeable = {
        f"{kind.__module__}.{kind.__name__}" for kind in _dataclasses() if not kind.__dataclass_params__.frozen
    }

    assert changeable == CHANGEABLE
