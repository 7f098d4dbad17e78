"""An in-memory BigQueryRead server that obeys every clause, and the mutants, which break one clause each.

:class:`conformance.reference.server.ReferenceServer` is the embedded default target: it proves that the suite can be
passed. This package imports nothing by itself, so the serializer can be imported where gRPC is not installed.
"""
