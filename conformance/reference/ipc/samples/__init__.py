"""Samples: small record batches that cover every type, null, dictionary, nesting and name."""

from __future__ import annotations

from conformance._pandas import leave_pandas_out

leave_pandas_out()  # the samples are converted while their modules are imported
from conformance.reference.ipc.samples import dictionaries, shapes, types  # noqa: E402, F401  # each registers its samples
from conformance.reference.ipc.samples.sample import SAMPLES, Sample  # noqa: E402  # as above

__all__ = ["SAMPLES", "Sample"]
