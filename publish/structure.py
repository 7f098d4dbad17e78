"""pyarrow with the cheaper of its two validations: ``RecordBatch.validate()``, which looks at the structure only.

It is a reader for :mod:`publish.untrusted`, which compares calls; no report is made of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from conformance.readers.ipc.implementation import Decoded, IpcReaderInfo, Library
from conformance.readers.ipc.libraries.pyarrow_unchecked import READER, PyArrow

__all__ = ["STRUCTURE", "load"]

STRUCTURE: Final[IpcReaderInfo] = dataclasses.replace(READER, name="pyarrow-structure", module=__name__)


class _Structure(PyArrow):
    """Arrow C++ with ``validate()`` between decoding and the values; an error of the validation is a refusal."""

    def decode(self, kind: str, data: bytes, schema: bytes, options: Mapping[str, Any]) -> Decoded:
        """Read the bytes and validate the structure of every batch."""
        decoded = super().decode(kind, data, schema, options)
        for batch in decoded.batches:
            batch.validate()
        return decoded


def load() -> Library:
    """The library; pyarrow is always installed."""
    return _Structure()
