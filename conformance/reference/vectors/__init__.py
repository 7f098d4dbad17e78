"""The golden vectors of streams, files and tensors: from samples, options, legal variations, mutants and cuts."""

from __future__ import annotations

from conformance.reference.vectors.making import make_vectors

__all__ = ["make_vectors"]
