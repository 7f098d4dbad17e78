"""pyarrow as Arrow's security considerations recommend: every batch is validated in full before its values are
examined.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from conformance.readers.ipc.implementation import Decoded, Library
from conformance.readers.ipc.libraries import pyarrow_unchecked

READER = dataclasses.replace(
    pyarrow_unchecked.READER,
    name="pyarrow-validated",
    title="Arrow C++ through pyarrow, each batch validated in full",
    # What is done with the rows afterwards is the same code, which the unvalidated reader calls.
    options={name: values for name, values in pyarrow_unchecked.READER.options.items() if name != "after"},
    left_to_validation=(),
)
WRITER = None


class Validated(pyarrow_unchecked.PyArrow):
    """Arrow C++ with ``validate(full=True)`` between decoding and the values; an error of the validation is a
    refusal.
    """

    def decode(self, kind: str, data: bytes, schema: bytes, options: Mapping[str, Any]) -> Decoded:
        """Read the bytes and validate every batch."""
        decoded = super().decode(kind, data, schema, options)
        for batch in decoded.batches:
            batch.validate(full=True)
        return decoded


def load() -> Library:
    """The library; pyarrow is always installed."""
    pyarrow_unchecked.load()
    return Validated()
