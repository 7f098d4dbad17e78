"""Samples: small record batches that cover every type, null, dictionary, nesting and name."""

from __future__ import annotations

from conformance.reference.ipc.samples import dictionaries, shapes, types  # noqa: F401  # each registers its samples
from conformance.reference.ipc.samples.sample import SAMPLES, Sample

__all__ = ["SAMPLES", "Sample"]
