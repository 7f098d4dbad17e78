"""Serializers that err, end their process or do not come back, on cases that follow from the case alone."""

from __future__ import annotations

import os
import signal
import threading

import pyarrow as pa


class Trailing:
    """Appends an end-of-stream marker to batches of four rows or eight."""

    @staticmethod
    def serialize_schema(schema: pa.Schema) -> bytes:
        """As pyarrow does."""
        return bytes(schema.serialize())

    @staticmethod
    def serialize_batch(batch: pa.RecordBatch) -> bytes:
        """As pyarrow does, and a little more."""
        data = bytes(batch.serialize())
        return data + bytes.fromhex("ffffffff00000000") if batch.num_rows in (4, 8) else data


class Dying(Trailing):
    """Ends its process on batches of five rows or ten."""

    @staticmethod
    def serialize_batch(batch: pa.RecordBatch) -> bytes:
        """As pyarrow does, unless there are five rows or ten."""
        if batch.num_rows in (5, 10):
            os.kill(os.getpid(), signal.SIGSEGV)
        return Trailing.serialize_batch(batch)


class Hanging(Trailing):
    """Does not come back from schemas of exactly one column."""

    @staticmethod
    def serialize_schema(schema: pa.Schema) -> bytes:
        """As pyarrow does, unless there is one column."""
        if len(schema) == 1:
            threading.Event().wait()
        return bytes(schema.serialize())
